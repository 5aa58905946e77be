//! How a folder under watch is: what its catalogue knows, its schedule, and what its drives say.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use steadfast::{ExitStatus, FolderFacts, FolderState, GoingRun, Matter, Standing};
use steadfast_sys::clock;
use steadfast_sys::file::age_s;
use steadfast_words::{
    FolderSaid, FolderView, GoingView, LastSeen, folder_said, run_word, schedule_words, units,
};

use crate::drive::DriveReport;
use crate::journal::LastRun;
use crate::schedule::CheckSchedule;
use crate::timer::may_start;

/// The schedule of a folder, and what became of its last run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScheduleFacts {
    /// Its name.
    pub name: String,
    /// "night", "week" or "month".
    pub every: String,
    /// The time of day.
    pub at: String,
    /// When the last run began, in seconds since 1970.
    pub last_run_s: Option<i64>,
    /// What its journal has.
    pub last: LastRun,
    /// For how many seconds its timer has not started it, if that is too long.
    pub unstarted_s: Option<i64>,
    /// Whether its folder has been away for so long that it is news.
    pub is_long_away: bool,
    /// Whether nothing is known that starts it.
    pub lacks_timer: bool,
}

impl ScheduleFacts {
    /// Returns the facts about a schedule, whose last run the journal has, on a machine that has
    /// been on for some seconds.
    pub fn of(schedule: &CheckSchedule, last: LastRun, now_s: i64, awake_s: i64) -> ScheduleFacts {
        ScheduleFacts {
            unstarted_s: last.unstarted_s(schedule, now_s, awake_s),
            is_long_away: last.is_long_away(now_s),
            lacks_timer: !last.was_started_lately(schedule, now_s) && !may_start(schedule.timer),
            name: schedule.name.clone(),
            every: schedule.every.to_string(),
            at: schedule.at.to_string(),
            last_run_s: last.began_s.filter(|began_s| age_s(*began_s, now_s).is_some()),
            last,
        }
    }
}

/// Leaves out paths beneath other ones.
pub(crate) fn outermost(paths: BTreeSet<String>) -> BTreeSet<String> {
    let is_above = |above: &Path| paths.contains(&*above.to_string_lossy());
    let is_beneath = |path: &String| Path::new(path).ancestors().skip(1).any(is_above);
    paths.iter().filter(|path| !is_beneath(path)).cloned().collect()
}

/// A folder as it was when it was last there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeenFolder {
    /// When that was, in seconds since 1970.
    pub at_s: i64,
    /// Files that its catalogue knew.
    pub files: u64,
    /// Of these, damaged ones.
    pub damaged: u64,
    /// Whether nothing was wrong with it.
    pub is_fine: bool,
}

/// A folder.
#[derive(Clone, Debug)]
pub struct FolderStatus {
    /// Its root.
    pub root: PathBuf,
    /// Its state.
    pub state: FolderState,
    /// Its schedule.
    pub schedule: Option<ScheduleFacts>,
    /// What the drives beneath it say.
    pub drives: Vec<DriveReport>,
    /// What was last known of it, if it is away.
    pub seen: Option<SeenFolder>,
    /// What a run of this process found that no catalogue has recorded.
    pub found: Vec<Matter>,
}

impl ScheduleFacts {
    /// Says when it is checked, or that nothing checks it.
    pub fn words(&self) -> String {
        schedule_words(&self.every, &self.at, self.lacks_timer)
    }
}

impl FolderStatus {
    /// Takes what a catalogue knows, of a folder without a schedule.
    pub fn alone(root: PathBuf, state: FolderState) -> FolderStatus {
        let (drives, found) = (Vec::new(), Vec::new());
        FolderStatus { root, state, schedule: None, drives, seen: None, found }
    }

    /// Returns whether files were not checked within the cover, or the timer does not work.
    pub fn is_overdue(&self, facts: &FolderFacts) -> bool {
        facts.is_overdue() || self.schedule.as_ref().is_some_and(|one| one.unstarted_s.is_some())
    }

    /// Lists what is wrong beside what its catalogue knows: with its schedule, its repair data, and
    /// its drives.
    pub fn troubles(&self) -> Vec<Matter> {
        let of = Matter::about;
        let mut troubles = self.found.clone();
        let mut unlisted: BTreeSet<String> = BTreeSet::new();
        let known = self.state.facts().into_iter().flat_map(|facts| &facts.unlisted);
        unlisted.extend(known.map(|path| path.to_string_lossy().into_owned()));
        if let Some(ScheduleFacts { last, unstarted_s, .. }) = &self.schedule {
            troubles.extend(last.alarm.iter().map(|text| of(Standing::MassChange, "", text)));
            troubles.extend(last.failure.iter().map(|text| of(Standing::Failed, "", text)));
            troubles.extend(last.is_unrecorded.then(|| of(Standing::Unrecorded, "", "")));
            unlisted.extend(last.unreadable.iter().cloned());
            let damaged = last.damaged_sets.iter();
            troubles.extend(damaged.map(|set| of(Standing::RepairData, set, "")));
            let days = unstarted_s.map(|seconds| format!("for {} days", seconds / 86_400));
            troubles.extend(days.map(|days| of(Standing::NotStarted, "", &days)));
        }
        let unlisted = outermost(unlisted);
        troubles.extend(unlisted.iter().map(|path| of(Standing::Unlisted, path, "")));
        let dangers =
            self.drives.iter().flat_map(|drive| drive.dangers().map(move |one| (drive, one)));
        troubles.extend(dangers.map(|(drive, one)| {
            of(Standing::Drive, &format!("{} {}", drive.name, one.key), &one.text)
        }));
        troubles
    }

    /// Returns what is said of it; `run` is the one of this process, if one goes on.
    pub fn said(&self, run: Option<GoingView>) -> FolderSaid {
        let going = || self.state.facts().and_then(|facts| facts.going.as_ref()).map(run_of);
        let seen = self.seen.map(|seen| {
            let SeenFolder { files, damaged, is_fine, .. } = seen;
            let ago_s = clock::utc_now().seconds.saturating_sub(seen.at_s);
            (LastSeen { files, damaged, is_fine }, units::ago(ago_s))
        });
        let besides = self.troubles();
        folder_said(&FolderView { state: &self.state, besides, seen, run: run.or_else(going) })
    }

    /// Returns its exit status: that of the folder, and not fine if anything else is wrong.
    pub fn exit_status(&self) -> ExitStatus {
        self.said(None).exit_status
    }

    /// Returns its state in a word. The worst of the folder, its schedule and its drives.
    pub fn word(&self) -> &'static str {
        self.said(None).state
    }
}

/// Returns how far a run of another process is.
fn run_of(going: &GoingRun) -> GoingView {
    GoingView {
        does: run_word(going.kind),
        files: going.files,
        all: Some(going.all),
        share: (going.all > 0).then(|| (going.files as f64 / going.all as f64).min(1.0)),
        left: None,
        damaged: going.damaged,
        is_elsewhere: true,
    }
}
