//! The recorder: follows a run, file by file, and keeps the catalogue by it.
//!
//! In: sightings in walk order, from one thread. Out: a catalogue that knows them, and findings.
//! A stack of open directories follows the walk: what is in a directory comes where its name
//! stands. What is done with the files of one directory is in `reconcile.rs`, with known files that
//! the walk did not come upon in `not_visited.rs`, and what they come to at the end in `missing.rs`
//! and `moved.rs`.

use std::collections::{BTreeMap, HashSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rusqlite::Connection;

use steadfast_sys::file::{Status, Timestamp};

use super::coverage::{DirectoryCoverage, NameCoverage};
use super::directory::{self, Children, Directory, ROOT, down_from};
use super::error::{CatalogueErrorKind, DbError};
use super::finding::{Finding, Say};
use super::observation::{FileBatch, Observation};
use super::records::SliceCache;
use super::runs::{RunRecord, RunState};
use super::scope::RunScope;
use super::slice::{NameSlice, slices_of};
use super::{Catalogue, CatalogueError, runs, schema, volume};
use crate::beneath;
use crate::event::{FileEvent, Subject};
use crate::tag::TagPlace;
use crate::verdict::Verdict;

/// How often what is known so far is stored: a loss of power loses as much.
const COMMIT_EVERY_S: u64 = 1;

/// How seldom it is stored at most, where flushing the volume takes long.
const COMMIT_EVERY_S_MAX: u64 = 60;

/// Pause after a flush, as a multiple of its time: flushing then takes a tenth of a run at most.
const FLUSH_PAUSE: u64 = 10;

/// What a run is, to be remembered with what it found.
#[derive(Clone, Debug)]
pub struct RunStart<'a> {
    /// The verb.
    pub verb: &'a str,
    /// Where bytes are to come from: "cache" or "media".
    pub read_from: &'a str,
    /// The SHA-256 backend and its lanes.
    pub backend: &'a str,
    /// The time of day.
    pub now: Timestamp,
    /// Whether the verb accepts changes: what is missing is then taken out, and attributes that
    /// were replaced are believed.
    pub accepts: bool,
}

/// What is to be done with what is seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RecorderMode {
    /// Whether the catalogue is written, or findings are made and nothing else.
    pub(super) writes: bool,
    /// Whether files were only looked at, so that facts alone are compared.
    pub(super) quick: bool,
    pub(super) accepts: bool,
}

/// Follows one run.
#[derive(Debug)]
pub struct Recorder {
    pub(super) catalogue: Catalogue,
    pub(super) scope: RunScope,
    pub(super) mode: RecorderMode,
    /// The run's row, as it stands.
    pub(super) record: RunRecord,
    /// Whether no run came to an end before this one: then nothing is news.
    pub(super) filling: bool,
    pub(super) now: Timestamp,
    /// The device of the tree's root.
    pub(super) root_device: Option<u64>,
    /// Directories that could not be listed.
    pub(super) troubled: HashSet<PathBuf>,
    /// The last directory that was known before the run.
    pub(super) known_directory: i64,
    /// Happenings so far.
    pub(super) events_written: i64,
    /// Whether there are tables of what is absent and of what arrived.
    pub(super) has_missing: bool,
    pub(super) has_arrivals: bool,
    /// Rows of files that came, as they are looked at again.
    pub(super) arrived: SliceCache,
    /// Room to seal in.
    pub(super) buffer: Vec<u8>,
    /// How often each verdict came up, as [`Verdict::ALL`], and each finding, by name.
    verdicts: [u64; Verdict::ALL.len()],
    pub(super) found: BTreeMap<&'static str, u64>,
    levels: Vec<OpenDir>,
    /// The directory of the last file, as the run says it; `None` if that is in no tree of ours.
    parent: Option<Arc<Path>>,
    outside: Option<Arc<Path>>,
    /// Where walks began that came by.
    begun: HashSet<PathBuf>,
    committed: Timestamp,
    /// Volumes that files were seen on, each with a directory of it.
    volumes: Vec<(u64, PathBuf)>,
    /// Whether rows were written that rely on files or attributes that may not be on the medium.
    pub(super) unflushed: bool,
    /// How long the last flush took.
    flush: Duration,
    /// Why recording ended before the run did.
    broken: Option<CatalogueErrorKind>,
    /// The flag by which the user stops the run, if there is one.
    pub(super) stop: Option<Arc<AtomicBool>>,
    /// Whether some work was left out because of that flag.
    pub(super) cut_short: bool,
}

