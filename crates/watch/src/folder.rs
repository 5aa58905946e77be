//! How a folder under watch is: what its catalogue knows, its schedule, and what its drives say.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use steadfast::{ExitStatus, FolderFacts, FolderState, FolderWord};
use steadfast_sys::file::age_s;

use crate::alert::memory::TroubleKind;
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
    /// What its journal has.
    pub last: LastRun,
    /// For how many seconds its timer has not started it, if that is too long.
    pub unstarted_s: Option<i64>,
    /// Whether its folder has been away for so long that it is news.
    pub is_long_away: bool,
}

impl ScheduleFacts {
    /// Returns the facts about a schedule, whose last run the journal has, on a machine that has
    /// been on for some seconds.
    pub fn of(schedule: &CheckSchedule, last: LastRun, now_s: i64, awake_s: i64) -> ScheduleFacts {
        ScheduleFacts {
            unstarted_s: last.unstarted_s(schedule, now_s, awake_s),
            is_long_away: last.is_long_away(now_s),
            name: schedule.name.clone(),
            every: schedule.every.to_string(),
            at: schedule.at.to_string(),
            last_run_s: last.began_s.filter(|began_s| age_s(*began_s, now_s).is_some()),
            last,
        }
    }
}

/// Something that is wrong with a folder as a whole, beside what its catalogue knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FolderTrouble {
    /// What it is.
    pub kind: TroubleKind,
    /// What it concerns: a path, a drive, a set of repair data; empty for the folder.
    pub subject: String,
    /// More in a sentence, or nothing.
    pub text: String,
}

impl FolderTrouble {
    /// Returns it in a line.
    pub fn words(&self) -> String {
        let FolderTrouble { subject, text, .. } = self;
        match self.kind {
            TroubleKind::Drive => {
                format!("{}: {text}", subject.split(' ').next().unwrap_or_default())
            }
            TroubleKind::Failed => format!("the check could not be made: {text}"),
            TroubleKind::Unlisted => {
                format!("{subject} cannot be opened: nothing in it was checked")
            }
            TroubleKind::RepairData => format!("the set {subject} of repair data is damaged"),
            TroubleKind::NotStarted => format!("its timer has not started it {text}"),
            _ => format!("alarm: {text}"),
        }
    }
}

/// Leaves out paths beneath other ones.
pub(crate) fn outermost(paths: BTreeSet<String>) -> BTreeSet<String> {
    let is_above = |above: &Path| paths.contains(&*above.to_string_lossy());
    let is_beneath = |path: &String| Path::new(path).ancestors().skip(1).any(is_above);
    paths.iter().filter(|path| !is_beneath(path)).cloned().collect()
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
        facts.is_overdue() || self.schedule.as_ref().is_some_and(|one| one.unstarted_s.is_some())
    }

    /// Lists what is wrong beside what its catalogue knows: with its schedule, its repair data, and
    /// its drives.
    pub fn troubles(&self) -> Vec<FolderTrouble> {
        let of = |kind, subject: &str, text: &str| FolderTrouble {
            kind,
            subject: subject.to_owned(),
            text: text.to_owned(),
        };
        let mut troubles = Vec::new();
        let mut unlisted: BTreeSet<String> = BTreeSet::new();
        let known = self.state.facts().into_iter().flat_map(|facts| &facts.unlisted);
        unlisted.extend(known.map(|path| path.to_string_lossy().into_owned()));
        if let Some(ScheduleFacts { last, unstarted_s, .. }) = &self.schedule {
            troubles.extend(last.alarm.iter().map(|text| of(TroubleKind::MassChange, "", text)));
            troubles.extend(last.failure.iter().map(|text| of(TroubleKind::Failed, "", text)));
            unlisted.extend(last.unreadable.iter().cloned());
            let damaged = last.damaged_sets.iter();
            troubles.extend(damaged.map(|set| of(TroubleKind::RepairData, set, "")));
            let days = unstarted_s.map(|seconds| format!("for {} days", seconds / 86_400));
            troubles.extend(days.map(|days| of(TroubleKind::NotStarted, "", &days)));
        }
        let unlisted = outermost(unlisted);
        troubles.extend(unlisted.iter().map(|path| of(TroubleKind::Unlisted, path, "")));
        let dangers =
            self.drives.iter().flat_map(|drive| drive.dangers().map(move |one| (drive, one)));
        troubles.extend(dangers.map(|(drive, one)| {
            of(TroubleKind::Drive, &format!("{} {}", drive.name, one.key), &one.text)
        }));
        troubles
    }

    /// Returns its exit status: that of the folder, and not fine if anything else is wrong.
    pub fn exit_status(&self) -> ExitStatus {
        let of = |trouble: FolderTrouble| match trouble.kind {
            TroubleKind::Failed | TroubleKind::Unlisted => ExitStatus::Undetermined,
            _ => ExitStatus::Changed,
        };
        self.troubles().into_iter().map(of).fold(self.state.exit_status(), ExitStatus::max)
    }

    /// Returns its state in a word. The worst of the folder, its schedule and its drives.
    pub fn word(&self) -> &'static str {
        let of = |trouble: FolderTrouble| match trouble.kind {
            TroubleKind::NotStarted => FolderWord::Overdue,
            _ => FolderWord::Trouble,
        };
        self.troubles().into_iter().map(of).fold(self.state.word(), FolderWord::max).name()
    }
}
