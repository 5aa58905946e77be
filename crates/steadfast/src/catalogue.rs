//! The catalogue of a tree: which files should be in it, and the history of their verdicts.
//!
//! Runs record what they observe, and get back what only stored knowledge can tell: missing, moved
//! and new files, tags that changed without a command, files that are due, and when each file was
//! last proved intact. The catalogue is one SQLite file, specified in `docs/formats/catalogue.md`.
//! It reads no contents, and knows nothing of options or output.
//!
//! The files of a directory are stored in **slices**: consecutive names under one seal, a digest of
//! their rows. A run in which nothing changed computes the same seal and writes one row for each
//! slice. The seal is also how damage to the rows is recognised.
//!
//! A run opens the catalogue through a [`CatalogueSession`]. The modules stand in reading order.

mod error;
mod column;
mod meta;
mod entry;
mod seal2;
mod slice;
mod file_history_event;
mod writes;
mod coverage;
mod directory;
mod home;
mod rights;
mod place;
mod work;
mod folders;
mod tables;
mod version2;
mod schema;
mod volume;
mod runs;
mod trees;
mod scope;
mod repaired;
mod slice_cache;
mod history;
mod unanswered;
mod written;
mod records;
mod duplicates;
mod lookup;
mod contents;
mod due;
mod audit;
mod listing;
mod elsewhere;
mod verify;
mod observation;
mod open_dir;
mod flushing;
mod unmounted;
mod unlisted;
mod recorder;
mod belongings;
mod descent;
mod not_visited;
mod lately;
mod reconcile;
mod moved;
mod displaced;
mod missing;
mod quick;
mod session;
#[cfg(feature = "json")]
mod sorted_rows;

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::Connection;
use steadfast_sys::names::NameBytes as _;

use steadfast_manifest::tag::Tag;
use steadfast_sys::file::{Timestamp, may_write};
use steadfast_sys::sqlite::HeldDatabase;

pub use audit::{Audit, AuditWindow, FailedCheck, LastProofs, Overdue, RepairedFile};
pub(crate) use belongings::SameInode;
pub(crate) use contents::RecordedContents;
pub use due::{Due, DueEntry, DueOptions};
pub use duplicates::Duplicates;
pub use elsewhere::MovedElsewhere;
pub use entry::FileFacts;
pub use error::{CatalogueError, CatalogueErrorKind};
pub use file_history_event::FileHistoryEvent;
pub use history::{Happened, History, HistoryRun, KnownFile};
pub use listing::ListedFile;
pub(crate) use lookup::LOOKUP_MAX;
pub use lookup::LookupMatch;
pub use observation::Observation;
pub use place::LockRequest;
pub(crate) use place::{inside as catalogue_in, is_inside, real_of};
pub use quick::QuickSummary;
pub use recorder::{Recorder, RunStart};
pub use records::CatalogueReader;
pub use repaired::RepairSource;
pub(crate) use repaired::Repairs;
pub(crate) use rights::DOS;
pub use rights::Readers;
pub use runs::{RunRecord, RunState};
pub use scope::RunScope;
pub use session::CatalogueSession;
#[cfg(feature = "json")]
pub(crate) use sorted_rows::SortedRows;
pub use trees::{CataloguedTree, TreeList};
pub(crate) use trees::{decode, encode};
pub(crate) use unmounted::FolderVolume;
pub use verify::CatalogueVerification;
pub use volume::TreeVolume;
pub(crate) use volume::keeps_inodes;

use directory::{Directory, ROOT};
use error::DbError;
use home::Home;
pub(crate) use home::folder;
use place::Lock;
use schema::{Access, Merged};
use slice_cache::{SliceCache, reading};
use volume::Recognised;

use crate::advice::{Advice, CatalogueChange};
use crate::beneath;
use crate::event::Notice;
pub use crate::file_state::FileState;
pub use crate::finding::{FactChange, Finding, Say};
pub use crate::tree_folder::{FILE, FOLDER};
use crate::trust::{Distrusted, ensure_trusted, trusted_with};

