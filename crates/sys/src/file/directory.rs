//! An open directory: opens, lists and looks up its entries by name.
//!
//! Takes names of one component only, and never follows a symlink beneath a root.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::io;
use std::ops::ControlFlow;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::Errno;
use steadfast_time::names::NameBytes as _;

use super::{FILE, File, FileKind, Status, failed, open_at, platform};

/// Flags of every directory.
const DIRECTORY: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// After this many refusals in a row, files are opened with recording the access. So a tree of
/// another user costs a few extra calls per directory, not one per file; and one file of another
/// user does not change the access times of all files after it.
const REFUSALS_MAX: u8 = 3;

/// An open directory.
///
/// Any number of threads can open and look up entries. Only one can list at a time.
pub struct Dir {
    fd: OwnedFd,
    listing: AtomicBool,
    refusals: AtomicU8,
}

/// One entry of a directory, as the listing gives it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DirEntry<'a> {
    /// The name: any bytes but `/` and NUL.
    pub name: &'a OsStr,
    /// The kind; `None` if the file system does not list it. [`Dir::status_of`] then tells.
    pub kind: Option<FileKind>,
    /// The inode number as listed; a mount point shows the inode it hides.
    pub inode: u64,
}

impl Dir {
    /// Opens a root, following symlinks in the path.
    ///
    /// # Errors
    /// `NotADirectory` if it is something else; otherwise the error of the system.
    pub fn open(path: &Path) -> io::Result<Self> {
        let opened = match open_at(rustix::fs::CWD, path, DIRECTORY | platform::NO_ACCESS_TIME) {
            Err(Errno::PERM) => open_at(rustix::fs::CWD, path, DIRECTORY),
            opened => opened,
        };
        Ok(Self::new(opened.map_err(failed)?))
    }

    /// Opens a directory directly beneath this one.
    ///
    /// # Errors
    /// `InvalidInput` if the name is not one component; `NotADirectory` if it is not a directory. A
    /// symlink gives `NotADirectory` on Linux and "too many levels of symbolic links" on macOS.
    pub fn open_dir(&self, name: &OsStr) -> io::Result<Self> {
        Ok(Self::new(self.open_entry(name, DIRECTORY | OFlags::NOFOLLOW)?))
    }

    /// Opens a file directly beneath this one for reading, without waiting for a fifo's writer.
    ///
    /// # Errors
    /// `InvalidInput` when the name is not one component; the system's "too many levels of
    /// symbolic links" for a symlink.
    pub fn open_file(&self, name: &OsStr) -> io::Result<File> {
        Ok(File { fd: self.open_entry(name, FILE | OFlags::NOFOLLOW)? })
    }

