//! Why a command on a store failed. A failure of one object is a finding, never an [`Error`].

use std::io;
use std::path::Path;

use steadfast::catalogue::CatalogueError;

/// The kind of a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The request is wrong, or names something that does not exist.
    Usage,
    /// The store refused the credentials or the request.
    Refused,
    /// The store redirected to another address. Redirects are not followed.
    Redirected,
    /// The store, or the network, did not answer after all retries.
    Unreachable,
    /// The store's response is malformed.
    Malformed,
    /// A document cannot be read, or is not of the stated kind.
    Document,
    /// The command was told to stop.
    Interrupted,
}

/// Why a command on a store failed.
///
/// The message says all, also the system's reason, which is the `source` for programs.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    kind: ErrorKind,
    message: String,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl Error {
    /// Makes an error.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Error {
        Error { kind, message: message.into(), source: None }
    }

    /// Makes an error about a wrong request.
    pub fn usage(message: impl Into<String>) -> Error {
        Error::new(ErrorKind::Usage, message)
    }

    /// Makes an error about a document.
    pub(crate) fn document(path: &Path, message: impl AsRef<str>) -> Error {
        let message = format!("`{}`: {}", path.display(), message.as_ref());
        Error::new(ErrorKind::Document, message)
    }

    /// Makes an error of a failed system call. `operation` is an infinitive: "read it".
    pub(crate) fn system(path: &Path, operation: &str, cause: io::Error) -> Error {
        let error = Error::document(path, format!("cannot {operation}: {cause}"));
        Error { source: Some(cause.into()), ..error }
    }

    /// Returns the kind of the failure.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }
}

impl From<steadfast::Error> for Error {
    fn from(error: steadfast::Error) -> Error {
        let said = Error::new(ErrorKind::Document, error.to_string());
        Error { source: Some(error.into()), ..said }
    }
}

impl From<CatalogueError> for Error {
    fn from(error: CatalogueError) -> Error {
        let said = Error::new(ErrorKind::Document, error.to_string());
        Error { source: Some(error.into()), ..said }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cause_is_in_the_message_and_can_be_asked_for() {
        let cause = || io::Error::from(io::ErrorKind::NotFound);
        let error = Error::system(Path::new("report"), "read it", cause());
        assert_eq!(error.to_string(), format!("`report`: cannot read it: {}", cause()));
        let source = std::error::Error::source(&error).and_then(|it| it.downcast_ref());
        assert_eq!(source.map(io::Error::kind), Some(io::ErrorKind::NotFound));
    }
}