/// The length of a log that is merged during a run, in bytes: a thousand pages.
const LOG_LEN_MAX: u64 = 4 << 20;

/// How long a run waits at its end for those who read.
const MERGE_PATIENCE: Duration = Duration::from_secs(2);

/// An open catalogue.
#[derive(Debug)]
pub struct Catalogue {
    db: Connection,
    /// What SQLite reaches by a path, which outlives the connection.
    _held: HeldDatabase,
    home: Home,
    file: PathBuf,
    root: PathBuf,
    writes: bool,
    /// That of a writer.
    lock: Option<Lock>,
    /// Rows that were read last, and the version of the data that they are of.
    rows: RefCell<((i64, u64), SliceCache)>,
    /// That of a reader, or that of a writer who has merged the log and not emptied it.
    readers: Option<Lock>,
}

impl Catalogue {
    /// Makes an empty catalogue of the tree at `root`, and opens it for writing.
    ///
    /// It is stored in the tree, or in `file` if given.
    ///
    /// # Errors
    ///
    /// If a catalogue exists already, or it cannot be written.
    pub fn create(
        root: &Path,
        file: Option<&Path>,
        writer: &LockRequest<'_>,
    ) -> Result<Catalogue, CatalogueError> {
        let real = root.canonicalize();
        let real = real.map_err(|error| DbError::io("find the tree's root", &error).at(root))?;
        let file = file.map_or_else(|| place::inside(&real), Path::to_owned);
        Catalogue::create_at(&real, &file, writer).map_err(|fault| fault.at(&file))
    }

    fn create_at(root: &Path, file: &Path, writer: &LockRequest<'_>) -> Result<Catalogue, DbError> {
        let volume = TreeVolume::of(root)?;
        place::ensure_apart(root, file)?;
        let home = Home::make(file)?;
        place::ensure_none(&home)?;
        let mut lock = Lock::take(&home, writer)?;
        let made = lock.ensure_room().and_then(|()| place::prepare(&home)).and_then(|draft| {
            Catalogue::draft(&home, root, &volume, writer)?;
            place::publish(draft, &home)
        });
        if let Err(fault) = made {
            place::abandon(&home);
            return Err(fault);
        }
        lock.note_published();
        let (db, _held) = schema::connect(&home, Access::Write)?;
        let (file, root) = (file.to_owned(), root.to_owned());
        let (lock, readers, rows) = (Some(lock), None, RefCell::default());
        Ok(Catalogue { db, _held, home, file, root, writes: true, lock, readers, rows })
    }

    /// Writes an empty catalogue into its draft.
    fn draft(
        home: &Home,
        root: &Path,
        volume: &TreeVolume,
        writer: &LockRequest<'_>,
    ) -> Result<(), DbError> {
        let (db, _held) = schema::connect(home, Access::Create)?;
        let directory = Directory { id: ROOT, parent: 0, name: Vec::new(), mounted: false };
        db.execute_batch("BEGIN IMMEDIATE")?;
        put_root(&db, home, root)?;
        meta::put(&db, "created_s", writer.now.seconds)?;
        volume.store(&db)?;
        directory.put(&db)?;
        db.execute_batch("COMMIT")?;
        // Closing the last connection merges the log into the file, which is then complete by
        // itself.
        db.close().map_err(|(_, error)| DbError::from(error))
    }

    /// Finds the catalogue of the nearest tree at or above a path. The path itself need not exist.
    ///
    /// If only a lock or a log is left of a catalogue, or something else has its name, returns its
    /// path; opening it then fails. One above the folder of the path that another person could have
    /// put there, or can change, is passed over.
    pub fn find(path: &Path) -> Option<PathBuf> {
        Catalogue::find_passing(path, &mut |_| ())
    }

