//! Why a server could not start. A failure of one request is a response, never an [`Error`].

use std::fmt::Display;
use std::io;

/// The kind of a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The configuration is contradictory or unsafe.
    Usage,
    /// A system call failed.
    System,
}

/// Why a server could not start.
///
/// The message says all, also the system's reason, which is the `source` for programs.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    kind: ErrorKind,
    message: String,
    source: Option<io::Error>,
}

impl Error {
    pub(crate) fn usage(message: impl Into<String>) -> Error {
        Error { kind: ErrorKind::Usage, message: message.into(), source: None }
    }

    /// `operation` is an infinitive: "listen".
    pub(crate) fn system(operation: impl Display, cause: io::Error) -> Error {
        let message = format!("cannot {operation}: {cause}");
        Error { kind: ErrorKind::System, message, source: Some(cause) }
    }

    /// Returns the kind of the failure.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cause_is_in_the_message_and_can_be_asked_for() {
        let cause = || io::Error::from(io::ErrorKind::AddrInUse);
        let error = Error::system("listen", cause());
        assert_eq!(error.to_string(), format!("cannot listen: {}", cause()));
        let source = std::error::Error::source(&error).and_then(|it| it.downcast_ref());
        assert_eq!(source.map(io::Error::kind), Some(io::ErrorKind::AddrInUse));
    }
}
