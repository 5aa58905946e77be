//! The folder that holds a catalogue's files, kept open: the only way to any of them.
//!
//! Whoever can write to a tree can plant a symlink, a hard link or a fifo where a file of the
//! catalogue belongs. So the folder is opened once, no link in it is followed, and only regular
//! files that have no other name are used.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use steadfast_sys::file::{Dir, FileKind, Status};

use super::error::{CatalogueErrorKind, DbError};
use crate::tree_folder::FOLDER;

/// What follows a catalogue's name in the names of the files that SQLite keeps, itself first.
pub(super) const PARTS: [&str; 4] = ["", "-wal", "-shm", "-journal"];

/// The folder of a catalogue, and the catalogue's name in it.
#[derive(Debug)]
pub(super) struct Home {
    dir: Arc<Dir>,
    /// Where it is, without links.
    folder: PathBuf,
    name: OsString,
}

impl Home {
    /// Opens the folder of a catalogue, which need not be there itself.
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

    /// Says whether there is anything of that name, whatever it is.
    pub(super) fn has(&self, suffix: &str) -> bool {
        self.dir.status_of(&self.name(suffix)).is_ok()
    }

    /// Makes sure that of the files SQLite would open for a database, each is absent or a regular
    /// file without another name. `suffix` is the database's. Returns the path to open.
    pub(super) fn ensure_plain(&self, suffix: &str) -> Result<PathBuf, DbError> {
        for part in PARTS {
            let name = self.name(&format!("{suffix}{part}"));
            self.dir.status_of_own(&name).map_err(|error| planted(&name, &error))?;
        }
        Ok(self.folder.join(self.name(suffix)))
    }

    /// Makes sure that the folder's path still leads to the open folder. SQLite opens files by
    /// their paths.
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

/// Returns the folder of a path that the user may have given; the current one if it names none.
fn folder_of(file: &Path) -> &Path {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    folder.unwrap_or(Path::new("."))
}

/// Opens a folder that holds a catalogue and returns its path without links. The folder of a tree
/// must not be a link itself; another one is as the user named it.
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
             read or written in it; remove it, or leave it out with --no-catalogue"
        );
        return Err(DbError::new(CatalogueErrorKind::System, message));
    }
    Ok((dir, real))
}

/// Opens the folder that a catalogue is in.
///
/// # Errors
/// As those of [`super::Catalogue::open_reader`] if the folder is not one to be used.
pub(crate) fn folder(file: &Path) -> Result<Arc<Dir>, super::CatalogueError> {
    Home::open(file).map(|home| home.dir).map_err(|fault| fault.at(file))
}

/// Says whether something that is no directory stands where the folder of a tree belongs.
pub(super) fn is_blocked(folder: &Path) -> bool {
    Status::of_link(folder).is_ok_and(|status| status.kind != FileKind::Directory)
}

/// Makes a fault of a file that is not one of ours, or that cannot be looked at.
pub(super) fn planted(name: &OsStr, error: &io::Error) -> DbError {
    if error.kind() != io::ErrorKind::InvalidInput {
        return DbError::io("look at it", error);
    }
    let message = format!("`{}` is not used: {error}", name.to_string_lossy());
    DbError::new(CatalogueErrorKind::Planted, message)
}
