//! Why a run could not begin or go on. An error of one file is in its event, never an [`Error`].

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// What kind of thing stopped a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// An option that makes no sense, or asks for what this machine lacks.
    Usage,
    /// The system refused something that the whole run needs.
    System,
    /// A document could not be understood.
    Document,
}

/// Why a run could not begin or go on.
///
/// Its message includes that of the system's error, so [`std::error::Error::source`] goes on with
/// what lies behind that one and nothing is printed twice.
#[derive(Debug)]
pub struct Error {
    kind: ErrorKind,
    path: Option<PathBuf>,
    message: String,
    source: Option<io::Error>,
}

impl Error {
    /// Makes an error about an option.
    pub fn usage(message: impl Into<String>) -> Error {
        Error { kind: ErrorKind::Usage, path: None, message: message.into(), source: None }
    }

    /// Makes an error of a failed system call. `operation` is an infinitive: "start a thread".
    pub fn system(operation: &str, source: io::Error) -> Error {
        let message = format!("cannot {operation}");
        Error { kind: ErrorKind::System, path: None, message, source: Some(source) }
    }

    /// Makes an error about a document at a place.
    pub fn document(path: &Path, line: usize, message: impl fmt::Display) -> Error {
        let message = format!("line {line}: {message}");
        Error { kind: ErrorKind::Document, path: Some(path.into()), message, source: None }
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
        self.source.as_ref()?.source()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::error::Error as _;

    #[test]
    fn a_source_is_in_the_message_alone() {
        let denied = io::Error::from_raw_os_error(13);
        let error = Error::system("open", denied).at(Path::new("a"));
        assert_eq!(error.to_string(), "`a`: cannot open: Permission denied (os error 13)");
        assert!(error.source().is_none(), "whoever prints the chain would print it again");
    }
}
