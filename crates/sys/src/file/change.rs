//! Changing a file in place: its other names, its owner and its attributes stay.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::fd::{AsFd as _, BorrowedFd};
use std::thread;
use std::time::Duration;

use rustix::fs::{Mode, OFlags, Timespec, Timestamps, UTIME_OMIT};

use super::directory::component;
use super::{Dir, File, FileKind, Status, Timestamp, platform, retry_on_intr, write_all_at};

/// Flags of a file that is changed. Opening never waits, and creates nothing.
const CHANGED: OFlags = OFlags::RDWR
    .union(OFlags::NOFOLLOW)
    .union(OFlags::NONBLOCK)
    .union(OFlags::NOCTTY)
    .union(OFlags::CLOEXEC);

/// How often a file that is open to be written to is looked at again, and after how long: a process
/// that was just started holds the files of the one that started it for a moment.
const LEASE_TRIES: u32 = 20;
const LEASE_WAIT: Duration = Duration::from_millis(10);

/// An existing file, open to be changed.
#[derive(Debug)]
pub struct ChangedFile {
    file: fs::File,
}

impl Dir {
    /// Opens a regular file in this directory to change it. A symlink is not followed.
    ///
    /// # Errors
    /// `InvalidInput` if it is not a regular file; otherwise whatever the system says.
    pub fn open_to_change(&self, name: &OsStr) -> io::Result<ChangedFile> {
        let name = component(name)?;
        // Checked before opening, because opening a device may change its state.
        let is_regular = |status: &Status| status.kind == FileKind::Regular;
        let refused = || io::Error::new(io::ErrorKind::InvalidInput, "not a regular file");
        if !is_regular(&self.status_of(name)?) {
            return Err(refused());
        }
        let fd = retry_on_intr(|| rustix::fs::openat(self, name, CHANGED, Mode::empty()))?;
        let file = ChangedFile { file: fs::File::from(fd) };
        if is_regular(&file.status()?) { Ok(file) } else { Err(refused()) }
    }
}

impl File {
    /// Makes sure that no other program has the file open to write to it, and makes one that opens
    /// it so from now on wait, or be noticed ([`WriterGuard::is_wanted`]), as far as the system and
    /// the file system can. Linux calls this a lease; only the owner of a file and root get one.
    ///
    /// # Errors
    /// `ResourceBusy` if another program, or this one, has it open to write to it.
    pub fn hold_off_writers(&self) -> io::Result<WriterGuard<'_>> {
        let mut tries = 0;
        loop {
            match platform::take_read_lease(self.fd.as_fd()) {
                Ok(is_held) => return Ok(WriterGuard { file: self.fd.as_fd(), is_held }),
                Err(_) if tries < LEASE_TRIES => {
                    tries += 1;
                    thread::sleep(LEASE_WAIT);
                }
                Err(error) => {
                    let reason = "another program has it open to write";
                    return Err(io::Error::new(error.kind(), reason));
                }
            }
        }
    }
}

/// Keeps writers from a file until it is dropped, if that is possible.
#[derive(Debug)]
pub struct WriterGuard<'a> {
    file: BorrowedFd<'a>,
    is_held: bool,
}

impl WriterGuard<'_> {
    /// Says whether a program waits to open the file for writing.
    pub fn is_wanted(&self) -> bool {
        self.is_held && !platform::has_read_lease(self.file)
    }
}

impl Drop for WriterGuard<'_> {
    fn drop(&mut self) {
        if self.is_held {
            platform::give_lease_back(self.file);
        }
    }
}

impl ChangedFile {
    /// Returns the status of the file.
    ///
    /// # Errors
    /// Whatever the system says.
    pub fn status(&self) -> io::Result<Status> {
        Ok(platform::status(&rustix::fs::fstat(&self.file)?))
    }

    /// Returns another handle of the file, to read it.
    ///
    /// # Errors
    /// Whatever the system says.
    pub fn to_file(&self) -> io::Result<File> {
        Ok(File { fd: self.file.try_clone()?.into() })
    }