    /// Opens the parent directory of a path, following symlinks, and returns it with the last name
    /// of the path.
    ///
    /// # Errors
    /// `InvalidInput` if the path does not end with a name; otherwise whatever the system says.
    pub fn parent_of(path: &Path) -> io::Result<(Self, OsString)> {
        let Some(name) = path.file_name() else {
            let reason = "the path does not end with a name";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, reason));
        };
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        Ok((Self::open(parent.unwrap_or(Path::new(".")))?, name.to_owned()))
    }

    /// Flushes the names in the directory to the medium, so that they survive a loss of power.
    ///
    /// # Errors
    /// If the medium fails or is full. Some file systems cannot flush a directory and return
    /// various errors; those are ignored, because they write names later by themselves.
    pub fn flush(&self) -> io::Result<()> {
        match platform::flush(self.fd.as_fd()) {
            Err(error @ (Errno::IO | Errno::NOSPC | Errno::DQUOT)) => Err(error.into()),
            _ => Ok(()),
        }
    }

    /// Returns whether this is the root of a mounted volume. On Linux, a folder that is mounted
    /// elsewhere on the same volume is none.
    ///
    /// # Errors
    /// Whatever the system says.
    pub fn is_volume_root(&self) -> io::Result<bool> {
        let own = rustix::fs::fstat(&self.fd)?;
        let above = rustix::fs::statat(&self.fd, "..", AtFlags::SYMLINK_NOFOLLOW)?;
        Ok(own.st_dev != above.st_dev || own.st_ino == above.st_ino)
    }

    /// Opens the directory at a path, unless the last name of the path is a symlink.
    ///
    /// # Errors
    /// As those of [`Dir::open_dir`].
    pub fn open_itself(path: &Path) -> io::Result<Self> {
        Ok(Self::new(open_at(rustix::fs::CWD, path, DIRECTORY | OFlags::NOFOLLOW)?))
    }

    /// Opens the directory at a path that leads through no symlink, as a real path does: one that
    /// was planted since is not followed.
    ///
    /// # Errors
    /// "Too many levels of symbolic links" if there is one; otherwise those of [`Dir::open_dir`].
    pub fn open_real(path: &Path) -> io::Result<Self> {
        let open = || platform::open_through_no_link(path, DIRECTORY);
        Ok(Self::new(super::retry_on_intr(open).map_err(failed)?))
    }

    /// Returns whether another user may have put this directory where it is: anyone can create
    /// names in its parent, and it belongs neither to the user of this process, nor to root, nor to
    /// the owner of the parent.
    ///
    /// The kernel applies the same rule to links and files in folders like `/tmp`
    /// (`fs.protected_symlinks`).
    ///
    /// # Errors
    /// Whatever the system says.
    pub fn is_strangers(&self) -> io::Result<bool> {
        let own = rustix::fs::fstat(&self.fd)?;
        let above = rustix::fs::statat(&self.fd, "..", AtFlags::SYMLINK_NOFOLLOW)?;
        let shared = Mode::from_raw_mode(above.st_mode).contains(Mode::WOTH);
        let trusted = [0, rustix::process::geteuid().as_raw(), above.st_uid];
        Ok(shared && !trusted.contains(&own.st_uid))
    }

    /// Returns another handle of the directory, for its owner, mode, times and attributes.
    ///
    /// # Errors
    /// If there are too many open files.
    pub fn to_file(&self) -> io::Result<File> {
        Ok(File { fd: self.fd.try_clone()? })
    }

    /// Returns the status of the directory itself.
    pub fn status(&self) -> io::Result<Status> {
        Ok(platform::status(&rustix::fs::fstat(&self.fd)?))
    }

    /// Returns the status of an entry; of a symlink, the status of the link.
    ///
    /// # Errors
    /// `InvalidInput` when the name is not one component, otherwise whatever the system says.
    pub fn status_of(&self, name: &OsStr) -> io::Result<Status> {
        let name = component(name)?;
        let stat = rustix::fs::statat(&self.fd, name, AtFlags::SYMLINK_NOFOLLOW);
        Ok(platform::status(&stat.map_err(failed)?))
    }

    /// Flushes everything that was written to the volume of this directory, including attributes,
    /// and waits until it is on the medium.
    ///
    /// # Errors
    /// Whatever the system says.
    pub fn sync_volume(&self) -> io::Result<()> {
        Ok(platform::sync_volume(self.fd.as_fd())?)
    }

    /// Passes every entry except `.` and `..` to `f`, in the order of the file system, until `f`
    /// breaks. Each call starts from the beginning.
    ///
    /// `f` may list other directories.
    ///
    /// # Errors
    /// `ResourceBusy` if this `Dir` is being listed already; otherwise the error of the system,
    /// which may come after some entries.
    pub fn entries(&self, f: &mut dyn FnMut(DirEntry<'_>) -> ControlFlow<()>) -> io::Result<()> {
        // A second listing would move the position of the first, which would then miss entries.
        let _turn = Turn::take(&self.listing)?;
        platform::entries(self.fd.as_fd(), f)
    }

    /// Wraps a new descriptor.
    fn new(fd: OwnedFd) -> Self {
        Self { fd, listing: AtomicBool::new(false), refusals: AtomicU8::new(0) }
    }

    /// Opens an entry, without recording the access where the system allows that.
    fn open_entry(&self, name: &OsStr, flags: OFlags) -> io::Result<OwnedFd> {
        let name = component(name)?;
        let refusals = self.refusals.load(Ordering::Relaxed);
        if platform::NO_ACCESS_TIME.is_empty() || refusals >= REFUSALS_MAX {
            return open_at(self.fd.as_fd(), name, flags).map_err(failed);
        }
        match open_at(self.fd.as_fd(), name, flags | platform::NO_ACCESS_TIME) {
            Err(Errno::PERM) => {
                let fd = open_at(self.fd.as_fd(), name, flags).map_err(failed)?;
                self.refusals.store(refusals + 1, Ordering::Relaxed);
                Ok(fd)
            }
            opened => {
                if refusals > 0 {
                    self.refusals.store(0, Ordering::Relaxed);
                }
                opened.map_err(failed)
            }
        }
    }
}

impl AsFd for Dir {
    fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

impl fmt::Debug for Dir {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Dir").field(&self.fd).finish()
    }
}

/// The right to list a directory. Dropping it returns it.
struct Turn<'a>(&'a AtomicBool);

impl<'a> Turn<'a> {
    /// Takes the right, or fails if another listing has it.
    fn take(listing: &'a AtomicBool) -> io::Result<Self> {
        if listing.swap(true, Ordering::Acquire) {
            let reason = "the directory is being listed already";
            return Err(io::Error::new(io::ErrorKind::ResourceBusy, reason));
        }
        Ok(Self(listing))
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}

/// Returns the name if it is one component, so that it cannot lead out of the directory.
pub(super) fn component(name: &OsStr) -> io::Result<&OsStr> {
    let bytes = name.as_bytes();
    if matches!(bytes, b"" | b"." | b"..") || bytes.contains(&b'/') {
        let reason = "the name is not one path component";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, reason));
    }
    Ok(name)
}
