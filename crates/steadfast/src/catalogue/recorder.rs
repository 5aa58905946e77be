//! Records a run in its catalogue, file by file.
//!
//! The observations of a run come in walk order, from one thread; findings go out. `open_dir.rs`
//! follows the walk down and up, `reconcile.rs` compares observed files with known ones,
//! `not_visited.rs` looks for known files that the walk did not visit, and `missing.rs` and
//! `moved.rs` decide at the end what became of those.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rusqlite::Connection;
use steadfast_sys::names::NameBytes as _;

use steadfast_sys::file::Timestamp;

use super::entry::FIRST_FILE;
use super::error::{CatalogueErrorKind, DbError};
use super::flushing::VolumeFlush;
use super::observation::Observation;
use super::open_dir::Descent;
use super::repaired::Repairs;
use super::runs::{RunRecord, RunState};
use super::scope::RunScope;
use super::slice_cache::SliceCache;
use super::unlisted;
use super::{Catalogue, CatalogueError, CataloguedTree, runs, volume, work, writes};
use crate::beneath::Places;
use crate::event::{FileEvent, Subject};
use crate::finding::{Finding, Say};
use crate::read::Origin;
use crate::verb_kind::VerbKind;
use crate::verdict::Verdict;
use steadfast_manifest::tag::TagPlace;

/// The start of a run, for its record.
#[derive(Clone, Debug)]
pub struct RunStart<'a> {
    /// The verb.
    pub verb: VerbKind,
    /// The requested source of bytes; `None` if none are read.
    pub read_from: Option<Origin>,
    /// The SHA-256 backend and its lanes.
    pub backend: &'a str,
    /// The time of day.
    pub now: Timestamp,
    /// Whether the verb accepts changes. Missing files are then removed from the catalogue, and
    /// replaced attributes are believed.
    pub accepts: bool,
}

/// What a recorder does with the files that it observes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RecorderMode {
    /// Whether it writes to the catalogue, or only makes findings.
    pub(super) writes: bool,
    /// Whether the files were not read, so that it compares facts only.
    pub(super) quick: bool,
    pub(super) accepts: bool,
    /// Whether the files of an empty tree are missing, and not away.
    pub(super) believes_empty: bool,
}

/// What the catalogue knew before the run.
#[derive(Debug)]
pub(super) struct KnownBefore {
    /// Whether no run has been completed yet, so new files are not reported.
    pub(super) nothing_whole: bool,
    /// The last directory that was known.
    pub(super) last_directory: i64,
    /// Files that were repaired before the run, which reads them again.
    pub(super) repairs: Repairs,
}

/// What a run has counted so far.
#[derive(Debug, Default)]
pub(super) struct RunCounts {
    /// How often each verdict came up, as [`Verdict::ALL`].
    verdicts: [u64; Verdict::ALL.len()],
    /// How often each finding came up, by name.
    pub(super) findings: BTreeMap<&'static str, u64>,
    /// Events written.
    pub(super) events: i64,
}

/// Which temporary tables exist.
#[derive(Debug, Default)]
pub(super) struct TemporaryTables {
    /// That of missing files.
    pub(super) missing: bool,
    /// That of files that arrived.
    pub(super) arrivals: bool,
    /// Those of displaced files.
    pub(super) displaced: bool,
    /// Whether a file waits in them.
    pub(super) has_displaced: bool,
}

/// What ends a run before its end.
#[derive(Debug, Default)]
pub(super) struct EarlyEnd {
    /// The flag by which the user stops the run, if there is one.
    pub(super) flag: Option<Arc<AtomicBool>>,
    /// Whether some work was left out because of that flag.
    pub(super) cut_short: bool,
    /// Why recording ended before the run did.
    broken: Option<CatalogueErrorKind>,
}

/// Records one run.
#[derive(Debug)]
// Over 15 fields: each is one part of the state of a run, and settling a slice needs most of them.
pub struct Recorder {
    pub(super) catalogue: Catalogue,
    pub(super) places: Places,
    pub(super) scope: RunScope,
    pub(super) mode: RecorderMode,
    /// The row of the run, so far.
    pub(super) record: RunRecord,
    pub(super) now: Timestamp,
    pub(super) before: KnownBefore,
    pub(super) counts: RunCounts,
    /// The number of the next new file.
    pub(super) next_file: i64,
    pub(super) descent: Descent,
    pub(super) tables: TemporaryTables,
    /// Rows that no longer change in this run: of files that left their names, or arrived.
    pub(super) rows: SliceCache,
    /// A buffer for sealing.
    pub(super) buffer: Vec<u8>,
    pub(super) medium: VolumeFlush,
    pub(super) early_end: EarlyEnd,
    /// Directories that could not be walked.
    unlisted: Vec<PathBuf>,
    /// Other catalogued trees, in which missing files may be.
    pub(super) others: Vec<CataloguedTree>,
}