/// One directory on the way down.
#[derive(Debug, Default)]
pub(super) struct OpenDir {
    /// Its number; 0 while the catalogue does not know it.
    pub(super) id: i64,
    /// Its path from the root.
    pub(super) relative: PathBuf,
    pub(super) mounted: bool,
    /// Whether all that is in it comes by, so that what does not is worth a look.
    pub(super) walked: bool,
    /// Whether it had no slices, so that files in order only add to it.
    pub(super) fresh: bool,
    pub(super) slices: Vec<NameSlice>,
    /// The slice that the batch belongs to.
    pub(super) at: usize,
    pub(super) batch: FileBatch,
    /// The last name that was settled.
    last: Vec<u8>,
    pub(super) children: Children,
    pub(super) cover: NameCoverage,
    covered: DirectoryCoverage,
    /// Whether all that is known beneath it was covered, itself apart.
    pub(super) complete: bool,
}

impl Catalogue {
    /// Follows a run over a part of the tree.
    ///
    /// # Errors
    /// If the catalogue cannot be read or written.
    pub fn recorder(
        self,
        scope: RunScope,
        begin: &RunStart<'_>,
    ) -> Result<Recorder, CatalogueError> {
        let mode = RecorderMode { writes: self.writes, quick: false, accepts: begin.accepts };
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
        let filling = !runs::any_whole(&catalogue.db)?;
        let record = RunRecord {
            id: last + 1,
            verb: begin.verb.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            read_from: begin.read_from.to_owned(),
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
            // Beside a writer, all is seen as it was at one moment.
            catalogue.db.execute_batch("BEGIN")?;
        }
        Ok(Recorder {
            root_device: Status::of(&catalogue.root).ok().map(|status| status.device),
            filling,
            catalogue,
            scope,
            mode,
            record,
            now,
            committed: begin.now,
            volumes: Vec::new(),
            unflushed: false,
            flush: Duration::ZERO,
            troubled: HashSet::new(),
            known_directory: totals.directories,
            events_written: 0,
            has_missing: false,
            has_arrivals: false,
            arrived: SliceCache::default(),
            buffer: Vec::new(),
            verdicts: [0; Verdict::ALL.len()],
            found: BTreeMap::new(),
            levels: Vec::new(),
            parent: None,
            outside: None,
            begun: HashSet::new(),
            broken: None,
            stop: None,
            cut_short: false,
        })
    }

    pub(super) fn db(&self) -> &Connection {
        &self.catalogue.db
    }

    /// Heeds a stop flag while it looks for missing files, which takes long where millions are gone.
    /// A run that is stopped there is recorded as interrupted, and the next one looks again.
    pub fn stop_by(&mut self, stop: Arc<AtomicBool>) {
        self.stop = Some(stop);
    }

    /// Returns whether the user stopped the run. The caller then leaves out the rest of its work.
    pub(super) fn is_stopped(&mut self) -> bool {
        self.cut_short |= self.stop.as_ref().is_some_and(|stop| stop.load(Ordering::Relaxed));
        self.cut_short
    }

    /// Returns the run's number.
    pub fn run(&self) -> i64 {
        self.record.id
    }

    /// Returns the root of the tree, to which the paths of findings are relative.
    pub fn root(&self) -> &Path {
        &self.catalogue.root
    }

    /// Takes an event. `place` is where the tag was that the file was judged by.
    ///
    /// # Errors
    /// As [`Recorder::observe`].
    pub fn take(
        &mut self,
        event: &FileEvent,
        place: TagPlace,
        say: &mut Say<'_>,
    ) -> Result<(), CatalogueError> {
        self.observe(&Observation::of(event, place), say)
    }

    /// Takes what was seen of a file, or of a directory that could not be walked; or that a known
    /// file was gone, by its verdict.
    ///
    /// Findings of a directory's files are said when the walk leaves it or has seen some thousands
    /// of them, so they come in that order and later than the files' own events.
    ///
    /// # Errors
    /// If the catalogue cannot be read or written. Nothing is kept from then on, once: later calls
    /// do nothing.
    pub fn observe(
        &mut self,
        observation: &Observation<'_>,
        say: &mut Say<'_>,
    ) -> Result<(), CatalogueError> {
        self.guarded(|recorder| recorder.observe_one(observation, say))
    }

