//! Why a record, or a document, cannot be written.

use std::borrow::Cow;
use std::io;
use std::path::{Path, PathBuf};

/// The kind of an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The output failed. What was written so far is not a valid document.
    Io,
    /// The format is read only.
    ReadOnly,
    /// The format cannot represent this record. Nothing of it was written, and the writer can
    /// continue.
    Unwritable,
    /// There are no records, and the format needs some.
    Empty,
    /// No format has this name.
    UnknownFormat,
}

/// Why a record, or a document, cannot be written.
#[derive(Debug, thiserror::Error)]
#[error("{}{reason}", prefix(.path.as_deref()))]
pub struct Error {
    kind: ErrorKind,
    path: Option<PathBuf>,
    reason: Cow<'static, str>,
    source: Option<io::Error>,
}

impl Error {
    pub(crate) fn new(kind: ErrorKind, reason: impl Into<Cow<'static, str>>) -> Error {
        Error { kind, path: None, reason: reason.into(), source: None }
    }

    /// Makes the error for a format that is read only.
    pub fn read_only(format: impl std::fmt::Display) -> Error {
        Error::new(ErrorKind::ReadOnly, format!("the format `{format}` is never written"))
    }

    /// Makes the error for a record. `reason` says what the format lacks.
    pub fn unwritable(path: &Path, reason: impl Into<Cow<'static, str>>) -> Error {
        Error { path: Some(path.to_owned()), ..Error::new(ErrorKind::Unwritable, reason) }
    }

    /// Returns the kind of the error.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// Returns the file of the record that cannot be written.
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// Returns the reason without the path.
    pub fn reason(&self) -> &str {
        &self.reason
    }
}

fn prefix(path: Option<&Path>) -> String {
    path.map(|path| format!("`{}`: ", path.display())).unwrap_or_default()
}

impl From<io::Error> for Error {
    fn from(source: io::Error) -> Error {
        let error = Error::new(ErrorKind::Io, "cannot write the document");
        Error { source: Some(source), ..error }
    }
}

impl From<Error> for io::Error {
    fn from(error: Error) -> io::Error {
        match error.source {
            Some(source) => source,
            None => io::Error::new(io::ErrorKind::InvalidInput, error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::error::Error as _;

    #[test]
    fn a_source_is_said_once() {
        let error = Error::from(io::Error::other("the disk is gone"));
        assert_eq!(error.to_string(), "cannot write the document");
        assert_eq!(error.source().unwrap().to_string(), "the disk is gone");
        assert_eq!(io::Error::from(error).to_string(), "the disk is gone");
    }

    #[test]
    fn a_refusal_names_the_file() {
        let error = Error::unwritable(Path::new("a"), "the length is not known");
        assert_eq!(error.to_string(), "`a`: the length is not known");
        assert_eq!(
            (error.path(), error.reason()),
            (Some(Path::new("a")), "the length is not known")
        );
        assert!(error.source().is_none());
    }
}
