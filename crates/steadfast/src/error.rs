//! Why a run could not begin or continue. An error of one file is in its event, never an [`Error`].

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// The kind of an error that ends a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// An invalid option, or one that this machine does not support.
    Usage,
    /// The system refused something that the whole run needs.
    System,
    /// A document could not be read.
    Document,
    /// More files changed at once than are accepted unasked. Nothing was written.
    /// [`crate::Options::accept_many`] accepts them.
    TooManyChanges,
}

/// Why a run could not begin or continue.
///
/// The message contains the system's reason, so there is no `source`.
#[derive(Debug, thiserror::Error)]
#[error("{}{message}", shown(.path.as_deref()))]
pub struct Error {
    kind: ErrorKind,
    path: Option<PathBuf>,
    message: String,
}

fn shown(path: Option<&Path>) -> String {
    path.map_or(String::new(), |path| format!("`{}`: ", path.display()))
}

impl Error {
    fn new(kind: ErrorKind, message: impl Into<String>) -> Error {
        Error { kind, path: None, message: message.into() }
    }

    /// Makes an error about an option.
    pub fn usage(message: impl Into<String>) -> Error {
        Error::new(ErrorKind::Usage, message)
    }

    /// Makes an error of a failed system call. `operation` is an infinitive: "start a thread".
    pub fn system(operation: &str, source: io::Error) -> Error {
        Error::new(ErrorKind::System, format!("cannot {operation}: {source}"))
    }

    /// Makes an error about a document at a place.
    pub fn document(path: &Path, line: usize, message: impl fmt::Display) -> Error {
        Error::new(ErrorKind::Document, format!("line {line}: {message}")).at(path)
    }

    /// Makes the error of a run that would accept too many changes at once.
    pub(crate) fn too_many_changes(changed: u64, files: u64) -> Error {
        Error::new(
            ErrorKind::TooManyChanges,
            format!(
                "{changed} of {files} files are missing or modified at once: nothing was updated. \
                 Is the right volume mounted?"
            ),
        )
    }

    /// Adds the path that the error concerns.
    pub fn at(mut self, path: &Path) -> Error {
        self.path = Some(path.into());
        self
    }

    /// Returns the kind of the error.
    pub fn kind(&self) -> ErrorKind {
        self.kind
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
