//! Identifies the volume of a tree, so that another or an absent volume in its place is not taken
//! for a mass deletion.
//!
//! Takes the open root; returns its identity, or the reason why it is not the tree's root.

use std::ops::ControlFlow;
use std::path::Path;

use rusqlite::Connection;
use steadfast_sys::names::NameBytes as _;

use steadfast_sys::file::{Dir, File, FileKind};

use super::directory::{Paths, ROOT};
use super::error::{CatalogueErrorKind, DbError};
use super::{column, meta};
use crate::advice::Advice;
use crate::beneath::Places;
use crate::tree_folder::FOLDER;
use crate::walk::volume::is_own_name;

/// The identity of a volume.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeVolume {
    /// The file system's name, as in "ext4".
    pub file_system: String,
    /// Its identifier. Some systems number volumes anew on each mount.
    pub id: u64,
    /// The inode of the tree's root.
    pub root_inode: u64,
}

/// File systems that number inodes anew: on each mount, or when a file was not used for a while.
const PASSING_INODES: [&str; 10] =
    ["vfat", "msdos", "exfat", "ntfs", "ntfs3", "fuse", "cifs", "smb3", "smbfs", "9p"];

/// File systems whose identifier is stored in them. Others are numbered anew, by their device.
const STORED_IDS: [&str; 5] = ["ext2", "ext3", "ext4", "btrfs", "zfs"];

/// Files that are compared if the identifier differs.
const SAMPLE_LEN: i64 = 32;

/// Returns whether a file of a file system with this name keeps its inode as long as it exists.
pub(crate) fn keeps_inodes(file_system: &str) -> bool {
    !PASSING_INODES.contains(&file_system) && !file_system.starts_with("fuse")
}

impl TreeVolume {
    /// Examines the root of a tree.
    pub(super) fn of(root: &Path) -> Result<TreeVolume, DbError> {
        let facts = File::open(root).and_then(|file| {
            let status = file.status()?;
            if status.kind != FileKind::Directory {
                return Err(std::io::ErrorKind::NotADirectory.into());
            }
            Ok((file.file_system()?, file.volume_id()?, status.inode))
        });
        let (file_system, id, root_inode) = facts.map_err(|error| {
            let message = format!("its root `{}` cannot be opened: {error}", root.display());
            DbError::new(CatalogueErrorKind::EmptyRoot, message)
        })?;
        Ok(TreeVolume { file_system: file_system.name, id, root_inode })
    }

    pub(super) fn load(db: &Connection) -> Result<TreeVolume, DbError> {
        Ok(TreeVolume {
            file_system: meta::text(db, "file_system")?,
            id: meta::integer(db, "volume")?.cast_unsigned(),
            root_inode: meta::integer(db, "root_inode")?.cast_unsigned(),
        })
    }

    /// Returns whether it is the same volume, whatever directory of it is the root.
    pub(super) fn is_same(&self, other: &TreeVolume) -> bool {
        (&self.file_system, self.id) == (&other.file_system, other.id)
    }

    /// Returns whether it is the same folder, or may be on a volume that was numbered anew.
    pub(super) fn may_be(&self, other: &TreeVolume) -> bool {
        let has_inode = self.root_inode == other.root_inode || !self.keeps_inodes();
        let has_id = self.id == other.id || !STORED_IDS.contains(&&*self.file_system);
        self.file_system == other.file_system && has_inode && has_id
    }

    /// Returns whether a file keeps its inode as long as it exists.
    pub(super) fn keeps_inodes(&self) -> bool {
        keeps_inodes(&self.file_system)
    }

    /// Returns how a root differs from that of the catalogue, and what to check.
    pub(super) fn differs_from(&self, expected: &TreeVolume, root: &Path) -> String {
        let root = root.display();
        if self.is_same(expected) {
            return format!(
                "its root `{root}` is not the directory that was recorded, but another one on the \
                 same volume (inode {}, recorded was {}): check that this is the right one",
                self.root_inode, expected.root_inode
            );
        }
        format!(
            "its root `{root}` is on another volume ({} {:x}, inode {}), not on the one that was \
             recorded ({} {:x}, inode {}): mount the right one",
            self.file_system,
            self.id,
            self.root_inode,
            expected.file_system,
            expected.id,
            expected.root_inode
        )
    }

    pub(super) fn store(&self, db: &Connection) -> Result<(), DbError> {
        meta::put(db, "file_system", self.file_system.as_str())?;
        meta::put(db, "volume", self.id.cast_signed())?;
        meta::put(db, "root_inode", self.root_inode.cast_signed())
    }
}

/// The result of examining a root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Recognised {
    /// It is the same volume.
    Same,
    /// The volume has another identifier and the same files, so it was numbered anew.
    Renumbered,
}

