//! The folder at the root of a tree that holds its catalogue: its names, and how a walk recognises
//! it.

use std::ffi::OsStr;
use std::io;
use std::ops::ControlFlow;
use std::path::Path;

use steadfast_sys::file::{Dir, FileKind};
use steadfast_sys::names::NameBytes as _;

/// The folder at the root of a tree that holds its catalogue. A walk leaves it out.
pub const FOLDER: &str = ".steadfast";

/// The catalogue's name in that folder.
pub const FILE: &str = "catalogue.sqlite";

/// The folder in it that keeps damaged files after their repair.
pub(crate) const DAMAGED: &str = "damaged";

/// The folder in it that has the parity of the tree.
pub(crate) const PARITY: &str = "parity";

/// The folder in it that has the leaves of the tree's files.
pub(crate) const LEAVES: &str = "pages";

/// Suffix of a catalogue that is being made.
pub(crate) const DRAFT: &str = ".new";

/// Suffix of the lock of a catalogue.
pub(crate) const LOCK: &str = ".lock";

/// Suffix of the lock of those who read a catalogue.
pub(crate) const READERS: &str = ".readers";

/// What folders of this name have, counted: it is copied nowhere.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct OwnFolders {
    /// Catalogues, which have the history of their trees.
    pub catalogues: u64,
    /// Files of parity.
    pub parity: u64,
    /// Files that a repair or an undone edit replaced, and that were kept.
    pub kept: u64,
}

impl OwnFolders {
    /// Adds what a folder has. What cannot be listed counts as one file.
    pub(crate) fn add(&mut self, dir: &Dir) {
        let files = |name: &str| match dir.open_dir(OsStr::new(name)) {
            Ok(dir) => files_beneath(&dir).unwrap_or(1),
            Err(_) => 0,
        };
        self.catalogues += u64::from(dir.status_of(OsStr::new(FILE)).is_ok());
        self.parity += files(PARITY);
        self.kept += files(DAMAGED);
    }
}

/// Counts files beneath a directory, without locks and work that is not finished.
fn files_beneath(dir: &Dir) -> io::Result<u64> {
    let (mut files, mut folders) = (0, Vec::new());
    dir.entries(&mut |entry| {
        let is_ours = entry.name == "lock" || entry.name == "unfinished";
        match entry.kind {
            _ if is_ours => {}
            Some(FileKind::Directory) => folders.push(entry.name.to_owned()),
            _ => files += 1,
        }
        ControlFlow::Continue(())
    })?;
    for folder in folders {
        files += files_beneath(&dir.open_dir(&folder)?)?;
    }
    Ok(files)
}

/// Says whether a path leads through a directory of this name. What is there is ours, so nothing
/// that names it from outside (parity, PAR2 sets, journals) may be written. Some file systems do
/// not tell upper case from lower case.
pub(crate) fn is_within_ours(path: &Path) -> bool {
    path.components().any(|name| name.as_os_str().eq_ignore_ascii_case(FOLDER))
}

/// Counts the entries of a directory of this name that do not belong to a catalogue. `None` if it
/// has neither a catalogue, nor remains of one, nor damaged files that were repaired, nor parity,
/// and so is an ordinary directory.
pub(crate) fn others_beside_catalogue(dir: &Dir) -> Option<u64> {
    let (mut ours, mut others) = (false, 0);
    let listed = dir.entries(&mut |entry| {
        let is_ours = entry.name == FILE || is_left_of(OsStr::new(FILE), entry.name);
        let is_folder = |name: &str| entry.name == name && entry.kind != Some(FileKind::Regular);
        let parts = entry.name.as_bytes().starts_with(FILE.as_bytes());
        ours |= is_ours || is_folder(PARITY) || is_folder(DAMAGED);
        others += u64::from(!parts && ![PARITY, DAMAGED, LEAVES].into_iter().any(is_folder));
        ControlFlow::Continue(())
    });
    // The directory may be accessible, but not listable.
    ours |= listed.is_err() && dir.status_of(OsStr::new(FILE)).is_ok();
    ours.then_some(others)
}

/// Returns whether `name` is a lock, a log or a damaged file of the catalogue `file`.
pub(crate) fn is_left_of(file: &OsStr, name: &OsStr) -> bool {
    let rest = name.as_bytes().strip_prefix(file.as_bytes());
    rest.is_some_and(|rest| {
        let begins = |part: &str| rest.starts_with(part.as_bytes());
        rest == LOCK.as_bytes() || rest == b"-wal" || begins(".damaged-") || begins(DRAFT)
    })
}
