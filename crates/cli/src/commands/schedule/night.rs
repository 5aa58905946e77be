//! One run of a schedule: what is due is checked, then tagged, then protected.

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use steadfast::ExitStatus;
use steadfast::catalogue::{Catalogue, RunRecord};
use steadfast::parity::ParityPlace;
use steadfast::{
    CatalogueUse, DueChoice, FileState, FolderState, Options, Selection, TreeChanges, Verb,
};
use steadfast_report::Units;
use steadfast_report::units::{counted, rough_duration};
use steadfast_watch::{
    AlertFacts, CheckSchedule, Conditions, Journal, Mounted, ScheduleDecision, SkipReason, decide,
    load, on_battery,
};

use crate::args::ScheduleRunArgs;
use crate::commands::{alert, execute, news, parity, report, tree_status, update};
use crate::exit;
use crate::state_folder;

/// Runs a schedule if it is due, and sends the alerts. Returns the exit status.
pub(super) fn run(schedule: &CheckSchedule, args: &ScheduleRunArgs) -> anyhow::Result<ExitStatus> {
    let journal = tree_status::journal(schedule)?;
    let lock = journal.lock()?;
    let now_s = (Options::default().now)().seconds;
    let tree = tree_status::tree_of(&schedule.directory);
    let folder = tree.as_ref().ok().map(|tree| tree_status::of_tree(tree, Some(schedule), now_s));
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
        forced: args.now,
    };
    match (decide(schedule, &conditions), tree) {
        (ScheduleDecision::Run { max_bytes, max_time_s }, Ok(tree)) => {
            alert::report(&alert::sender().begin(alert::list()?.alerts()));
            let night = Night {
                schedule,
                catalogue: &tree.catalogue,
                args,
                end: max_time_s.map(|limit_s| Instant::now() + Duration::from_secs(limit_s)),
            };
            finish(&night, &journal, now_s, night.steps(max_bytes))
        }
        (ScheduleDecision::Skip(reason), _) => {
            exit::complain(&format!("schedule `{}`: nothing done: {reason}", schedule.name));
            if reason == SkipReason::InProgress {
                return Ok(ExitStatus::Fine);
            }
            journal.skipped(&reason.to_string(), now_s)?;
            news::tell(schedule, AlertFacts::default(), None, now_s)?;
            let unmounted = matches!(reason, SkipReason::NotMounted(_));
            Ok(ExitStatus::Undetermined.only_if(unmounted))
        }
        (ScheduleDecision::Run { .. }, Err(error)) => Err(error),
    }
}

/// Records what became of a run, and sends the alerts, also of a run that failed.
fn finish(
    night: &Night<'_>,
    journal: &Journal,
    began_s: i64,
    outcome: anyhow::Result<NightOutcome>,
) -> anyhow::Result<ExitStatus> {
    let schedule = night.schedule;
    let ended_s = (Options::default().now)().seconds;
    let mut facts = AlertFacts { elapsed_s: ended_s.abs_diff(began_s), ..AlertFacts::default() };
    let mut missing = None;
    let mut ended_with = ExitStatus::Undetermined;
    let recorded = match outcome {
        Ok(NightOutcome { status, alarm, checked, missing: gone }) => {
            missing = Some(gone);
            ended_with = status;
            facts.alarm = alarm;
            if let Some(checked) = checked {
                (facts.files, facts.bytes) = (checked.files, checked.bytes);
                facts.checked = Some(in_words(&facts));
                facts.counts = checked.counts;
            }
            match exit::was_signalled() {
                // It is due again at once, because a run that was stopped may have read nothing.
                true => journal.skipped("it was interrupted", ended_s),
                false => journal.ran(began_s, ended_s, status.code(), facts.alarm.as_deref()),
            }
        }
        Err(error) => {
            exit::complain(&format!("schedule `{}`: {}", schedule.name, exit::words(&error)));
            facts.failure = Some(format!("The check could not be made: {}.", exit::words(&error)));
            journal.skipped("it failed", ended_s)
        }
    };
    facts.status = Some(ended_with.code());
    // A full disk must not silence the alerts.
    news::tell(schedule, facts, missing.as_deref(), ended_s)?;
    recorded?;
    Ok(ended_with)
}

