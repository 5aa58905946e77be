//! One side of a comparison: entries in path order, one at a time.
//!
//! Returns paths beneath the side's root, with the facts of each file. A walked tree is a source; a
//! list in the same order can be one too.

use std::path::PathBuf;
use std::time::Duration;

use super::pair::FileSide;
use crate::error::Error;
use crate::event::FileError;

/// Provides the entries of one side.
pub(super) trait DiffSource {
    /// Returns the next entry, in the order of `Path`. Waits at most about `patience`.
    ///
    /// # Errors
    ///
    /// If the entries so far may be incomplete.
    fn take(&mut self, patience: Duration) -> Result<NextEntry, Error>;

    /// Returns the number of bytes read so far.
    fn bytes(&self) -> u64;
}

/// The result of asking a source.
pub(super) enum NextEntry {
    /// The next entry.
    Entry(SideEntry),
    /// Not ready.
    Pending,
    /// The end.
    End,
}

/// One path.
pub(super) struct SideEntry {
    /// The path beneath the root.
    pub(super) path: PathBuf,
    pub(super) found: EntryContent,
}

/// The content of an entry.
pub(super) enum EntryContent {
    /// A regular file.
    File(Box<FileSide>),
    /// A directory whose contents are not completely known. It comes before the entries found in
    /// it.
    Hidden(FileError),
}
