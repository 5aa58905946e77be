//! The tags of a catalogue, for workers during a run.
//!
//! Takes paths from any thread and returns the tags from before the run.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::Connection;
use steadfast_sys::names::NameBytes as _;

use super::column;
use super::directory::{Paths, ROOT, beneath, down_from};
use super::entry::{FileFacts, FileRecord, FileRow, NO_NUMBER};
use super::error::DbError;
use super::history::{KnownFile, former_paths, tag_before, tags_before};
use super::scope::RunScope;
use super::slice_cache::{FoundRow, SliceCache, reading};
use super::volume::TreeVolume;
use super::written::{LEFT, is_catalogue_only, is_written};
use super::{Catalogue, CatalogueError, schema, version2};
use crate::event::FilePath;
use crate::evidence::LastProof;
use crate::file_state::FileState;
use crate::identity::{CandidateFile, NameState, Observed, WhichFile, identity};
use steadfast_manifest::tag::Tag;
use steadfast_sys::file::Status;

/// The most directories whose numbers are cached.
const DIRECTORIES_MAX: usize = 64;

/// Returns tags during a run. Shared among its threads.
#[derive(Debug)]
pub struct CatalogueReader {
    scope: RunScope,
    reader: Mutex<ReaderState>,
}

#[derive(Debug)]
struct ReaderState {
    catalogue: Catalogue,
    cache: SliceCache,
    directories: VecDeque<(PathBuf, Option<i64>)>,
    last: Option<(Arc<Path>, Option<i64>)>,
    /// Whether files can be found by their inodes; `None` until that is asked.
    inodes: Option<bool>,
    /// Whether there is a temporary table of the files that came from other names.
    has_followed: bool,
    /// Whether there is one of the files whose names have other files.
    has_left: bool,
}

/// Collects the whole files that came from other names.
const FOLLOWED: &str = "CREATE TEMP TABLE followed AS \
    SELECT DISTINCT n.digest, n.directory, n.name FROM events AS e \
    CROSS JOIN known_files AS n ON n.directory = e.directory AND n.name = e.name \
    WHERE e.what = 'moved from' AND e.run >= n.first_run AND proves(n.state); \
    CREATE INDEX temp.followed_digests ON followed (digest);";

impl CatalogueReader {
    /// Opens a catalogue again, for a run over a part of its tree.
    ///
    /// # Errors
    ///
    /// As [`Catalogue::open_reader`].
    pub fn open(catalogue: &Catalogue, scope: RunScope) -> Result<CatalogueReader, CatalogueError> {
        let reader = ReaderState {
            catalogue: catalogue.beside()?,
            cache: SliceCache::default(),
            directories: VecDeque::new(),
            last: None,
            inodes: None,
            has_followed: false,
            has_left: false,
        };
        Ok(CatalogueReader { scope, reader: Mutex::new(reader) })
    }

    /// Opens the catalogue again, for files named by paths that begin with the tree's root.
    ///
    /// # Errors
    ///
    /// As [`Catalogue::open_reader`].
    pub fn beside(catalogue: &Catalogue) -> Result<CatalogueReader, CatalogueError> {
        CatalogueReader::open(catalogue, RunScope::files_beneath(&catalogue.root))
    }

    /// Asks the catalogue. An error says nothing about the file.
    fn ask<T>(
        &self,
        answer: impl FnOnce(&mut ReaderState, &RunScope) -> Result<T, DbError>,
    ) -> Result<T, CatalogueError> {
        let mut reader = self.reader.lock().unwrap_or_else(PoisonError::into_inner);
        let answer = answer(&mut reader, &self.scope);
        answer.map_err(|fault| fault.at(&reader.catalogue.file))
    }

    /// Returns whether a path is in the catalogued tree.
    pub fn covers(&self, path: &FilePath) -> bool {
        self.scope.locate(path).is_some()
    }

    /// Returns the tag of a file in the catalogue; `None` also outside the tree.
    ///
    /// # Errors
    ///
    /// If the catalogue cannot be read. This says nothing about the file.
    pub fn tag(&self, path: &FilePath) -> Result<Option<Tag>, CatalogueError> {
        let found = self.ask(|reader, scope| reader.find(scope, path))?;
        Ok(found.and_then(|found| found.known.record.tag))
    }

