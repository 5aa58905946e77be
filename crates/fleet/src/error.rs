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
/// The message includes the path and the cause, so there is no `source()`.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    kind: ErrorKind,
    message: String,
    /// The kind of the system's error, if a system call failed.
    system: Option<io::ErrorKind>,
}

impl Error {
    /// Makes an error.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Error {
        Error { kind, message: message.into(), system: None }
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
        let system = Some(cause.kind());
        Error { system, ..Error::at(kind, path, &format!("cannot {operation}: {cause}")) }
    }

    fn at(kind: ErrorKind, path: &Path, message: &str) -> Error {
        Error::new(kind, format!("`{}`: {message}", path.display()))
    }

    /// Turns a missing file into a wrong request: for names that the user typed.
    pub(crate) fn lasting(self) -> Error {
        match self.system {
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
        Error::new(kind, error.to_string())
    }
}

impl From<CatalogueError> for Error {
    /// A catalogue that another process is writing may be free later.
    fn from(error: CatalogueError) -> Error {
        let kind = match error.kind() {
            CatalogueErrorKind::InUse => ErrorKind::Temporary,
            _ => ErrorKind::Usage,
        };
        Error::new(kind, error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cause_is_printed_once() {
        let cause = || io::Error::from(io::ErrorKind::NotFound);
        let error = Error::system(Path::new("job"), "open it", cause());
        assert_eq!(error.to_string(), format!("`job`: cannot open it: {}", cause()));
        assert!(std::error::Error::source(&error).is_none());
        assert_eq!(
            (error.kind(), error.lasting().kind()),
            (ErrorKind::Temporary, ErrorKind::Usage)
        );
        let advised = Error::damaged(Path::new("a"), "it is cut short").advised("run it again");
        assert_eq!(advised.to_string(), "`a`: it is cut short; run it again");
    }
}
