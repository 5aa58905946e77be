//! What can happen to a file in a run, under the names that a catalogue stores.

use strum::{Display, EnumString, IntoStaticStr};

use crate::event::Action;
use crate::file_state::FileState;
use crate::verdict::Verdict;

/// An event of a file. `docs/formats/catalogue.md` defines each.
#[derive(Clone, Copy, Debug, Display, EnumString, IntoStaticStr, PartialEq, Eq)]
#[strum(serialize_all = "lowercase")]
#[non_exhaustive]
pub enum FileHistoryEvent {
    /// As the verdict.
    Intact,
    /// As the verdict.
    Untagged,
    /// As the verdict.
    Touched,
    /// As the verdict.
    Modified,
    /// As the verdict.
    Corrupt,
    /// As the verdict.
    Suspect,
    /// As the verdict.
    Differs,
    /// As the verdict.
    Unreadable,
    /// As the verdict.
    Unstable,
    /// As the verdict.
    Missing,
    /// Its attribute is missing.
    #[strum(serialize = "tag lost")]
    TagLost,
    /// Its attribute is a tag of other contents.
    #[strum(serialize = "tag replaced")]
    TagReplaced,
    /// A run gave it its first tag.
    Tagged,
    /// A run replaced its tag.
    Retagged,
    /// A run replaced its tag by one of the same contents.
    Refreshed,
    /// A run removed its tag.
    Removed,
    /// The catalogue took over an attribute that it did not know.
    Adopted,
    /// The same, although it has another tag.
    Accepted,
    /// It came to this path.
    New,
    /// It went to another path.
    #[strum(serialize = "moved to")]
    MovedTo,
    /// It came from another path.
    #[strum(serialize = "moved from")]
    MovedFrom,
    /// It was missing, and was removed from the catalogue.
    Dropped,
    /// It is gone because another known file was renamed to its name.
    Overwritten,
    /// A repair restored its contents.
    Repaired,
    /// It was missing, and exists again, in a run that did not read it.
    Returned,
    /// It was not found, in a run that could not decide whether it is missing.
    #[strum(serialize = "passed by")]
    PassedBy,
    /// Its own tag is gone and it was written, in a run that did not read it.
    Written,
    /// It could not take its tag, which only the catalogue has.
    #[strum(serialize = "catalogue only")]
    CatalogueOnly,
}

impl FileHistoryEvent {
    /// Returns the name, as catalogues and documents have it.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// Returns whether it set or removed the tag of the file.
    pub fn changes_tag(self) -> bool {
        use FileHistoryEvent::{Accepted, Adopted, Refreshed, Removed, Retagged, Tagged};
        matches!(self, Tagged | Retagged | Refreshed | Removed | Adopted | Accepted)
            || self.ends_life()
    }

    /// Returns whether the path has no file after it.
    pub fn ends_life(self) -> bool {
        matches!(
            self,
            FileHistoryEvent::MovedTo | FileHistoryEvent::Dropped | FileHistoryEvent::Overwritten
        )
    }

    /// Returns whether it is what a run found of the file, and not what was done about it.
    pub fn is_state(self) -> bool {
        FileState::ALL.into_iter().any(|state| FileHistoryEvent::of_state(state, true) == self)
    }

    /// Returns what leaves a file, tagged or not, in a state.
    pub(super) fn of_state(state: FileState, tagged: bool) -> FileHistoryEvent {
        match state {
            FileState::Fine if tagged => FileHistoryEvent::Intact,
            FileState::Fine => FileHistoryEvent::Untagged,
            FileState::Touched => FileHistoryEvent::Touched,
            FileState::Modified => FileHistoryEvent::Modified,
            FileState::Corrupt => FileHistoryEvent::Corrupt,
            FileState::Unreadable => FileHistoryEvent::Unreadable,
            FileState::Unstable => FileHistoryEvent::Unstable,
            FileState::Missing => FileHistoryEvent::Missing,
            FileState::TagLost => FileHistoryEvent::TagLost,
            FileState::TagReplaced => FileHistoryEvent::TagReplaced,
            FileState::Suspect => FileHistoryEvent::Suspect,
            FileState::Differs => FileHistoryEvent::Differs,
        }
    }

    /// Returns the event of a verdict; `None` of [`Verdict::Moved`], whose event is at both paths.
    pub fn of_verdict(verdict: Verdict) -> Option<FileHistoryEvent> {
        let state = match verdict {
            Verdict::Missing => Some(FileState::Missing),
            verdict => FileState::of(verdict),
        };
        state.map(|state| FileHistoryEvent::of_state(state, verdict != Verdict::Untagged))
    }

    /// Returns what an action did to the tag that the catalogue knows, if it did anything.
    pub(super) fn of_action(action: Action) -> Option<FileHistoryEvent> {
        match action {
            Action::Tagged => Some(FileHistoryEvent::Tagged),
            Action::Retagged => Some(FileHistoryEvent::Retagged),
            Action::Refreshed => Some(FileHistoryEvent::Refreshed),
            Action::Removed => Some(FileHistoryEvent::Removed),
            Action::Restored | Action::Kept | Action::Exported => None,
        }
    }
}
