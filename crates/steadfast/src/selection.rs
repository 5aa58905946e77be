//! The files that a run covers.

use crate::beneath;
use crate::shard::ShardFilter;
use std::path::PathBuf;

/// The files that a run covers.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Selection {
    /// Files and directories, as the user wrote them. Links among these are followed.
    pub roots: Vec<PathBuf>,
    /// Further paths from a list; links among these are skipped like links in a tree.
    pub listed: Vec<PathBuf>,
    /// Whether every path is one file: exactly one event each, in order, even if it is named twice.
    /// Directories are not entered. Links are followed, unless a directory in `within` contains
    /// them.
    pub exact: bool,
    /// Patterns of files to exclude, in the syntax of `.gitignore`, relative to each root.
    pub excludes: Vec<String>,
    /// Whether AppleDouble files are treated as data, as by `hash`.
    pub with_sidecars: bool,
    /// Whether to stay on the file system of each root.
    pub one_file_system: bool,
    /// Directories, one of which must contain each of the `listed` paths and each destination of a
    /// copy: each step to them goes by name from there and follows no link. For paths from an
    /// untrusted source. None if they are to be opened as the system does.
    pub within: Vec<PathBuf>,
    /// The file that the output is written to, as device and inode. A walk excludes it, because its
    /// final contents are not known yet.
    pub output: Option<(u64, u64)>,
    /// Mount points of volumes that are not mounted, as device and inode. A walk does not enter
    /// them: the volume hides what is there.
    pub(crate) unmounted: Vec<(u64, u64)>,
    /// The shard of the files beneath the first root that the run covers, if it is not all.
    pub(crate) shard: Option<ShardFilter>,
}

impl Selection {
    /// Selects files and directories. Links among these are followed.
    pub fn of(roots: impl IntoIterator<Item: Into<PathBuf>>) -> Selection {
        let roots = roots.into_iter().map(Into::into).collect();
        Selection { roots, ..Selection::default() }
    }

    /// Returns the directories from which the files of the selection are reached by names alone.
    pub(crate) fn confines(&self) -> Vec<PathBuf> {
        let folders = self.roots.iter().chain(&self.listed).filter(|path| beneath::is_folder(path));
        if self.within.is_empty() { folders.cloned().collect() } else { self.within.clone() }
    }

    /// Returns the selection after `change`.
    #[must_use]
    pub fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }
}
