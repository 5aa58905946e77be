//! One run of a schedule: what is due is checked, then tagged, then protected.

mod limit;
mod repair_data;
mod steps;
mod surface;

use std::time::{Duration, Instant};

use steadfast::catalogue::RunRecord;
use steadfast::{ExitStatus, FolderState, Options};

use self::steps::{Night, NightOutcome};
pub use self::surface::NightSurface;
use steadfast_words::reason;

use crate::alert::channel::Sender;
use crate::alert::message::AlertFacts;
use crate::decide::{Conditions, Mounted, ScheduleDecision, SkipReason, decide};
use crate::journal::{Journal, LastRun, MendedPath, MovedPath};
use crate::machine::{load, on_battery};
use crate::places::WatchPlaces;
use crate::schedule::CheckSchedule;

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
        mounted: mounted(&state),
        on_battery: on_battery(),
        load: load(),
        in_progress: lock.is_none(),
        total_bytes: state.facts().map_or(0, |facts| facts.audit.bytes),
        forced,
    };
    match (decide(schedule, &conditions), tree, state) {
        (
            ScheduleDecision::Run { max_bytes, max_time_s },
            Some(tree),
            FolderState::Known(facts),
        ) => {
            surface.delivered(&sender.begin(places.alerts()?.alerts(), &schedule.name));
            let end = max_time_s.map(|limit_s| Instant::now() + Duration::from_secs(limit_s));
            // Its volume may be mounted elsewhere now.
            let schedule = &CheckSchedule { directory: tree.root.clone(), ..schedule.clone() };
            let (tree, failures) = (&tree, &*facts.failures);
            let mut night = Night { places, schedule, tree, failures, last, surface, end };
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
        // It is there and known, so this cannot be.
        (ScheduleDecision::Run { .. }, ..) => Ok(ExitStatus::Undetermined),
    }
}

/// Returns whether a folder can be checked, or why not.
fn mounted(state: &FolderState) -> Mounted {
    match state {
        FolderState::Known(_) => Mounted::Yes,
        FolderState::NotThere(_) => Mounted::No(reason(state)),
        _ => Mounted::Unknown(reason(state)),
    }
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
                    is_unrecorded: outcome.is_unrecorded,
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
}
