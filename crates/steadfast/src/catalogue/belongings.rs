//! What belongs to each file and folder beside its contents, so that a missing one can be made as
//! it was.
//!
//! A row has the change time of the inode that it was read from. So a run reads only the owner and
//! the attributes of files that changed since, and of those that it sees for the first time.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use steadfast_sys::names::NameBytes as _;

use steadfast_sys::file::{Dir, File};

use super::directory::{Directory, ROOT, at_path};
use super::entry::{FileRow, RecordedBelongings};
use super::error::DbError;
use super::folders::{folder, put_folder};
use super::observation::{FileBatch, ObservedFile};
use super::open_dir::OpenDir;
use super::recorder::Recorder;
use super::slice::UpdatedRow;
use super::slice_cache::FoundRow;
use super::{Catalogue, CatalogueError};
use crate::belongings::{Attributes, Belongings};
use crate::beneath::{self, Presence};
use crate::file_state::FileState;
use crate::verdict::Verdict;
use steadfast_manifest::tag::Tag;

/// What a catalogue has of a file or a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct KnownBelongings {
    pub(crate) belongings: Belongings,
    /// The number of hard links.
    pub(crate) links: u64,
}

impl KnownBelongings {
    fn of(own: &RecordedBelongings) -> Result<KnownBelongings, DbError> {
        let attributes = own.attributes.as_deref().map(Attributes::decode);
        if attributes == Some(None) {
            return Err(DbError::damaged("attributes that are none"));
        }
        let RecordedBelongings { ownership, mtime, links, .. } = *own;
        let attributes = attributes.flatten();
        let belongings = Belongings { ownership, mtime: Some(mtime), atime: None, attributes };
        Ok(KnownBelongings { belongings, links })
    }
}

/// Reads what belongs to an open file or folder.
fn read(file: &File) -> std::io::Result<RecordedBelongings> {
    let status = file.status()?;
    let attributes = Attributes::for_record(file).map(|all| all.encode().into());
    Ok(RecordedBelongings {
        seen_ctime: status.ctime,
        mtime: status.mtime,
        links: status.links,
        ownership: status.ownership(),
        attributes,
    })
}

impl Catalogue {
    /// Returns what belonged to the file at a path from the root when a run last saw it.
    ///
    /// # Errors
    /// If the catalogue cannot be read.
    pub(crate) fn belongings_of_file(
        &self,
        path: &Path,
    ) -> Result<Option<KnownBelongings>, CatalogueError> {
        let find = || {
            let found = self.known_at(path)?;
            found.and_then(|found| found.known.own).map(|own| KnownBelongings::of(&own)).transpose()
        };
        find().map_err(|fault| self.wrong(fault))
    }

    /// Returns what belonged to the folder at a path from the root when a run last saw it.
    ///
    /// # Errors
    /// If the catalogue cannot be read.
    pub(crate) fn belongings_of_folder(
        &self,
        path: &Path,
    ) -> Result<Option<KnownBelongings>, CatalogueError> {
        let find = || match at_path(&self.db, path)? {
            Some(directory) => {
                folder(&self.db, directory.id)?.map(|own| KnownBelongings::of(&own)).transpose()
            }
            None => Ok(None),
        };
        find().map_err(|fault| self.wrong(fault))
    }
}

/// The folder of a batch, opened once a file in it must be.
#[derive(Debug, Default)]
pub(super) struct BatchFolder(Option<Option<Dir>>);

impl BatchFolder {
    /// Opens the folder; `None` if it is gone meanwhile.
    fn open(&mut self, root: &Path, relative: &Path) -> Option<&Dir> {
        self.0.get_or_insert_with(|| beneath::directory(root, relative).ok()).as_ref()
    }
}

impl Recorder {
    /// Puts what belongs to an observed file into its row, if it is new or changed.
    pub(super) fn keep_belongings(
        &self,
        level: &OpenDir,
        (batch, seen): (&FileBatch, &ObservedFile),
        row: &mut UpdatedRow,
        folder: &mut BatchFolder,
    ) {
        let is_fresh = |own: &RecordedBelongings| own.seen_ctime == seen.record.facts.ctime;
        // After a stop, the next run does it.
        if !self.mode.writes
            || self.mode.quick
            || !seen.has_facts
            || row.known.own.as_ref().is_some_and(is_fresh)
            || row.known.own.is_some() && !is_of_row(&row.known, seen)
            || self.stop_is_requested()
        {
            return;
        }
        let own = batch.belongings(seen).or_else(|| {
            // What cannot be opened is tried by the next run.
            let dir = folder.open(&self.catalogue.root, &level.relative)?;
            read(&dir.open_file(OsStr::from_bytes(&row.known.name)).ok()?).ok()
        });
        if own.is_some() {
            row.known.own = own;
            row.dirty = true;
        }
    }

