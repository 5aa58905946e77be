//! One run of a schedule: what is due is checked, then tagged, then protected.

use std::collections::HashSet;
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender as Waiting, channel};
use std::thread;
use std::time::{Duration, Instant};

use steadfast::catalogue::{Catalogue, CatalogueError, FailedCheck, MovedElsewhere, RunRecord};
use steadfast::parity::{ParityPlace, parity_sets, verify_parity_sets};
use steadfast::{
    CatalogueUse, CheckOptions, DueChoice, ExitStatus, FileState, FolderState, Options, ReadFrom,
    Selection, TreeChanges, UpdateOptions, Verb,
};
use steadfast_sys::file::File;

use crate::alert::channel::{Delivery, Sender};
use crate::alert::message::AlertFacts;
use crate::decide::{Conditions, Mounted, ScheduleDecision, SkipReason, decide};
use crate::error::Error;
use crate::journal::{Journal, LastRun, MendedPath, MovedPath};
use crate::machine::{load, on_battery};
use crate::pace::bytes_due;
use crate::places::WatchPlaces;
use crate::schedule::CheckSchedule;

/// The surface that a run of a schedule belongs to: it carries out the verbs, and shows what they
/// find as its user wants it.
pub trait NightSurface {
    /// Why a step could not be carried out.
    type Error: From<Error> + From<steadfast::Error> + From<CatalogueError>;

    /// Returns the options that the user gave for every step.
    fn options(&self) -> Options;

    /// Runs a verb.
    ///
    /// # Errors
    /// If it cannot begin or go on.
    fn run(
        &mut self,
        verb: Verb,
        selection: &Selection,
        options: Options,
    ) -> Result<ExitStatus, Self::Error>;

    /// Brings the parity of a tree up to date. Returns the worst status of its files.
    ///
    /// # Errors
    /// If it cannot begin or go on.
    fn update_parity(
        &mut self,
        place: &ParityPlace,
        options: Options,
    ) -> Result<ExitStatus, Self::Error>;

    /// Mends the files of a selection whose decay is proved. Returns their paths from the root, and
    /// the number of the repair that keeps what they were.
    ///
    /// # Errors
    /// If it cannot begin or go on.
    fn mend(
        &mut self,
        selection: &Selection,
        options: Options,
    ) -> Result<(Vec<PathBuf>, u64), Self::Error>;

    /// Shows what the user should know of the schedule.
    fn complain(&mut self, text: &str);

    /// Shows which messages did not arrive.
    fn delivered(&mut self, deliveries: &[Delivery]);

    /// Returns what an error and its causes say.
    fn words_of(&self, error: &Self::Error) -> String;

    /// Returns how much a run checked, in words.
    fn words_of_check(&self, files: u64, bytes: u64, elapsed_s: u64) -> String;

    /// Returns whether the user asked to stop.
    fn was_stopped(&self) -> bool;
}

