//! The groups in which pages show what runs find, and their words: one word for each thing.

use steadfast::catalogue::Finding;
use steadfast::{FileState, Verdict};
use steadfast_report::units;
use strum::{EnumString, IntoStaticStr, VariantArray};

/// What is so with a file, the most severe first. Its name is used in addresses.
#[derive(
    Clone,
    Copy,
    Debug,
    EnumString,
    IntoStaticStr,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    VariantArray,
)]
#[strum(serialize_all = "lowercase")]
pub(crate) enum StateKind {
    Damaged,
    Suspect,
    Unreadable,
    /// Its own record is lost, or is another than that of the catalogue.
    Record,
    Missing,
    /// It is other than a record without times says: nothing tells which of them is right.
    Unlike,
    Changed,
    /// A change of contents that the run has accepted.
    Accepted,
    /// It has another date.
    Date,
    Moved,
    New,
}

impl StateKind {
    /// Returns the kind of a state; `None` if nothing is to be said.
    pub(crate) fn of_state(state: FileState) -> Option<StateKind> {
        Some(match state {
            FileState::Fine => return None,
            FileState::Corrupt => StateKind::Damaged,
            FileState::Suspect => StateKind::Suspect,
            FileState::Unreadable | FileState::Unstable => StateKind::Unreadable,
            FileState::TagLost | FileState::TagReplaced => StateKind::Record,
            FileState::Missing => StateKind::Missing,
            FileState::Differs => StateKind::Unlike,
            FileState::Modified => StateKind::Changed,
            FileState::Touched => StateKind::Date,
        })
    }

    /// Returns the state that a folder has for it, if one alone.
    pub(crate) fn state(self) -> Option<FileState> {
        Some(match self {
            StateKind::Damaged => FileState::Corrupt,
            StateKind::Suspect => FileState::Suspect,
            StateKind::Unreadable => FileState::Unreadable,
            StateKind::Missing => FileState::Missing,
            StateKind::Unlike => FileState::Differs,
            StateKind::Changed => FileState::Modified,
            _ => return None,
        })
    }

    /// Returns the kind of a verdict; `None` if nothing is to be said.
    pub(crate) fn of_verdict(verdict: Verdict) -> Option<StateKind> {
        Some(match verdict {
            Verdict::Intact => return None,
            Verdict::Corrupt => StateKind::Damaged,
            Verdict::Suspect => StateKind::Suspect,
            Verdict::Unreadable | Verdict::Unstable => StateKind::Unreadable,
            Verdict::Missing => StateKind::Missing,
            Verdict::Differs => StateKind::Unlike,
            Verdict::Modified => StateKind::Changed,
            Verdict::Touched => StateKind::Date,
            Verdict::Moved => StateKind::Moved,
            Verdict::Untagged => StateKind::New,
        })
    }

    /// Returns the kind of what only a catalogue finds.
    pub(crate) fn of_finding(finding: &Finding) -> StateKind {
        match finding {
            Finding::Missing { .. } | Finding::Overwritten { .. } | Finding::Unmounted { .. } => {
                StateKind::Missing
            }
            _ => StateKind::Record,
        }
    }

    /// Returns the kind of a count in the record of a run.
    pub(crate) fn of_name(name: &str) -> Option<StateKind> {
        let verdict = Verdict::ALL.into_iter().find(|verdict| verdict.name() == name);
        let state = || FileState::ALL.into_iter().find(|state| state.name() == name);
        match verdict {
            Some(verdict) => StateKind::of_verdict(verdict),
            None => state().and_then(StateKind::of_state),
        }
    }

    /// Returns its name in addresses.
    pub(crate) fn name(self) -> &'static str {
        self.into()
    }

    /// Returns its colour and its icon.
    pub(crate) fn class_and_icon(self) -> (&'static str, &'static str) {
        match self {
            StateKind::Damaged => ("bad", "damaged"),
            StateKind::Suspect => ("warn", "suspect"),
            StateKind::Unreadable => ("bad", "help"),
            StateKind::Record => ("warn", "layers"),
            StateKind::Missing => ("warn", "missing"),
            StateKind::Unlike => ("warn", "help"),
            StateKind::Changed => ("warn", "changed"),
            StateKind::Accepted => ("idle", "check"),
            StateKind::Date => ("idle", "clock"),
            StateKind::Moved => ("info", "moved"),
            StateKind::New => ("info", "new"),
        }
    }

    /// Returns its word.
    pub(crate) fn word(self) -> &'static str {
        match self {
            StateKind::Damaged => "Damaged",
            StateKind::Suspect => "Was it you?",
            StateKind::Unreadable => "Not readable",
            StateKind::Record => "Record",
            StateKind::Missing => "Missing",
            StateKind::Unlike => "Other than a list",
            StateKind::Changed => "Changed",
            StateKind::Accepted => "Accepted",
            StateKind::Date => "Other date",
            StateKind::Moved => "Moved",
            StateKind::New => "New",
        }
    }

    /// Returns so many of it in a few words: "2 damaged".
    pub(crate) fn counted(self, files: u64) -> String {
        let count = units::count(files);
        match self {
            StateKind::Suspect => format!("{count} “was it you?”"),
            StateKind::Unreadable => format!("{count} not readable"),
            StateKind::Record => format!("{count} with a lost record"),
            StateKind::Date => format!("{count} with another date"),
            kind => format!("{count} {}", kind.word().to_lowercase()),
        }
    }

    /// Returns the title of its group.
    pub(crate) fn title(self, files: u64) -> String {
        let count = units::count(files);
        let (is, has) = if files == 1 { ("is", "its") } else { ("are", "their") };
        match self {
            StateKind::Suspect => format!("{count} changed and kept {has} date. Was it you?"),
            StateKind::Missing => format!("{count} {is} gone. Was it you?"),
            StateKind::Unreadable => format!("{count} could not be read"),
            StateKind::Accepted => format!("{count} accepted with new contents"),
            kind => kind.counted(files),
        }
    }

    /// Returns the sentence of its group.
    pub(crate) fn meaning(self) -> &'static str {
        match self {
            StateKind::Damaged => {
                "The contents are not what was recorded, and nothing is known to have written \
                 them: a worn drive, a loose cable or faulty memory does that."
            }
            StateKind::Suspect => {
                "Something wrote here and kept the date. Photo and music programs do that \
                 when they write titles or stars, and damage can look the same. Only you know."
            }
            StateKind::Unreadable => {
                "Nothing is known of the contents: the drive or the rights may be the reason, or \
                 a program was writing meanwhile."
            }
            StateKind::Record => {
                "The record on the file is gone or was replaced. The catalogue still has its own."
            }
            StateKind::Missing => "Recorded here, and not found any more.",
            StateKind::Unlike => {
                "A list or another program recorded other contents. Nothing says which are right: \
                 bring them back from a copy that fits."
            }
            StateKind::Changed => "Saved since the last record. If that was you, accept it.",
            StateKind::Accepted => "The contents of now are what is recorded.",
            StateKind::Date => "The contents are exactly as recorded, with another date.",
            StateKind::Moved => "The same contents, under another name now.",
            StateKind::New => "Not recorded yet, so damage could not be noticed.",
        }
    }
}