    /// Puts what belongs to a file that waited for the end of the run into its row.
    pub(super) fn keep_belongings_at(&self, path: &Path, row: &mut UpdatedRow) {
        let opened = beneath::file(&self.catalogue.root, path);
        if let Ok(own) = opened.and_then(|file| read(&file)) {
            row.known.own = Some(own);
            row.dirty = true;
        }
    }

    /// Stores what belongs to a folder and whether it is on another volume, if it is new or
    /// changed.
    pub(super) fn keep_folder(&mut self, level: &OpenDir) -> Result<(), DbError> {
        if self.stop_is_requested() {
            return Ok(());
        }
        let Presence::There(now) = self.places.presence(&level.relative) else { return Ok(()) };
        let mounted = Some(now.device) != self.descent.root_device;
        if level.id != ROOT && mounted != level.mounted {
            Directory::set_mounted(&self.catalogue.db, level.id, mounted)?;
        }
        let known = folder(&self.catalogue.db, level.id)?;
        if known.is_some_and(|known| known.seen_ctime == now.ctime) {
            return Ok(());
        }
        // A link that was planted meanwhile is not followed.
        let opened = beneath::directory(&self.catalogue.root, &level.relative);
        let opened = opened.and_then(|dir| dir.to_file());
        match opened.and_then(|file| read(&file)) {
            Ok(own) => put_folder(&self.catalogue.db, level.id, &own),
            Err(_) => Ok(()),
        }
    }
}

/// Returns whether a file is the one of its settled row. What is known goes with the contents of
/// the tag, which a repair gives back. Those of an edited file, or of another one with its name,
/// are known once the row has their tag. A file that was not read counts as edited if its length or
/// time is another.
fn is_of_row(row: &FileRow, seen: &ObservedFile) -> bool {
    let is_edited = seen.verdict == Some(Verdict::Modified) && !seen.changed_tag();
    // A tag that the file itself does not have proves nothing but its contents.
    let is_unproved = seen.place.is_loss() && !seen.record.standing.proves();
    let (facts, known) = (&seen.record.facts, &row.record.facts);
    let is_as_known = (known.length, known.mtime) == (facts.length, facts.mtime);
    let digest = |tag: &Option<Tag>| tag.map(|tag| tag.digest);
    !is_edited
        && !is_unproved
        && digest(&row.record.tag) == digest(&seen.record.tag)
        && (seen.is_checked() || is_as_known)
}

/// The names of one file that a run saw together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SameInode {
    pub(crate) inode: u64,
    /// How many names it had.
    pub(crate) links: u64,
    /// The other ones that the catalogue has, and whether each is missing.
    pub(crate) names: Vec<(PathBuf, bool)>,
}

impl Catalogue {
    /// Returns the other names of the file at a path from the root, among those of the same inode:
    /// those of the same tag that the catalogue had before it saw the path last.
    ///
    /// # Errors
    /// If the catalogue cannot be read.
    pub(crate) fn same_inode(
        &self,
        path: &Path,
        others: &[PathBuf],
    ) -> Result<Option<SameInode>, CatalogueError> {
        let Some(known) = self.belongings_of_file(path)? else { return Ok(None) };
        same_inode(self, path, others, known.links).map_err(|fault| self.wrong(fault))
    }
}

fn same_inode(
    catalogue: &Catalogue,
    path: &Path,
    others: &[PathBuf],
    mut links: u64,
) -> Result<Option<SameInode>, DbError> {
    let Some(FoundRow { known, slice_run }) = catalogue.known_at(path)? else { return Ok(None) };
    let (inode, tag) = (known.record.facts.inode, known.record.tag);
    let seen = known.last_seen(slice_run);
    let mut names = Vec::new();
    for other in others {
        let Some(found) = catalogue.known_at(other)? else { continue };
        let record = found.known.record;
        let same_tag = match (&record.tag, &tag) {
            (Some(one), Some(two)) => one.same_contents(two) && one.mtime == two.mtime,
            _ => false,
        };
        // A file that is new since may have the number of the inode by chance.
        if same_tag && found.known.first_run <= seen {
            // The path may have been seen last while another of its names was missing.
            let of_other = catalogue.belongings_of_file(other).ok().flatten();
            links = links.max(of_other.map_or(0, |known| known.links));
            names.push((other.clone(), record.standing == FileState::Missing));
        }
    }
    Ok(Some(SameInode { inode, links, names }))
}
