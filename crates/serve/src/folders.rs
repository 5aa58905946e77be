//! What is known of each served folder: its state in one word, for cards and the side bar.
//!
//! In: what a catalogue proves, and the run that goes on. Out: one state, of which the worst wins.
//! It reads no file of the folder: a file is as good as the last run that read it.

use std::path::Path;
use std::sync::Arc;

use steadfast::FileState;
use steadfast_report::progress;
use steadfast_schedule::CheckSchedule;

use crate::audits::{RootAudit, RootFacts};
use crate::roots::ServedPath;
use crate::runs::{RunVerb, ServedRun};

/// A served folder as pages show it.
pub(crate) struct ServedFolder {
    pub(crate) place: ServedPath,
    /// The last name of its path.
    pub(crate) name: String,
    /// Its whole path.
    pub(crate) shown: String,
    pub(crate) audit: Arc<RootAudit>,
    /// The run in it that goes on.
    pub(crate) run: Option<Arc<ServedRun>>,
    pub(crate) schedule: Option<CheckSchedule>,
}

/// The state of a folder. The worst that applies.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum FolderCondition {
    /// So many files are damaged.
    Damaged(u64),
    /// So many files could not be read.
    Unreadable(u64),
    /// A run goes on; the share that is done, from 0 to 1, if known.
    Going(RunVerb, Option<f64>),
    /// The folder, or its volume, is not there.
    Away,
    /// Its catalogue cannot be read, or belongs to a larger tree.
    Unknown,
    /// So many files are changed or missing.
    Changed(u64),
    /// Some files are not proved, or not lately.
    Late,
    /// Every file is recorded and was proved lately.
    Intact,
    /// It has no catalogue.
    Unprotected,
}

/// A folder in the side bar.
#[derive(Clone)]
pub(crate) struct SideFolder {
    pub(crate) name: String,
    pub(crate) address: String,
    /// Its latest known state; `None` if nobody asked yet.
    pub(crate) condition: Option<FolderCondition>,
}

/// How a state looks: its colour, and its icon.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ConditionLook {
    pub(crate) class: &'static str,
    pub(crate) icon: &'static str,
}

impl ServedFolder {
    /// Returns what the catalogue knows, if it could be read.
    pub(crate) fn facts(&self) -> Option<&RootFacts> {
        match &*self.audit {
            RootAudit::Known(facts) => Some(facts),
            _ => None,
        }
    }

    /// Returns the address of its page.
    pub(crate) fn address(&self) -> String {
        format!("/folders/{}", self.place.root)
    }

    /// Returns its state.
    pub(crate) fn condition(&self) -> FolderCondition {
        if let Some(run) = &self.run {
            let share = progress::share(&run.control.snapshot().progress);
            return FolderCondition::Going(run.request.verb, share);
        }
        self.settled()
    }

    /// Returns its state apart from a run that goes on.
    pub(crate) fn settled(&self) -> FolderCondition {
        match &*self.audit {
            RootAudit::None => FolderCondition::Unprotected,
            RootAudit::Above | RootAudit::Unreadable(_) => FolderCondition::Unknown,
            RootAudit::Away(_) => FolderCondition::Away,
            RootAudit::Known(facts) => of_facts(facts),
        }
    }
}

fn of_facts(facts: &RootFacts) -> FolderCondition {
    let count =
        |states: &[FileState]| states.iter().filter_map(|state| facts.open.get(state)).sum::<u64>();
    let damaged = count(&[FileState::Corrupt]);
    let unreadable = count(&[FileState::Unreadable, FileState::Unstable]);
    let known: u64 = facts.open.values().sum();
    if damaged > 0 {
        FolderCondition::Damaged(damaged)
    } else if unreadable > 0 {
        FolderCondition::Unreadable(unreadable)
    } else if known > 0 {
        FolderCondition::Changed(known)
    } else if facts.is_late() {
        FolderCondition::Late
    } else {
        FolderCondition::Intact
    }
}

impl FolderCondition {
    /// Returns its place among others: what needs attention first comes first.
    pub(crate) fn rank(&self) -> u8 {
        match self {
            FolderCondition::Damaged(_) => 0,
            FolderCondition::Unreadable(_) => 1,
            FolderCondition::Going(..) => 2,
            FolderCondition::Away => 3,
            FolderCondition::Unknown => 4,
            FolderCondition::Changed(_) => 5,
            FolderCondition::Late => 6,
            FolderCondition::Intact => 7,
            FolderCondition::Unprotected => 8,
        }
    }

    /// Returns whether somebody should do something about it soon.
    pub(crate) fn alarms(&self) -> bool {
        self.rank() < 2 || matches!(self, FolderCondition::Away | FolderCondition::Unknown)
    }

    /// Returns how it looks.
    pub(crate) fn look(&self) -> ConditionLook {
        let (class, icon) = match self {
            FolderCondition::Damaged(_) | FolderCondition::Unreadable(_) => ("bad", "damaged"),
            FolderCondition::Going(..) => ("info", "checking"),
            FolderCondition::Away => ("warn", "away"),
            FolderCondition::Unknown => ("bad", "help"),
            FolderCondition::Changed(_) => ("warn", "changed"),
            FolderCondition::Late => ("warn", "clock"),
            FolderCondition::Intact => ("good", "intact"),
            FolderCondition::Unprotected => ("idle", "unprotected"),
        };
        ConditionLook { class, icon }
    }
}

/// Returns the class and the icon of a file's state.
pub(crate) fn look_of(state: FileState) -> (&'static str, &'static str) {
    match state {
        FileState::Corrupt | FileState::TagReplaced => ("bad", "damaged"),
        FileState::Unreadable | FileState::Unstable => ("bad", "help"),
        FileState::Missing => ("warn", "missing"),
        FileState::Modified => ("warn", "changed"),
        FileState::Touched | FileState::TagLost => ("idle", "clock"),
        FileState::Fine => ("good", "intact"),
    }
}

/// Returns the last name of a path, or the whole path of the root of a file system.
pub(crate) fn name_of(path: &Path) -> String {
    let name = path.file_name().map_or(path, Path::new);
    steadfast_report::escape::path(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn condition(open: &[(FileState, u64)], late: bool) -> FolderCondition {
        let facts = RootFacts::for_tests(open, late);
        of_facts(&facts)
    }

    #[test]
    fn the_worst_state_wins_and_what_was_not_judged_is_not_intact() {
        use FileState::{Corrupt, Missing, Modified, Unreadable};
        let all = [(Corrupt, 2), (Modified, 3), (Unreadable, 1)];
        assert_eq!(condition(&all, true), FolderCondition::Damaged(2));
        assert_eq!(condition(&all[1..], true), FolderCondition::Unreadable(1));
        let changed = [(Modified, 3), (Missing, 1)];
        assert_eq!(condition(&changed, true), FolderCondition::Changed(4));
        assert_eq!(condition(&[], true), FolderCondition::Late);
        assert_eq!(condition(&[], false), FolderCondition::Intact);
    }
}