/// Runs a schedule if it is due, or although it is not if `forced`, and sends the alerts.
///
/// # Errors
/// If it cannot be judged whether it is due, or what became of it cannot be stored. A check that
/// fails is told and stored.
pub fn run_schedule<S: NightSurface>(
    places: &WatchPlaces,
    sender: &Sender,
    schedule: &CheckSchedule,
    forced: bool,
    surface: &mut S,
) -> Result<ExitStatus, S::Error> {
    let journal = places.journal(schedule);
    let lock = journal.lock()?;
    let now_s = (Options::default().now)().seconds;
    let last = journal.read();
    if lock.is_some() {
        // Before anything that may end this process: the timer works. A full disk is told below.
        let _ = journal.change(|last| last.started_s = Some(now_s));
    }
    let tree = places.tree_of(schedule);
    let state = places.state_of(schedule, now_s).state;
    let conditions = Conditions {
        now_s,
        last_run_s: last.began_s,
        made_s: schedule.made_s,
        mounted: mounted(&state, sender),
        on_battery: on_battery(),
        load: load(),
        in_progress: lock.is_none(),
        total_bytes: state.facts().map_or(0, |facts| facts.audit.bytes),
        forced,
    };
    match (decide(schedule, &conditions), tree, state) {
        (ScheduleDecision::Run { max_bytes, max_time_s }, Ok(tree), FolderState::Known(facts)) => {
            surface.delivered(&sender.begin(places.alerts()?.alerts(), &schedule.name));
            let end = max_time_s.map(|limit_s| Instant::now() + Duration::from_secs(limit_s));
            let (catalogue, failures) = (&*tree.catalogue, &*facts.failures);
            let mut night = Night { places, schedule, catalogue, failures, last, surface, end };
            let outcome = night.steps(max_bytes);
            night.finish(sender, &journal, now_s, outcome)
        }
        (ScheduleDecision::Skip(reason), ..) => {
            surface.complain(&format!("nothing done: {reason}"));
            if reason == SkipReason::InProgress {
                return Ok(ExitStatus::Fine);
            }
            let is_away = matches!(reason, SkipReason::NotMounted(_));
            journal.change(|last| {
                // Starts at the end of quiet hours are not due.
                if reason != SkipReason::NotDue {
                    last.skipped = Some(reason.to_string());
                }
                last.away_s = last.away_s.or(Some(now_s)).filter(|_| is_away);
            })?;
            surface.delivered(&places.alert(schedule, sender, &AlertFacts::default(), now_s)?);
            let is_unjudged = is_away || matches!(reason, SkipReason::Unknown(_));
            Ok(ExitStatus::Undetermined.only_if(is_unjudged))
        }
        (ScheduleDecision::Run { .. }, Err(error), _) => Err(error.into()),
        // It is there and known, so this cannot be.
        (ScheduleDecision::Run { .. }, Ok(_), _) => Ok(ExitStatus::Undetermined),
    }
}

/// Returns whether a folder can be checked, or why not.
fn mounted(state: &FolderState, sender: &Sender) -> Mounted {
    let words = sender.words.notice;
    match state {
        FolderState::Known(_) => Mounted::Yes,
        FolderState::NotThere(notice) => Mounted::No(words(notice)),
        FolderState::Unknown(notice) => Mounted::Unknown(words(notice)),
        FolderState::PartOf(_) | FolderState::Unrecorded => {
            Mounted::Unknown("it has no catalogue of its own".to_owned())
        }
    }
}

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
struct NightOutcome {
    status: ExitStatus,
    /// Why nothing was tagged or protected, if too much changed.
    alarm: Option<String>,
    /// The record of the check.
    checked: Option<RunRecord>,
    /// Folders and files that could not be looked at, from the root.
    unreadable: Vec<String>,
    /// What was found of the repair data.
    repair_data: RepairData,
    /// Files that were mended, and the number of the repair.
    mended: (Vec<PathBuf>, u64),
    /// Files that were moved to other catalogued folders.
    moved: Vec<MovedElsewhere>,
}

/// What is known of the repair data of a folder.
#[derive(Default)]
struct RepairData {
    /// The last set that was verified in turn.
    verified: Option<String>,
    /// Sets that are damaged.
    damaged: Vec<String>,
}

/// The most places that could not be looked at, and damaged sets, that a journal keeps.
const KEPT_MAX: usize = 100;

/// A run, and when it must end.
struct Night<'a, S> {
    places: &'a WatchPlaces,
    schedule: &'a CheckSchedule,
    catalogue: &'a Path,
    /// The open failures before it.
    failures: &'a [FailedCheck],
    last: LastRun,
    surface: &'a mut S,
    end: Option<Instant>,
}

