//! The folder of a catalogue's files, kept open. All access to these files goes through it.
//!
//! An attacker with write access to a tree can plant a symlink, a hard link or a fifo with the name
//! of a catalogue's file. Therefore the folder is opened once, no link in it is followed, and only
//! regular files with a single name are used.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use steadfast_sys::file::{Dir, FileKind, Status};

use super::error::{CatalogueErrorKind, DbError};
use crate::advice::Advice;
use crate::error::copied;
use crate::tree_folder::FOLDER;

/// Suffixes of the files that SQLite uses for a database, the database first.
pub(super) const PARTS: [&str; 4] = ["", "-wal", "-shm", "-journal"];

/// The folder of a catalogue, and the catalogue's name in it.
#[derive(Debug)]
pub(super) struct Home {
    dir: Arc<Dir>,
    /// Its path, without links.
    folder: PathBuf,
    name: OsString,
}

impl Home {
    /// Opens the folder of a catalogue. The catalogue itself need not exist.
    pub(super) fn open(file: &Path) -> Result<Home, DbError> {
        let Some(name) = file.file_name() else {
            return Err(DbError::new(CatalogueErrorKind::System, "the path names no file"));
        };
        let (dir, folder) = hold(folder_of(file))?;
        Ok(Home { dir: Arc::new(dir), folder, name: name.to_owned() })
    }

    /// Opens the folder for a new catalogue, and makes it if it is absent.
    pub(super) fn make(file: &Path) -> Result<Home, DbError> {
        match fs::create_dir(folder_of(file)) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                Err(DbError::io("make its folder", &error))
            }
            _ => Home::open(file),
        }
    }

    /// Returns the open folder.
    pub(super) fn dir(&self) -> &Arc<Dir> {
        &self.dir
    }

    /// Returns the path of the folder, without links.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the name of a file beside the catalogue, in the folder.
    pub(super) fn name(&self, suffix: &str) -> OsString {
        let mut name = self.name.clone();
        name.push(suffix);
        name
    }

    /// Returns whether anything has that name.
    pub(super) fn has(&self, suffix: &str) -> bool {
        self.dir.status_of(&self.name(suffix)).is_ok()
    }

    /// Checks the files that SQLite would open for a database: each must be absent, or a regular
    /// file with a single name. `suffix` is that of the database. Returns the path to open.
    pub(super) fn ensure_plain(&self, suffix: &str) -> Result<PathBuf, DbError> {
        for part in PARTS {
            let name = self.name(&format!("{suffix}{part}"));
            self.dir.status_of_own(&name).map_err(|error| planted(&name, &error))?;
        }
        Ok(self.folder.join(self.name(suffix)))
    }

    /// Checks that the path of the folder still leads to the open folder, because SQLite opens
    /// files by path.
    pub(super) fn ensure_here(&self) -> Result<(), DbError> {
        let identity = |dir: Dir| dir.status().map(|status| (status.device, status.inode));
        let held = self.dir.status().map(|status| (status.device, status.inode));
        match (held, Dir::open_itself(&self.folder).and_then(identity)) {
            (Ok(held), Ok(there)) if held == there => Ok(()),
            (Err(error), _) | (_, Err(error)) => Err(DbError::io("look at its folder", &error)),
            _ => {
                let message = "its folder was replaced while it was opened";
                Err(DbError::new(CatalogueErrorKind::System, message))
            }
        }
    }
}

/// Returns the folder of a path that the user gave; the current one if it has none.
fn folder_of(file: &Path) -> &Path {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    folder.unwrap_or(Path::new("."))
}

/// Opens a folder with a catalogue and returns its path without links. The folder in a tree must
/// not be a link itself; a folder that the user named may be one.
fn hold(folder: &Path) -> Result<(Dir, PathBuf), DbError> {
    let is_of_tree = folder.file_name() == Some(OsStr::new(FOLDER));
    let real = match is_of_tree {
        true => folder_of(folder).canonicalize().map(|above| above.join(FOLDER)),
        false => folder.canonicalize(),
    };
    let real = real.map_err(|error| DbError::io("find its folder", &error))?;
    if is_of_tree && is_blocked(&real) {
        let message = format!(
            "`{FOLDER}` is a symbolic link or another thing that is no directory: nothing is read \
             or written there; remove it"
        );
        return Err(DbError::new(CatalogueErrorKind::System, message));
    }
    let dir = Dir::open_itself(&real).map_err(|error| DbError::io("open its folder", &error))?;
    let strange = dir.is_strangers().map_err(|error| DbError::io("look at its folder", &error))?;
    if is_of_tree && strange {
        let message = format!(
            "`{FOLDER}` belongs to another user, and anyone could have put it there: nothing is \
             read or written in it"
        );
        let error = DbError::new(CatalogueErrorKind::System, message);
        return Err(error.advise(Advice::RemoveOrUseNoCatalogue));
    }
    Ok((dir, real))
}

/// Opens the folder of a catalogue.
///
/// # Errors
///
/// Those of [`super::Catalogue::open_reader`] about the folder.
pub(crate) fn folder(file: &Path) -> Result<Arc<Dir>, super::CatalogueError> {
    Home::open(file).map(|home| home.dir).map_err(|fault| fault.at(file))
}

/// Returns whether something other than a directory has the name of the folder in a tree.
pub(super) fn is_blocked(folder: &Path) -> bool {
    Status::of_link(folder).is_ok_and(|status| status.kind != FileKind::Directory)
}

/// Makes the error for a file that is not one of the catalogue's, or cannot be examined.
pub(super) fn planted(name: &OsStr, error: &io::Error) -> DbError {
    if error.kind() != io::ErrorKind::InvalidInput {
        return DbError::io("look at it", error);
    }
    let message = format!("`{}` is not used: {error}", name.to_string_lossy());
    DbError::new(CatalogueErrorKind::Planted, message).caused_by(copied(error))
}
