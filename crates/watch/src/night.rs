//! One run of a schedule: what is due is checked, then tagged, then protected.

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender as Waiting, channel};
use std::thread;
use std::time::{Duration, Instant};

use steadfast::catalogue::{Catalogue, CatalogueError, RunRecord};
use steadfast::parity::ParityPlace;
use steadfast::{
    CatalogueUse, DueChoice, ExitStatus, FileState, FolderState, Options, Selection, TreeChanges,
    Verb,
};

use crate::alert::channel::{Delivery, Sender};
use crate::alert::message::AlertFacts;
use crate::decide::{Conditions, Mounted, ScheduleDecision, SkipReason, decide};
use crate::error::Error;
use crate::journal::Journal;
use crate::machine::{load, on_battery};
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
    let tree = places.tree(&schedule.directory);
    let folder = tree.as_ref().ok().map(|tree| places.folder(tree, Some(schedule), now_s));
    let (mounted, total_bytes) = match folder.map(|folder| folder.state) {
        Some(FolderState::Known(facts)) => (Mounted::Yes, facts.audit.bytes),
        Some(FolderState::NotThere(reason) | FolderState::Unknown(reason)) => {
            (Mounted::No(reason), 0)
        }
        Some(FolderState::PartOf(_) | FolderState::Unrecorded) | None => {
            (Mounted::No("its catalogue is gone".to_owned()), 0)
        }
    };
    let conditions = Conditions {
        now_s,
        last_run_s: journal.read().began_s,
        made_s: schedule.made_s,
        mounted,
        on_battery: on_battery(),
        load: load(),
        in_progress: lock.is_none(),
        total_bytes,
        forced,
    };
    match (decide(schedule, &conditions), tree) {
        (ScheduleDecision::Run { max_bytes, max_time_s }, Ok(tree)) => {
            surface.delivered(&sender.begin(places.alerts()?.alerts()));
            let end = max_time_s.map(|limit_s| Instant::now() + Duration::from_secs(limit_s));
            let mut night = Night { places, schedule, catalogue: &tree.catalogue, surface, end };
            let outcome = night.steps(max_bytes);
            night.finish(sender, &journal, now_s, outcome)
        }
        (ScheduleDecision::Skip(reason), _) => {
            surface.complain(&format!("nothing done: {reason}"));
            if reason == SkipReason::InProgress {
                return Ok(ExitStatus::Fine);
            }
            journal.skipped(&reason.to_string(), now_s)?;
            let facts = AlertFacts::default();
            surface.delivered(&places.alert(schedule, sender, facts, None, now_s)?);
            let unmounted = matches!(reason, SkipReason::NotMounted(_));
            Ok(ExitStatus::Undetermined.only_if(unmounted))
        }
        (ScheduleDecision::Run { .. }, Err(error)) => Err(error.into()),
    }
}

/// What became of the steps of a run.
struct NightOutcome {
    status: ExitStatus,
    /// Why nothing was tagged or protected, if too much changed.
    alarm: Option<String>,
    /// The record of the check.
    checked: Option<RunRecord>,
    /// Files that are gone, as far as the catalogue does not say so itself.
    missing: Vec<PathBuf>,
}