/// Checks that the tree at `root` is the one of the catalogue.
///
/// # Errors
///
/// If it is another tree, or empty although it should not be and the user did not say so. The
/// message says which.
pub(super) fn recognise(
    db: &Connection,
    root: &Path,
    believes_empty: bool,
) -> Result<Recognised, DbError> {
    let found = TreeVolume::of(root)?;
    let expected = TreeVolume::load(db)?;
    if !believes_empty && total(db)? > 0 && is_empty(root)? {
        let message = format!(
            "the folder `{0}` is empty, although the catalogue has files there: is something not \
             mounted?",
            root.display()
        );
        let error = DbError::new(CatalogueErrorKind::EmptyRoot, message);
        return Err(error.advise(Advice::RestoreAll(root.to_owned())));
    }
    match found.may_be(&expected) {
        true if found.is_same(&expected) => return Ok(Recognised::Same),
        true if has_same_files(db, root, found.keeps_inodes())? => {
            return Ok(Recognised::Renumbered);
        }
        _ => {}
    }
    let message = format!("{}.", found.differs_from(&expected, root));
    Err(DbError::new(CatalogueErrorKind::OtherVolume, message))
}

/// Returns the number of files that the catalogue knows.
pub(super) fn total(db: &Connection) -> Result<u64, DbError> {
    let total: Option<i64> =
        db.query_row("SELECT sum(entries) FROM slices", (), |row| row.get(0))?;
    u64::try_from(total.unwrap_or(0)).map_err(|_| DbError::damaged("a negative number of files"))
}

/// Returns whether a directory contains only a catalogue, or what every new volume contains.
pub(super) fn is_empty(root: &Path) -> Result<bool, DbError> {
    let unreadable = |error| DbError::io("list its root", &error);
    let dir = Dir::open(root).map_err(unreadable)?;
    let mut empty = true;
    dir.entries(&mut |entry| {
        let ours = entry.name.as_bytes() == FOLDER.as_bytes();
        let systems = entry.name.as_bytes() == b"lost+found" || is_own_name(entry.name);
        empty = ours || systems;
        if empty { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    })
    .map_err(unreadable)?;
    Ok(empty)
}

/// Returns whether a sample of files is still in the same places, with their inodes if the file
/// system `keeps` them, otherwise with their times.
fn has_same_files(db: &Connection, root: &Path, keeps: bool) -> Result<bool, DbError> {
    let places = Places::beneath(root).map_err(|error| DbError::io("open its root", &error));
    let (mut places, mut paths) = (places?, Paths::default());
    let mut statement = db.prepare(
        "SELECT directory, name, length, inode, mtime_ns FROM known_files WHERE directory >= ? \
         LIMIT ?",
    )?;
    let mut rows = statement.query((ROOT, SAMPLE_LEN))?;
    let (mut looked_at, mut same) = (0, 0);
    while let Some(row) = rows.next()? {
        let directory = column::integer(row, 0)?;
        let path = paths.file(db, directory, column::name(row, 1)?)?;
        let (length, inode) = (column::unsigned(row, 2)?, column::unsigned(row, 3)?);
        let mtime = column::moment(row, 4)?;
        looked_at += 1;
        if let Some(status) = places.presence(&path).status() {
            let is_it = if keeps { status.inode == inode } else { status.mtime == mtime };
            same += u32::from(is_it && status.length == length);
        }
    }
    Ok(same > 0 && 2 * same >= looked_at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_the_recorded_one_by_its_inode_and_volume() {
        let of = |file_system: &str, id, root_inode| TreeVolume {
            file_system: file_system.to_owned(),
            id,
            root_inode,
        };
        let ext4 = of("ext4", 0xab, 7);
        assert!(ext4.may_be(&ext4) && !ext4.may_be(&of("xfs", 0xab, 7)));
        assert!(!ext4.may_be(&of("ext4", 0xab, 8)), "a copy on the same volume");
        assert!(!ext4.may_be(&of("ext4", 0xac, 7)), "its identifier is stored on it");
        assert!(of("xfs", 1, 128).may_be(&of("xfs", 2, 128)), "numbered by its device");
        assert!(!of("xfs", 1, 128).may_be(&of("xfs", 2, 131)));
        assert!(of("exfat", 1, 5).may_be(&of("exfat", 1, 9)), "its inodes are numbered anew");
    }

    #[test]
    fn only_another_volume_is_called_another_volume() {
        let here = TreeVolume { file_system: "ext4".to_owned(), id: 0xab, root_inode: 7 };
        let said = |other: TreeVolume| other.differs_from(&here, Path::new("/photos"));
        let copied = said(TreeVolume { root_inode: 9, ..here.clone() });
        assert!(copied.contains("on the same volume") && !copied.contains("another volume"));
        assert!(
            said(TreeVolume { id: 0xac, ..here.clone() }).contains("on another volume (ext4 ac")
        );
        let other = TreeVolume { file_system: "xfs".to_owned(), ..here.clone() };
        assert!(said(other).contains("on another volume (xfs ab"));
    }
}
