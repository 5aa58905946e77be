//! What is known of each served folder: its state in one word, for cards and the side bar.
//!
//! In: what a catalogue proves, and the run that goes on. Out: one state, of which the worst wins.
//! It reads no file of the folder: a file is as good as the last run that read it.

use std::path::Path;
use std::sync::Arc;

use steadfast::{FileState, FolderFacts, FolderState, FolderWord};
use steadfast_report::progress;
use steadfast_watch::{CheckSchedule, FolderStatus};

use crate::roots::ServedPath;
use crate::runs::{RunVerb, ServedRun};

/// A served folder as pages show it.
pub(crate) struct ServedFolder {
    pub(crate) place: ServedPath,
    /// The last name of its path.
    pub(crate) name: String,
    /// Its whole path.
    pub(crate) shown: String,
    pub(crate) audit: Arc<FolderState>,
    /// The run in it that goes on.
    pub(crate) run: Option<Arc<ServedRun>>,
    pub(crate) schedule: Option<CheckSchedule>,
    /// How it is with its schedule and its drives; `None` if it has no catalogue of its own.
    pub(crate) status: Option<FolderStatus>,
}

/// The state of a folder. The worst that applies.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum FolderCondition {
    /// So many files are damaged.
    Damaged(u64),
    /// So many files were changed by something that kept their dates.
    Suspect(u64),
    /// So many files could not be read.
    Unreadable(u64),
    /// A run goes on; the share that is done, from 0 to 1, if known.
    Going(RunVerb, Option<f64>),
    /// The folder, or its volume, is not there.
    Away,
    /// Its catalogue cannot be read, or belongs to a larger tree.
    Unknown,
    /// A drive fails, the last check could not be made, or the like.
    Endangered,
    /// A repair was cut off.
    Unfinished,
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
    pub(crate) fn facts(&self) -> Option<&FolderFacts> {
        self.audit.facts()
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
            FolderState::Unrecorded => FolderCondition::Unprotected,
            FolderState::PartOf(_) | FolderState::Unknown(_) => FolderCondition::Unknown,
            FolderState::NotThere(_) => FolderCondition::Away,
            FolderState::Known(facts) => {
                // With the schedule, which may have begun later than the catalogue.
                let status = self.status.as_ref();
                let found = of_facts(status.and_then(|one| one.state.facts()).unwrap_or(facts));
                let is_in_trouble = status.is_some_and(|status| !status.troubles().is_empty());
                match found {
                    FolderCondition::Intact | FolderCondition::Late if is_in_trouble => {
                        FolderCondition::Endangered
                    }
                    found => found,
                }
            }
        }
    }
}

fn of_facts(facts: &FolderFacts) -> FolderCondition {
    let damaged = facts.count(&[FileState::Corrupt]);
    let suspect = facts.count(&[FileState::Suspect]);
    let unreadable = facts.count(&[FileState::Unreadable, FileState::Unstable]);
    let known: u64 = facts.open.values().sum();
    match facts.word() {
        FolderWord::Fine => FolderCondition::Intact,
        FolderWord::Recorded if facts.audit.never.0 == 0 => FolderCondition::Intact,
        FolderWord::Recorded | FolderWord::Incomplete | FolderWord::Overdue | FolderWord::Empty => {
            FolderCondition::Late
        }
        _ if damaged > 0 => FolderCondition::Damaged(damaged),
        _ if unreadable > 0 => FolderCondition::Unreadable(unreadable),
        _ if facts.has_unfinished() => FolderCondition::Unfinished,
        _ if suspect > 0 => FolderCondition::Suspect(suspect),
        _ => FolderCondition::Changed(known),
    }
}

impl FolderCondition {
    /// Returns its place among others: what needs attention first comes first.
    pub(crate) fn rank(&self) -> u8 {
        match self {
            FolderCondition::Damaged(_) => 0,
            FolderCondition::Unreadable(_) => 1,
            FolderCondition::Going(..) => 2,
            FolderCondition::Unfinished | FolderCondition::Endangered => 3,
            FolderCondition::Suspect(_) => 4,
            FolderCondition::Away => 4,
            FolderCondition::Unknown => 5,
            FolderCondition::Changed(_) => 6,
            FolderCondition::Late => 7,
            FolderCondition::Intact => 8,
            FolderCondition::Unprotected => 9,
        }
    }

    /// Returns whether somebody should do something about it soon.
    pub(crate) fn alarms(&self) -> bool {
        use FolderCondition::{
            Away, Damaged, Endangered, Suspect, Unfinished, Unknown, Unreadable,
        };
        matches!(
            self,
            Damaged(_) | Unreadable(_) | Suspect(_) | Unfinished | Endangered | Away | Unknown
        )
    }

    /// Returns how it looks.
    pub(crate) fn look(&self) -> ConditionLook {
        let (class, icon) = match self {
            FolderCondition::Damaged(_) | FolderCondition::Unreadable(_) => ("bad", "damaged"),
            FolderCondition::Going(..) => ("info", "checking"),
            FolderCondition::Unfinished | FolderCondition::Suspect(_) => ("bad", "damaged"),
            FolderCondition::Endangered => ("bad", "damaged"),
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
        FileState::Corrupt | FileState::Suspect | FileState::TagReplaced => ("bad", "damaged"),
        FileState::Unreadable | FileState::Unstable => ("bad", "help"),
        FileState::Missing => ("warn", "missing"),
        FileState::Modified | FileState::Differs => ("warn", "changed"),
        FileState::Touched | FileState::TagLost => ("idle", "clock"),
        FileState::Fine => ("good", "intact"),
    }
}

/// Returns the last name of a path, or the whole path of the root of a file system.
pub(crate) fn name_of(path: &Path) -> String {
    let name = path.file_name().map_or(path, Path::new);
    steadfast_report::escape::path(name)
}

/// Facts of ten files, of which one was proved long ago if they are `late`.
#[cfg(test)]
pub(crate) fn facts_for_tests(open: &[(FileState, u64)], late: bool) -> FolderFacts {
    use steadfast::catalogue::{Audit, AuditWindow};
    let entries = if late { 9 } else { 10 };
    let windows = FolderFacts::windows(90).map(|days| AuditWindow {
        days,
        entries,
        bytes: 10,
        judged: entries,
    });
    let audit = Audit {
        at: (steadfast::Options::default().now)(),
        entries: 10,
        tagged: 10,
        bytes: 10,
        windows: windows.to_vec(),
        proofs: Vec::new(),
        checked: true,
        never: (0, 0),
        oldest_proof: None,
        standings: Default::default(),
        runs: Vec::new(),
    };
    let mut facts = FolderFacts::of(audit, 90);
    facts.open = open.iter().copied().collect();
    facts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn condition(open: &[(FileState, u64)], late: bool) -> FolderCondition {
        of_facts(&facts_for_tests(open, late))
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