/// A run, and when it must end.
struct Night<'a, S> {
    places: &'a WatchPlaces,
    schedule: &'a CheckSchedule,
    catalogue: &'a Path,
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
        let mut facts =
            AlertFacts { elapsed_s: ended_s.abs_diff(began_s), ..AlertFacts::default() };
        let mut missing = None;
        let mut ended_with = ExitStatus::Undetermined;
        let recorded = match outcome {
            Ok(outcome) => {
                missing = Some(outcome.missing);
                ended_with = outcome.status;
                facts.alarm = outcome.alarm;
                if let Some(RunRecord { files, bytes, counts, .. }) = outcome.checked {
                    facts.checked =
                        Some(self.surface.words_of_check(files, bytes, facts.elapsed_s));
                    (facts.files, facts.bytes, facts.counts) = (files, bytes, counts);
                }
                match self.surface.was_stopped() {
                    // It is due again at once, because a run that was stopped may have read
                    // nothing.
                    true => journal.skipped("it was interrupted", ended_s),
                    false => {
                        journal.ran(began_s, ended_s, ended_with.code(), facts.alarm.as_deref())
                    }
                }
            }
            Err(error) => {
                let words = self.surface.words_of(&error);
                self.surface.complain(&words);
                facts.failure = Some(format!("The check could not be made: {words}."));
                journal.skipped("it failed", ended_s)
            }
        };
        facts.status = Some(ended_with.code());
        // A full disk must not silence the alerts.
        let deliveries =
            self.places.alert(self.schedule, sender, facts, missing.as_deref(), ended_s)?;
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
        let is_alarm = changes.are_alarming() || *update && changes.need_consent();
        let alarm = is_alarm.then(|| alarm_of(&changes, directory));
        let due = DueChoice::default().with(|choice| {
            choice.max_bytes = Some(max_bytes);
            choice.max_time = self.left();
            // What is known to be missing counts for no further alarm.
            choice.leaves_missing = alarm.is_some();
        });
        let options = self.options().with(|options| options.due = Some(due));
        let selection = Selection::of([directory]);
        let mut status = self.surface.run(Verb::Check, &selection, options)?;
        let checked = Catalogue::open_reader(self.catalogue)?.runs(i64::MAX, 1)?.pop();
        if let Some(alarm) = alarm {
            self.surface.complain(&alarm);
            return Ok(NightOutcome {
                status: status.max(ExitStatus::Changed),
                alarm: Some(alarm),
                checked,
                missing,
            });
        }
        // A walk that tags finds where files were moved to, and records what is missing.
        let mut missing = missing;
        if *update && self.goes_on(status) {
            status = self.update(status, changes)?;
            missing.clear();
        } else if !self.surface.was_stopped() {
            status.raise(self.record_missing(&missing)?);
        }
        status.raise(ExitStatus::Changed.only_if(!missing.is_empty()));
        if *parity
            && self.goes_on(status)
            && !matches!(status, ExitStatus::Undetermined | ExitStatus::Corrupt)
        {
            status.raise(self.protect()?);
        }
        Ok(NightOutcome { status, alarm: None, checked, missing })
    }

    /// Records which files are newly missing, and reads those that are back, whose turn to be
    /// checked may be weeks away.
    fn record_missing(&mut self, missing: &[PathBuf]) -> Result<ExitStatus, S::Error> {
        let root = &self.schedule.directory;
        let mut known = HashSet::new();
        Catalogue::open_reader(self.catalogue)?.failures(&mut |failure| {
            if !failure.settled && failure.standing == FileState::Missing {
                known.insert(failure.path);
            }
            ControlFlow::Continue(())
        })?;
        let new = missing.iter().filter(|path| !known.contains(*path));
        let new: Vec<PathBuf> = new.map(|path| root.join(path)).collect();
        let is_there = |path: &PathBuf| path.symlink_metadata().is_ok_and(|found| found.is_file());
        let back = known.iter().map(|path| root.join(path)).filter(is_there).collect();
        // Missing ones alone, because a limit of time must not end their run.
        let mut status = ExitStatus::Fine;
        for (files, left) in [(new, None), (back, self.left())] {
            if files.is_empty() || left.is_some_and(|left| left.is_zero()) {
                continue;
            }
            let limit = StepLimit::begin(left);
            let selection = Selection::default().with(|selection| {
                selection.listed = files;
                selection.within = Some(root.clone());
            });
            let options = self.options().with(|options| {
                options.allow_empty = true;
                options.controls.stop = Arc::clone(&limit.stop);
            });
            let done = self.surface.run(Verb::Check, &selection, options)?;
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
        let new = (Verb::Tag, Selection::of([directory]));
        let mut worst = status.only_if(status != ExitStatus::Changed);
        for (verb, selection) in [new, (Verb::Update, edited)] {
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
