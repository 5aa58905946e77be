//! Why a text is not a digest, or a name or a lane count is not available.

use std::borrow::Cow;
use std::fmt::Display;

/// The kind of an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// An empty text instead of a digest.
    EmptyDigest,
    /// A digest with an odd number of characters.
    OddDigestLength,
    /// A digest of more than 128 characters.
    DigestTooLong,
    /// A digest with a byte that is not a hexadecimal digit; `offset` counts bytes from 0.
    NotHex {
        /// The place in the text.
        offset: usize,
    },
    /// No algorithm has this name.
    UnknownAlgorithm,
    /// No backend has this name.
    UnknownBackend,
    /// The backend exists, but this processor, or this build of the program, does not support it.
    BackendNotDetected,
    /// The backend has no kernel with this number of lanes.
    LaneCount,
}

/// Why a text is not a digest, or a name or a lane count is not available.
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

    /// Makes an error whose message ends with the available choices.
    pub(crate) fn with_choices<T: Display>(
        kind: ErrorKind,
        message: String,
        choices: impl Iterator<Item = T>,
    ) -> Error {
        let choices: Vec<String> = choices.map(|choice| choice.to_string()).collect();
        Error::new(kind, message + &choices.join(", "))
    }

    /// Returns the kind of the error.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }
}
