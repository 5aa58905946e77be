//! One side of a comparison: entries in path order, one at a time.
//!
//! In: nothing. Out: paths beneath the side's root, and what is known of the file there. This is
//! the seam: a walked tree is a source, and any other list in the same order can be one.

use std::path::PathBuf;
use std::time::Duration;

use super::pair::FileSide;
use crate::error::Error;
use crate::event::FileError;

/// Gives the entries of one side.
pub(super) trait DiffSource {
    /// Takes the next entry, in the order of `Path`, waiting at most about `patience`.
    ///
    /// # Errors
    /// If what was given so far may lack entries.
    fn take(&mut self, patience: Duration) -> Result<NextEntry, Error>;

    /// Returns how many bytes were read so far.
    fn bytes(&self) -> u64;
}

/// What a source gives.
pub(super) enum NextEntry {
    /// The next entry.
    Entry(SideEntry),
    /// Nothing yet.
    Pending,
    /// Nothing any more.
    End,
}

/// One path.
pub(super) struct SideEntry {
    /// The path beneath the root.
    pub(super) path: PathBuf,
    pub(super) found: EntryContent,
}

/// What is at a path.
pub(super) enum EntryContent {
    /// A regular file.
    File(Box<FileSide>),
    /// A directory of which the contents, or some of them, are not known. It comes before what
    /// was found in it.
    Hidden(FileError),
}