    /// Stores what is known so far, if it is time. To be called a few times a second.
    ///
    /// # Errors
    /// As [`Recorder::observe`].
    pub fn tick(&mut self, now: Timestamp) -> Result<(), CatalogueError> {
        let passed = now.seconds.saturating_sub(self.committed.seconds);
        let passed = passed - i64::from(now.nanoseconds < self.committed.nanoseconds);
        let every = (self.flush.as_secs() * FLUSH_PAUSE).clamp(COMMIT_EVERY_S, COMMIT_EVERY_S_MAX);
        if (0..every.cast_signed()).contains(&passed) {
            return Ok(());
        }
        self.committed = now;
        self.now = super::seconds(now.seconds);
        self.guarded(|recorder| recorder.commit(true))
    }

    /// Ends the run: says what is missing and moved, if the run was `whole`, and stores all.
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

    /// Ends the run, or says why it was not kept to its end.
    pub(super) fn conclude(
        &mut self,
        whole: bool,
        say: &mut Say<'_>,
    ) -> Result<(), CatalogueError> {
        if let Some(kind) = self.broken {
            let message = "the run was not kept to its end, because of an earlier error";
            return Err(DbError::new(kind, message).at(&self.catalogue.file));
        }
        self.guarded(|recorder| recorder.end(whole, say))
    }

