//! What a run knows of a directory that it is in.

use std::path::PathBuf;

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
    pub(super) mounted: bool,
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