    /// Returns what to say of the catalogues above the folder of a path that are passed over.
    pub fn passed_over(path: &Path) -> Vec<Notice> {
        let mut passed = Vec::new();
        Catalogue::find_passing(path, &mut |notice| passed.push(notice));
        passed
    }

    fn find_passing(path: &Path, passed: &mut dyn FnMut(Notice)) -> Option<PathBuf> {
        let real = place::real_of(path)?;
        let folder = beneath::folder_above(&real)?;
        let trusted = trusted_with(folder).ok();
        let refusal_of = |file: &PathBuf| {
            let root = file.parent().and_then(Path::parent)?;
            let is_above = folder != root && folder.starts_with(root);
            let trusted = trusted.as_ref().filter(|_| is_above)?;
            let error = ensure_trusted(root, FOLDER, FILE, trusted).err();
            error.filter(Distrusted::is)
        };
        let mut found = real.ancestors().map(place::inside).filter(|it| Catalogue::is_found(it));
        found.find(|file| match refusal_of(file) {
            None => true,
            Some(error) => {
                let text = format!("this catalogue is not used: {error}");
                passed(Notice::new(text).at(file));
                false
            }
        })
    }

    /// Finds the catalogue of the nearest tree at or above a path beneath `root`. Follows no link
    /// below `root`: a planted link must not lead to the catalogue of another tree.
    ///
    /// `root` is a path without links. A path that is not beneath it has no catalogue.
    pub fn find_beneath(root: &Path, path: &Path) -> Option<PathBuf> {
        let below = path.strip_prefix(root).ok()?;
        let is_tree = |above: &&Path| beneath::directory(root, above).is_ok();
        let trees = below.ancestors().filter(is_tree).map(|above| root.join(above));
        let beneath_root =
            trees.map(|tree| place::inside(&tree)).find(|file| Catalogue::is_found(file));
        beneath_root.or_else(|| Catalogue::find(root))
    }

    /// Opens a catalogue for writing, and keeps other writers out until it is dropped.
    ///
    /// # Errors
    ///
    /// If it is absent, in use, damaged, or of a later version.
    pub fn open_writer(file: &Path, writer: &LockRequest<'_>) -> Result<Catalogue, CatalogueError> {
        let open = || {
            let home = there(file)?;
            let lock = Lock::take(&home, writer)?;
            lock.ensure_room()?;
            let (db, _held) = schema::connect(&home, Access::Write)?;
            place::remove_shared_memory(&home);
            let root = root_of(&db, &home)?;
            ensure_whole(&db)?;
            let (file, lock, readers) = (file.to_owned(), Some(lock), None);
            let rows = RefCell::default();
            Ok(Catalogue { db, _held, home, file, root, writes: true, lock, readers, rows })
        };
        open().map_err(|fault: DbError| fault.at(file))
    }

    /// Opens a catalogue for reading, also beside a writer or on a read-only medium.
    ///
    /// # Errors
    ///
    /// If it is absent, damaged, or of a later version.
    pub fn open_reader(file: &Path) -> Result<Catalogue, CatalogueError> {
        let open = || Catalogue::read_in(there(file)?, file);
        open().map_err(|fault: DbError| fault.at(file))
    }

    /// Opens a catalogue for reading in its open folder. As long as it is open, what it reads stays
    /// as it is: a run beside it merges no log.
    fn read_in(home: Home, file: &Path) -> Result<Catalogue, DbError> {
        let readers = Lock::reading(&home)?;
        let access = if place::has_log(&home) { Access::ReadLog } else { Access::Read };
        let (db, _held) = schema::connect(&home, access)?;
        let root = root_of(&db, &home)?;
        reading(&db, || ensure_whole(&db))?;
        let (file, lock, rows) = (file.to_owned(), None, RefCell::default());
        Ok(Catalogue { db, _held, home, file, root, writes: false, lock, readers, rows })
    }

