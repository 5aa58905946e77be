//! The steps of a run: check, mend, tag, protect.

use std::collections::{BTreeSet, HashSet};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use steadfast::beneath::{FileKind, presence};
use steadfast::catalogue::{
    Catalogue, CataloguedTree, FailedCheck, LockRequest, MovedElsewhere, RunRecord,
};
use steadfast::parity::{ParityPlace, make_room};
use steadfast::{
    CatalogueUse, CheckOptions, DueChoice, ExitStatus, FileState, Options, ReadFrom, RenamedFile,
    Selection, TreeChanges, UpdateOptions, Verb, VerbKind,
};
use steadfast_sys::file::File;

use super::limit::StepLimit;
use super::repair_data::{RepairData, verify_due_sets};
use super::surface::NightSurface;
use crate::folder::outermost;
use crate::journal::{KEPT_MAX, LastRun};
use crate::places::WatchPlaces;
use crate::question::QuestionKind;
use crate::schedule::CheckSchedule;
use steadfast_words::quoted;

/// File systems on which reading past the page cache costs little. Elsewhere, as over a network, it
/// may be slow or not be possible.
const READ_FROM_MEDIUM: [&str; 10] =
    ["ext2", "ext3", "ext4", "xfs", "btrfs", "f2fs", "jfs", "vfat", "exfat", "apfs"];

/// Returns where a schedule reads from: the cache may hold good pages of a damaged file.
fn source_of(schedule: &CheckSchedule) -> ReadFrom {
    let is_cheap = || {
        let file_system = File::open(&schedule.directory).and_then(|root| root.file_system());
        file_system.is_ok_and(|found| READ_FROM_MEDIUM.contains(&found.name.as_str()))
    };
    match schedule.from_medium.unwrap_or_else(is_cheap) {
        true => ReadFrom::Media,
        false => ReadFrom::Cache,
    }
}

/// What became of the steps of a run.
#[derive(Default)]
pub(super) struct NightOutcome {
    pub(super) status: ExitStatus,
    /// Why nothing was tagged or protected, if too much changed.
    pub(super) alarm: Option<String>,
    /// The record of the check.
    pub(super) checked: Option<RunRecord>,
    /// Folders and files that could not be looked at, from the root.
    pub(super) unreadable: Vec<String>,
    /// What was found of the repair data.
    pub(super) repair_data: RepairData,
    /// Files that were mended, and the number of the repair.
    pub(super) mended: (Vec<PathBuf>, u64),
    /// Files that were moved to other catalogued folders.
    pub(super) moved: Vec<MovedElsewhere>,
    /// Whether a step found damage that the catalogue does not know.
    pub(super) is_unrecorded: bool,
}

/// A run, and when it must end.
pub(super) struct Night<'a, S> {
    pub(super) places: &'a WatchPlaces,
    pub(super) schedule: &'a CheckSchedule,
    pub(super) tree: &'a CataloguedTree,
    /// The open failures before it.
    pub(super) failures: &'a [FailedCheck],
    pub(super) last: LastRun,
    pub(super) surface: &'a mut S,
    pub(super) end: Option<Instant>,
}

