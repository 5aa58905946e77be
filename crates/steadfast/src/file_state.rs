//! How a file stood when a run last judged it: its verdict, as far as it outlives the run.

use strum::{IntoStaticStr, VariantArray};

use crate::verdict::Verdict;

/// How a file stood when a run last judged it.
///
/// A run gives every file that it covers the verdict of its standing, so only changes of standing
/// need to be written down.
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
    /// Its attribute is gone; by the catalogue's tag the contents are the same.
    #[strum(serialize = "tag lost")]
    TagLost,
    /// Its attribute is another tag, of other contents, than the catalogue's.
    #[strum(serialize = "tag replaced")]
    TagReplaced,
}

impl FileState {
    /// Every standing, at the number by which a column holds it.
    pub const ALL: [FileState; 9] = *FileState::VARIANTS.as_array().expect("there are nine states");

    /// Says whether the contents were found to be the tagged ones.
    pub fn proves(self) -> bool {
        matches!(self, FileState::Fine | FileState::Touched | FileState::TagLost)
    }

    /// Returns the verdict that a file of this standing has.
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

    /// Returns the name in lower case, as events carry it.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// Makes the standing that a verdict leaves; `None` for one that is no file's own.
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

    /// Returns the number by which a column holds it.
    pub(crate) fn number(self) -> i64 {
        self as i64
    }
}
