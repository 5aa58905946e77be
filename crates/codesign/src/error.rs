//! Why a file could not be looked at as signed code.
//!
//! In: what failed. Out: one opaque error. Must not know: what becomes of it. What is wrong with a
//! signature is a [`Finding`](crate::Finding); an [`Error`] is that there is nothing to look at, or
//! that the bytes do not arrive.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

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
    /// The structure is of a kind or a size that is not supported here.
    Unsupported,
    /// The question makes no sense for this file.
    Usage,
}

/// Why a file could not be looked at as signed code.
#[derive(Debug)]
pub struct Error {
    kind: ErrorKind,
    path: Option<PathBuf>,
    message: String,
    source: Option<io::Error>,
}

impl Error {
    /// Makes an error of a kind; the message is a lower-case fragment.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Error {
        Error { kind, path: None, message: message.into(), source: None }
    }

    /// Makes an error about a structure that contradicts itself.
    pub fn malformed(message: impl Into<String>) -> Error {
        Error::new(ErrorKind::Malformed, message)
    }

    /// Makes an error of a failed read. `doing` is an infinitive: "read the load commands".
    pub fn system(doing: &str, source: io::Error) -> Error {
        let message = format!("cannot {doing}");
        Error { source: Some(source), ..Error::new(ErrorKind::System, message) }
    }

    /// Names the path that the error is about.
    pub fn at(mut self, path: &Path) -> Error {
        self.path = Some(path.into());
        self
    }

    /// Returns what kind of thing went wrong.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// Returns the message alone, without path or cause.
    pub fn message(&self) -> &str {
        &self.message
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
    /// What lies beneath the cause: the cause itself is in the message.
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source.as_ref()?.source()
    }
}
