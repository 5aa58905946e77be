//! What files a run is about.

use std::path::PathBuf;

/// What files a run is about.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Selection {
    /// Files and directories, as the user wrote them. Links among these are followed.
    pub roots: Vec<PathBuf>,
    /// Further paths from a list; links among these are skipped like links in a tree.
    pub listed: Vec<PathBuf>,
    /// Whether every path is one file: exactly one event each, in order, even if named twice;
    /// links are followed, directories not entered.
    pub exact: bool,
    /// Patterns of what to leave out, in the syntax of `.gitignore`, relative to each root.
    pub excludes: Vec<String>,
    /// Whether AppleDouble files are taken for data, as `hash` does.
    pub with_sidecars: bool,
    /// Whether to stay on the file system of each root.
    pub one_file_system: bool,
    /// A directory beneath which `listed` must lie: each step to them goes by name from there, and
    /// no link is followed on the way, for paths that somebody else chose.
    pub within: Option<PathBuf>,
    /// The file that the answer is written to, as device and inode. A walk leaves it out: what it
    /// will hold is not known yet.
    pub output: Option<(u64, u64)>,
}

impl Selection {
    /// Selects files and directories. Links among these are followed.
    pub fn of(roots: impl IntoIterator<Item: Into<PathBuf>>) -> Selection {
        let roots = roots.into_iter().map(Into::into).collect();
        Selection { roots, ..Selection::default() }
    }

    /// Changes some of them, and returns the whole.
    #[must_use]
    pub fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }
}