    /// Writes bytes at an offset.
    ///
    /// # Errors
    /// Whatever the system says.
    pub fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        write_all_at(&self.file, bytes, offset)
    }

    /// Sets the length in bytes.
    ///
    /// # Errors
    /// Whatever the system says.
    pub fn set_length(&self, length: u64) -> io::Result<()> {
        Ok(retry_on_intr(|| rustix::fs::ftruncate(&self.file, length))?)
    }

    /// Flushes the file to the medium.
    ///
    /// # Errors
    /// Whatever the system says.
    pub fn flush(&self) -> io::Result<()> {
        self.file.sync_all()
    }

    /// Sets the modification time and flushes the file to the medium. The time of the last access
    /// stays.
    ///
    /// # Errors
    /// Whatever the system says.
    pub fn finish(&self, mtime: Timestamp) -> io::Result<()> {
        // Before the time: writing back what is in the cache may set it on a network.
        self.file.sync_all()?;
        let last_access = Timespec { tv_sec: 0, tv_nsec: UTIME_OMIT };
        let last_modification =
            Timespec { tv_sec: mtime.seconds, tv_nsec: mtime.nanoseconds.into() };
        rustix::fs::futimens(&self.file, &Timestamps { last_access, last_modification })?;
        self.file.sync_all()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{MetadataExt as _, symlink};

    #[test]
    fn a_file_is_changed_under_all_its_names() {
        let root = tempfile::tempdir().unwrap();
        let path = |name: &str| root.path().join(name);
        fs::write(path("name"), "0123456789").unwrap();
        fs::hard_link(path("name"), path("other")).unwrap();
        let dir = Dir::open(root.path()).unwrap();
        let file = dir.open_to_change(OsStr::new("name")).unwrap();
        file.write_at(b"ab", 3).unwrap();
        file.set_length(7).unwrap();
        file.finish(Timestamp { seconds: 1_234_567_890, nanoseconds: 123_456_789 }).unwrap();
        assert_eq!(fs::read(path("other")).unwrap(), b"012ab56");
        let found = fs::metadata(path("other")).unwrap();
        assert_eq!((found.mtime(), found.mtime_nsec()), (1_234_567_890, 123_456_789));
        assert_eq!(file.status().unwrap().links, 2);
    }

    #[test]
    fn writers_are_noticed() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("file");
        fs::write(&path, "old").unwrap();
        let file = File::open(&path).unwrap();
        let guard = file.hold_off_writers().unwrap();
        // A temporary folder on a network, and macOS, cannot tell.
        if !guard.is_held {
            return;
        }
        assert!(!guard.is_wanted());
        let dir = Dir::open(root.path()).unwrap();
        let opened = dir.open_to_change(OsStr::new("file"));
        assert_eq!(opened.unwrap_err().kind(), io::ErrorKind::WouldBlock);
        assert!(guard.is_wanted());
        drop(guard);
        let writer = dir.open_to_change(OsStr::new("file")).unwrap();
        assert_eq!(file.hold_off_writers().unwrap_err().kind(), io::ErrorKind::ResourceBusy);
        drop(writer);
        assert!(!file.hold_off_writers().unwrap().is_wanted());
    }

    #[test]
    fn nothing_but_a_regular_file_is_opened_and_moves_replace_nothing() {
        let root = tempfile::tempdir().unwrap();
        let path = |name: &str| root.path().join(name);
        fs::write(path("file"), "old").unwrap();
        symlink(path("file"), path("link")).unwrap();
        fs::create_dir(path("folder")).unwrap();
        let dir = Dir::open(root.path()).unwrap();
        for name in ["link", "folder", "absent", "folder/file"] {
            assert!(dir.open_to_change(OsStr::new(name)).is_err(), "{name}");
        }
        let folder = dir.open_dir(OsStr::new("folder")).unwrap();
        fs::write(path("folder/taken"), "mine").unwrap();
        let moved = |to: &str| dir.move_to(OsStr::new("file"), &folder, OsStr::new(to));
        assert_eq!(moved("taken").unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        moved("free").unwrap();
        assert_eq!(fs::read(path("folder/free")).unwrap(), b"old");
    }
}
