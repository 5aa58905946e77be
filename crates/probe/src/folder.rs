//! The probe's folder in a directory. Only this module of the probe writes.
//!
//! The folder is removed when its value is dropped. A lock in it lasts as long as the process, so
//! the next probe recognises and removes the folder of a killed one.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process;
use std::time::SystemTime;

use steadfast_sys::{file as sys, xattr};

/// Prefix of the names of these folders. The number of the process follows.
const PREFIX: &str = ".steadfast-probe-";

/// Names to try: a killed process may have had the same number.
const NAMES_MAX: u32 = 10;

/// The file in the folder that the process keeps locked.
const LOCK: &str = "lock";

/// A folder of the probe's own, removed when dropped.
#[derive(Debug)]
pub(super) struct Folder {
    path: PathBuf,
    removed: bool,
    /// Held while the folder is in use; `None` if the file system has no locks.
    _lock: Option<File>,
}

impl Folder {
    /// Makes one, and removes those of killed processes of the same user.
    ///
    /// # Errors
    ///
    /// If it cannot be made.
    pub(super) fn make(directory: &Path) -> io::Result<Folder> {
        // Tools run in another directory, so they need absolute paths.
        let directory = fs::canonicalize(directory)?;
        let path = make_new(&directory)?;
        let mut folder = Folder { path, removed: false, _lock: None };
        let lock = File::create_new(folder.path.join(LOCK))?;
        folder._lock = lock.try_lock().is_ok().then_some(lock);
        remove_stale(&directory, &folder.path);
        Ok(folder)
    }

    /// Makes a folder in it for one operation.
    ///
    /// # Errors
    ///
    /// If it cannot be made.
    pub(super) fn bench(&self, number: u32) -> io::Result<PathBuf> {
        let path = self.path.join(number.to_string());
        fs::create_dir(&path)?;
        fs::create_dir(path.join("out"))?;
        Ok(path)
    }

    /// Makes a folder in it with a name.
    ///
    /// # Errors
    ///
    /// If it cannot be made.
    pub(super) fn drawer(&self, name: &str) -> io::Result<PathBuf> {
        let path = self.path.join(name);
        fs::create_dir(&path)?;
        Ok(path)
    }

    /// Removes it.
    ///
    /// # Errors
    ///
    /// Its path with the error, if it cannot be removed.
    pub(super) fn remove(mut self) -> Result<(), (PathBuf, io::Error)> {
        self.removed = true;
        fs::remove_dir_all(&self.path).map_err(|error| (self.path.clone(), error))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if !self.removed {
            // A drop cannot report an error. The next probe tries again.
            let _ = fs::remove_dir_all(&self.path);
        }
    }
}

fn make_new(directory: &Path) -> io::Result<PathBuf> {
    let mut outcome = Err(io::ErrorKind::AlreadyExists.into());
    for number in 0..NAMES_MAX {
        let path = match number {
            0 => directory.join(format!("{PREFIX}{}", process::id())),
            _ => directory.join(format!("{PREFIX}{}-{number}", process::id())),
        };
        outcome = fs::create_dir(&path).map(|()| path);
        match &outcome {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            _ => break,
        }
    }
    outcome
}

/// Removes folders of dead processes. Those that cannot be removed stay.
fn remove_stale(directory: &Path, own: &Path) {
    let Ok(owner) = sys::Status::of_link(own).map(|own| own.uid) else { return };
    let Ok(entries) = fs::read_dir(directory) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        let name = path.file_name().and_then(|name| name.to_str());
        let number = name.and_then(|name| name.strip_prefix(PREFIX)).unwrap_or("");
        let of_probe =
            !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
        if of_probe && path != own && is_stale(&path, owner) {
            let _ = fs::remove_dir_all(&path);
        }
    }
}

/// Returns whether a folder's process is dead: no process holds its lock.
fn is_stale(path: &Path, owner: u32) -> bool {
    let ours = |path: &Path| {
        let found = sys::Status::of_link(path).ok().filter(|found| found.uid == owner);
        found.map(|found| found.kind)
    };
    if ours(path) != Some(sys::FileKind::Directory) {
        return false;
    }
    let lock = path.join(LOCK);
    match ours(&lock) {
        // The probe must not block on a fifo that has taken its place.
        Some(sys::FileKind::Regular) => {
            let lock = sys::File::open(&lock).map(|lock| File::from(lock.into_fd()));
            lock.is_ok_and(|lock| lock.try_lock().is_ok())
        }
        Some(_) => false,
        // The process was killed before it made its first file, or is about to make it. Removing an
        // empty folder harms neither.
        None => {
            let _ = fs::remove_dir(path);
            false
        }
    }
}