    /// Returns the last proof that the contents of a file are those of a tag, also of a file that
    /// was renamed since; `None` if the catalogue has another tag, or knows no proof.
    ///
    /// # Errors
    ///
    /// As [`CatalogueReader::tag`].
    pub(crate) fn last_proof(
        &self,
        path: &FilePath,
        status: Option<&Status>,
        tag: &Tag,
    ) -> Result<Option<LastProof>, CatalogueError> {
        let found = self.ask(|reader, scope| reader.find_file(scope, path, status))?;
        let found = found.filter(|found| found.known.record.tag.as_ref() == Some(tag));
        Ok(found.and_then(|found| found.known.last_proof(found.slice_run)))
    }

    /// Returns the tag of a file in the catalogue: by its inode, if the file of that inode was at
    /// another path and has the same length and modification time; otherwise by its path. `None`
    /// also outside the tree.
    ///
    /// # Errors
    ///
    /// As [`CatalogueReader::tag`].
    pub(crate) fn tag_of(
        &self,
        path: &FilePath,
        status: Option<&Status>,
    ) -> Result<Option<Tag>, CatalogueError> {
        let found = self.ask(|reader, scope| reader.find_file(scope, path, status))?;
        Ok(found.and_then(|found| found.known.record.tag))
    }

    /// Returns whether a tag is that of the file of this inode, at another path.
    ///
    /// # Errors
    ///
    /// As [`CatalogueReader::tag`].
    pub(crate) fn is_renamed(
        &self,
        path: &FilePath,
        status: &Status,
        tag: &Tag,
    ) -> Result<bool, CatalogueError> {
        let has_tag = |row: &FileRow| row.record.tag.is_some_and(|it| it.same_contents(tag));
        let mut has_tag = |_: &Connection, _: i64, row: &FileRow| Ok(has_tag(row));
        self.ask(|reader, scope| match reader.find(scope, path)? {
            Some(here) if here.known.record.facts.inode == status.inode => Ok(false),
            _ => Ok(reader.find_inode(status.inode, &mut has_tag)?.is_some()),
        })
    }

    /// Returns whether a file could not take its tag when a run made it, and no run has given it
    /// the tag since.
    ///
    /// # Errors
    ///
    /// As [`CatalogueReader::tag`].
    pub(crate) fn was_refused(
        &self,
        path: &FilePath,
        status: &Status,
    ) -> Result<bool, CatalogueError> {
        self.ask(|reader, scope| reader.was_refused(scope, path, status))
    }

    /// Returns the present and previous tags of a file, the latest first.
    ///
    /// # Errors
    ///
    /// As [`CatalogueReader::tag`].
    pub(crate) fn tags_so_far(&self, path: &FilePath) -> Result<Vec<Tag>, CatalogueError> {
        self.ask(|reader, scope| reader.tags_so_far(scope, path))
    }

    /// Returns the present knowledge about a file; `None` also outside the tree.
    ///
    /// # Errors
    ///
    /// As [`CatalogueReader::tag`].
    pub fn known_file(&self, path: &FilePath) -> Result<Option<KnownFile>, CatalogueError> {
        let found = self.ask(|reader, scope| reader.find(scope, path))?;
        Ok(found.map(|found| KnownFile::of(&found)))
    }
}

/// Returns whether two rows have a tag of the same contents.
fn is_alike(here: Option<&FoundRow>, found: &FoundRow) -> bool {
    let tag = here.and_then(|here| here.known.record.tag);
    tag.zip(found.known.record.tag).is_some_and(|(here, found)| here.same_contents(&found))
}

impl ReaderState {
    fn find(&mut self, scope: &RunScope, path: &FilePath) -> Result<Option<FoundRow>, DbError> {
        let Some((directory, name)) = self.locate(scope, path)? else { return Ok(None) };
        self.cache.find(&self.catalogue.db, directory, name.as_bytes())
    }

