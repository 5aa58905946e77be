//! Why a command on a store could not be carried out. Trouble with one object is a finding, never
//! an [`Error`].

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use steadfast::catalogue::CatalogueError;

/// What kind of thing went wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// What was asked for makes no sense, or is not there to be had.
    Usage,
    /// The store does not accept who asks, or how.
    Refused,
    /// The store sent on to another place, where nothing is sent.
    Redirected,
    /// The store, or the way to it, did not answer, however often it was asked.
    Unreachable,
    /// What came as an answer is none.
    Malformed,
    /// A document cannot be read, or is not what it says.
    Document,
    /// It was told to stop before its end.
    Interrupted,
}

/// Why a command on a store could not be carried out.
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
    pub(crate) fn document(path: &Path, message: impl Into<String>) -> Error {
        let path = Some(path.to_owned());
        Error { kind: ErrorKind::Document, path, message: message.into(), source: None }
    }

    /// Makes an error of a failed system call. `doing` is an infinitive: "read it".
    pub(crate) fn system(path: &Path, doing: &str, source: io::Error) -> Error {
        let message = format!("cannot {doing}");
        let (kind, path) = (ErrorKind::Document, Some(path.to_owned()));
        Error { kind, path, message, source: Some(source) }
    }

    /// Returns what kind of thing went wrong.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }
}

impl From<steadfast::Error> for Error {
    fn from(error: steadfast::Error) -> Error {
        Error::new(ErrorKind::Document, error.to_string())
    }
}

impl From<CatalogueError> for Error {
    fn from(error: CatalogueError) -> Error {
        Error::new(ErrorKind::Document, error.to_string())
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(path) = &self.path {
            write!(f, "`{}`: ", path.display())?;
        }
        f.write_str(&self.message)?;
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