impl<S: NightSurface> Night<'_, S> {
    /// Checks what is due, then tags, then protects. A step begins only if there is time left, and
    /// if the steps before it found no reason against it.
    pub(super) fn steps(&mut self, max_bytes: u64) -> Result<NightOutcome, S::Error> {
        let CheckSchedule { update, parity, .. } = self.schedule;
        let whole = self.listed(vec![self.schedule.directory.clone()]);
        self.make_room();
        // Before the check, which records what it finds.
        let changes = steadfast::changes(&whole, &self.options())?;
        let mut changes = changes.unwrap_or_default();
        changes.leave_out_unreadable();
        let moved = self.follow_elsewhere(&changes.missing)?;
        changes.leave_out(&moved);
        let alarm = self.alarm_of(&changes);
        let mut outcome = NightOutcome {
            moved,
            unreadable: self.unreadable_of(&changes),
            status: ExitStatus::Undetermined.only_if(!changes.unreadable.is_empty()),
            ..NightOutcome::default()
        };
        if alarm.is_none() {
            // Before the check, for which these are missing.
            outcome.status.raise(self.follow_renamed(&changes.renamed)?);
        }
        let due = DueChoice::default().with(|choice| {
            choice.max_bytes = Some(max_bytes);
            choice.max_time = self.time_left();
            // What is known to be missing counts for no further alarm.
            choice.leaves_missing = alarm.is_some();
        });
        let check = Verb::Check(CheckOptions { due: Some(due), ..CheckOptions::default() });
        let before = self.last_record()?.map_or(0, |record| record.id);
        outcome.status.raise(self.surface.run(check, &whole, self.reading())?);
        outcome.checked = self.record_after(before)?;
        outcome.repair_data = verify_due_sets(self.schedule, &self.last, self.time_left())?;
        if let Some(alarm) = alarm {
            self.surface.complain(&alarm);
            outcome.status.raise(ExitStatus::Changed);
            outcome.alarm = Some(alarm);
            return Ok(outcome);
        }
        let mut status = outcome.status;
        // A walk that tags finds where files were moved to, and records what is missing.
        let updates = *update && self.goes_on(status);
        if !self.surface.was_stopped() {
            status.raise(self.check_again(&changes, updates)?);
        }
        if self.schedule.repair && self.goes_on(status) {
            outcome.mended = self.mend()?;
        }
        if !outcome.mended.0.is_empty() {
            status = self.open_status()?;
        }
        if updates {
            status = self.update(status, changes.edited)?;
        } else {
            status.raise(ExitStatus::Changed.only_if(!changes.missing.is_empty()));
        }
        if *parity
            && self.goes_on(status)
            && !matches!(status, ExitStatus::Undetermined | ExitStatus::Corrupt)
        {
            let found = self.protect()?;
            status.raise(found);
            // It reads files, too, and has recorded which of them are damaged.
            if self.schedule.repair && found == ExitStatus::Corrupt && self.goes_on(status) {
                let (mended, repair) = self.mend()?;
                if !mended.is_empty() {
                    status = self.open_status()?;
                    outcome.mended.0.extend(mended);
                    outcome.mended.1 = repair;
                }
            }
        }
        outcome.status = status;
        outcome.is_unrecorded = self.is_unrecorded(status)?;
        Ok(outcome)
    }

    /// Returns the record of the check. One without a record, on a full or read-only disk, is none:
    /// what it found is not known afterwards.
    fn record_after(&self, before: i64) -> Result<Option<RunRecord>, S::Error> {
        let record = self.last_record()?.filter(|record| record.id > before);
        if record.is_none() && !self.surface.was_stopped() {
            let options = self.options();
            let (now, wait) = ((options.now)(), Some(&*options.controls.stop));
            let writer = LockRequest { verb: VerbKind::Check, now, wait };
            // It says why not.
            Catalogue::open_writer(&self.tree.catalogue, &writer)?;
        }
        Ok(record)
    }

    /// Returns the record of the last run.
    fn last_record(&self) -> Result<Option<RunRecord>, S::Error> {
        Ok(self.tree.open()?.runs(i64::MAX, 1)?.pop())
    }

    /// Makes room for what the run records, if repair data that only serves to undo edits fills the
    /// disk. If it cannot, the steps that need room say so.
    fn make_room(&mut self) {
        if !self.schedule.parity {
            return;
        }
        let place = ParityPlace::unlinked(&self.schedule.directory).ok();
        let notice = place.and_then(|place| make_room(&place).ok().flatten());
        if let Some(notice) = notice {
            self.surface.complain(&notice.to_string());
        }
    }

    /// Says that too many files changed at once, and what to type if that is right.
    fn alarm_of(&self, changes: &TreeChanges) -> Option<String> {
        let CheckSchedule { directory, update, .. } = self.schedule;
        // Without an update, what earlier runs reported is no news.
        let changed = match *update && changes.need_consent() {
            true => changes.count(),
            false if changes.are_alarming() => changes.newly_missing + changes.newly_edited,
            false => return None,
        };
        let (files, folder) = (changes.files, quoted(&directory.display().to_string()));
        let edited = changes.edited.iter().filter_map(|path| path.strip_prefix(directory).ok());
        let paths: Vec<PathBuf> =
            edited.map(Path::to_owned).chain(changes.missing.iter().cloned()).collect();
        let answer = match self.places.ask(self.tree, QuestionKind::Many, &paths, 0) {
            Ok(question) => format!("If it was you: steadfast update --answer {}", question.code()),
            // On a full disk, it is asked anew.
            Err(_) => "To be asked about them: steadfast status".to_owned(),
        };
        Some(format!(
            "{changed} of {files} files are missing or modified at once: nothing was updated. Is \
             the right disk mounted? {answer} {folder}"
        ))
    }

    /// Returns the places that could not be looked at, from the root, as far as they are kept.
    fn unreadable_of(&self, changes: &TreeChanges) -> Vec<String> {
        let root = &self.schedule.directory;
        let named = |path: &PathBuf| match path.strip_prefix(root).unwrap_or(path) {
            root if root.as_os_str().is_empty() => ".".to_owned(),
            path => path.to_string_lossy().into_owned(),
        };
        let places = changes.unreadable.iter().map(named).collect();
        outermost(places).into_iter().take(KEPT_MAX).collect()
    }

    /// Lets go of the former names of renamed files. Reads only files that their inodes and tags do
    /// not identify.
    fn follow_renamed(&mut self, renamed: &[RenamedFile]) -> Result<ExitStatus, S::Error> {
        let root = &self.schedule.directory;
        let new = renamed.iter().map(|one| one.to.clone()).collect();
        let former = renamed.iter().map(|one| root.join(&one.from)).collect();
        let mut status = self.run_on(Verb::tag(), new, self.time_left())?;
        status.raise(self.run_on(Verb::check(), former, None)?);
        Ok(status)
    }

    /// Lets go of missing files that are in other catalogued folders now.
    fn follow_elsewhere(&mut self, missing: &[PathBuf]) -> Result<Vec<MovedElsewhere>, S::Error> {
        let root = &self.schedule.directory;
        let seen_s = self.last.began_s.unwrap_or(self.schedule.made_s);
        let catalogue = self.tree.open()?;
        let moved = catalogue.moved_elsewhere(missing, &self.places.trees(), seen_s)?;
        let listed = moved.iter().map(|one| root.join(&one.from)).collect();
        let accepts = UpdateOptions { accept_missing: true, ..UpdateOptions::default() };
        let accepts = UpdateOptions { accept_many: true, ..accepts };
        let done = self.run_on(Verb::Update(accepts), listed, None)?;
        Ok(if done == ExitStatus::Interrupted { Vec::new() } else { moved })
    }

    /// Mends what is known to be corrupt, where that is proved. A copy may have come back since it
    /// was found.
    fn mend(&mut self) -> Result<(Vec<PathBuf>, u64), S::Error> {
        let root = &self.schedule.directory;
        let mut corrupt = Vec::new();
        self.tree.open()?.failures(&mut |failure| {
            let is_open = !failure.settled && !failure.goes_on;
            if is_open && failure.standing == FileState::Corrupt {
                corrupt.push(root.join(failure.path));
            }
            ControlFlow::Continue(())
        })?;
        if corrupt.is_empty() {
            return Ok(Default::default());
        }
        let limit = StepLimit::begin(self.time_left());
        let options = self.reading().with(|options| {
            options.allow_empty = true;
            options.controls.stop = Arc::clone(&limit.stop);
        });
        self.surface.mend(&self.listed(corrupt), options)
    }

    /// Returns the status of what is open now.
    fn open_status(&self) -> Result<ExitStatus, S::Error> {
        let now_s = (Options::default().now)().seconds;
        Ok(self.places.state_of(self.schedule, now_s).state.exit_status())
    }

    /// Returns whether the run found more than what is open now: damage without a record, which
    /// nobody would hear of.
    fn is_unrecorded(&self, status: ExitStatus) -> Result<bool, S::Error> {
        Ok(status == ExitStatus::Corrupt && self.open_status()? != ExitStatus::Corrupt)
    }

    /// Reads again what failed before. If the run `updates`, that is all. Otherwise records which
    /// files are newly missing, and reads what seems edited.
    fn check_again(
        &mut self,
        changes: &TreeChanges,
        updates: bool,
    ) -> Result<ExitStatus, S::Error> {
        let root = &self.schedule.directory;
        let mut new = Vec::new();
        let failed = self.failures.iter().map(|failure| root.join(&failure.path));
        let mut again: BTreeSet<PathBuf> = failed.collect();
        if !updates {
            let is_missing = |failure: &&FailedCheck| failure.standing == FileState::Missing;
            let known: HashSet<&PathBuf> =
                self.failures.iter().filter(is_missing).map(|failure| &failure.path).collect();
            let missing = changes.missing.iter().filter(|path| !known.contains(path));
            new.extend(missing.map(|path| root.join(path)));
            again.extend(changes.edited.iter().cloned());
        }
        again.retain(|path| {
            let below = path.strip_prefix(root).unwrap_or(path);
            !presence(root, below).of_kind(FileKind::Regular).is_lost()
        });
        // New ones alone, because a limit of time must not end their run.
        let mut status = self.run_on(Verb::check(), new, None)?;
        status.raise(self.run_on(Verb::check(), again.into_iter().collect(), self.time_left())?);
        Ok(status)
    }

    /// Tags new files, and edited ones anew. Reads no other file.
    fn update(&mut self, status: ExitStatus, edited: Vec<PathBuf>) -> Result<ExitStatus, S::Error> {
        let mut worst = status.only_if(status != ExitStatus::Changed);
        let whole = self.listed(vec![self.schedule.directory.clone()]);
        worst.raise(self.run_for(Verb::tag(), &whole, self.time_left())?);
        worst.raise(self.run_on(Verb::update(), edited, self.time_left())?);
        // Files that the check found modified are tagged now; missing ones are still missing.
        let mut is_open = false;
        self.tree.open()?.failures(&mut |failure| {
            is_open |= !failure.settled;
            ControlFlow::Continue(())
        })?;
        Ok(worst.max(ExitStatus::Changed.only_if(status == ExitStatus::Changed && is_open)))
    }

    /// Brings the parity up to date.
    fn protect(&mut self) -> Result<ExitStatus, S::Error> {
        let limit = StepLimit::begin(self.time_left());
        // The folder may have been exchanged since the steps before.
        self.tree.open()?;
        let place = ParityPlace::unlinked(&self.schedule.directory)?;
        let options =
            self.options().with(|options| options.controls.stop = Arc::clone(&limit.stop));
        let done = self.surface.update_parity(&place, options)?;
        Ok(limit.status(done, self.surface.was_stopped()))
    }

    /// Runs a verb on files of the folder, if there are any.
    fn run_on(
        &mut self,
        verb: Verb,
        files: Vec<PathBuf>,
        left: Option<Duration>,
    ) -> Result<ExitStatus, S::Error> {
        match files.is_empty() {
            true => Ok(ExitStatus::Fine),
            false => self.run_for(verb, &self.listed(files), left),
        }
    }

    /// Runs a verb, if there is time left, and ends it when the time is over.
    fn run_for(
        &mut self,
        verb: Verb,
        selection: &Selection,
        left: Option<Duration>,
    ) -> Result<ExitStatus, S::Error> {
        if left.is_some_and(|left| left.is_zero()) {
            return Ok(ExitStatus::Fine);
        }
        let limit = StepLimit::begin(left);
        let proves = matches!(verb, Verb::Check(_));
        let options = if proves { self.reading() } else { self.options() };
        let options = options.with(|options| {
            options.allow_empty = true;
            options.controls.stop = Arc::clone(&limit.stop);
        });
        let done = self.surface.run(verb, selection, options)?;
        Ok(limit.status(done, self.surface.was_stopped()))
    }

    /// Returns the selection of files of the folder, reached by names alone: a link in the place of
    /// the folder, or of one above it, is not followed.
    fn listed(&self, files: Vec<PathBuf>) -> Selection {
        Selection::default().with(|selection| {
            selection.listed = files;
            selection.within = vec![PathBuf::from("/")];
        })
    }

    /// Returns the options of a step that proves contents.
    fn reading(&self) -> Options {
        let from = source_of(self.schedule);
        self.options().with(|options| options.reading.from = from)
    }

    fn options(&self) -> Options {
        self.surface.options().with(|options| {
            options.catalogue.choice = CatalogueUse::At(self.tree.catalogue.clone());
            options.catalogue.tree = Some(self.tree.clone());
            options.catalogue.trees = Some(self.places.tree_list());
            options.catalogue.wait = true;
        })
    }

    /// Returns whether the next step may begin.
    fn goes_on(&self, status: ExitStatus) -> bool {
        let has_time = self.time_left().is_none_or(|left| !left.is_zero());
        status != ExitStatus::Interrupted && !self.surface.was_stopped() && has_time
    }

    /// Returns the time left, if it is limited.
    fn time_left(&self) -> Option<Duration> {
        self.end.map(|end| end.saturating_duration_since(Instant::now()))
    }
}
