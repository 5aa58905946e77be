//! What a run finds besides verdicts, mostly by the catalogue: missing, moved and new files, and
//! tags that changed without a command.

use std::path::{Path, PathBuf};

use steadfast_manifest::tag::Tag;
use steadfast_sys::file::FileKind;
use strum::IntoStaticStr;

use crate::file_state::FileState;

/// One thing that was found. Paths lead down from the tree's root.
#[derive(Clone, Debug, PartialEq, Eq, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
#[non_exhaustive]
pub enum Finding {
    /// A file that the catalogue did not know.
    New {
        /// Where.
        path: PathBuf,
        /// Its tag, if it has one.
        tag: Option<Tag>,
    },
    /// A file is gone.
    Missing {
        /// Where it was.
        path: PathBuf,
        /// Its tag, if it had one.
        tag: Option<Tag>,
        /// What stands in its place, if anything does.
        instead: Option<FileKind>,
        /// Whether an earlier run said so already.
        known: bool,
        /// Whether it was taken out of the catalogue, as verbs do that accept changes.
        accepted: bool,
    },
    /// A file is gone, and one that came meanwhile has its contents.
    Moved {
        /// Where it was.
        from: PathBuf,
        /// Where it is.
        to: PathBuf,
        /// Its tag.
        tag: Tag,
    },
    /// A file that was missing is there again.
    Returned {
        /// Where.
        path: PathBuf,
    },
    /// A file lost its attribute, or it is damaged. The catalogue has the tag.
    #[strum(serialize = "tag lost")]
    TagLost {
        /// Where.
        path: PathBuf,
        /// The catalogue's tag.
        tag: Tag,
        /// Whether the attribute is there and damaged.
        damaged: bool,
    },
    /// A file's attribute is a tag of other contents than the catalogue's.
    #[strum(serialize = "tag replaced")]
    TagReplaced {
        /// Where.
        path: PathBuf,
        /// The catalogue's tag.
        catalogued: Tag,
        /// The attribute's.
        attribute: Tag,
        /// Whether the catalogue took it over, as verbs do that accept changes.
        accepted: bool,
    },
    /// A directory that used to be another volume is empty or gone: its files are not called
    /// missing.
    Unmounted {
        /// The directory; empty for the tree's root.
        path: PathBuf,
        /// Files that the catalogue knows beneath it.
        entries: u64,
    },
    /// A file that a list should name and does not: in the payload of a bag. Its path is the one
    /// beneath the list's root.
    Extra {
        /// Where.
        path: PathBuf,
    },
    /// A quick look found other facts than the catalogue's.
    Changed {
        /// Where.
        path: PathBuf,
        /// Which facts.
        change: FactChange,
    },
    /// A quick look found the facts unchanged of a file that an earlier run judged badly.
    #[strum(serialize = "standing")]
    FileState {
        /// Where.
        path: PathBuf,
        /// How that run left it.
        standing: FileState,
    },
}

impl Finding {
    /// Returns the path that it is about.
    pub fn path(&self) -> &Path {
        match self {
            Finding::New { path, .. }
            | Finding::Missing { path, .. }
            | Finding::Moved { from: path, .. }
            | Finding::Returned { path }
            | Finding::TagLost { path, .. }
            | Finding::TagReplaced { path, .. }
            | Finding::Unmounted { path, .. }
            | Finding::Extra { path }
            | Finding::Changed { path, .. }
            | Finding::FileState { path, .. } => path,
        }
    }

    /// Returns the name in lower case, as JSON and counts carry it.
    pub fn name(&self) -> &'static str {
        match self {
            Finding::TagLost { damaged: true, .. } => "tag damaged",
            other => other.into(),
        }
    }

    /// Returns the exit status that it asks for.
    pub fn exit_status(&self) -> u8 {
        match self {
            Finding::New { .. } | Finding::Moved { .. } | Finding::Returned { .. } => 0,
            Finding::Missing { accepted: true, .. }
            | Finding::TagReplaced { accepted: true, .. } => 0,
            Finding::Missing { .. }
            | Finding::TagReplaced { .. }
            | Finding::TagLost { .. }
            | Finding::Extra { .. }
            | Finding::Changed { .. } => 1,
            Finding::Unmounted { .. } => 2,
            Finding::FileState { standing, .. } => match standing {
                FileState::TagLost | FileState::TagReplaced => 1,
                other => other.verdict(true).exit_status(false),
            },
        }
    }
}

/// Hears of findings as they become known.
pub type Say<'a> = dyn FnMut(Finding) + 'a;

/// Which facts of a file differ from the catalogue's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct FactChange {
    /// The length.
    pub length: bool,
    /// The modification time.
    pub mtime: bool,
    /// The change time: also permissions and attributes move it.
    pub ctime: bool,
    /// The inode: another file of the same name.
    pub inode: bool,
}

impl FactChange {
    /// Says whether anything differs.
    pub fn any(self) -> bool {
        self != FactChange::default()
    }
}