    /// Opens it once more for reading, in the same folder. Beside a writer, it reads what was
    /// stored last, and does not keep the log from being merged.
    pub(crate) fn beside(&self) -> Result<Catalogue, CatalogueError> {
        let open = || {
            let (home, file) = (self.home.clone(), self.file.clone());
            if !self.writes {
                return Catalogue::read_in(home, &file);
            }
            let (root, (lock, readers)) = (self.root.clone(), (None, None));
            let rows = RefCell::default();
            let (db, _held) = schema::connect(&home, Access::Beside)?;
            Ok(Catalogue { db, _held, home, file, root, writes: false, lock, readers, rows })
        };
        open().map_err(|fault| self.wrong(fault))
    }

    /// Merges the log into the file, unless somebody reads for longer than `patience`. Then
    /// everything is stored, too, and a later call or run merges it.
    fn merge_log(&mut self, patience: Duration) -> Merged {
        self.readers = self.readers.take().or_else(|| Lock::merging(&self.home, patience));
        let merged = match self.readers {
            Some(_) => schema::merge_log(&self.db),
            None => Merged::Part,
        };
        if merged != Merged::Kept {
            self.readers = None;
        }
        merged
    }

    /// Returns whether there is a catalogue, remains of one, or something else in its place.
    pub fn is_found(file: &Path) -> bool {
        place::is_found(file)
    }

    /// Opens a catalogue to readers, or closes it.
    ///
    /// # Errors
    ///
    /// If another process writes to it, or it belongs to another user.
    pub fn set_readers(
        file: &Path,
        readers: Readers,
        writer: &LockRequest<'_>,
    ) -> Result<(), CatalogueError> {
        let set = || {
            let home = there(file)?;
            let _lock = Lock::take(&home, writer)?;
            readers.give_to(&home)
        };
        set().map_err(|fault: DbError| fault.at(file))
    }

    /// Renames a damaged catalogue to make room for a new one, and returns its new path.
    ///
    /// # Errors
    ///
    /// If another process writes to it, it is not a catalogue, or the system refuses.
    pub fn set_aside(file: &Path, writer: &LockRequest<'_>) -> Result<PathBuf, CatalogueError> {
        let aside = || {
            let home = Home::open(file)?;
            let _lock = Lock::take(&home, writer)?;
            place::set_aside(&home, writer.now).map(|suffix| place::beside(file, &suffix))
        };
        aside().map_err(|fault| fault.at(file))
    }

    /// Returns the root of the tree, without links in its path.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the path of the catalogue.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// Returns whether the files of the tree keep their inodes as long as they exist.
    pub(crate) fn keeps_inodes(&self) -> bool {
        TreeVolume::load(&self.db).is_ok_and(|volume| volume.keeps_inodes())
    }

    /// Returns the number of known files.
    ///
    /// # Errors
    ///
    /// If it cannot be read.
    pub fn entries(&self) -> Result<u64, CatalogueError> {
        volume::total(&self.db).map_err(|fault| self.wrong(fault))
    }

    /// Checks that the tree is the one of the catalogue. Required before any file is called
    /// missing.
    ///
    /// # Errors
    ///
    /// If the root is gone or empty, or on another volume. The message says what to do.
    pub fn guard(&self) -> Result<(), CatalogueError> {
        self.guard_as(false)
    }

    /// Returns whether another process that wrote last is there still, on this machine.
    pub(crate) fn writer_lives(&self) -> bool {
        place::writer_lives(&self.home)
    }

    /// Does the same. `believes_empty`: whether an empty root has lost its files.
    pub(crate) fn guard_as(&self, believes_empty: bool) -> Result<(), CatalogueError> {
        let guard = || {
            let recognised = volume::recognise(&self.db, &self.root, believes_empty)?;
            if recognised == Recognised::Renumbered && self.writes {
                TreeVolume::of(&self.root)?.store(&self.db)?;
            }
            Ok(())
        };
        guard().map_err(|fault| self.wrong(self.with_way_on(fault)))
    }

