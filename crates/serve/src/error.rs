//! Why a server could not start. A failure of one request is a response, never an [`Error`].

use std::fmt::Display;
use std::io;

/// The kind of a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The configuration is contradictory or unsafe.
    Usage,
    /// A system call failed.
    System,
}

/// Why a server could not start.
///
/// The message includes the cause, so there is no `source()`.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    kind: ErrorKind,
    message: String,
}

impl Error {
    pub(crate) fn usage(message: impl Into<String>) -> Error {
        Error { kind: ErrorKind::Usage, message: message.into() }
    }

    /// `operation` is an infinitive: "listen".
    pub(crate) fn system(operation: impl Display, cause: io::Error) -> Error {
        Error { kind: ErrorKind::System, message: format!("cannot {operation}: {cause}") }
    }

    /// Returns the kind of the failure.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cause_is_printed_once() {
        let cause = || io::Error::from(io::ErrorKind::AddrInUse);
        let error = Error::system("listen", cause());
        assert_eq!(error.to_string(), format!("cannot listen: {}", cause()));
        assert!(std::error::Error::source(&error).is_none());
    }
}