    /// After an error, leaves the catalogue as it was last stored.
    fn guarded(
        &mut self,
        work: impl FnOnce(&mut Recorder) -> Result<(), DbError>,
    ) -> Result<(), CatalogueError> {
        if self.broken.is_some() {
            return Ok(());
        }
        work(self).map_err(|fault| {
            let fault = match &self.catalogue.lock {
                Some(lock) if fault.kind() == CatalogueErrorKind::System => {
                    lock.ensure_room().err().unwrap_or(fault)
                }
                _ => fault,
            };
            self.broken = Some(fault.kind());
            // SQLite may have rolled back by itself.
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
            self.troubled.extend(self.scope.directory(&observation.path.to_path()));
            return Ok(());
        }
        let path = observation.path;
        let is = |last: &Option<Arc<Path>>| {
            !path.name.is_empty()
                && last.as_ref().is_some_and(|last| Arc::ptr_eq(last, &path.parent))
        };
        if is(&self.outside) {
            return Ok(());
        }
        let located;
        let name = if is(&self.parent) {
            path.name.as_os_str()
        } else {
            self.parent = None;
            let Some((relative, name)) = self.scope.locate(path) else {
                self.outside = Some(Arc::clone(&path.parent));
                return Ok(());
            };
            self.go_to(&relative, say)?;
            if !path.name.is_empty() {
                self.parent = Some(Arc::clone(&path.parent));
            }
            located = name;
            located.as_os_str()
        };
        if observation.verdict == Some(Verdict::Missing) {
            let mut level = self.levels.pop().expect("the root's is there once a file is");
            let noted = self.miss(&mut level, name.as_bytes(), say);
            self.levels.push(level);
            return noted;
        }
        if self.mode.writes && self.levels.last().is_some_and(|level| level.id == 0) {
            self.number_levels(observation.status.as_ref())?;
        }
        if let Some(at) = observation
            .verdict
            .and_then(|verdict| Verdict::ALL.iter().position(|other| *other == verdict))
        {
            self.verdicts[at] += 1;
            self.record.bytes += observation.status.map_or(0, |status| status.length);
        }
        self.record.files += 1;
        if let Some(device) = observation.status.map(|status| status.device)
            && self.volumes.iter().all(|(known, _)| *known != device)
        {
            let directory = self.levels.last().map(|level| level.relative.clone());
            self.volumes.push((device, directory.unwrap_or_default()));
        }
        let mut level = self.levels.pop().expect("the root's is there once a file is");
        let placed = self.make_room(&mut level, name.as_bytes(), say);
        level.batch.push(name.as_bytes(), observation);
        self.levels.push(level);
        placed
    }

    /// Takes it from a run over single files that one was gone. The end looks whether it still is.
    fn miss(&mut self, level: &mut OpenDir, name: &[u8], say: &mut Say<'_>) -> Result<(), DbError> {
        // Coverage is in the order of names.
        self.settle(level, say)?;
        let found = SliceCache::default().find(self.db(), level.id, name)?;
        let Some(found) = found.filter(|_| self.mode.writes) else { return Ok(()) };
        self.note_missing(level.id, &found.known, found.slice_run)?;
        self.cover(level, name, true)
    }

    /// Leaves and enters directories until the deepest open one is that of `relative`.
    fn go_to(&mut self, relative: &Path, say: &mut Say<'_>) -> Result<(), DbError> {
        if self.levels.is_empty() {
            let root = directory::directory(self.db(), ROOT)?;
            self.enter(Some(root), PathBuf::new())?;
        }
        let down = loop {
            let open = self.levels.last().expect("every path begins at the root");
            if let Some(down) = down_from(&open.relative, relative) {
                break down;
            }
            self.leave(say)?;
        };
        for name in down.components() {
            let name = name.as_os_str();
            let mut level = self.levels.pop().expect("the root's stays");
            let child = self.pass_children(&mut level, Some(name.as_bytes()), say);
            let path = level.relative.join(name);
            self.levels.push(level);
            self.enter(child?, path)?;
        }
        Ok(())
    }

    fn enter(&mut self, known: Option<Directory>, relative: PathBuf) -> Result<(), DbError> {
        let walked = self.scope.walks(&relative);
        if walked && self.scope.begins_at(&relative) {
            self.begun.insert(relative.clone());
        }
        let id = known.as_ref().map_or(0, |directory| directory.id);
        let slices = if id == 0 { Vec::new() } else { slices_of(self.db(), id)? };
        if slices.is_empty() && id != 0 {
            ensure_without_entries(self.db(), id)?;
        }
        self.levels.push(OpenDir {
            id,
            mounted: known.is_some_and(|directory| directory.mounted),
            walked,
            fresh: slices.is_empty(),
            slices,
            children: Children::of(id),
            complete: true,
            relative,
            ..OpenDir::default()
        });
        Ok(())
    }

    /// Leaves the deepest directory, and settles what is open in it.
    fn leave(&mut self, say: &mut Say<'_>) -> Result<(), DbError> {
        let Some(mut level) = self.levels.pop() else { return Ok(()) };
        self.parent = None;
        self.settle(&mut level, say)?;
        while level.walked && level.at + 1 < level.slices.len() {
            level.at += 1;
            self.settle(&mut level, say)?;
        }
        self.pass_children(&mut level, None, say)?;
        if !self.mode.writes {
            return Ok(());
        }
        let (run, id) = (self.record.id, level.id);
        let db = &self.catalogue.db;
        let whole = level.walked && level.complete && level.cover.is_whole();
        if whole && id != 0 {
            level.cover.retract(db, run, id)?;
            level.covered.retract(db, run)?;
        } else {
            level.cover.flush(db, run, id)?;
            level.covered.flush(db, run)?;
        }
        match self.levels.last_mut() {
            Some(above) if whole && id != 0 => above.covered.push(id),
            Some(above) => above.complete &= whole,
            None if whole && id != 0 => {
                super::writes::put_coverage(db, run, id, b"", None, true)?;
            }
            None => {}
        }
        Ok(())
    }

    /// Gives numbers to directories on the way down that have none.
    fn number_levels(&mut self, status: Option<&Status>) -> Result<(), DbError> {
        // Those without a number are the deepest.
        let known = self.levels.iter().rposition(|level| level.id != 0);
        let mut parent = known.map_or(0, |at| self.levels[at].id);
        let elsewhere = status.is_some_and(|status| Some(status.device) != self.root_device);
        for level in &mut self.levels[known.map_or(0, |at| at + 1)..] {
            let device = || Status::of(&self.catalogue.root.join(&level.relative));
            let mounted =
                elsewhere && device().is_ok_and(|status| Some(status.device) != self.root_device);
            let name = level.relative.file_name().unwrap_or(OsStr::new(""));
            let name = name.as_bytes().to_vec();
            let id = self.record.totals.directories + 1;
            Directory { id, parent, name, mounted }.put(&self.catalogue.db)?;
            self.record.totals.directories = id;
            level.id = id;
            level.mounted = mounted;
            level.children = Children::of(id);
            parent = id;
        }
        Ok(())
    }

    /// Settles what must be before a file of this name can be added to the batch.
    fn make_room(
        &mut self,
        level: &mut OpenDir,
        name: &[u8],
        say: &mut Say<'_>,
    ) -> Result<(), DbError> {
        let last = level.batch.last().unwrap_or(&level.last);
        let disorder = (!last.is_empty() && name <= last)
            || level.slices.get(level.at).is_some_and(|slice| name < slice.first.as_slice());
        let index = |level: &OpenDir| {
            let after = level.slices.partition_point(|slice| slice.first.as_slice() <= name);
            after.saturating_sub(1)
        };
        if disorder {
            self.settle(level, say)?;
            level.fresh &= level.slices.is_empty();
            level.at = index(level);
            return Ok(());
        }
        while level.slices.get(level.at + 1).is_some_and(|next| next.first.as_slice() <= name) {
            self.settle(level, say)?;
            level.at = if level.walked { level.at + 1 } else { index(level) };
        }
        if level.batch.len() >= super::slice::SLICE_LEN {
            if !level.fresh && !level.slices.is_empty() {
                self.split(level, name)?;
            }
            self.settle(level, say)?;
            if !level.fresh {
                level.at = index(level);
            }
        }
        Ok(())
    }

    /// Settles the files of the batch, and known files of their slice that did not come by.
    fn settle(&mut self, level: &mut OpenDir, say: &mut Say<'_>) -> Result<(), DbError> {
        let mut batch = std::mem::take(&mut level.batch);
        let settled = self.settle_batch(level, &batch, say);
        if let Some(last) = batch.last() {
            level.last.clear();
            level.last.extend_from_slice(last);
        }
        batch.clear();
        level.batch = batch;
        settled
    }

    /// Flushes the files and attributes that rows to be stored rely on: if these reached the medium
    /// after the catalogue, a loss of power would leave files missing or with tags replaced.
    fn flush_volumes(&mut self) -> Result<(), DbError> {
        if !std::mem::take(&mut self.unflushed) {
            return Ok(());
        }
        let start = Instant::now();
        for (_, directory) in &self.volumes {
            // A directory that is gone or closed by now: the next run finds its files as they are.
            let Ok(dir) = beneath::directory(&self.catalogue.root, directory) else { continue };
            dir.sync_volume()
                .map_err(|error| DbError::io("flush the files of the tree", &error))?;
        }
        self.flush = start.elapsed();
        Ok(())
    }

    /// Stores what is known so far.
    pub(super) fn commit(&mut self, go_on: bool) -> Result<(), DbError> {
        if !self.mode.writes {
            return Ok(());
        }
        self.flush_volumes()?;
        let (db, run) = (&self.catalogue.db, self.record.id);
        for level in self.levels.iter_mut().filter(|level| level.id != 0) {
            level.cover.flush(db, run, level.id)?;
            level.covered.flush(db, run)?;
        }
        let verdicts = Verdict::ALL.iter().map(|verdict| verdict.name()).zip(self.verdicts);
        let found = self.found.iter().map(|(name, count)| (*name, *count));
        for (what, count) in verdicts.chain(found).filter(|(_, count)| *count > 0) {
            *self.record.counts.entry(what.to_owned()).or_default() = count;
        }
        self.record.latest = self.now;
        self.record.totals.coverage =
            db.query_row("SELECT count(*) FROM coverage", (), |row| row.get(0))?;
        self.record.put(db)?;
        db.execute_batch(if go_on { "COMMIT; BEGIN IMMEDIATE" } else { "COMMIT" })?;
        Ok(())
    }

    fn end(&mut self, whole: bool, say: &mut Say<'_>) -> Result<(), DbError> {
        let nothing = self.record.files == 0 && self.scope.begins_at(Path::new(""));
        let total = if nothing { volume::total(self.db())? } else { 0 };
        if whole && total > 0 {
            self.say(say, Finding::Unmounted { path: PathBuf::new(), entries: total });
        }
        let whole = whole && total == 0 && !self.cut_short;
        if whole {
            // A tree without any file did not come by.
            let trees: Vec<PathBuf> = self.scope.trees().map(Path::to_owned).collect();
            for tree in trees {
                if !self.begun.contains(&tree) {
                    self.go_to(&tree, say)?;
                }
            }
        }
        while !self.levels.is_empty() {
            if !whole {
                self.give_up_walk();
            }
            self.leave(say)?;
        }
        if whole {
            self.pass_gone(say)?;
            self.settle_missing(say)?;
        }
        let whole = whole && !self.cut_short;
        self.record.state = if whole { RunState::Whole } else { RunState::Interrupted };
        self.commit(false)?;
        if self.mode.writes {
            schema::take_in_log(self.db());
        }
        Ok(())
    }

    /// Takes it that no more files come by in directories that are open.
    fn give_up_walk(&mut self) {
        for level in &mut self.levels {
            level.complete &= !level.walked;
            level.walked = false;
        }
    }

    /// Counts a finding and says it.
    pub(super) fn say(&mut self, say: &mut Say<'_>, finding: Finding) {
        *self.found.entry(finding.name()).or_default() += 1;
        say(finding);
    }
}

/// Makes sure that a directory without slices has no files either.
fn ensure_without_entries(db: &Connection, directory: i64) -> Result<(), DbError> {
    let mut statement = db.prepare_cached("SELECT 1 FROM entries WHERE directory = ? LIMIT 1")?;
    if statement.exists((directory,))? {
        return Err(DbError::damaged("files of a directory are in no slice"));
    }
    Ok(())
}