    /// Adds to the error about another tree how to go on from there.
    fn with_way_on(&self, fault: DbError) -> DbError {
        let change = match self.writes || may_write(&self.file) {
            true => CatalogueChange::Rebind,
            false => CatalogueChange::KeepElsewhere,
        };
        let root = match fault.kind() {
            CatalogueErrorKind::OtherVolume => Some(self.root.clone()),
            CatalogueErrorKind::EmptyRoot if !beneath::is_folder(&self.root) => None,
            _ => return fault,
        };
        fault.advise(Advice::Catalogue { change, root, file: self.file.clone() })
    }

    /// Checks that it is the catalogue of a listed tree, whose folder is still at its place.
    ///
    /// # Errors
    ///
    /// `OtherVolume` if a link, another folder or another volume is there, or another catalogue.
    pub(crate) fn ensure_is(&self, listed: &CataloguedTree) -> Result<(), CatalogueError> {
        let fault = |message| DbError::new(CatalogueErrorKind::OtherVolume, message);
        if self.root != listed.root {
            let (place, root) = (listed.root.display(), self.root.display());
            let text = format!("a link leads from `{place}` to `{root}`, which is another folder");
            return Err(self.wrong(fault(text)));
        }
        let found = self.tree()?;
        let text = match found.made == listed.made {
            true if found.volume.may_be(&listed.volume) => return Ok(()),
            true => format!("{}.", found.volume.differs_from(&listed.volume, &self.root)),
            false => {
                "another disk or folder is in its place, with a catalogue of its own.".to_owned()
            }
        };
        let (root, file) = (Some(listed.root.clone()), self.file.clone());
        let advice = Advice::Catalogue { change: CatalogueChange::List, root, file };
        Err(self.wrong(fault(text).advise(advice)))
    }

    /// Accepts the present folder of the tree, after the tree was copied or restored there. `root`
    /// is that folder; a catalogue in a tree is always of the folder above it. Returns the former
    /// folder.
    ///
    /// # Errors
    ///
    /// If the root cannot be opened, the catalogue is in another tree, or it cannot be written.
    pub fn rebind(&mut self, root: &Path) -> Result<TreeVolume, CatalogueError> {
        let rebind = || {
            let real = root.canonicalize();
            let real = real.map_err(|error| DbError::io("find the tree's root", &error))?;
            place::ensure_apart(&real, &self.file)?;
            let (volume, former) = (TreeVolume::of(&real)?, TreeVolume::load(&self.db)?);
            self.db.execute_batch("BEGIN IMMEDIATE")?;
            volume.store(&self.db)?;
            put_root(&self.db, &self.home, &real)?;
            self.db.execute_batch("COMMIT")?;
            Ok((real, former))
        };
        let (real, former) = rebind().map_err(|fault: DbError| fault.at(&self.file))?;
        self.root = real;
        Ok(former)
    }

    /// Returns runs before run `before`, the latest first; `i64::MAX` starts with the last one.
    ///
    /// # Errors
    ///
    /// If the catalogue cannot be read.
    pub fn runs(&self, before: i64, limit: u32) -> Result<Vec<RunRecord>, CatalogueError> {
        runs::before(&self.db, before, i64::from(limit)).map_err(|fault| self.wrong(fault))
    }

    /// Returns the tag that the catalogue has for a path from the root.
    ///
    /// # Errors
    /// If the catalogue cannot be read.
    pub fn tag(&self, path: &Path) -> Result<Option<Tag>, CatalogueError> {
        let found = self.known_at(path).map_err(|fault| self.wrong(fault))?;
        Ok(found.and_then(|found| found.known.record.tag))
    }

