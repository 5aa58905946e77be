//! Why a server could not begin. Trouble with one request is an answer, never an [`Error`].

use std::fmt;
use std::io;

/// What kind of thing kept a server from beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// It was asked for something that makes no sense, or is not safe.
    Usage,
    /// The system refused something.
    System,
}

/// Why a server could not begin.
#[derive(Debug)]
pub struct Error {
    kind: ErrorKind,
    message: String,
    source: Option<io::Error>,
}

impl Error {
    pub(crate) fn usage(message: impl Into<String>) -> Error {
        Error { kind: ErrorKind::Usage, message: message.into(), source: None }
    }

    /// `doing` is an infinitive: "listen".
    pub(crate) fn system(doing: impl fmt::Display, source: io::Error) -> Error {
        let message = format!("cannot {doing}");
        Error { kind: ErrorKind::System, message, source: Some(source) }
    }

    /// Returns what kind of thing went wrong.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.source {
            Some(source) => write!(f, "{}: {source}", self.message),
            None => f.write_str(&self.message),
        }
    }
}

impl std::error::Error for Error {
    /// What lies beneath the cause: the cause itself is in the message.
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source.as_ref()?.source()
    }
}
