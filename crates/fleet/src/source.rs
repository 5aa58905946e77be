//! Where the files of a job come from.
//!
//! In: a tree, a list, a catalogue, or anything else that is a [`Source`]. Out: files one by one,
//! in any order, and what could not be found out. Nothing is kept here, however many there are.

pub(crate) mod catalogue;
mod device;
mod list;
mod tree;

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use steadfast::Skipped;
use steadfast::manifest::Record;

use crate::error::Error;

pub use catalogue::Catalogued;
pub use list::Listed;
pub use tree::Tree;

/// What the files of a job are judged by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// Their own tags, as they are when the shard runs.
    Tags,
    /// What a manifest says.
    Manifest,
    /// What a catalogue said when the job was planned.
    Catalogue,
}

impl By {
    /// Returns the name, as documents have it.
    pub fn name(self) -> &'static str {
        match self {
            By::Tags => "tags",
            By::Manifest => "manifest",
            By::Catalogue => "catalogue",
        }
    }

    /// Finds one by its name.
    pub(crate) fn named(name: &str) -> Option<By> {
        [By::Tags, By::Manifest, By::Catalogue].into_iter().find(|by| by.name() == name)
    }
}

/// A file of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its path from the root, and what is recorded of it.
    pub record: Record,
    /// The device that it is on, as the planning machine numbers it; 0 if that is not known.
    pub device: u64,
    /// Bytes that checking it will read.
    pub bytes: u64,
    /// When it was last judged, in seconds since 1970; `None` if that is not known.
    pub checked_s: Option<i64>,
}

/// What could not be found out: a directory that cannot be listed, a line that makes no sense.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trouble {
    /// A directory's path from the root, or a document's own.
    pub path: PathBuf,
    /// What was being done, as the library's troubles say it.
    pub doing: &'static str,
    /// Why it failed, a lower-case fragment.
    pub reason: String,
}

/// What a source comes upon.
#[derive(Clone, Debug)]
pub enum Found {
    /// A file.
    File(Entry),
    /// What cannot become a file of the job.
    Trouble(Trouble),
}

/// Takes what a source comes upon.
pub type Sink<'a> = dyn FnMut(Found) -> Result<(), Error> + 'a;

/// Finds the files of a job.
pub trait Source {
    /// The directory that all paths are relative to, absolute and without links.
    fn root(&self) -> &Path;

    /// What the files are judged by.
    fn by(&self) -> By;

    /// The document that they come from, if there is one: a manifest, a catalogue.
    fn document(&self) -> Option<&Path> {
        None
    }

    /// The last run of the catalogue that they come from, if it is one.
    fn catalogue_run(&self) -> Option<i64> {
        None
    }

    /// Hands every file to the sink, once and in any order, until that fails or `stop` is set.
    /// Returns what was passed by.
    ///
    /// # Errors
    /// The sink's, and what the whole source fails of. An end before the end is an error too.
    fn each(&mut self, stop: &AtomicBool, sink: &mut Sink<'_>) -> Result<Skipped, Error>;
}

/// Finds where a root is.
fn real(root: &Path) -> Result<PathBuf, Error> {
    // Whoever plans says what is planned: a name that is not there is a slip of the pen.
    let real =
        root.canonicalize().map_err(|error| Error::system(root, "find it", error).lasting())?;
    if !real.is_dir() {
        let root = root.display();
        return Err(Error::usage(format!("`{root}` is no directory: a job is of a whole tree")));
    }
    Ok(real)
}