    /// Finds the row of a file by its inode, or else by its path.
    fn find_file(
        &mut self,
        scope: &RunScope,
        path: &FilePath,
        status: Option<&Status>,
    ) -> Result<Option<FoundRow>, DbError> {
        let here = self.find(scope, path)?;
        let is_here =
            |inode: u64| here.as_ref().is_some_and(|here| here.known.record.facts.inode == inode);
        let Some(status) = status.filter(|status| !is_here(status.inode)) else {
            return Ok(here);
        };
        if scope.locate(path).is_none() {
            return Ok(None);
        }
        let observed = Observed::unread(FileFacts::from(status).traits(true));
        let is_same = |row: &FileRow| {
            let known = CandidateFile {
                traits: row.record.facts.traits(true),
                tag: row.record.tag.as_ref(),
                is_proved: row.record.standing.proves(),
                names: NameState::Unknown,
                is_namesake: false,
                seen_together: false,
            };
            matches!(identity(&observed, &[known]).answer, WhichFile::Same(_))
        };
        // All names of a file share the result of the one that is read first, so a new name is
        // judged as the known one.
        let mut fits = |db: &Connection, directory: i64, row: &FileRow| {
            Ok(is_same(row) || is_written(db, directory, &row.name, &status.into())?)
        };
        let found = self.find_inode(status.inode, &mut fits)?;
        let Some((mut found, from)) = found else {
            let left = self.find_left(status)?;
            // The row of its own name knows more.
            return Ok(left.filter(|left| !is_alike(here.as_ref(), left)).or(here));
        };
        // At a name of the same tag, it is an edit as before.
        let is_alike = is_alike(here.as_ref(), &found);
        let may_have_left = !is_same(&found.known) || !found.known.record.standing.proves();
        if !is_alike && may_have_left && self.is_of_earlier(&found.known, &from)? {
            found.known.record.tag = None;
        }
        Ok(Some(found))
    }

    /// Finds a file that left its name to another one, by its length and time. A time without a
    /// fraction may be that of many files.
    fn find_left(&mut self, status: &Status) -> Result<Option<FoundRow>, DbError> {
        if status.mtime.nanoseconds == 0 || status.length == 0 {
            return Ok(None);
        }
        let ReaderState { catalogue, cache, has_left, .. } = self;
        let db = &catalogue.db;
        if !*has_left {
            db.execute_batch(&format!(
                "CREATE TEMP TABLE files_left AS {LEFT}; \
                 CREATE INDEX temp.left_times ON files_left (mtime_ns, length);"
            ))?;
            *has_left = true;
        }
        let mut statement = db.prepare_cached(
            "SELECT directory, name, run, number FROM temp.files_left \
             WHERE length = ? AND mtime_ns = ? ORDER BY run DESC, number DESC",
        )?;
        let wanted = (status.length.cast_signed(), column::Moment(status.mtime));
        let mut rows = statement.query(wanted)?;
        let Some(row) = rows.next()? else { return Ok(None) };
        let (directory, name) = (column::integer(row, 0)?, column::name(row, 1)?);
        let (run, number) = (column::integer(row, 2)?, column::integer(row, 3)?);
        let tag = match run {
            0 => cache.find(db, directory, name)?.and_then(|found| found.known.record.tag),
            _ => tag_before(db, (directory, name), (run, number))?,
        };
        // Nothing is known of its last proof.
        let record = FileRecord { facts: status.into(), tag, standing: FileState::Missing };
        let name = name.to_vec();
        let (file, first_run, checked_run, proved_run) = (NO_NUMBER, 0, 0, 0);
        let known = FileRow { file, name, record, first_run, checked_run, proved_run, own: None };
        Ok(Some(FoundRow { known, slice_run: 0 }))
    }

