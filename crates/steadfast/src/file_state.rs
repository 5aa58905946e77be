//! The state of a file after a run judged it: its verdict, as far as it is stored.

use strum::{IntoStaticStr, VariantArray};

use crate::verdict::Verdict;

/// The state of a file after the last run that judged it.
///
/// Every file that a run covers has the verdict of its state, so only changes of the state must be
/// stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "lowercase")]
pub enum FileState {
    /// Intact if it has a tag, otherwise untagged.
    Fine,
    /// Same contents, another modification time.
    Touched,
    /// Other contents, another modification time.
    Modified,
    /// Other contents, the same modification time.
    Corrupt,
    /// Could not be read.
    Unreadable,
    /// Changed while it was read.
    Unstable,
    /// Gone.
    Missing,
    /// Its attribute is missing, and the contents match the catalogue's tag.
    #[strum(serialize = "tag lost")]
    TagLost,
    /// Its attribute is a tag of other contents than the catalogue's tag.
    #[strum(serialize = "tag replaced")]
    TagReplaced,
}

impl FileState {
    /// Every state, at the index that is stored in the catalogue.
    pub const ALL: [FileState; 9] = *FileState::VARIANTS.as_array().expect("there are nine states");

    /// Returns whether the contents were verified against the tag.
    pub fn proves(self) -> bool {
        matches!(self, FileState::Fine | FileState::Touched | FileState::TagLost)
    }

    /// Returns the verdict of a file in this state.
    pub fn verdict(self, tagged: bool) -> Verdict {
        match self {
            FileState::Fine if !tagged => Verdict::Untagged,
            FileState::Fine | FileState::TagLost | FileState::TagReplaced => Verdict::Intact,
            FileState::Touched => Verdict::Touched,
            FileState::Modified => Verdict::Modified,
            FileState::Corrupt => Verdict::Corrupt,
            FileState::Unreadable => Verdict::Unreadable,
            FileState::Unstable => Verdict::Unstable,
            FileState::Missing => Verdict::Missing,
        }
    }

    /// Returns the name in lower case, as in events.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// Returns the state that follows from a verdict; `None` for a missing or moved file.
    pub(crate) fn of(verdict: Verdict) -> Option<FileState> {
        Some(match verdict {
            Verdict::Intact | Verdict::Untagged => FileState::Fine,
            Verdict::Touched => FileState::Touched,
            Verdict::Modified => FileState::Modified,
            Verdict::Corrupt => FileState::Corrupt,
            Verdict::Unstable => FileState::Unstable,
            Verdict::Unreadable => FileState::Unreadable,
            Verdict::Missing | Verdict::Moved => return None,
        })
    }

    /// Returns the number that is stored in the catalogue.
    pub(crate) fn number(self) -> i64 {
        self as i64
    }
}
