//! Why a catalogue cannot be used.
//!
//! Inside the module, a [`DbError`] has no path. The code that opened the file adds it once.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use rusqlite::ffi::ErrorCode;

use crate::advice::{Advice, with_advice};
use crate::error::{BoxedError, Error, copied};

/// The kind of an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CatalogueErrorKind {
    /// There is no catalogue.
    Absent,
    /// There is none: the `init` that should have made it was not completed.
    Unfinished,
    /// There is one already.
    Exists,
    /// Its contents were not written by any version of this program.
    Damaged,
    /// Its version is not known to this program.
    Newer,
    /// Another process writes to it.
    InUse,
    /// Its tree is on another volume than the catalogue records, or in another directory.
    OtherVolume,
    /// Its tree is empty or does not exist.
    EmptyRoot,
    /// It cannot be written to.
    ReadOnly,
    /// This user may not read it.
    Unreadable,
    /// Its volume is full.
    Full,
    /// A link, or something else that is not a file of a catalogue, has its name.
    Planted,
    /// A path is not in its tree.
    Outside,
    /// A system call failed.
    System,
}

/// Why a catalogue cannot be used.
#[derive(Debug)]
pub struct CatalogueError {
    kind: CatalogueErrorKind,
    path: PathBuf,
    message: String,
    advice: Option<Box<Advice>>,
    cause: Option<BoxedError>,
}

impl CatalogueError {
    /// Returns the kind of the error.
    pub fn kind(&self) -> CatalogueErrorKind {
        self.kind
    }

    /// Returns what to do next.
    pub fn advice(&self) -> Option<&Advice> {
        self.advice.as_deref()
    }

    /// Returns the message without what to do next.
    pub fn message(&self) -> String {
        format!("`{}`: {}", self.path.display(), self.message)
    }

    /// Returns the path of the catalogue, or of the file that it refuses.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl fmt::Display for CatalogueError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&with_advice(&self.message(), self.advice()))
    }
}

impl std::error::Error for CatalogueError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.cause.as_deref().map(|cause| cause as _)
    }
}

impl From<CatalogueError> for Error {
    fn from(error: CatalogueError) -> Error {
        let advice = error.advice().cloned();
        let plain = Error::usage(error.message.clone()).at(&error.path).advise(advice);
        plain.caused_by(error)
    }
}

/// An error without its path.
#[derive(Debug)]
pub(super) struct DbError {
    kind: CatalogueErrorKind,
    message: String,
    advice: Option<Box<Advice>>,
    cause: Option<BoxedError>,
}

impl DbError {
    pub(super) fn new(kind: CatalogueErrorKind, message: impl Into<String>) -> DbError {
        DbError { kind, message: message.into(), advice: None, cause: None }
    }

    /// Makes the error for contents that no version of this program wrote.
    pub(super) fn damaged(what: impl fmt::Display) -> DbError {
        let message = format!("the catalogue is damaged: {what}");
        DbError::new(CatalogueErrorKind::Damaged, message)
    }

    /// Makes the error for a full disk or an exhausted quota.
    pub(super) fn full() -> DbError {
        let message = "cannot write the catalogue: no space is left on its volume";
        DbError::new(CatalogueErrorKind::Full, message)
    }

    /// Makes the error for a failed system call. `doing` is an infinitive.
    pub(super) fn io(doing: &str, error: &io::Error) -> DbError {
        let kind = match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                return DbError::full().caused_by(copied(error));
            }
            io::ErrorKind::NotFound => CatalogueErrorKind::Absent,
            io::ErrorKind::AlreadyExists => CatalogueErrorKind::Exists,
            io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::PermissionDenied => {
                CatalogueErrorKind::ReadOnly
            }
            _ => CatalogueErrorKind::System,
        };
        DbError::new(kind, format!("cannot {doing}: {error}")).caused_by(copied(error))
    }

    /// Adds what to do next.
    pub(super) fn advise(self, advice: Advice) -> DbError {
        DbError { advice: Some(Box::new(advice)), ..self }
    }

    /// Adds what caused the error.
    pub(super) fn caused_by(self, cause: BoxedError) -> DbError {
        DbError { cause: Some(cause), ..self }
    }

    pub(super) fn kind(&self) -> CatalogueErrorKind {
        self.kind
    }

    pub(super) fn is_damage(&self) -> bool {
        self.kind == CatalogueErrorKind::Damaged
    }

    pub(super) fn message(&self) -> &str {
        &self.message
    }

    /// Adds the path.
    pub(super) fn at(self, path: &Path) -> CatalogueError {
        let DbError { kind, message, advice, cause } = self;
        CatalogueError { kind, path: path.to_owned(), message, advice, cause }
    }
}

impl From<rusqlite::Error> for DbError {
    fn from(error: rusqlite::Error) -> DbError {
        let kind = match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
                return DbError::damaged(error);
            }
            Some(ErrorCode::DiskFull) => return DbError::full(),
            // More than the bounds of `schema.rs` and `work.rs`.
            Some(ErrorCode::TooBig | ErrorCode::OperationInterrupted) => {
                return DbError::damaged(error);
            }
            Some(ErrorCode::ReadOnly) => CatalogueErrorKind::ReadOnly,
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
                let message = "in use: another program has it open, and has not closed it for 10 s";
                let fault = DbError::new(CatalogueErrorKind::InUse, message);
                return fault.caused_by(error.into());
            }
            // A table or a column differs from the schema, or has another type.
            None | Some(ErrorCode::Unknown | ErrorCode::TypeMismatch) => {
                return DbError::damaged(error);
            }
            Some(_) => CatalogueErrorKind::System,
        };
        let message = format!("cannot use the catalogue: {error}");
        DbError::new(kind, message).caused_by(error.into())
    }
}