impl Catalogue {
    /// Starts to record a run over a part of the tree.
    ///
    /// # Errors
    /// If the catalogue cannot be read or written.
    pub fn recorder(
        self,
        scope: RunScope,
        begin: &RunStart<'_>,
    ) -> Result<Recorder, CatalogueError> {
        let mode = RecorderMode {
            writes: self.writes,
            quick: false,
            accepts: begin.accepts,
            believes_empty: false,
        };
        let file = self.file.clone();
        Recorder::start(self, scope, begin, mode).map_err(|fault| fault.at(&file))
    }
}

impl Recorder {
    pub(super) fn start(
        catalogue: Catalogue,
        scope: RunScope,
        begin: &RunStart<'_>,
        mode: RecorderMode,
    ) -> Result<Recorder, DbError> {
        let now = super::seconds(begin.now.seconds);
        let (last, totals) = runs::last(&catalogue.db)?;
        let nothing_whole = !runs::any_whole(&catalogue.db)?;
        let next_file = if mode.writes { writes::next_file(&catalogue.db)? } else { FIRST_FILE };
        let record = RunRecord {
            id: last + 1,
            verb: begin.verb.name().to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            read_from: begin.read_from,
            backend: begin.backend.to_owned(),
            started: now,
            latest: now,
            state: RunState::Unfinished,
            files: 0,
            bytes: 0,
            counts: BTreeMap::new(),
            totals,
        };
        if mode.writes {
            catalogue.db.execute_batch("BEGIN IMMEDIATE")?;
            record.put(&catalogue.db)?;
        } else {
            // Read in one transaction, so another writer's changes are not seen half.
            catalogue.db.execute_batch("BEGIN")?;
        }
        let places = catalogue.places()?;
        let root_device = places.root().status().ok().map(|status| status.device);
        Ok(Recorder {
            catalogue,
            places,
            scope,
            mode,
            record,
            now,
            before: KnownBefore {
                nothing_whole,
                last_directory: totals.directories,
                repairs: Repairs::new(),
            },
            counts: RunCounts::default(),
            next_file,
            descent: Descent { root_device, ..Descent::default() },
            tables: TemporaryTables::default(),
            rows: SliceCache::default(),
            buffer: Vec::new(),
            medium: VolumeFlush::new(begin.now),
            early_end: EarlyEnd::default(),
            unlisted: Vec::new(),
            others: Vec::new(),
        })
    }

    /// Sets the SHA-256 backend and lanes, if they were not settled when the run began.
    pub(crate) fn set_backend(&mut self, backend: &str) {
        backend.clone_into(&mut self.record.backend);
    }

    /// Sets the files that were repaired before the run. Those that it finds as tagged get an event
    /// with their sources.
    pub(crate) fn set_repairs(&mut self, repairs: Repairs) {
        self.before.repairs = repairs;
    }

    /// Sets the other catalogued trees. Missing files that are in one of them have moved there.
    pub(crate) fn set_others(&mut self, others: Vec<CataloguedTree>) {
        self.others = others;
    }

    /// Makes the files of an empty tree missing ones: the user says that they are lost.
    pub(super) fn believe_empty(&mut self) {
        self.mode.believes_empty = true;
    }

    pub(super) fn db(&self) -> &Connection {
        &self.catalogue.db
    }

    /// Sets the flag by which the user stops the run. The search for missing files heeds it, which
    /// takes minutes if millions are gone. The run is then recorded as interrupted, and the next
    /// one looks again.
    pub fn stop_by(&mut self, stop: Arc<AtomicBool>) {
        // Without it, a hostile catalogue takes a little longer.
        let _ = work::bound(&mut self.catalogue.db, &self.catalogue.home, Some(stop.clone()));
        self.early_end.flag = Some(stop);
    }

    /// Returns whether the user stopped the run. The caller then leaves out the rest of its work.
    pub(super) fn is_stopped(&mut self) -> bool {
        self.early_end.cut_short |= self.stop_is_requested();
        self.early_end.cut_short
    }

    /// Returns whether the user asked to stop the run, which may be at its end already.
    pub(super) fn stop_is_requested(&self) -> bool {
        self.early_end.flag.as_ref().is_some_and(|stop| stop.load(Ordering::Relaxed))
    }

