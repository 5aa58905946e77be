//! Which directories were other volumes and no longer are, so that nothing can be said of their
//! files.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use steadfast_sys::names::NameBytes as _;

use super::column;
use super::directory::{Directory, ROOT, child};
use super::error::DbError;
use super::{Catalogue, CatalogueError};
use crate::beneath::{Places, Presence};

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
        let find = || volume_at(&self.db, &mut self.places()?, folder);
        find().map_err(|fault| fault.at(&self.file))
    }

    /// Opens the root of the tree.
    pub(super) fn places(&self) -> Result<Places, DbError> {
        Places::beneath(&self.root).map_err(|error| DbError::io("open its root", &error))
    }
}

/// Says whether the volume of a folder, by its path from the root, is there.
pub(super) fn volume_at(
    db: &Connection,
    places: &mut Places,
    folder: &Path,
) -> Result<FolderVolume, DbError> {
    let mut id = ROOT;
    let mut path = PathBuf::new();
    for name in folder {
        let Some(found) = child(db, id, name.as_bytes())? else {
            return Ok(FolderVolume::NotKnown);
        };
        path.push(name);
        if is_unmounted(db, &found, &path, places)? {
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
    places: &mut Places,
) -> Result<bool, DbError> {
    if !directory.mounted {
        return Ok(false);
    }
    let root_device = places.root().status().map(|status| status.device).ok();
    match places.presence(path) {
        Presence::There(status) if Some(status.device) == root_device => {}
        presence => return Ok(presence.is_lost()),
    }
    let mut statement = db.prepare_cached(
        "SELECT * FROM (SELECT name FROM known_files WHERE directory = ?1 LIMIT ?2) UNION ALL \
         SELECT * FROM (SELECT name FROM directories WHERE parent = ?1 LIMIT ?2)",
    )?;
    let mut rows = statement.query((directory.id, SAMPLE_LEN))?;
    let (mut known, mut there) = (0, 0);
    while let Some(row) = rows.next()? {
        known += 1;
        let name = OsStr::from_bytes(column::name(row, 0)?);
        there += u32::from(places.presence(&path.join(name)).status().is_some());
    }
    Ok(there == 0 || 2 * there < known)
}
