//! The sources of a job's files.
//!
//! In: a tree, a list, a catalogue, or any other [`JobSource`]. Out: files one by one, in any
//! order, and the directories and lines that cannot be read. Keeps nothing in memory.

pub(crate) mod catalogue;
mod device;
mod list;
mod tree;

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use steadfast::Skipped;
use steadfast::beneath;
use steadfast::manifest::Record;
use strum::{EnumString, IntoStaticStr};

use crate::error::Error;

pub use catalogue::CatalogueSource;
pub use list::ManifestSource;
pub use tree::TreeSource;

/// The records that files are compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumString, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum By {
    /// Their own tags, as they are when the shard runs.
    Tags,
    /// The lines of a manifest.
    Manifest,
    /// The tags in a catalogue when the job was planned.
    Catalogue,
}

impl By {
    /// Returns the name in documents.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// A file of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobFile {
    /// Its path relative to the root, and its record.
    pub record: Record,
    /// The device number on the planning machine. 0 if it is unknown.
    pub device: u64,
    /// The bytes that its check will read.
    pub bytes: u64,
    /// Its last check, in seconds since 1970. `None` if it is unknown.
    pub checked_s: Option<i64>,
}

/// A directory that cannot be listed, or a malformed line of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceFailure {
    /// The directory's path relative to the root, or the path of the document.
    pub path: PathBuf,
    /// The operation that failed, as the library names it.
    pub doing: &'static str,
    /// The reason, as a lower-case fragment.
    pub reason: String,
}

/// An item of a source.
#[derive(Clone, Debug)]
pub enum SourceItem {
    /// A file.
    File(JobFile),
    /// A directory or a line that cannot be read.
    Failure(SourceFailure),
}

/// Takes the items of a source.
pub type SourceSink<'a> = dyn FnMut(SourceItem) -> Result<(), Error> + 'a;

/// Finds the files of a job.
pub trait JobSource {
    /// Returns the directory that all paths are relative to, absolute and without links.
    fn root(&self) -> &Path;

    /// Returns the kind of records that files are compared with.
    fn by(&self) -> By;

    /// Returns the manifest or the catalogue of the files, if there is one.
    fn document(&self) -> Option<&Path> {
        None
    }

    /// Returns the last run of the catalogue, if the files come from one.
    fn catalogue_run(&self) -> Option<i64> {
        None
    }

    /// Passes every file to the sink once, in any order. Returns what was skipped.
    ///
    /// # Errors
    /// If the sink or the whole source fails, or `stop` was set before the end.
    fn each(&mut self, stop: &AtomicBool, sink: &mut SourceSink<'_>) -> Result<Skipped, Error>;
}

/// Resolves the links in the path of a root.
fn real(root: &Path) -> Result<PathBuf, Error> {
    // A root that does not exist is probably a typing error, so a retry does not help.
    let real =
        root.canonicalize().map_err(|error| Error::system(root, "find it", error).lasting())?;
    if !beneath::is_folder(&real) {
        let root = root.display();
        return Err(Error::usage(format!("`{root}` is no directory: a job is of a whole tree")));
    }
    Ok(real)
}
