//! What a run knows of the directories that it is in.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::coverage::{DirectoryCoverage, NameCoverage};
use super::directory::Children;
use super::observation::FileBatch;
use super::slice::NameSlice;

/// An open directory on the way down to the next files.
#[derive(Debug, Default)]
pub(super) struct OpenDir {
    /// Its number; 0 if the catalogue does not know it.
    pub(super) id: i64,
    /// Its path from the root.
    pub(super) relative: PathBuf,
    /// Whether the catalogue has it as a directory of another volume.
    pub(super) mounted: bool,
    /// Whether it was on another volume, which is not mounted: its files are not missing.
    pub(super) unmounted: bool,
    /// Whether the run walks it completely, so that a known file that is not visited may be
    /// missing.
    pub(super) walked: bool,
    /// Whether it had no slices when the run entered it. Files in order are then only added.
    pub(super) fresh: bool,
    pub(super) slices: Vec<NameSlice>,
    /// The slice of the batch.
    pub(super) at: usize,
    pub(super) batch: FileBatch,
    /// The last settled name.
    pub(super) last: Vec<u8>,
    pub(super) children: Children,
    pub(super) cover: NameCoverage,
    pub(super) covered: DirectoryCoverage,
    /// Whether the run covered all known files in its subdirectories.
    pub(super) complete: bool,
}

/// The way of a run down the tree.
#[derive(Debug, Default)]
pub(super) struct Descent {
    /// The open directories, from the root down.
    pub(super) levels: Vec<OpenDir>,
    /// The directory of the last file, as the run names it; `None` if it is not in the tree.
    pub(super) parent: Option<Arc<Path>>,
    /// The last directory that is not in the tree, as the run names it.
    pub(super) outside: Option<Arc<Path>>,
    /// Roots of the walks seen so far.
    pub(super) begun: HashSet<PathBuf>,
    /// Directories that could not be listed.
    pub(super) troubled: HashSet<PathBuf>,
    /// The device of the tree's root.
    pub(super) root_device: Option<u64>,
}