/// Says how much a run checked, and in what time.
fn in_words(AlertFacts { files, bytes, elapsed_s, .. }: &AlertFacts) -> String {
    let time = rough_duration(elapsed_s.saturating_mul(1_000_000_000));
    let files = counted(*files, "file", "files");
    format!("{files}, {}, in {time}", Units::Si.bytes(*bytes))
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
struct Night<'a> {
    schedule: &'a CheckSchedule,
    catalogue: &'a Path,
    args: &'a ScheduleRunArgs,
    end: Option<Instant>,
}

impl Night<'_> {
    /// Checks what is due, then tags, then protects. A step begins only if there is time left, and
    /// if the steps before it found no reason against it.
    fn steps(&self, max_bytes: u64) -> anyhow::Result<NightOutcome> {
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
        let mut status = execute(Verb::Check, &selection, options, &self.args.output, report)?;
        let checked = Catalogue::open_reader(self.catalogue)?.runs(i64::MAX, 1)?.pop();
        if let Some(alarm) = alarm {
            exit::complain(&format!("schedule `{}`: {alarm}", self.schedule.name));
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
        } else if !exit::was_signalled() {
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
    fn record_missing(&self, missing: &[PathBuf]) -> anyhow::Result<ExitStatus> {
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
            let done = execute(Verb::Check, &selection, options, &self.args.output, report)?;
            status.raise(limit.status(done));
        }
        Ok(status)
    }

    /// Tags new files, and edited ones anew. Reads no other file.
    fn update(&self, status: ExitStatus, changes: TreeChanges) -> anyhow::Result<ExitStatus> {
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
            let done = execute(verb, &selection, options, &self.args.output, report)?;
            worst.raise(limit.status(done));
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
    fn protect(&self) -> anyhow::Result<ExitStatus> {
        let limit = StepLimit::begin(self.left());
        let place = ParityPlace::new(&self.schedule.directory, None)?;
        let options =
            self.options().with(|options| options.controls.stop = Arc::clone(&limit.stop));
        Ok(limit.status(parity::keep_up(&place, options, self.args.output.json)?))
    }

    fn options(&self) -> Options {
        Options::default().with(|options| {
            options.qos = self.args.level.level();
            options.catalogue.choice = CatalogueUse::At(self.catalogue.to_owned());
            options.catalogue.trees = state_folder::trees();
            options.catalogue.wait = true;
        })
    }

    /// Returns whether the next step may begin.
    fn goes_on(&self, status: ExitStatus) -> bool {
        let has_time = self.left().is_none_or(|left| !left.is_zero());
        status != ExitStatus::Interrupted && !exit::was_signalled() && has_time
    }

    /// Returns the time left, if it is limited.
    fn left(&self) -> Option<Duration> {
        self.end.map(|end| end.saturating_duration_since(Instant::now()))
    }
}

/// Says that too many files changed at once, and what to type if that is right.
fn alarm_of(changes: &TreeChanges, directory: &Path) -> String {
    let alarm = update::alarm_of(changes);
    format!("{alarm} `steadfast update --accept-many {}` accepts them", directory.display())
}

/// Ends a step when its time is over.
struct StepLimit {
    stop: Arc<AtomicBool>,
    /// Ends the thread that waits, when it is dropped.
    _waiting: Option<Sender<()>>,
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

    /// Returns the status of a step. It is no trouble that its time was over: the next run goes on.
    fn status(&self, status: ExitStatus) -> ExitStatus {
        status.only_if(status != ExitStatus::Interrupted || exit::was_signalled())
    }
}
