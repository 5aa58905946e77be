//! Which directories were other volumes and no longer are, so that nothing can be said of their
//! files.

use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rusqlite::Connection;

use steadfast_sys::file::Status;

use super::column;
use super::directory::{Directory, ROOT, child};
use super::error::DbError;
use super::{Catalogue, CatalogueError};

/// How many known names of a directory are looked for.
const SAMPLE_LEN: i64 = 32;

/// Whether the volume of a folder is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FolderVolume {
    /// The folder is on the volume on which the catalogue knows it, or is gone from it.
    Mounted,
    /// A directory at or above it was another volume and no longer is.
    Unmounted(PathBuf),
    /// The catalogue does not know the folder.
    NotKnown,
}

impl Catalogue {
    /// Says whether the volume of a folder, by its path from the root, is there.
    ///
    /// # Errors
    ///
    /// If the catalogue cannot be read.
    pub(crate) fn volume_of(&self, folder: &Path) -> Result<FolderVolume, CatalogueError> {
        volume_at(&self.db, &self.root, folder).map_err(|fault| fault.at(&self.file))
    }
}

/// Says whether the volume of a folder, by its path from the root, is there.
pub(super) fn volume_at(
    db: &Connection,
    root: &Path,
    folder: &Path,
) -> Result<FolderVolume, DbError> {
    let root_device = Status::of_link(root).map(|status| status.device).ok();
    let mut id = ROOT;
    let mut path = PathBuf::new();
    for name in folder {
        let Some(found) = child(db, id, name.as_bytes())? else {
            return Ok(FolderVolume::NotKnown);
        };
        path.push(name);
        if is_unmounted(db, &found, &root.join(&path), root_device)? {
            return Ok(FolderVolume::Unmounted(path));
        }
        id = found.id;
    }
    Ok(FolderVolume::Mounted)
}

/// Returns whether a directory used to be another volume and no longer is. One that has most of
/// its known contents was moved to this volume.
pub(super) fn is_unmounted(
    db: &Connection,
    directory: &Directory,
    path: &Path,
    root_device: Option<u64>,
) -> Result<bool, DbError> {
    if !directory.mounted {
        return Ok(false);
    }
    match Status::of_link(path) {
        Ok(status) if Some(status.device) == root_device => {}
        Ok(_) => return Ok(false),
        Err(error) => return Ok(is_absence(&error)),
    }
    let mut statement = db.prepare_cached(
        "SELECT * FROM (SELECT name FROM entries WHERE directory = ?1 LIMIT ?2) UNION ALL \
         SELECT * FROM (SELECT name FROM directories WHERE parent = ?1 LIMIT ?2)",
    )?;
    let mut rows = statement.query((directory.id, SAMPLE_LEN))?;
    let (mut known, mut there) = (0, 0);
    while let Some(row) = rows.next()? {
        known += 1;
        let name = OsStr::from_bytes(column::name(row, 0)?);
        there += u32::from(Status::of_link(&path.join(name)).is_ok());
    }
    Ok(there == 0 || 2 * there < known)
}

/// Returns whether an error means that the name does not exist.
pub(super) fn is_absence(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}
