//! The error of this crate.

use std::io;
use std::path::Path;

use steadfast::catalogue::CatalogueError;

/// The kind of an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A value of a schedule or an alert is not valid, or there is no such alert.
    Usage,
    /// A file of schedules, of alerts, or of what was told is not valid.
    Config,
    /// There is no such schedule, or there is one already.
    Name,
    /// The system's timers could not be changed.
    Timer,
    /// A catalogue could not be read, or there is none.
    Catalogue,
    /// A message could not be delivered.
    Delivery,
    /// A system call failed.
    System,
}

/// Why a schedule or an alert cannot be made, read, changed or delivered. The message names the
/// place and what to do. It never contains a password, a token or the path of a URL, because
/// messages are logged. Its `source` is for programs: what failed, which the message says too.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    kind: ErrorKind,
    message: String,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl Error {
    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>) -> Error {
        Error { kind, message: message.into(), source: None }
    }

    /// Makes the error for a failed system call. `doing` is an infinitive: "read".
    pub(crate) fn system(doing: &str, path: &Path, error: &io::Error) -> Error {
        let message = format!("cannot {doing} `{}`: {error}", path.display());
        let cause = error.raw_os_error().map(io::Error::from_raw_os_error);
        let cause = cause.unwrap_or_else(|| io::Error::new(error.kind(), error.to_string()));
        Error { source: Some(cause.into()), ..Error::new(ErrorKind::System, message) }
    }

    /// Returns the kind of the error.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }
}

impl From<CatalogueError> for Error {
    fn from(error: CatalogueError) -> Error {
        let said = Error::new(ErrorKind::Catalogue, error.to_string());
        Error { source: Some(error.into()), ..said }
    }
}
