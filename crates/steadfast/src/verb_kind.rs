//! What a run does, without its options: the name in summaries, records and locks.

use std::fmt;

use strum::{EnumString, IntoStaticStr};

/// What a run does, without its options.
#[derive(Clone, Copy, Debug, Default, EnumString, IntoStaticStr, PartialEq, Eq)]
#[strum(serialize_all = "lowercase")]
#[non_exhaustive]
pub enum VerbKind {
    /// Makes the catalogue, and records files.
    Init,
    /// Tags files that have no tag.
    Tag,
    /// Tags files by another record of them.
    Import,
    /// Copies files, and records the copies.
    Copy,
    /// As copying, and removes the source.
    Move,
    /// Judges files.
    #[default]
    Check,
    /// Compares what the file system says of files with the catalogue, and reads none.
    Quick,
    /// Judges files, and retags modified ones.
    Update,
    /// Makes tags match the contents.
    Retag,
    /// Judges files, and restores damaged ones.
    Repair,
    /// Removes tags.
    Untag,
    /// Reports tags.
    Show,
    /// Hashes files.
    Hash,
    /// Writes tags in another tool's format.
    Export,
    /// Reads files without hashing them, for measuring.
    Read,
    /// Records the results of a check in shards.
    Merge,
}

impl VerbKind {
    /// Returns the name as the command writes it.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// Returns whether it only records files, so that a proof by it is the first of a file.
    pub(crate) fn records(self) -> bool {
        matches!(
            self,
            VerbKind::Init | VerbKind::Tag | VerbKind::Import | VerbKind::Copy | VerbKind::Move
        )
    }

    /// Returns whether it accepts what was edited.
    pub(crate) fn accepts(self) -> bool {
        matches!(self, VerbKind::Update | VerbKind::Retag)
    }
}

impl fmt::Display for VerbKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
