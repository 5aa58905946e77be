//! Errors: a file cannot be read, or holds nothing that could be checked.
//!
//! What is wrong with a signature is a [`CodeFinding`](crate::CodeFinding), not an [`Error`].

use std::io;

/// What kind of thing went wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The bytes could not be read.
    System,
    /// The file is of no kind that carries a signature.
    NotCode,
    /// A structure contradicts itself, or reaches beyond what holds it.
    Malformed,
    /// The structure is of a kind or a size that is not supported.
    Unsupported,
    /// The file may hold code, and nothing here looks into files of its form.
    NotRead,
    /// The request does not fit this file, such as a page that it does not have.
    Usage,
}

/// Why a file could not be checked as signed code.
///
/// The message says all, also the system's reason. The [`source`](std::error::Error::source) is for
/// programs: its kind tells a file that is not there from one that may not be read.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    kind: ErrorKind,
    message: String,
    source: Option<io::Error>,
}

impl Error {
    /// Makes an error of a kind. The message is a lower-case fragment.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Error {
        Error { kind, message: message.into(), source: None }
    }

    /// Makes an error about a structure that contradicts itself.
    pub fn malformed(message: impl Into<String>) -> Error {
        Error::new(ErrorKind::Malformed, message)
    }

    /// Makes an error of a failed read. `doing` is an infinitive: "read the load commands".
    pub fn system(doing: &str, cause: io::Error) -> Error {
        let message = format!("cannot {doing}: {cause}");
        Error { source: Some(cause), ..Error::new(ErrorKind::System, message) }
    }

    /// Returns what kind of thing went wrong.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cause_is_in_the_message_and_can_be_asked_for() {
        let cause = io::Error::new(io::ErrorKind::PermissionDenied, "permission denied");
        let error = Error::system("read the trailer", cause);
        assert_eq!(error.to_string(), "cannot read the trailer: permission denied");
        let source = std::error::Error::source(&error).and_then(|it| it.downcast_ref());
        assert_eq!(source.map(io::Error::kind), Some(io::ErrorKind::PermissionDenied));
    }
}
