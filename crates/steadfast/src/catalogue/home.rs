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

use steadfast_sys::file::{Dir, FileKind};

use super::error::{CatalogueErrorKind, DbError};
use crate::advice::Advice;
use crate::beneath;
use crate::error::copied;
use crate::tree_folder::FOLDER;

/// Suffixes of the files that SQLite uses for a database, the database first.
pub(super) const PARTS: [&str; 4] = ["", "-wal", "-shm", "-journal"];

/// The folder of a catalogue, and the catalogue's name in it.
#[derive(Clone, Debug)]
pub(super) struct Home {
    dir: Arc<Dir>,
    /// The root of the tree, if the folder is in one.
    above: Option<Arc<Dir>>,
    /// Its path, without links.
    folder: PathBuf,
    name: OsString,
}

impl Home {
    /// Opens the folder of a catalogue. The catalogue itself need not exist.
    pub(super) fn open(file: &Path) -> Result<Home, DbError> {
        hold(file, false)
    }

    /// Opens the folder for a new catalogue, and makes it if it is absent.
    pub(super) fn make(file: &Path) -> Result<Home, DbError> {
        hold(file, true)
    }

    /// Removes the folder from its tree, if nothing is in it.
    pub(super) fn remove_if_empty(&self) {
        let _ = self.above.as_ref().map(|above| above.remove_dir(OsStr::new(FOLDER)));
    }

    /// Returns the open folder.
    pub(super) fn dir(&self) -> &Arc<Dir> {
        &self.dir
    }

    /// Returns the path of the folder, without links.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the root of the tree that it is in, if it is the folder of a tree.
    pub(super) fn tree(&self) -> Option<&Path> {
        self.folder.parent().filter(|_| self.folder.ends_with(FOLDER))
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

    /// Returns the length of the catalogue and its log.
    pub(super) fn length(&self) -> u64 {
        let length = |suffix| self.dir.status_of(&self.name(suffix)).map_or(0, |it| it.length);
        length("") + length("-wal")
    }

    /// Checks the files that SQLite would open for a database: each must be absent, or a regular
    /// file with a single name, and there is no journal. `suffix` is that of the database.
    pub(super) fn ensure_plain(&self, suffix: &str) -> Result<(), DbError> {
        for part in PARTS {
            let name = self.name(&format!("{suffix}{part}"));
            let found = self.dir.status_of_own(&name).map_err(|error| planted(&name, &error))?;
            if found.is_some() && part == "-journal" {
                let reason = "it is not of a catalogue, and other programs would apply it";
                return Err(planted(&name, &io::Error::new(io::ErrorKind::InvalidInput, reason)));
            }
        }
        Ok(())
    }
}

/// Returns the folder of a path that the user gave; the current one if it has none.
fn folder_of(file: &Path) -> &Path {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    folder.unwrap_or(Path::new("."))
}

/// Opens a folder with a catalogue, by its path without links. The folder in a tree must not be a
/// link itself; a folder that the user named may be one. `makes`: whether the folder is made if it
/// is absent.
fn hold(file: &Path, makes: bool) -> Result<Home, DbError> {
    let Some(name) = file.file_name() else {
        return Err(DbError::new(CatalogueErrorKind::System, "the path names no file"));
    };
    let folder = folder_of(file);
    let is_of_tree = folder.file_name() == Some(OsStr::new(FOLDER));
    let outer = if is_of_tree { folder_of(folder) } else { folder };
    let find = |error| DbError::io("find its folder", &error);
    if makes && !is_of_tree {
        match fs::create_dir(outer) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                return Err(DbError::io("make its folder", &error));
            }
            _ => {}
        }
    }
    let real = outer.canonicalize().map_err(find)?;
    let opened = Dir::open_real(&real).map_err(|error| DbError::io("open its folder", &error))?;
    let name = name.to_owned();
    if !is_of_tree {
        return Ok(Home { dir: Arc::new(opened), above: None, folder: real, name });
    }
    let folder = real.join(FOLDER);
    let there = opened.status_of(OsStr::new(FOLDER));
    if there.is_ok_and(|status| status.kind != FileKind::Directory) {
        let message = format!(
            "`{FOLDER}` is a symbolic link or another thing that is no directory: nothing is read \
             or written there; remove it"
        );
        return Err(DbError::new(CatalogueErrorKind::System, message));
    }
    let dir = match makes {
        true => opened.make_dir(OsStr::new(FOLDER)),
        false => opened.open_dir(OsStr::new(FOLDER)),
    };
    let dir = dir.map_err(|error| DbError::io("open its folder", &error))?;
    let strange = dir.is_strangers().map_err(|error| DbError::io("look at its folder", &error))?;
    if strange {
        let message = format!(
            "`{FOLDER}` belongs to another user, and anyone could have put it there: nothing is \
             read or written in it"
        );
        let error = DbError::new(CatalogueErrorKind::System, message);
        return Err(error.advise(Advice::RemoveOrUseNoCatalogue));
    }
    Ok(Home { dir: Arc::new(dir), above: Some(Arc::new(opened)), folder, name })
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
    beneath::presence_of(folder).status().is_some_and(|it| it.kind != FileKind::Directory)
}

/// Makes the error for a file that is not one of the catalogue's, or cannot be examined.
pub(super) fn planted(name: &OsStr, error: &io::Error) -> DbError {
    if error.kind() != io::ErrorKind::InvalidInput {
        return DbError::io("look at it", error);
    }
    let message = format!("`{}` is not used: {error}", name.to_string_lossy());
    DbError::new(CatalogueErrorKind::Planted, message).caused_by(copied(error))
}
