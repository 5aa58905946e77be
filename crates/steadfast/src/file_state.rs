//! The state of a file after a run judged it: its verdict, as far as it is stored.

use strum::{EnumString, IntoStaticStr, VariantArray};

use crate::verdict::Verdict;

/// The state of a file after the last run that judged it.
///
/// Every file that a run covers has the verdict of its state, so only changes of the state must be
/// stored.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    EnumString,
    IntoStaticStr,
    VariantArray,
)]
#[strum(serialize_all = "lowercase")]
pub enum FileState {
    /// Intact if it has a tag, otherwise untagged.
    Fine,
    /// Same contents, another modification time.
    Touched,
    /// Other contents, another modification time.
    Modified,
    /// Other contents, and nothing wrote them.
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
    /// Other contents of the same length, the same modification time, a later change time.
    Suspect,
    /// Other contents than those of a record without times.
    Differs,
}

impl FileState {
    /// Every state, at the index that version 2 of the catalogue stored.
    pub const ALL: [FileState; 11] =
        *FileState::VARIANTS.as_array().expect("there are eleven states");

    /// Returns whether the contents were verified against the tag.
    pub fn proves(self) -> bool {
        matches!(self, FileState::Fine | FileState::Touched | FileState::TagLost)
    }

    /// Returns whether the file still had the modification time of its last proof when it got into
    /// this state, which may not be that of its tag.
    pub(crate) fn keeps_date(self) -> bool {
        matches!(self, FileState::Touched | FileState::Suspect | FileState::Corrupt)
    }

    /// Returns the verdict of a file in this state.
    pub fn verdict(self, tagged: bool) -> Verdict {
        match self {
            FileState::Fine if !tagged => Verdict::Untagged,
            FileState::Fine | FileState::TagLost | FileState::TagReplaced => Verdict::Intact,
            FileState::Touched => Verdict::Touched,
            FileState::Modified => Verdict::Modified,
            FileState::Corrupt => Verdict::Corrupt,
            FileState::Suspect => Verdict::Suspect,
            FileState::Differs => Verdict::Differs,
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
            Verdict::Suspect => FileState::Suspect,
            Verdict::Differs => FileState::Differs,
            Verdict::Unstable => FileState::Unstable,
            Verdict::Unreadable => FileState::Unreadable,
            Verdict::Missing | Verdict::Moved => return None,
        })
    }

    /// Returns the number that version 2 of the catalogue stored.
    pub(crate) fn number(self) -> u8 {
        self as u8
    }
}
