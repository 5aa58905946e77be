//! Paths, and whether they still lead to what they led to.

use std::hash::{BuildHasher as _, RandomState};
use std::io;
use std::path::{Path, PathBuf};

use steadfast_sys::file::{File, Status, Timestamp};

use super::Device;
use crate::beneath;
use crate::known::SeenFile;

/// A path that a user named, with what it led to. That is held open, so its inode is not reused.
pub(crate) struct HeldPath {
    path: PathBuf,
    _file: File,
    device: u64,
    inode: u64,
}

impl HeldPath {
    /// Opens a path.
    ///
    /// # Errors
    /// Whatever the system says.
    pub(crate) fn open(path: &Path) -> io::Result<HeldPath> {
        HeldPath::of(path, File::open(path)?)
    }

    /// Holds a path with what was opened by it.
    ///
    /// # Errors
    /// Whatever the system says.
    pub(crate) fn of(path: &Path, file: File) -> io::Result<HeldPath> {
        let Status { device, inode, .. } = file.status()?;
        Ok(HeldPath { path: path.to_owned(), _file: file, device, inode })
    }

    /// Returns whether the path leads to the same file or folder as before: it may have been
    /// renamed, and another one may have its name, or another volume may be mounted there.
    pub(crate) fn is_here(&self) -> bool {
        let same = |now: Status| (now.device, now.inode) == (self.device, self.inode);
        Status::of(&self.path).is_ok_and(same)
    }
}

/// Holds the folders among paths. A path that leads nowhere is trouble of whoever walks it.
pub(crate) fn held_folders<'a>(paths: impl IntoIterator<Item = &'a PathBuf>) -> Vec<HeldPath> {
    let folders = paths.into_iter().filter(|path| beneath::is_folder(path));
    folders.filter_map(|path| HeldPath::open(path).ok()).collect()
}

/// What tells a file from others that may have its name by now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct FileIdentity {
    pub(crate) device: u64,
    /// `None` on a file system that numbers files anew.
    pub(crate) inode: Option<u64>,
    pub(crate) length: u64,
    pub(crate) mtime: Timestamp,
    /// Programs can set the modification time. `None` where the change time is not kept either.
    changed: Option<i64>,
}

impl FileIdentity {
    /// Returns the identity of a file on a device; an unknown one may number files anew.
    pub(crate) fn of(seen: SeenFile, device: Option<&Device>) -> FileIdentity {
        let inode = device.filter(|it| it.keeps_inodes()).map(|_| seen.inode);
        let changed = device.filter(|it| it.keeps_change_times()).map(|_| seen.changed);
        let SeenFile { device, length, mtime, .. } = seen;
        FileIdentity { device, inode, length, mtime, changed }
    }

    /// Returns the identity of a file that gets or loses names, which changes the change time.
    pub(crate) fn of_linked(self) -> FileIdentity {
        FileIdentity { changed: None, ..self }
    }
}

/// The sum of what tells files from others under their names. It does not depend on their order,
/// and needs no memory for each.
#[derive(Clone, Default)]
pub(crate) struct FileSum {
    hasher: RandomState,
    sum: u64,
    files: u64,
}

impl FileSum {
    /// Adds a file.
    pub(crate) fn add(&mut self, path: &Path, identity: FileIdentity) {
        self.sum = self.sum.wrapping_add(self.hasher.hash_one((path, identity)));
        self.files += 1;
    }

    /// Returns a sum of no files, to be compared with this one.
    pub(crate) fn begin_again(&self) -> FileSum {
        FileSum { hasher: self.hasher.clone(), sum: 0, files: 0 }
    }

    /// Returns whether both are of the same files.
    pub(crate) fn is_same(&self, other: &FileSum) -> bool {
        (self.sum, self.files) == (other.sum, other.files)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_path_that_leads_elsewhere_is_noticed() {
        let root = tempfile::tempdir().unwrap();
        let path = |name: &str| root.path().join(name);
        fs::create_dir_all(path("above/to")).unwrap();
        let held = HeldPath::open(&path("above/to")).unwrap();
        assert!(held.is_here());
        fs::rename(path("above"), path("away")).unwrap();
        assert!(!held.is_here());
        fs::create_dir_all(path("above/to")).unwrap();
        assert!(!held.is_here());
        fs::remove_dir_all(path("above")).unwrap();
        fs::rename(path("away"), path("above")).unwrap();
        assert!(held.is_here());
    }

    #[test]
    fn a_sum_tells_files_apart_and_not_their_order() {
        let root = tempfile::tempdir().unwrap();
        let path = |name: &str| root.path().join(name);
        fs::write(path("a"), "a").unwrap();
        fs::write(path("b"), "b").unwrap();
        let device = Device::of(root.path()).unwrap();
        let identity =
            |name| FileIdentity::of(SeenFile::of(&Status::of(&path(name)).unwrap()), Some(&device));
        let [a, b] = ["a", "b"].map(identity);
        let sum = |from: &FileSum, files: &[(&str, FileIdentity)]| {
            let mut sum = from.begin_again();
            files.iter().for_each(|(name, status)| sum.add(Path::new(name), *status));
            sum
        };
        let first = sum(&FileSum::default(), &[("a", a), ("b", b)]);
        assert!(sum(&first, &[("b", b), ("a", a)]).is_same(&first));
        for other in [&[("a", b), ("b", a)][..], &[("a", a)], &[("a", a), ("a", a)]] {
            assert!(!sum(&first, other).is_same(&first), "{other:?}");
        }
    }
}