    /// Returns whether the tag of a row is that of an earlier file of its name, which is elsewhere
    /// since. A file that differs from such a tag is an edit only as long as it has that name.
    fn is_of_earlier(&mut self, row: &FileRow, path: &Path) -> Result<bool, DbError> {
        let Some(tag) = row.record.tag else { return Ok(false) };
        let db = &self.catalogue.db;
        if !self.has_followed {
            db.execute_batch(FOLLOWED)?;
            self.has_followed = true;
        }
        let sql = "SELECT directory, name FROM temp.followed WHERE digest = ?";
        let mut statement = db.prepare_cached(sql)?;
        let mut rows = statement.query((tag.digest.as_bytes(),))?;
        while let Some(followed) = rows.next()? {
            let (directory, name) = (column::integer(followed, 0)?, column::name(followed, 1)?);
            let there = Paths::default().file(db, directory, name)?;
            if there != path && former_paths(db, &there)?.iter().any(|former| former == path) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Finds a row of an inode, with its path.
    fn find_inode(
        &mut self,
        inode: u64,
        fits: &mut dyn FnMut(&Connection, i64, &FileRow) -> Result<bool, DbError>,
    ) -> Result<Option<(FoundRow, PathBuf)>, DbError> {
        let ReaderState { catalogue, cache, inodes, .. } = self;
        let db = &catalogue.db;
        let can_find = match *inodes {
            Some(can_find) => can_find,
            None => {
                let keeps = TreeVolume::load(db)?.keeps_inodes();
                if keeps && schema::is_version_2(db)? {
                    version2::index_inodes(db)?;
                }
                *inodes.insert(keeps)
            }
        };
        if !can_find {
            return Ok(None);
        }
        let sql = "SELECT directory, name FROM known_inodes WHERE inode = ?";
        let mut statement = db.prepare_cached(sql)?;
        let mut rows = statement.query((inode.cast_signed(),))?;
        while let Some(row) = rows.next()? {
            let (directory, name) = (column::integer(row, 0)?, column::name(row, 1)?);
            let found = cache.find(db, directory, name)?;
            let is_there = |found: &FoundRow| {
                found.known.record.facts.inode == inode
                    && found.known.record.standing != FileState::Missing
            };
            if let Some(found) = found.filter(is_there)
                && fits(db, directory, &found.known)?
            {
                let path = Paths::default().file(db, directory, name)?;
                return Ok(Some((found, path)));
            }
        }
        Ok(None)
    }

    fn was_refused(
        &mut self,
        scope: &RunScope,
        path: &FilePath,
        status: &Status,
    ) -> Result<bool, DbError> {
        let here = self.find(scope, path)?;
        let is_here = here.is_some_and(|here| here.known.record.facts.inode == status.inode);
        let mut fits =
            |db: &Connection, at, row: &FileRow| is_catalogue_only(db, at, row.name.as_slice());
        if !is_here && self.find_inode(status.inode, &mut fits)?.is_some() {
            return Ok(true);
        }
        match self.locate(scope, path)?.filter(|_| is_here || self.inodes == Some(false)) {
            Some((at, name)) => is_catalogue_only(&self.catalogue.db, at, name.as_bytes()),
            None => Ok(false),
        }
    }

    fn tags_so_far(&mut self, scope: &RunScope, path: &FilePath) -> Result<Vec<Tag>, DbError> {
        let present = self.find(scope, path)?.and_then(|found| found.known.record.tag);
        let Some((directory, name)) = self.locate(scope, path)? else { return Ok(Vec::new()) };
        let earlier = tags_before(&self.catalogue.db, directory, name.as_bytes())?;
        Ok(present.into_iter().chain(earlier.into_iter().rev()).collect())
    }

    /// Returns the number of a file's directory and its name; `None` if the catalogue does not know
    /// the directory.
    fn locate(
        &mut self,
        scope: &RunScope,
        path: &FilePath,
    ) -> Result<Option<(i64, OsString)>, DbError> {
        let is_last = |last: &(Arc<Path>, _)| Arc::ptr_eq(&last.0, &path.parent);
        let (directory, name) = match &self.last {
            Some(last) if !path.name.is_empty() && is_last(last) => (last.1, path.name.clone()),
            _ => {
                let Some((relative, name)) = scope.locate(path) else { return Ok(None) };
                let directory = self.directory(&relative)?;
                if !path.name.is_empty() {
                    self.last = Some((Arc::clone(&path.parent), directory));
                }
                (directory, name)
            }
        };
        Ok(directory.map(|directory| (directory, name)))
    }

    fn directory(&mut self, relative: &Path) -> Result<Option<i64>, DbError> {
        // The next directory is often in or beside one of the last ones. From the root, it takes
        // one query per level.
        let downs = self.directories.iter().filter_map(|(path, id)| {
            let down = down_from(path, relative)?;
            Some((*id, down))
        });
        let nearest = downs.min_by_key(|(_, down)| down.as_os_str().len());
        let (above, down) = nearest.unwrap_or((Some(ROOT), relative));
        if down.as_os_str().is_empty() {
            return Ok(above);
        }
        let db = &self.catalogue.db;
        let found = match above {
            Some(above) => reading(db, || beneath(db, above, down))?,
            None => None,
        };
        self.directories.truncate(DIRECTORIES_MAX - 1);
        self.directories.push_front((relative.to_owned(), found));
        Ok(found)
    }
}
