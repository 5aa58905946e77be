//! Why a catalogue cannot be used, or not further.
//!
//! Inside the module a [`DbError`] has no path; whoever opened the file adds it, once.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use rusqlite::ffi::ErrorCode;

/// What kind of thing is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CatalogueErrorKind {
    /// There is no catalogue.
    Absent,
    /// There is none: the `init` that was to make it did not come to its end.
    Unfinished,
    /// There is one already.
    Exists,
    /// It holds what no version of this program wrote.
    Damaged,
    /// It is of a version that this program does not know.
    Newer,
    /// Somebody else writes to it.
    InUse,
    /// Its tree is on another volume than the one it was made for, or in another directory.
    OtherVolume,
    /// Its tree holds nothing at all, or is not there.
    EmptyRoot,
    /// It cannot be written to.
    ReadOnly,
    /// The volume that it is on is full.
    Full,
    /// A link, or something else that is no file of a catalogue, stands in the place of one.
    Planted,
    /// A path is not in its tree.
    Outside,
    /// The system refused something.
    System,
}

/// Why a catalogue cannot be used.
#[derive(Debug)]
pub struct CatalogueError {
    kind: CatalogueErrorKind,
    path: PathBuf,
    message: String,
}

impl CatalogueError {
    /// Returns what kind of thing is wrong.
    pub fn kind(&self) -> CatalogueErrorKind {
        self.kind
    }

    /// Returns the path of the catalogue, or of what it refuses.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl fmt::Display for CatalogueError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`: {}", self.path.display(), self.message)
    }
}

impl std::error::Error for CatalogueError {}

impl From<CatalogueError> for crate::Error {
    fn from(error: CatalogueError) -> crate::Error {
        crate::Error::usage(error.message).at(&error.path)
    }
}

/// What is wrong, before anyone says where.
#[derive(Debug)]
pub(super) struct DbError {
    kind: CatalogueErrorKind,
    message: String,
}

impl DbError {
    pub(super) fn new(kind: CatalogueErrorKind, message: impl Into<String>) -> DbError {
        DbError { kind, message: message.into() }
    }

    /// Makes a fault of contents that no version of this program wrote.
    pub(super) fn damaged(what: impl fmt::Display) -> DbError {
        let message = format!("the catalogue is damaged: {what}");
        DbError { kind: CatalogueErrorKind::Damaged, message }
    }

    /// Makes a fault of a full disk, or of a quota that is used up.
    pub(super) fn full() -> DbError {
        let message = "cannot write the catalogue: no space is left on its volume";
        DbError { kind: CatalogueErrorKind::Full, message: message.to_owned() }
    }

    /// Makes a fault of a failed system call. `doing` is an infinitive.
    pub(super) fn io(doing: &str, error: &io::Error) -> DbError {
        let kind = match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => return DbError::full(),
            io::ErrorKind::NotFound => CatalogueErrorKind::Absent,
            io::ErrorKind::AlreadyExists => CatalogueErrorKind::Exists,
            io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::PermissionDenied => {
                CatalogueErrorKind::ReadOnly
            }
            _ => CatalogueErrorKind::System,
        };
        DbError { kind, message: format!("cannot {doing}: {error}") }
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

    /// Says where it is.
    pub(super) fn at(self, path: &Path) -> CatalogueError {
        CatalogueError { kind: self.kind, path: path.to_owned(), message: self.message }
    }
}

impl From<rusqlite::Error> for DbError {
    fn from(error: rusqlite::Error) -> DbError {
        let kind = match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
                return DbError::damaged(error);
            }
            Some(ErrorCode::DiskFull) => return DbError::full(),
            // The file of the memory that connections share could not grow.
            Some(_) if is_extended(&error, rusqlite::ffi::SQLITE_IOERR_SHMSIZE) => {
                return DbError::full();
            }
            Some(ErrorCode::ReadOnly) => CatalogueErrorKind::ReadOnly,
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => CatalogueErrorKind::InUse,
            // A table or a column is not as it was made, or holds another type.
            None | Some(ErrorCode::Unknown | ErrorCode::TypeMismatch) => {
                return DbError::damaged(error);
            }
            Some(_) => CatalogueErrorKind::System,
        };
        DbError { kind, message: format!("cannot use the catalogue: {error}") }
    }
}

/// Says whether an error of SQLite has this extended code.
fn is_extended(error: &rusqlite::Error, code: i32) -> bool {
    error.sqlite_error().is_some_and(|error| error.extended_code == code)
}
