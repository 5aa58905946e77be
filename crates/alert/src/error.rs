//! The error of this crate.

use std::io;
use std::path::Path;

/// The kind of an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A value of an alert is not valid, or there is no such alert.
    Usage,
    /// The file of alerts, or that of the memory, is not valid.
    Config,
    /// A message could not be delivered.
    Delivery,
    /// A system call failed.
    System,
}

/// Why an alert cannot be used or was not delivered. Never contains a password, a token or the path
/// of a URL, because messages are logged.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    kind: ErrorKind,
    message: String,
}

impl Error {
    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>) -> Error {
        Error { kind, message: message.into() }
    }

    /// Makes the error for a failed system call. `doing` is an infinitive: "read".
    pub(crate) fn system(doing: &str, path: &Path, error: &io::Error) -> Error {
        let message = format!("cannot {doing} `{}`: {error}", path.display());
        Error::new(ErrorKind::System, message)
    }

    /// Returns the kind of the error.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }
}
