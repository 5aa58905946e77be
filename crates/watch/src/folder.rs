//! How a folder under watch is: what its catalogue knows, its schedule, and what its drives say.

use std::path::PathBuf;

use steadfast::{ExitStatus, FolderFacts, FolderState, FolderWord, age_s};

use crate::drive::DriveReport;
use crate::journal::LastRun;
use crate::schedule::CheckSchedule;

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
    /// Its exit status.
    pub last_status: Option<u8>,
    /// Why the last run tagged and protected nothing, if too much had changed.
    pub alarm: Option<String>,
    /// Why nothing was done when it was last started, if so.
    pub skipped: Option<String>,
    /// For how many seconds its timer has not started it, if that is too long.
    pub unstarted_s: Option<i64>,
}

impl ScheduleFacts {
    /// Returns the facts about a schedule, whose last run the journal has.
    pub fn of(schedule: &CheckSchedule, last: LastRun, now_s: i64) -> ScheduleFacts {
        ScheduleFacts {
            unstarted_s: last.unstarted_s(schedule, now_s),
            name: schedule.name.clone(),
            every: schedule.every.to_string(),
            at: schedule.at.to_string(),
            last_run_s: last.began_s.filter(|began_s| age_s(*began_s, now_s).is_some()),
            last_status: last.status,
            alarm: last.alarm,
            skipped: last.skipped,
        }
    }
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
}

impl FolderStatus {
    /// Returns whether files were not checked within the cover, or the timer does not work.
    pub fn is_overdue(&self, facts: &FolderFacts) -> bool {
        facts.is_overdue() || self.is_unstarted()
    }

    fn is_unstarted(&self) -> bool {
        self.schedule.as_ref().is_some_and(|schedule| schedule.unstarted_s.is_some())
    }

    /// Returns the alarm of the last run of its schedule.
    pub fn alarm(&self) -> Option<&str> {
        self.schedule.as_ref()?.alarm.as_deref()
    }

    /// Returns its exit status: that of the folder, and not fine if too much changed at once or
    /// the timer does not work.
    pub fn exit_status(&self) -> ExitStatus {
        let is_amiss = self.alarm().is_some() || self.is_unstarted();
        self.state.exit_status().max(ExitStatus::Changed.only_if(is_amiss))
    }

    /// Returns its state in a word. The worst of the folder and its schedule.
    pub fn word(&self) -> &'static str {
        let word = self.state.word();
        let of_schedule = match () {
            () if self.alarm().is_some() => FolderWord::Trouble,
            () if self.is_unstarted() => FolderWord::Overdue,
            () => FolderWord::Fine,
        };
        word.max(of_schedule).name()
    }
}
