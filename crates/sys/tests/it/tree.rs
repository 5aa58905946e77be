//! A directory of the test's own, made through the standard library and opened through ours.

use std::ffi::OsStr;
use std::fs;
use std::ops::Deref;
use std::path::PathBuf;

use steadfast_sys::file::{Dir, File};
use tempfile::TempDir;

/// Holds a temporary directory, open.
pub(crate) struct Tree {
    dir: Dir,
    place: TempDir,
}

impl Tree {
    /// Makes an empty directory beside the test binary, which is on a disk where `/tmp` may be in
    /// memory.
    pub(crate) fn new() -> Self {
        let place = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        Self { dir: Dir::open(place.path()).unwrap(), place }
    }

    /// Returns the path of an entry.
    pub(crate) fn path(&self, name: impl AsRef<OsStr>) -> PathBuf {
        self.place.path().join(name.as_ref())
    }

    /// Writes a file and opens it.
    pub(crate) fn file(&self, name: impl AsRef<OsStr>, contents: &[u8]) -> File {
        fs::write(self.path(&name), contents).unwrap();
        self.dir.open_file(name.as_ref()).unwrap()
    }
}

impl Deref for Tree {
    type Target = Dir;

    fn deref(&self) -> &Dir {
        &self.dir
    }
}

/// Returns bytes that differ from one position to the next and from page to page.
pub(crate) fn pattern(length: usize) -> Vec<u8> {
    (0..length as u64).map(|index| (((index * index) >> 7) ^ index) as u8).collect()
}