    /// Returns whether the run is recorded in the catalogue, and not only compared with it.
    pub(crate) fn writes(&self) -> bool {
        self.mode.writes
    }

    /// Returns whether the catalogue is written for the first time.
    pub(crate) fn is_first(&self) -> bool {
        self.mode.writes && self.before.nothing_whole
    }

    /// Returns the run's number.
    pub fn run(&self) -> i64 {
        self.record.id
    }

    /// Returns the root of the tree, to which the paths of findings are relative.
    pub fn root(&self) -> &Path {
        &self.catalogue.root
    }

    /// Records an event. `place` is where the tag was that the file was judged by.
    ///
    /// # Errors
    /// As [`Recorder::observe`].
    pub fn record_event(
        &mut self,
        event: &FileEvent,
        place: TagPlace,
        say: &mut Say<'_>,
    ) -> Result<(), CatalogueError> {
        self.observe(&Observation::of(event, place), say)
    }

    /// Records an observation of a file, or of a directory that could not be walked. The verdict
    /// `Missing` says that a known file was gone.
    ///
    /// It reports findings when the walk leaves their directory or has seen some thousands of its
    /// files, so they come later than the events of the files.
    ///
    /// # Errors
    /// If the catalogue cannot be read or written. Only the first failure is returned; later calls
    /// do nothing.
    pub fn observe(
        &mut self,
        observation: &Observation<'_>,
        say: &mut Say<'_>,
    ) -> Result<(), CatalogueError> {
        self.guarded(|recorder| recorder.observe_one(observation, say))
    }

    /// Commits what is recorded so far, if it is time. The caller calls it a few times a second.
    ///
    /// # Errors
    /// As [`Recorder::observe`].
    pub fn tick(&mut self, now: Timestamp) -> Result<(), CatalogueError> {
        if !self.medium.begin_commit(now) {
            return Ok(());
        }
        self.now = super::seconds(now.seconds);
        self.guarded(|recorder| recorder.commit(true))
    }

    /// Ends the run and commits. If the run was `whole`, it first reports missing and moved files.
    ///
    /// # Errors
    /// If the catalogue cannot be read or written, or could not at an earlier time.
    pub fn finish(
        mut self,
        whole: bool,
        now: Timestamp,
        say: &mut Say<'_>,
    ) -> Result<RunRecord, CatalogueError> {
        self.now = super::seconds(now.seconds);
        self.conclude(whole, say)?;
        Ok(self.record)
    }

    /// Ends the run, or returns why it was not recorded to its end.
    pub(super) fn conclude(
        &mut self,
        whole: bool,
        say: &mut Say<'_>,
    ) -> Result<(), CatalogueError> {
        if let Some(kind) = self.early_end.broken {
            let message = "the run was not kept to its end, because of an earlier error";
            return Err(DbError::new(kind, message).at(&self.catalogue.file));
        }
        self.guarded(|recorder| recorder.end(whole, say))
    }

    /// Does some work. If it fails, the catalogue stays as it was at the last commit.
    fn guarded(
        &mut self,
        work: impl FnOnce(&mut Recorder) -> Result<(), DbError>,
    ) -> Result<(), CatalogueError> {
        if self.early_end.broken.is_some() {
            return Ok(());
        }
        work::begin();
        work(self).map_err(|fault| {
            let fault = match &self.catalogue.lock {
                Some(lock) if fault.kind() == CatalogueErrorKind::System => {
                    lock.ensure_room().err().unwrap_or(fault)
                }
                _ => fault,
            };
            self.early_end.broken = Some(fault.kind());
            // SQLite may have rolled back already.
            let _ = self.catalogue.db.execute_batch("ROLLBACK");
            fault.at(&self.catalogue.file)
        })
    }

