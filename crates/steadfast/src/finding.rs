//! The findings of a run besides verdicts, mostly from the catalogue: missing, moved and new files,
//! and tags that changed without a command.

use std::path::{Path, PathBuf};

use steadfast_manifest::tag::Tag;
use steadfast_sys::file::FileKind;
use strum::IntoStaticStr;

use crate::exit_status::ExitStatus;
use crate::file_state::FileState;

/// One finding. Paths are relative to the tree's root.
#[derive(Clone, Debug, PartialEq, Eq, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
#[non_exhaustive]
pub enum Finding {
    /// A file that was not in the catalogue.
    New {
        /// Its path.
        path: PathBuf,
        /// Its tag, if it has one.
        tag: Option<Tag>,
    },
    /// A file is missing.
    Missing {
        /// Its former path.
        path: PathBuf,
        /// Its tag, if it had one.
        tag: Option<Tag>,
        /// The kind of what is at its path now, if anything is.
        instead: Option<FileKind>,
        /// Whether an earlier run reported it already.
        known: bool,
        /// Whether it was removed from the catalogue, by a verb that accepts changes.
        accepted: bool,
    },
    /// A file is missing, and a new file has its contents.
    Moved {
        /// Its former path.
        from: PathBuf,
        /// Its present path.
        to: PathBuf,
        /// Its tag.
        tag: Tag,
    },
    /// The system does not tell whether a file is there.
    Unreadable {
        /// Its path.
        path: PathBuf,
        /// Why, a lower-case fragment.
        why: String,
    },
    /// A file that was missing exists again.
    Returned {
        /// Its path.
        path: PathBuf,
    },
    /// A file's attribute is missing or damaged. The catalogue has the tag.
    #[strum(serialize = "tag lost")]
    TagLost {
        /// Its path.
        path: PathBuf,
        /// The catalogue's tag.
        tag: Tag,
        /// Whether the attribute exists but is damaged.
        damaged: bool,
        /// Whether the contents are those of the tag, so that it can be put back.
        fits: bool,
    },
    /// A file's attribute is a tag of other contents than the catalogue's.
    #[strum(serialize = "tag replaced")]
    TagReplaced {
        /// Its path.
        path: PathBuf,
        /// The catalogue's tag.
        catalogued: Tag,
        /// The attribute's tag.
        attribute: Tag,
        /// Whether the catalogue adopted it, by a verb that accepts changes.
        accepted: bool,
    },
    /// Another known file was renamed to the name of this one, whose contents were found nowhere.
    Overwritten {
        /// Its path.
        path: PathBuf,
        /// Its tag.
        tag: Option<Tag>,
        /// Whether a verb that accepts edits recorded it.
        accepted: bool,
    },
    /// A directory that was another volume is empty or missing. Its files do not count as missing.
    Unmounted {
        /// The directory; empty for the tree's root.
        path: PathBuf,
        /// Files beneath it in the catalogue.
        entries: u64,
    },
    /// A file in the payload of a bag that the list should name but does not. Its path is relative
    /// to the list's root.
    Extra {
        /// Its path.
        path: PathBuf,
    },
    /// `check --quick` found a status that differs from the catalogue's.
    Changed {
        /// Its path.
        path: PathBuf,
        /// What differs.
        change: FactChange,
    },
    /// `check --quick` found an unchanged status, for a file with a bad result in an earlier run.
    #[strum(serialize = "standing")]
    FileState {
        /// Its path.
        path: PathBuf,
        /// Its state after that run.
        standing: FileState,
    },
}

impl Finding {
    /// Returns the path that the finding concerns.
    pub fn path(&self) -> &Path {
        match self {
            Finding::New { path, .. }
            | Finding::Missing { path, .. }
            | Finding::Moved { from: path, .. }
            | Finding::Unreadable { path, .. }
            | Finding::Returned { path }
            | Finding::TagLost { path, .. }
            | Finding::TagReplaced { path, .. }
            | Finding::Overwritten { path, .. }
            | Finding::Unmounted { path, .. }
            | Finding::Extra { path }
            | Finding::Changed { path, .. }
            | Finding::FileState { path, .. } => path,
        }
    }

    /// Returns the name in lower case, as in JSON and counts.
    pub fn name(&self) -> &'static str {
        match self {
            Finding::TagLost { damaged: true, .. } => "tag damaged",
            other => other.into(),
        }
    }

    /// Returns the exit status that it requires.
    pub fn exit_status(&self) -> ExitStatus {
        match self {
            Finding::New { .. } | Finding::Moved { .. } | Finding::Returned { .. } => {
                ExitStatus::Fine
            }
            Finding::Missing { accepted: true, .. }
            | Finding::TagReplaced { accepted: true, .. }
            | Finding::Overwritten { accepted: true, .. } => ExitStatus::Fine,
            Finding::Missing { .. }
            | Finding::TagReplaced { .. }
            | Finding::TagLost { .. }
            | Finding::Overwritten { .. }
            | Finding::Extra { .. }
            | Finding::Changed { .. } => ExitStatus::Changed,
            Finding::Unreadable { .. } | Finding::Unmounted { .. } => ExitStatus::Undetermined,
            Finding::FileState { standing, .. } => match standing {
                FileState::TagLost | FileState::TagReplaced => ExitStatus::Changed,
                other => other.verdict(true).exit_status(false),
            },
        }
    }
}

/// Receives findings as they are made.
pub type Say<'a> = dyn FnMut(Finding) + 'a;

/// The differences between a file's status and the catalogue's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct FactChange {
    /// The length.
    pub length: bool,
    /// The modification time.
    pub mtime: bool,
    /// The change time, which permissions and attributes change too.
    pub ctime: bool,
    /// The inode: another file of the same name.
    pub inode: bool,
}

impl FactChange {
    /// Returns whether anything differs.
    pub fn any(self) -> bool {
        self != FactChange::default()
    }
}
