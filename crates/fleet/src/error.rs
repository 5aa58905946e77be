//! Why a command on a job could not be carried out. Trouble with one file is a row, never an
//! [`Error`].

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use steadfast::catalogue::{CatalogueError, CatalogueErrorKind};

/// What kind of thing went wrong, and so whether to try again makes sense.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// What was asked for makes no sense, or is not there to be had: the same again would end the
    /// same.
    Usage,
    /// A document of the job is not as it was written: somebody must look.
    Damaged,
    /// Something may be otherwise later, or on another machine: a full disk, a folder that is not
    /// mounted.
    Temporary,
    /// It was told to stop before its end.
    Interrupted,
}

/// Why a command on a job could not be carried out.
#[derive(Debug)]
pub struct Error {
    kind: ErrorKind,
    path: Option<PathBuf>,
    message: String,
    source: Option<io::Error>,
}

impl Error {
    /// Makes an error.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Error {
        Error { kind, path: None, message: message.into(), source: None }
    }

    /// Makes an error about what was asked for.
    pub fn usage(message: impl Into<String>) -> Error {
        Error::new(ErrorKind::Usage, message)
    }

    /// Makes an error about a document.
    pub fn damaged(path: &Path, message: impl Into<String>) -> Error {
        let path = Some(path.to_owned());
        Error { kind: ErrorKind::Damaged, path, message: message.into(), source: None }
    }

    /// Makes an error of what may be otherwise later.
    pub fn temporary(path: &Path, message: impl Into<String>) -> Error {
        let path = Some(path.to_owned());
        Error { kind: ErrorKind::Temporary, path, message: message.into(), source: None }
    }

    /// Makes an error of a failed system call. `doing` is an infinitive: "read it". What is in the
    /// place of a folder will not go away by itself.
    pub(crate) fn system(path: &Path, doing: &str, source: io::Error) -> Error {
        let message = format!("cannot {doing}");
        let kind = match source.kind() {
            io::ErrorKind::NotADirectory | io::ErrorKind::AlreadyExists => ErrorKind::Usage,
            _ => ErrorKind::Temporary,
        };
        let path = Some(path.to_owned());
        Error { kind, path, message, source: Some(source) }
    }

    /// Makes of what is not there what will not come by itself.
    pub(crate) fn lasting(self) -> Error {
        match self.source.as_ref().map(io::Error::kind) {
            Some(io::ErrorKind::NotFound) => Error { kind: ErrorKind::Usage, ..self },
            _ => self,
        }
    }

    /// Adds what is to be done.
    pub(crate) fn advised(self, advice: &str) -> Error {
        Error { message: format!("{}; {advice}", self.message), ..self }
    }

    /// Returns what kind of thing went wrong.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }
}

impl From<steadfast::Error> for Error {
    /// What the system refused may be had later; what makes no sense will make none.
    fn from(error: steadfast::Error) -> Error {
        let kind = match error.kind() {
            steadfast::ErrorKind::System => ErrorKind::Temporary,
            _ => ErrorKind::Usage,
        };
        Error { kind, path: None, message: error.to_string(), source: None }
    }
}

impl From<CatalogueError> for Error {
    /// What a catalogue fails of may pass only where somebody else is writing to it.
    fn from(error: CatalogueError) -> Error {
        let kind = match error.kind() {
            CatalogueErrorKind::InUse => ErrorKind::Temporary,
            _ => ErrorKind::Usage,
        };
        Error::new(kind, error.to_string())
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(path) = &self.path {
            write!(f, "`{}`: ", path.display())?;
        }
        write!(f, "{}", self.message)?;
        match &self.source {
            Some(source) => write!(f, ": {source}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source.as_ref().map(|source| source as _)
    }
}