impl<S: NightSurface> Night<'_, S> {
    /// Records what became of a run, and sends the alerts, also of a run that failed.
    fn finish(
        &mut self,
        sender: &Sender,
        journal: &Journal,
        began_s: i64,
        outcome: Result<NightOutcome, S::Error>,
    ) -> Result<ExitStatus, S::Error> {
        let ended_s = (Options::default().now)().seconds;
        let elapsed_s = ended_s.abs_diff(began_s);
        let mut facts = AlertFacts { elapsed_s, ..AlertFacts::default() };
        let mut ended_with = ExitStatus::Undetermined;
        let recorded = match outcome {
            Ok(outcome) => {
                ended_with = outcome.status;
                if let Some(RunRecord { files, bytes, counts, .. }) = outcome.checked {
                    facts.checked = Some(self.surface.words_of_check(files, bytes, elapsed_s));
                    (facts.files, facts.bytes, facts.counts) = (files, bytes, counts);
                }
                let (paths, repair) = outcome.mended;
                let mut mended = self.last.mended_lately(ended_s);
                mended.extend(paths.into_iter().map(|path| MendedPath {
                    path: path.to_string_lossy().into_owned(),
                    at_s: began_s,
                    repair,
                }));
                let mut moved = self.last.moved_lately(ended_s);
                moved.extend(outcome.moved.into_iter().map(|one| MovedPath {
                    path: one.from.to_string_lossy().into_owned(),
                    to: one.to.to_string_lossy().into_owned(),
                    at_s: began_s,
                }));
                let run = LastRun {
                    mended,
                    moved,
                    began_s: Some(began_s),
                    ended_s: Some(ended_s),
                    status: Some(ended_with.code()),
                    alarm: outcome.alarm,
                    unreadable: outcome.unreadable,
                    verified_set: outcome.repair_data.verified,
                    damaged_sets: outcome.repair_data.damaged,
                    started_s: Some(began_s),
                    ..LastRun::default()
                };
                let was_stopped = self.surface.was_stopped();
                journal.change(|last| match was_stopped {
                    // It is due again at once, because a run that was stopped may have read
                    // nothing.
                    true => last.skipped = Some("it was interrupted".to_owned()),
                    false => *last = run,
                })
            }
            Err(error) => {
                let words = self.surface.words_of(&error);
                self.surface.complain(&words);
                journal.change(|last| {
                    (last.failure, last.skipped) = (Some(words), Some("it failed".to_owned()));
                })
            }
        };
        facts.status = Some(ended_with.code());
        // A full disk must not silence the alerts.
        let deliveries = self.places.alert(self.schedule, sender, &facts, ended_s)?;
        self.surface.delivered(&deliveries);
        recorded?;
        Ok(ended_with)
    }

    /// Checks what is due, then tags, then protects. A step begins only if there is time left, and
    /// if the steps before it found no reason against it.
    fn steps(&mut self, max_bytes: u64) -> Result<NightOutcome, S::Error> {
        let CheckSchedule { directory, update, parity, .. } = self.schedule;
        // Before the check, which records what it finds.
        let changes = steadfast::changes(&Selection::of([directory]), &self.options())?;
        let mut changes = changes.unwrap_or_default();
        let missing = std::mem::take(&mut changes.missing);
        let out_of_reach = std::mem::take(&mut changes.unreadable);
        let below = |path: &PathBuf| path.strip_prefix(directory).unwrap_or(path).to_owned();
        let named = |path: PathBuf| match path.as_os_str().is_empty() {
            true => ".".to_owned(),
            false => path.to_string_lossy().into_owned(),
        };
        let unreadable: Vec<String> =
            out_of_reach.iter().map(below).map(named).take(KEPT_MAX).collect();
        let is_alarm = changes.are_alarming() || *update && changes.need_consent();
        let alarm = is_alarm.then(|| alarm_of(&changes, directory));
        let due = DueChoice::default().with(|choice| {
            choice.max_bytes = Some(max_bytes);
            choice.max_time = self.left();
            // What is known to be missing counts for no further alarm.
            choice.leaves_missing = alarm.is_some();
        });
        let check = Verb::Check(CheckOptions { due: Some(due), ..CheckOptions::default() });
        let selection = Selection::of([directory]);
        let mut status = self.surface.run(check, &selection, self.reading())?;
        let checked = Catalogue::open_reader(self.catalogue)?.runs(i64::MAX, 1)?.pop();
        status.raise(ExitStatus::Undetermined.only_if(!unreadable.is_empty()));
        let repair_data = self.verify_repair_data()?;
        if let Some(alarm) = alarm {
            self.surface.complain(&alarm);
            let (status, alarm) = (status.max(ExitStatus::Changed), Some(alarm));
            let (mended, moved) = Default::default();
            let rest =
                NightOutcome { status, alarm, checked, unreadable, repair_data, mended, moved };
            return Ok(rest);
        }
        // A walk that tags finds where files were moved to, and records what is missing.
        let updates = *update && self.goes_on(status);
        if !self.surface.was_stopped() {
            let new = if updates { &[][..] } else { &*missing };
            status.raise(self.look_again(new, &out_of_reach)?);
        }
        let moved = self.follow()?;
        let mended = match self.schedule.repair && self.goes_on(status) {
            true => self.mend()?,
            false => Default::default(),
        };
        if !mended.0.is_empty() || !moved.is_empty() {
            status = self.open_status()?;
        }
        if updates {
            status = self.update(status, changes)?;
        } else {
            status.raise(ExitStatus::Changed.only_if(missing.len() > moved.len()));
        }
        if *parity
            && self.goes_on(status)
            && !matches!(status, ExitStatus::Undetermined | ExitStatus::Corrupt)
        {
            status.raise(self.protect()?);
        }
        let alarm = None;
        Ok(NightOutcome { status, alarm, checked, unreadable, repair_data, mended, moved })
    }

    /// Lets go of missing files that are in other catalogued folders now.
    fn follow(&mut self) -> Result<Vec<MovedElsewhere>, S::Error> {
        let root = &self.schedule.directory;
        let seen_s = self.last.began_s.unwrap_or(self.schedule.made_s);
        let trees = self.places.trees();
        let moved = Catalogue::open_reader(self.catalogue)?.moved_elsewhere(&trees, seen_s)?;
        if moved.is_empty() {
            return Ok(moved);
        }
        let selection = Selection::default().with(|selection| {
            selection.listed = moved.iter().map(|one| root.join(&one.from)).collect();
            selection.within = Some(root.clone());
        });
        let accepts = UpdateOptions { accept_missing: true, ..UpdateOptions::default() };
        let accepts = UpdateOptions { accept_many: true, ..accepts };
        let options = self.options().with(|options| options.allow_empty = true);
        let done = self.surface.run(Verb::Update(accepts), &selection, options)?;
        Ok(if done == ExitStatus::Interrupted { Vec::new() } else { moved })
    }

    /// Mends what is known to be corrupt, where that is proved. A copy may have come back since it
    /// was found.
    fn mend(&mut self) -> Result<(Vec<PathBuf>, u64), S::Error> {
        let root = &self.schedule.directory;
        let mut corrupt = Vec::new();
        Catalogue::open_reader(self.catalogue)?.failures(&mut |failure| {
            if !failure.settled && failure.standing == FileState::Corrupt {
                corrupt.push(root.join(failure.path));
            }
            ControlFlow::Continue(())
        })?;
        if corrupt.is_empty() {
            return Ok(Default::default());
        }
        let limit = StepLimit::begin(self.left());
        let selection = Selection::default().with(|selection| {
            selection.listed = corrupt;
            selection.within = Some(root.clone());
        });
        let options = self.reading().with(|options| {
            options.allow_empty = true;
            options.controls.stop = Arc::clone(&limit.stop);
        });
        self.surface.mend(&selection, options)
    }

    /// Returns the status of what is open now.
    fn open_status(&self) -> Result<ExitStatus, S::Error> {
        let now_s = (Options::default().now)().seconds;
        Ok(self.places.state_of(self.schedule, now_s).state.exit_status())
    }

    /// Verifies a part of the repair data, so that all of it is within the cover, and what was
    /// found damaged before.
    fn verify_repair_data(&mut self) -> Result<RepairData, S::Error> {
        let root = &self.schedule.directory;
        let LastRun { verified_set, damaged_sets, .. } = &self.last;
        let kept = || RepairData { verified: verified_set.clone(), damaged: damaged_sets.clone() };
        let place = ParityPlace::nearest(root)?.filter(|place| place.root() == root);
        let Some(place) = place else { return Ok(RepairData::default()) };
        let Ok(mut sets) = parity_sets(&place) else { return Ok(kept()) };
        sets.sort();
        let total: u64 = sets.iter().map(|(_, length)| length).sum();
        let elapsed_s = self.schedule.every.interval_s();
        let mut left = bytes_due(total, elapsed_s, self.schedule.cover_s());
        let turn = verified_set.as_deref().unwrap_or_default();
        let at = sets.partition_point(|(set, _)| set.as_str() <= turn);
        sets.rotate_left(at);
        let mut due = Vec::new();
        for (set, length) in &sets {
            if left == 0 {
                break;
            }
            left = left.saturating_sub(*length);
            due.push(set.as_str());
        }
        let is_due = |set: &str| due.contains(&set) || damaged_sets.iter().any(|one| one == set);
        let mut damaged = Vec::new();
        let limit = StepLimit::begin(self.left());
        let verified = verify_parity_sets(&place, &is_due, &limit.stop, &mut |report| {
            if !report.is_whole() && damaged.len() < KEPT_MAX {
                damaged.push(report.set.clone());
            }
        });
        Ok(match verified {
            Ok(totals) if !totals.interrupted => {
                RepairData { verified: due.last().map(|set| (*set).to_owned()), damaged }
            }
            _ => kept(),
        })
    }

    /// Reads again what failed before, records which files are newly missing, and that those are
    /// unreadable which are in folders that cannot be opened.
    fn look_again(
        &mut self,
        missing: &[PathBuf],
        out_of_reach: &[PathBuf],
    ) -> Result<ExitStatus, S::Error> {
        let root = &self.schedule.directory;
        let is_missing = |failure: &&FailedCheck| failure.standing == FileState::Missing;
        let known: HashSet<&PathBuf> =
            self.failures.iter().filter(is_missing).map(|failure| &failure.path).collect();
        let new = missing.iter().filter(|path| !known.contains(path));
        let mut new: Vec<PathBuf> = new.map(|path| root.join(path)).collect();
        if !out_of_reach.is_empty() {
            Catalogue::open_reader(self.catalogue)?.files(None, &mut |file| {
                let path = root.join(&file.path);
                if file.standing != FileState::Unreadable
                    && out_of_reach.iter().any(|place| path.starts_with(place))
                    && path.symlink_metadata().is_err_and(|error| !is_absence(&error))
                {
                    new.push(path);
                }
                ControlFlow::Continue(())
            })?;
        }
        let again = self.failures.iter().map(|failure| root.join(&failure.path));
        let is_there = |path: &PathBuf| match path.symlink_metadata() {
            Ok(found) => found.is_file(),
            Err(error) => !is_absence(&error),
        };
        let again = again.filter(is_there).collect();
        // New ones alone, because a limit of time must not end their run.
        let mut status = ExitStatus::Fine;
        for (files, left) in [(new, None), (again, self.left())] {
            if files.is_empty() || left.is_some_and(|left| left.is_zero()) {
                continue;
            }
            let limit = StepLimit::begin(left);
            let selection = Selection::default().with(|selection| {
                selection.listed = files;
                selection.within = Some(root.clone());
            });
            let options = self.reading().with(|options| {
                options.allow_empty = true;
                options.controls.stop = Arc::clone(&limit.stop);
            });
            let done = self.surface.run(Verb::check(), &selection, options)?;
            status.raise(limit.status(done, self.surface.was_stopped()));
        }
        Ok(status)
    }

    /// Tags new files, and edited ones anew. Reads no other file.
    fn update(&mut self, status: ExitStatus, changes: TreeChanges) -> Result<ExitStatus, S::Error> {
        let directory = &self.schedule.directory;
        let edited = Selection::default().with(|selection| {
            selection.listed = changes.edited;
            selection.within = Some(directory.clone());
        });
        let new = (Verb::tag(), Selection::of([directory]));
        let mut worst = status.only_if(status != ExitStatus::Changed);
        for (verb, selection) in [new, (Verb::update(), edited)] {
            if selection.roots.is_empty() && selection.listed.is_empty() {
                continue;
            }
            let limit = StepLimit::begin(self.left());
            let options = self.options().with(|options| {
                options.allow_empty = true;
                options.controls.stop = Arc::clone(&limit.stop);
            });
            let done = self.surface.run(verb, &selection, options)?;
            worst.raise(limit.status(done, self.surface.was_stopped()));
        }
        // Files that the check found modified are tagged now; missing ones are still missing.
        let mut is_open = false;
        Catalogue::open_reader(self.catalogue)?.failures(&mut |failure| {
            is_open |= !failure.settled;
            ControlFlow::Continue(())
        })?;
        Ok(worst.max(ExitStatus::Changed.only_if(status == ExitStatus::Changed && is_open)))
    }

    /// Brings the parity up to date.
    fn protect(&mut self) -> Result<ExitStatus, S::Error> {
        let limit = StepLimit::begin(self.left());
        let place = ParityPlace::new(&self.schedule.directory, None)?;
        let options =
            self.options().with(|options| options.controls.stop = Arc::clone(&limit.stop));
        let done = self.surface.update_parity(&place, options)?;
        Ok(limit.status(done, self.surface.was_stopped()))
    }

    /// Returns the options of a step that proves contents.
    fn reading(&self) -> Options {
        let from = source_of(self.schedule);
        self.options().with(|options| options.reading.from = from)
    }

    fn options(&self) -> Options {
        self.surface.options().with(|options| {
            options.catalogue.choice = CatalogueUse::At(self.catalogue.to_owned());
            options.catalogue.trees = Some(self.places.tree_list());
            options.catalogue.wait = true;
        })
    }

    /// Returns whether the next step may begin.
    fn goes_on(&self, status: ExitStatus) -> bool {
        let has_time = self.left().is_none_or(|left| !left.is_zero());
        status != ExitStatus::Interrupted && !self.surface.was_stopped() && has_time
    }

    /// Returns the time left, if it is limited.
    fn left(&self) -> Option<Duration> {
        self.end.map(|end| end.saturating_duration_since(Instant::now()))
    }
}

