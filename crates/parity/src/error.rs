//! Why parity cannot be made, read or used.

use std::borrow::Cow;

/// What kind of thing went wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A value outside what the format allows, from the caller.
    Usage,
    /// The bytes are not a parity file of a version that is known.
    Unrecognised,
    /// A parity file is damaged in both copies of something.
    Damaged,
    /// A parity file says what no writer of the format says.
    Invalid,
    /// More pages are lost than the parity that is left can rebuild.
    TooManyLost,
    /// The caller said that it should end.
    Stopped,
}

/// Why parity cannot be made, read or used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    kind: ErrorKind,
    message: Cow<'static, str>,
}

impl Error {
    pub(crate) fn new(kind: ErrorKind, message: impl Into<Cow<'static, str>>) -> Error {
        Error { kind, message: message.into() }
    }

    /// Returns what kind of thing went wrong.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }
}