    /// Returns the inode that a file had when a run saw it last, by its path from the root.
    ///
    /// # Errors
    /// If the catalogue cannot be read.
    pub(crate) fn inode_of(&self, path: &Path) -> Result<Option<u64>, CatalogueError> {
        let found = self.known_at(path).map_err(|fault| self.wrong(fault))?;
        Ok(found.map(|found| found.known.record.facts.inode))
    }

    /// Returns the SQL statements that make the tables of this version, as documented in
    /// `docs/formats`.
    pub fn tables(&self) -> String {
        schema::tables().map(|table| format!("{table};\n")).collect()
    }

    fn wrong(&self, fault: DbError) -> CatalogueError {
        fault.at(&self.file)
    }
}

impl Catalogue {
    /// Merges the log if it has grown, and nobody reads. What was stored since the last merging
    /// keeps the log from being begun anew, so readers may come.
    fn merge_grown_log(&mut self) {
        self.readers = None;
        let log = self.home.dir().status_of(&self.home.name("-wal"));
        if log.is_ok_and(|log| log.length > LOG_LEN_MAX) {
            self.merge_log(Duration::ZERO);
        }
    }
}

impl Drop for Catalogue {
    /// Merges the log, so that the file alone is the whole catalogue, and removes it.
    fn drop(&mut self) {
        if self.writes {
            let _ = self.db.execute_batch("ROLLBACK");
            if self.merge_log(MERGE_PATIENCE) == Merged::Whole {
                let _ = self.home.dir().remove_file(&self.home.name("-wal"));
            }
        }
    }
}

/// Checks that no directory and no slice is lost: their files would be neither known nor missing.
fn ensure_whole(db: &Connection) -> Result<(), DbError> {
    directory::ensure_all(db)?;
    runs::ensure_slices(db)
}

/// Opens the folder of an existing catalogue. SQLite's error would only be "unable to open".
fn there(file: &Path) -> Result<Home, DbError> {
    let absent = |message| DbError::new(CatalogueErrorKind::Absent, message);
    match Home::open(file) {
        Ok(home) if home.has("") => rights::ensure_readable(&home, file).map(|()| home),
        Ok(home) if place::is_lost(file) && place::is_unfinished(&home) => {
            let message = "the making of a catalogue began here and did not finish";
            Err(DbError::new(CatalogueErrorKind::Unfinished, message))
        }
        Ok(_) if place::is_lost(file) => {
            Err(absent("the catalogue is gone, and what was beside it is still there"))
        }
        Ok(_) => Err(absent("there is no catalogue")),
        Err(fault) if fault.kind() == CatalogueErrorKind::Absent => {
            Err(absent("there is no catalogue"))
        }
        Err(fault) => match rights::closed_folder(file) {
            Some(folder) => Err(rights::unreadable(&folder, file)),
            None => Err(fault),
        },
    }
}

/// Returns the root of the tree. A catalogue in a tree is of the folder above it, whatever it says
/// itself; only one that is kept elsewhere stores its root.
fn root_of(db: &Connection, home: &Home) -> Result<PathBuf, DbError> {
    let stored = PathBuf::from(Path::from_bytes(&meta::bytes(db, "root")?));
    match home.tree() {
        Some(root) => Ok(root.to_owned()),
        None if stored.is_absolute() => Ok(stored),
        None => {
            let root = home.folder().parent();
            let moved = || DbError::damaged("it is not in the folder that it was made in");
            root.map(Path::to_owned).ok_or_else(moved)
        }
    }
}

/// Stores the root of the tree, of a catalogue that is kept elsewhere.
fn put_root(db: &Connection, home: &Home, root: &Path) -> Result<(), DbError> {
    let stored = if home.tree().is_some() { Path::new("") } else { root };
    meta::put(db, "root", stored.as_bytes())
}

/// Returns a time of whole seconds.
fn seconds(seconds: i64) -> Timestamp {
    Timestamp { seconds, nanoseconds: 0 }
}
