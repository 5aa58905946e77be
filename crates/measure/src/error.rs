//! Why a measurement could not begin or go on, or a record not be read.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// What kind of thing stopped a measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// An option that makes no sense, or asks for what this machine lacks.
    Usage,
    /// The system refused something that the measurement needs.
    System,
    /// A record that is none, or not of a kind this version reads.
    Record,
    /// What was measured gave a wrong answer: no figure of it may be shown.
    Wrong,
}

/// Why a measurement could not begin or go on, or a record not be read.
///
/// The message contains the reason that the system gave, so there is no `source`.
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

    /// Makes an error about an option, or about what this machine cannot do.
    pub fn usage(message: impl Into<String>) -> Error {
        Error::new(ErrorKind::Usage, message)
    }

    /// Makes an error of a workload that is to be measured no times.
    pub(crate) fn no_rounds() -> Error {
        Error::usage("there is nothing to measure in no rounds")
    }

    /// Makes an error of a failed system call. `doing` is an infinitive: "write a file".
    pub fn system(doing: &str, source: io::Error) -> Error {
        Error::new(ErrorKind::System, format!("cannot {doing}: {source}"))
    }

    /// Makes an error about a place in a record, as `series[2].samples[0].elapsed_ns`.
    pub fn record(place: &str, message: impl fmt::Display) -> Error {
        let message = match place {
            "" | "." => message.to_string(),
            place => format!("at {place}: {message}"),
        };
        Error::new(ErrorKind::Record, message)
    }

    /// Makes an error of a result that is not what it must be.
    pub fn wrong(message: impl Into<String>) -> Error {
        Error::new(ErrorKind::Wrong, message)
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

impl From<steadfast::Error> for Error {
    fn from(error: steadfast::Error) -> Error {
        let kind = match error.kind() {
            steadfast::ErrorKind::Usage => ErrorKind::Usage,
            _ => ErrorKind::System,
        };
        Error::new(kind, error.to_string())
    }
}
