//! The error of this crate.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// The kind of an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// An option is not valid, or this machine does not support it.
    Usage,
    /// A system call failed that the measurement needs.
    System,
    /// A document is not a record, or not one that this version reads.
    Record,
    /// The measured work gave a wrong result, so no figure of it may be shown.
    Wrong,
}

/// Why a measurement failed, or a record could not be read.
///
/// The message says all, also the system's reason, which is the `source` for programs.
#[derive(Debug, thiserror::Error)]
#[error("{}{message}", shown(.path.as_deref()))]
pub struct Error {
    kind: ErrorKind,
    path: Option<PathBuf>,
    message: String,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

fn shown(path: Option<&Path>) -> String {
    path.map_or(String::new(), |path| format!("`{}`: ", path.display()))
}

impl Error {
    fn new(kind: ErrorKind, message: impl Into<String>) -> Error {
        Error { kind, path: None, message: message.into(), source: None }
    }

    /// Makes an error about an option, or about what this machine cannot do.
    pub fn usage(message: impl Into<String>) -> Error {
        Error::new(ErrorKind::Usage, message)
    }

    /// Makes an error for a failed system call. `doing` is an infinitive: "write a file".
    pub fn system(doing: &str, source: io::Error) -> Error {
        let error = Error::new(ErrorKind::System, format!("cannot {doing}: {source}"));
        Error { source: Some(source.into()), ..error }
    }

    /// Makes an error about a place in a record, as `series[2].samples[0].elapsed_ns`.
    pub fn record(place: &str, message: impl fmt::Display) -> Error {
        let message = match place {
            "" | "." => message.to_string(),
            place => format!("at {place}: {message}"),
        };
        Error::new(ErrorKind::Record, message)
    }

    /// Makes an error for a wrong result.
    pub fn wrong(message: impl Into<String>) -> Error {
        Error::new(ErrorKind::Wrong, message)
    }

    /// Adds the path that the error is about.
    pub fn at(mut self, path: &Path) -> Error {
        self.path = Some(path.into());
        self
    }

    /// Returns the kind of the error.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }
}

impl From<steadfast::Error> for Error {
    fn from(error: steadfast::Error) -> Error {
        let kind = match error.kind() {
            steadfast::ErrorKind::Usage => ErrorKind::Usage,
            _ => ErrorKind::System,
        };
        let said = Error::new(kind, error.to_string());
        Error { source: Some(error.into()), ..said }
    }
}
