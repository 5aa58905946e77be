//! Why a command on a job failed. A failure of one file is a row, never an [`Error`].

use std::io;
use std::path::Path;

use steadfast::catalogue::{CatalogueError, CatalogueErrorKind};

/// The kind of a failure, which decides whether a retry makes sense.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The request is wrong, or names something that does not exist. A retry fails the same way.
    Usage,
    /// A document of the job was changed or cut short. Somebody must look at it.
    Damaged,
    /// A retry, or another machine, may succeed: the disk is full, or a folder is not mounted.
    Temporary,
    /// The command was told to stop.
    Interrupted,
}

/// Why a command on a job failed.
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

    /// Makes an error about a damaged document.
    pub fn damaged(path: &Path, message: impl AsRef<str>) -> Error {
        Error::at(ErrorKind::Damaged, path, message.as_ref())
    }

    /// Makes an error that may pass.
    pub fn temporary(path: &Path, message: impl AsRef<str>) -> Error {
        Error::at(ErrorKind::Temporary, path, message.as_ref())
    }

    /// Makes an error of a failed system call. `operation` is an infinitive: "read it". A file in
    /// the place of a folder is a wrong request, and other failures may pass.
    pub(crate) fn system(path: &Path, operation: &str, cause: io::Error) -> Error {
        let kind = match cause.kind() {
            io::ErrorKind::NotADirectory | io::ErrorKind::AlreadyExists => ErrorKind::Usage,
            _ => ErrorKind::Temporary,
        };
        let error = Error::at(kind, path, &format!("cannot {operation}: {cause}"));
        Error { source: Some(cause.into()), ..error }
    }

    fn at(kind: ErrorKind, path: &Path, message: &str) -> Error {
        Error::new(kind, format!("`{}`: {message}", path.display()))
    }

    /// Turns a missing file into a wrong request: for names that the user typed.
    pub(crate) fn lasting(self) -> Error {
        let cause = self.source.as_ref().and_then(|cause| cause.downcast_ref::<io::Error>());
        match cause.map(io::Error::kind) {
            Some(io::ErrorKind::NotFound) => Error { kind: ErrorKind::Usage, ..self },
            _ => self,
        }
    }

    /// Adds what to do.
    pub(crate) fn advised(self, advice: &str) -> Error {
        Error { message: format!("{}; {advice}", self.message), ..self }
    }

    /// Returns the kind of the failure.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }
}

impl From<steadfast::Error> for Error {
    /// A failed system call may pass; other failures do not.
    fn from(error: steadfast::Error) -> Error {
        let kind = match error.kind() {
            steadfast::ErrorKind::System => ErrorKind::Temporary,
            _ => ErrorKind::Usage,
        };
        let said = Error::new(kind, error.to_string());
        Error { source: Some(error.into()), ..said }
    }
}

impl From<CatalogueError> for Error {
    /// A catalogue that another process is writing may be free later.
    fn from(error: CatalogueError) -> Error {
        let kind = match error.kind() {
            CatalogueErrorKind::InUse => ErrorKind::Temporary,
            _ => ErrorKind::Usage,
        };
        let said = Error::new(kind, error.to_string());
        Error { source: Some(error.into()), ..said }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cause_is_in_the_message_and_can_be_asked_for() {
        let cause = || io::Error::from(io::ErrorKind::NotFound);
        let error = Error::system(Path::new("job"), "open it", cause());
        assert_eq!(error.to_string(), format!("`job`: cannot open it: {}", cause()));
        let source = std::error::Error::source(&error).and_then(|it| it.downcast_ref());
        assert_eq!(source.map(io::Error::kind), Some(io::ErrorKind::NotFound));
        assert_eq!(
            (error.kind(), error.lasting().kind()),
            (ErrorKind::Temporary, ErrorKind::Usage)
        );
        let advised = Error::damaged(Path::new("a"), "it is cut short").advised("run it again");
        assert_eq!(advised.to_string(), "`a`: it is cut short; run it again");
    }
}
