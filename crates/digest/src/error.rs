//! Why a text is no digest, or a name or a lane count is not offered.

use std::borrow::Cow;
use std::fmt::Display;

/// What kind of thing was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A digest without text.
    EmptyDigest,
    /// A digest with an odd number of characters.
    OddDigestLength,
    /// A digest of more than 128 characters.
    DigestTooLong,
    /// A digest with a byte that is not a hexadecimal digit; `offset` counts bytes from 0.
    NotHex {
        /// Where in the text.
        offset: usize,
    },
    /// No algorithm has this name.
    UnknownAlgorithm,
    /// No backend has this name.
    UnknownBackend,
    /// The backend exists, but this processor, or this build of the program, does not run it.
    BackendNotDetected,
    /// The backend has no kernel with so many lanes.
    LaneCount,
}

/// Why a text is no digest, or a name or a lane count is not offered.
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

    /// Makes an error whose message ends with what there is instead.
    pub(crate) fn with_choices<T: Display>(
        kind: ErrorKind,
        message: String,
        choices: impl Iterator<Item = T>,
    ) -> Error {
        let choices: Vec<String> = choices.map(|choice| choice.to_string()).collect();
        Error::new(kind, message + &choices.join(", "))
    }

    /// Returns what kind of thing was refused.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }
}