/// Says that too many files changed at once, and what to type if that is right.
fn alarm_of(changes: &TreeChanges, directory: &Path) -> String {
    let (changed, files, folder) = (changes.count(), changes.files, directory.display());
    format!(
        "{changed} of {files} files are missing or modified at once: nothing was updated. Is the \
         right volume mounted? `steadfast update --accept-many {folder}` accepts them"
    )
}

/// Returns whether an error means that the name does not exist.
fn is_absence(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// Ends a step when its time is over.
struct StepLimit {
    stop: Arc<AtomicBool>,
    /// Ends the thread that waits, when it is dropped.
    _waiting: Option<Waiting<()>>,
}

impl StepLimit {
    fn begin(left: Option<Duration>) -> StepLimit {
        let stop = Arc::new(AtomicBool::new(false));
        let waiting = left.map(|left| {
            let (sender, end) = channel::<()>();
            let stop = Arc::clone(&stop);
            thread::spawn(move || {
                if end.recv_timeout(left) == Err(RecvTimeoutError::Timeout) {
                    stop.store(true, Ordering::Relaxed);
                }
            });
            sender
        });
        StepLimit { stop, _waiting: waiting }
    }

    /// Returns the status of a step. It is no trouble that its time was over, unless the user
    /// stopped it: the next run goes on.
    fn status(&self, status: ExitStatus, was_stopped: bool) -> ExitStatus {
        status.only_if(status != ExitStatus::Interrupted || was_stopped)
    }
}
