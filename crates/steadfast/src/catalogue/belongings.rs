//! What belongs to each file and folder beside its contents, so that a missing one can be made as
//! it was.
//!
//! A row has the change time of the inode that it was read from. So a run reads only the owner and
//! the attributes of files that changed since, and of those that it sees for the first time.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use steadfast_sys::names::NameBytes as _;

use steadfast_sys::file::{File, Ownership, Timestamp};

use super::column;
use super::directory::{Directory, ROOT, at_path};
use super::entry::RowSum;
use super::error::DbError;
use super::observation::{FileBatch, ObservedFile};
use super::open_dir::OpenDir;
use super::recorder::Recorder;
use super::slice_cache::FoundRow;
use super::{Catalogue, CatalogueError, schema};
use crate::belongings::{ATTRIBUTES_LEN_MAX, Attributes, Belongings};
use crate::beneath::{self, Presence};
use crate::file_state::FileState;
use crate::verdict::Verdict;

/// The name of a folder's own row.
const ITSELF: &[u8] = b"";

/// What a catalogue has of a file or a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct KnownBelongings {
    pub(crate) belongings: Belongings,
    /// The number of hard links.
    pub(crate) links: u64,
}

impl KnownBelongings {
    /// Reads those of an open file or folder, and when its inode was last changed.
    fn of(file: &File) -> std::io::Result<(KnownBelongings, Timestamp)> {
        let status = file.status()?;
        let belongings = Belongings::recorded(&status, Attributes::for_record(file));
        Ok((KnownBelongings { belongings, links: status.links }, status.ctime))
    }

    fn put(
        &self,
        db: &Connection,
        directory: i64,
        name: &[u8],
        ctime: Timestamp,
    ) -> Result<(), DbError> {
        let Belongings { ownership, mtime, attributes, .. } = &self.belongings;
        let attributes = attributes.as_ref().map(Attributes::encode);
        let mtime = mtime.unwrap_or(ctime);
        let sum = sum_of(directory, name, [ctime, mtime], self.links, ownership, &attributes);
        let mut statement =
            db.prepare_cached("REPLACE INTO belongings VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")?;
        statement.execute((
            directory,
            name,
            column::Moment(ctime),
            column::Moment(mtime),
            self.links.cast_signed(),
            ownership.mode,
            ownership.uid,
            ownership.gid,
            attributes,
            sum.value(),
        ))?;
        Ok(())
    }

    fn find(
        db: &Connection,
        directory: i64,
        name: &[u8],
    ) -> Result<Option<KnownBelongings>, DbError> {
        let mut statement = db.prepare_cached(
            "SELECT ctime_ns, mtime_ns, links, mode, uid, gid, attributes, sum FROM belongings \
             WHERE directory = ? AND name = ?",
        )?;
        let mut rows = statement.query((directory, name))?;
        let Some(row) = rows.next()? else { return Ok(None) };
        let times = [column::moment(row, 0)?, column::moment(row, 1)?];
        let number = |at| {
            let number = u32::try_from(column::integer(row, at)?);
            number.map_err(|_| DbError::damaged("an owner or a mode that no file can have"))
        };
        let links = column::unsigned(row, 2)?;
        let ownership = Ownership { mode: number(3)?, uid: number(4)?, gid: number(5)? };
        let bytes = match column::is_null(row, 6)? {
            true => None,
            false => Some(column::bytes(row, 6, ATTRIBUTES_LEN_MAX)?.to_vec()),
        };
        let sum = sum_of(directory, name, times, links, &ownership, &bytes);
        sum.ensure(column::integer(row, 7)?, "belongings")?;
        let attributes = match bytes {
            Some(bytes) => {
                let attributes = Attributes::decode(&bytes);
                Some(attributes.ok_or_else(|| DbError::damaged("attributes that are none"))?)
            }
            None => None,
        };
        let belongings = Belongings { ownership, mtime: Some(times[1]), atime: None, attributes };
        Ok(Some(KnownBelongings { belongings, links }))
    }
}

fn sum_of(
    directory: i64,
    name: &[u8],
    times: [Timestamp; 2],
    links: u64,
    ownership: &Ownership,
    attributes: &Option<Vec<u8>>,
) -> RowSum {
    let sum = RowSum::of("belongings").number(directory).bytes(name);
    let sum = times.iter().fold(sum, |sum, time| sum.bytes(&column::packed(*time)));
    let Ownership { mode, uid, gid } = *ownership;
    let sum = sum.number(links.cast_signed());
    let sum = [mode, uid, gid].into_iter().fold(sum, |sum, number| sum.number(number.into()));
    let sum = sum.number(i64::from(attributes.is_some()));
    sum.bytes(attributes.as_deref().unwrap_or_default())
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
        let parent = path.parent().unwrap_or(Path::new(""));
        let name = path.file_name().map(OsStr::as_bytes).unwrap_or_default();
        self.belongings(parent, name)
    }

    /// Returns what belonged to the folder at a path from the root when a run last saw it.
    ///
    /// # Errors
    /// If the catalogue cannot be read.
    pub(crate) fn belongings_of_folder(
        &self,
        path: &Path,
    ) -> Result<Option<KnownBelongings>, CatalogueError> {
        self.belongings(path, ITSELF)
    }

    fn belongings(
        &self,
        directory: &Path,
        name: &[u8],
    ) -> Result<Option<KnownBelongings>, CatalogueError> {
        let find = || {
            if !schema::has_belongings(&self.db)? {
                return Ok(None);
            }
            match at_path(&self.db, directory)? {
                Some(directory) => KnownBelongings::find(&self.db, directory.id, name),
                None => Ok(None),
            }
        };
        find().map_err(|fault| self.wrong(fault))
    }
}

