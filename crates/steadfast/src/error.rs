//! Why a run could not begin or continue. An error of one file is in its event, never an [`Error`].

use std::error::Error as StdError;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use crate::advice::{Advice, with_advice};

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
    /// [`crate::UpdateOptions::accept_many`] accepts them.
    TooManyChanges,
}

/// Why a run could not begin or continue.
///
/// The message says all, also the system's reason. The [`source`](std::error::Error::source) is
/// for programs: the chain leads to the [`io::Error`] of the system, whose kind tells a file that
/// is not there from one that may not be read.
#[derive(Debug, thiserror::Error)]
#[error("{}", with_advice(&self.message(), .advice.as_ref()))]
pub struct Error {
    kind: ErrorKind,
    path: Option<PathBuf>,
    message: String,
    advice: Option<Box<Advice>>,
    source: Option<BoxedError>,
}

/// What an error was caused by.
pub(crate) type BoxedError = Box<dyn StdError + Send + Sync>;

/// Copies an error of the system, for one that must keep it.
pub(crate) fn copied(error: &io::Error) -> BoxedError {
    Box::new(match error.raw_os_error() {
        Some(code) => io::Error::from_raw_os_error(code),
        None => io::Error::new(error.kind(), error.to_string()),
    })
}

fn shown(path: Option<&Path>) -> String {
    path.map_or(String::new(), |path| format!("`{}`: ", path.display()))
}

impl Error {
    fn new(kind: ErrorKind, message: impl Into<String>) -> Error {
        Error { kind, path: None, message: message.into(), advice: None, source: None }
    }

    /// Makes an error about an option.
    pub fn usage(message: impl Into<String>) -> Error {
        Error::new(ErrorKind::Usage, message)
    }

    /// Makes an error of a failed system call. `operation` is an infinitive: "start a thread".
    pub fn system(operation: &str, source: io::Error) -> Error {
        let message = format!("cannot {operation}: {source}");
        Error::new(ErrorKind::System, message).caused_by(source)
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

    /// Adds what caused the error. The message must name it already.
    pub(crate) fn caused_by(mut self, cause: impl Into<BoxedError>) -> Error {
        self.source = Some(cause.into());
        self
    }

    /// Adds what to do next, which the message does not say.
    pub(crate) fn advise(mut self, advice: impl Into<Option<Advice>>) -> Error {
        self.advice = advice.into().map(Box::new);
        self
    }

    /// Returns what to do next.
    pub fn advice(&self) -> Option<&Advice> {
        self.advice.as_deref()
    }

    /// Returns the message without what to do next.
    pub fn message(&self) -> String {
        format!("{}{}", shown(self.path.as_deref()), self.message)
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
    #[test]
    fn the_cause_is_in_the_message_and_can_be_asked_for() {
        for (code, kind) in [(13, io::ErrorKind::PermissionDenied), (2, io::ErrorKind::NotFound)] {
            let cause = io::Error::from_raw_os_error(code);
            let text = format!("`a`: cannot open: {cause}");
            let error = Error::system("open", cause).at(Path::new("a"));
            assert_eq!(error.to_string(), text);
            let cause = error.source().and_then(|cause| cause.downcast_ref::<io::Error>());
            assert_eq!(cause.map(io::Error::kind), Some(kind));
        }
    }
}