/// Makes a file with contents, and sets its modification time.
///
/// # Errors
///
/// If a system call fails.
pub(super) fn write_new(path: &Path, contents: &[u8], mtime: Option<SystemTime>) -> io::Result<()> {
    let mut file = File::create_new(path)?;
    file.write_all(contents)?;
    // The number of blocks is final only after writing to the disk.
    sys::flush(&file)?;
    match mtime {
        Some(mtime) => file.set_modified(mtime),
        None => Ok(()),
    }
}

/// Makes an empty file for the output of a tool.
///
/// # Errors
///
/// If it cannot be made.
pub(super) fn outlet(path: &Path) -> io::Result<File> {
    File::create(path)
}

/// Sets an attribute of a file in the folder.
///
/// # Errors
///
/// If it cannot be set.
pub(super) fn set_attribute(file: &sys::File, name: &str, value: &[u8]) -> io::Result<()> {
    xattr::set(file, name, value)
}

/// Removes a file of a test.
///
/// # Errors
///
/// If it cannot be removed.
pub(super) fn remove(path: &Path) -> io::Result<()> {
    fs::remove_file(path)
}

/// A way of saving a file, as programs use it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Saving {
    /// Some bytes are replaced.
    InPlace,
    /// The file is truncated and written again.
    Truncating,
    /// A new file is written beside it and renamed over it.
    Replacing,
    /// The file is renamed, a new one is written under its name, and the old one is removed.
    SettingAside,
}

impl Saving {
    /// Saves contents in this way.
    ///
    /// # Errors
    ///
    /// If a system call fails.
    pub(super) fn save(self, path: &Path, contents: &[u8]) -> io::Result<()> {
        let beside = path.with_extension("beside");
        match self {
            Saving::InPlace => File::options().write(true).open(path)?.write_all(contents),
            Saving::Truncating => File::create(path)?.write_all(contents),
            Saving::Replacing => {
                write_new(&beside, contents, None)?;
                fs::rename(&beside, path)
            }
            Saving::SettingAside => {
                fs::rename(path, &beside)?;
                write_new(path, contents, None)?;
                fs::remove_file(&beside)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_gone_with_its_value_and_a_killed_ones_with_the_next() {
        let directory = tempfile::tempdir().unwrap();
        let listed = || fs::read_dir(directory.path()).unwrap().count();
        let kept = directory.path().join(".steadfast-probe-notes");
        fs::create_dir(&kept).unwrap();
        let dead = directory.path().join(".steadfast-probe-4000000000");
        fs::create_dir(&dead).unwrap();
        fs::write(dead.join(LOCK), b"").unwrap();
        fs::write(dead.join("1"), b"left").unwrap();
        let empty = directory.path().join(".steadfast-probe-4000000001");
        fs::create_dir(&empty).unwrap();
        let one = Folder::make(directory.path()).unwrap();
        assert!(!dead.exists() && !empty.exists() && kept.exists());
        let two = Folder::make(directory.path()).unwrap();
        assert!(one.path.exists(), "its lock is held");
        assert_ne!(one.path, two.path);
        two.remove().unwrap();
        assert_eq!(listed(), 2);
        drop(one);
        assert_eq!(listed(), 1);
    }

    #[test]
    fn what_only_looks_like_a_folder_of_ours_stays() {
        let directory = tempfile::tempdir().unwrap();
        let elsewhere = tempfile::tempdir().unwrap();
        fs::write(elsewhere.path().join(LOCK), b"").unwrap();
        let link = directory.path().join(".steadfast-probe-5");
        std::os::unix::fs::symlink(elsewhere.path(), &link).unwrap();
        let full = directory.path().join(".steadfast-probe-6");
        fs::create_dir(&full).unwrap();
        fs::write(full.join("diary"), b"no lock, so not ours").unwrap();
        Folder::make(directory.path()).unwrap();
        assert!(link.is_symlink() && elsewhere.path().join(LOCK).exists());
        assert!(full.join("diary").exists());
    }
}