impl Recorder {
    /// Stores what belongs to the files of a batch that are new or changed.
    pub(super) fn keep_belongings(
        &mut self,
        level: &OpenDir,
        batch: &FileBatch,
    ) -> Result<(), DbError> {
        let (Some((first, _)), Some(last)) = (batch.iter().next(), batch.last()) else {
            return Ok(());
        };
        // After a stop, the next run does it.
        if !self.mode.writes || self.mode.quick || self.stop_is_requested() {
            return Ok(());
        }
        let fresh = unchanged(self.db(), level.id, batch, first, last)?;
        let mut dir = None;
        for (name, seen) in
            batch.iter().filter(|(name, seen)| seen.has_facts && !fresh.contains(name))
        {
            if !is_of_row(&self.catalogue.db, level.id, name, seen)?
                && KnownBelongings::find(&self.catalogue.db, level.id, name)?.is_some()
            {
                continue;
            }
            if let Some((belongings, links)) = batch.belongings(seen) {
                let known = KnownBelongings { belongings, links };
                known.put(&self.catalogue.db, level.id, name, seen.record.facts.ctime)?;
                continue;
            }
            let dir = match &dir {
                Some(dir) => dir,
                None => match beneath::directory(&self.catalogue.root, &level.relative) {
                    Ok(opened) => dir.insert(opened),
                    // It is gone meanwhile.
                    Err(_) => return Ok(()),
                },
            };
            // What cannot be opened is tried by the next run.
            let opened = dir.open_file(OsStr::from_bytes(name));
            let Ok((known, ctime)) = opened.and_then(|file| KnownBelongings::of(&file)) else {
                continue;
            };
            known.put(&self.catalogue.db, level.id, name, ctime)?;
        }
        Ok(())
    }

    /// Stores what belongs to a file that waited for the end of the run.
    pub(super) fn keep_belongings_at(&self, directory: i64, path: &Path) -> Result<(), DbError> {
        let opened = beneath::file(&self.catalogue.root, path);
        let Ok((known, ctime)) = opened.and_then(|file| KnownBelongings::of(&file)) else {
            return Ok(());
        };
        let name = path.file_name().map(OsStr::as_bytes).unwrap_or_default();
        known.put(&self.catalogue.db, directory, name, ctime)
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
        let mut statement = self
            .catalogue
            .db
            .prepare_cached("SELECT ctime_ns FROM belongings WHERE directory = ? AND name = ?")?;
        let mut rows = statement.query((level.id, ITSELF))?;
        if let Some(row) = rows.next()?
            && column::moment(row, 0)? == now.ctime
        {
            return Ok(());
        }
        drop(rows);
        // A link that was planted meanwhile is not followed.
        let opened = beneath::directory(&self.catalogue.root, &level.relative);
        let opened = opened.and_then(|dir| dir.to_file());
        let Ok((known, ctime)) = opened.and_then(|file| KnownBelongings::of(&file)) else {
            return Ok(());
        };
        known.put(&self.catalogue.db, level.id, ITSELF, ctime)
    }
}

/// Returns whether a file is the one of the settled row of its name. What is known goes with the
/// contents of the tag, which a repair gives back. Those of an edited file, or of another one with
/// its name, are known once the row has their tag. A file that was not read counts as edited if its
/// length or time is another.
fn is_of_row(
    db: &Connection,
    directory: i64,
    name: &[u8],
    seen: &ObservedFile,
) -> Result<bool, DbError> {
    let is_edited = seen.verdict == Some(Verdict::Modified) && !seen.changed_tag();
    // A tag that the file itself does not have proves nothing but its contents.
    let is_unproved = seen.place.is_loss() && !seen.record.standing.proves();
    if is_edited || is_unproved {
        return Ok(false);
    }
    let mut statement = db.prepare_cached(
        "SELECT digest, length, mtime_ns FROM entries WHERE directory = ? AND name = ?",
    )?;
    let mut rows = statement.query((directory, name))?;
    let Some(row) = rows.next()? else { return Ok(true) };
    let (facts, tag) = (&seen.record.facts, seen.record.tag.as_ref());
    let known = (column::unsigned(row, 1)?, column::moment(row, 2)?);
    let is_as_known = known == (facts.length, facts.mtime);
    let digest = row.get_ref(0)?.as_blob_or_null().map_err(|_| DbError::damaged("a digest"))?;
    Ok(digest == tag.map(|tag| tag.digest.as_bytes()) && (seen.is_checked() || is_as_known))
}

/// Returns the names of a batch whose rows are as the files are.
fn unchanged<'a>(
    db: &Connection,
    directory: i64,
    batch: &'a FileBatch,
    first: &[u8],
    last: &[u8],
) -> Result<HashSet<&'a [u8]>, DbError> {
    let mut statement = db.prepare_cached(
        "SELECT name, ctime_ns FROM belongings WHERE directory = ? AND name >= ? AND name <= ? \
         ORDER BY name",
    )?;
    let mut rows = statement.query((directory, first, last))?;
    let mut unchanged = HashSet::with_capacity(batch.len());
    let mut seen = batch.iter().peekable();
    while let Some(row) = rows.next()? {
        let name = column::bytes(row, 0, column::NAME_LEN_MAX)?;
        while seen.next_if(|(seen, _)| *seen < name).is_some() {}
        if let Some((name, seen)) = seen.next_if(|(seen, _)| *seen == name)
            && column::moment(row, 1)? == seen.record.facts.ctime
        {
            unchanged.insert(name);
        }
    }
    Ok(unchanged)
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