    fn observe_one(
        &mut self,
        observation: &Observation<'_>,
        say: &mut Say<'_>,
    ) -> Result<(), DbError> {
        if observation.subject == Subject::Directory {
            self.unlisted.extend(self.scope.directory(&observation.path.to_path()));
            self.descent.troubled.extend(self.scope.directory(&observation.path.to_path()));
            return Ok(());
        }
        let path = observation.path;
        let is = |last: &Option<Arc<Path>>| {
            !path.name.is_empty()
                && last.as_ref().is_some_and(|last| Arc::ptr_eq(last, &path.parent))
        };
        if is(&self.descent.outside) {
            return Ok(());
        }
        let located;
        let name = if is(&self.descent.parent) {
            path.name.as_os_str()
        } else {
            self.descent.parent = None;
            let Some((relative, name)) = self.scope.locate(path) else {
                self.descent.outside = Some(Arc::clone(&path.parent));
                return Ok(());
            };
            self.go_to(&relative, say)?;
            if !path.name.is_empty() {
                self.descent.parent = Some(Arc::clone(&path.parent));
            }
            located = name;
            located.as_os_str()
        };
        if observation.verdict == Some(Verdict::Missing) {
            let mut level = self.descent.levels.pop().expect("the root's is there once a file is");
            let noted = self.note_absent(&mut level, name.as_bytes(), say);
            self.descent.levels.push(level);
            return noted;
        }
        if self.mode.writes && self.descent.levels.last().is_some_and(|level| level.id == 0) {
            self.number_levels(observation.status.as_ref())?;
        }
        if let Some(verdict) = observation.verdict {
            self.count(verdict);
            self.record.bytes += observation.status.map_or(0, |status| status.length);
        }
        self.record.files += 1;
        if let Some(status) = observation.status {
            let level = self.descent.levels.last();
            self.medium.add_volume(status.device, level.map(|level| level.relative.as_path()));
        }
        let mut level = self.descent.levels.pop().expect("the root's is there once a file is");
        let placed = self.make_room(&mut level, name.as_bytes(), say);
        level.batch.push(name.as_bytes(), observation);
        self.descent.levels.push(level);
        placed
    }

    /// Commits what is recorded so far.
    pub(super) fn commit(&mut self, go_on: bool) -> Result<(), DbError> {
        if !self.mode.writes {
            return Ok(());
        }
        self.medium.flush(&self.catalogue.root)?;
        let (db, run) = (&self.catalogue.db, self.record.id);
        for level in self.descent.levels.iter_mut().filter(|level| level.id != 0) {
            level.cover.flush(db, run, level.id)?;
            level.covered.flush(db, run)?;
        }
        let verdicts = Verdict::ALL.iter().map(|verdict| verdict.name()).zip(self.counts.verdicts);
        let found = self.counts.findings.iter().map(|(name, count)| (*name, *count));
        for (what, count) in verdicts.chain(found).filter(|(_, count)| *count > 0) {
            *self.record.counts.entry(what.to_owned()).or_default() = count;
        }
        self.record.latest = self.now;
        self.record.totals.coverage =
            db.query_row("SELECT count(1) FROM coverage", (), |row| row.get(0))?;
        self.record.put(db)?;
        db.execute_batch("COMMIT")?;
        if go_on {
            self.catalogue.merge_grown_log();
            self.catalogue.db.execute_batch("BEGIN IMMEDIATE")?;
        }
        Ok(())
    }

    fn end(&mut self, whole: bool, say: &mut Say<'_>) -> Result<(), DbError> {
        let nothing = !self.mode.believes_empty
            && self.record.files == 0
            && self.scope.begins_at(Path::new(""));
        let total = if nothing { volume::total(self.db())? } else { 0 };
        if whole && total > 0 {
            self.report(say, Finding::Unmounted { path: PathBuf::new(), entries: total });
        }
        let whole = whole && total == 0 && !self.early_end.cut_short;
        if whole {
            // A walk that found no file has not been noted.
            let trees: Vec<PathBuf> = self.scope.trees().map(Path::to_owned).collect();
            for tree in trees {
                if !self.descent.begun.contains(&tree) {
                    self.go_to(&tree, say)?;
                }
            }
        }
        while !self.descent.levels.is_empty() {
            if !whole {
                self.give_up_walk();
            }
            self.leave(say)?;
        }
        if whole {
            self.resolve_absent_selections(say)?;
            self.resolve_missing(say)?;
        }
        if self.mode.writes {
            unlisted::add(&self.catalogue, std::mem::take(&mut self.unlisted))?;
        }
        let whole = whole && !self.early_end.cut_short;
        self.record.state = if whole { RunState::Whole } else { RunState::Interrupted };
        self.commit(false)
    }

    fn count(&mut self, verdict: Verdict) {
        let at = Verdict::ALL.iter().position(|other| *other == verdict);
        at.into_iter().for_each(|at| self.counts.verdicts[at] += 1);
    }

    /// Counts a finding and reports it.
    pub(super) fn report(&mut self, say: &mut Say<'_>, finding: Finding) {
        match &finding {
            Finding::Unreadable { .. } => self.count(Verdict::Unreadable),
            finding => *self.counts.findings.entry(finding.name()).or_default() += 1,
        }
        say(finding);
    }
}
