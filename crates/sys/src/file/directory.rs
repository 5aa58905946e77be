//! An open directory: the name of one component in; its facts, its descriptor, its entries out.
//!
//! It does not know paths: who walks keeps those. It never follows a symlink beneath a root.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::io;
use std::ops::ControlFlow;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::Errno;

use super::{FILE, File, FileKind, Status, open_at, platform};

/// What every directory is opened with.
const DIRECTORY: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// How many entries in a row may refuse to be opened without recording the access before the
/// directory stops asking. Another user's tree then costs a few calls per directory too many
/// rather than one per file, while one foreign file does not leave marks on all after it.
const REFUSALS_MAX: u8 = 3;

/// Holds a directory open.
///
/// Entries may be opened and looked up from any number of threads; listing is for one at a time.
pub struct Dir {
    fd: OwnedFd,
    listing: AtomicBool,
    refusals: AtomicU8,
}

/// Names one entry of a directory, as the listing gives it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DirEntry<'a> {
    /// The name: any bytes but `/` and NUL.
    pub name: &'a OsStr,
    /// The kind, or `None` when the file system leaves that to [`Dir::status_of`].
    pub kind: Option<FileKind>,
    /// The inode number as listed; a mount point shows the inode it hides.
    pub inode: u64,
}

impl Dir {
    /// Opens a root, following symlinks in the path.
    ///
    /// # Errors
    /// Whatever the system says; `NotADirectory` when it is none.
    pub fn open(path: &Path) -> io::Result<Self> {
        let fd = match open_at(rustix::fs::CWD, path, DIRECTORY | platform::NO_ACCESS_TIME) {
            Err(Errno::PERM) => open_at(rustix::fs::CWD, path, DIRECTORY)?,
            opened => opened?,
        };
        Ok(Self::new(fd))
    }

    /// Opens a directory directly beneath this one.
    ///
    /// # Errors
    /// `InvalidInput` when the name is not one component; `NotADirectory` for what is no directory,
    /// which on Linux includes a symlink; on macOS that is "too many levels of symbolic links".
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

    /// Opens the directory of a path the user gave, following symlinks on the way, and returns the
    /// last name of the path with it.
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

    /// Makes the names in the directory last through a loss of power.
    ///
    /// # Errors
    /// If the medium fails or is full. Some file systems cannot flush a directory by itself and say
    /// so in various ways: they do it in their own time, which is no error.
    pub fn flush(&self) -> io::Result<()> {
        match platform::flush(self.fd.as_fd()) {
            Err(error @ (Errno::IO | Errno::NOSPC | Errno::DQUOT)) => Err(error.into()),
            _ => Ok(()),
        }
    }

    /// Opens the directory at a path, unless the last name of the path is a symlink.
    ///
    /// # Errors
    /// As those of [`Dir::open_dir`].
    pub fn open_itself(path: &Path) -> io::Result<Self> {
        Ok(Self::new(open_at(rustix::fs::CWD, path, DIRECTORY | OFlags::NOFOLLOW)?))
    }

    /// Says whether another user may have put this directory where it is: into a place like `/tmp`,
    /// where anyone may make names and only their owners remove them (the sticky bit), and it
    /// belongs neither to this process's user nor to the owner of that place.
    ///
    /// The kernel applies the same rule to links and files there (`fs.protected_symlinks`).
    ///
    /// # Errors
    /// Whatever the system says.
    pub fn is_strangers(&self) -> io::Result<bool> {
        let own = rustix::fs::fstat(&self.fd)?;
        let above = rustix::fs::statat(&self.fd, "..", AtFlags::SYMLINK_NOFOLLOW)?;
        let shared = Mode::from_raw_mode(above.st_mode).contains(Mode::WOTH | Mode::SVTX);
        let trusted = [rustix::process::geteuid().as_raw(), above.st_uid];
        Ok(shared && !trusted.contains(&own.st_uid))
    }

    /// Returns what the system says about the directory itself.
    pub fn status(&self) -> io::Result<Status> {
        Ok(platform::status(&rustix::fs::fstat(&self.fd)?))
    }

    /// Returns what the system says about an entry; of a symlink, about the link.
    ///
    /// # Errors
    /// `InvalidInput` when the name is not one component, otherwise whatever the system says.
    pub fn status_of(&self, name: &OsStr) -> io::Result<Status> {
        let name = component(name)?;
        Ok(platform::status(&rustix::fs::statat(&self.fd, name, AtFlags::SYMLINK_NOFOLLOW)?))
    }

    /// Flushes everything that was written to the volume of this directory, attributes included,
    /// and waits until the medium has it.
    ///
    /// # Errors
    /// Whatever the system says.
    pub fn sync_volume(&self) -> io::Result<()> {
        Ok(platform::sync_volume(self.fd.as_fd())?)
    }

    /// Gives every entry but `.` and `..` to `f`, in the order of the file system, until it
    /// breaks. Each call starts from the beginning.
    ///
    /// The name lives until `f` returns. Within `f` other directories may be listed.
    ///
    /// # Errors
    /// `ResourceBusy` when this same `Dir` is being listed already; otherwise whatever the system
    /// says, after the entries it gave before.
    pub fn entries(&self, f: &mut dyn FnMut(DirEntry<'_>) -> ControlFlow<()>) -> io::Result<()> {
        // A second listing would move the position of the first and lose entries without a word.
        let _turn = Turn::take(&self.listing)?;
        platform::entries(self.fd.as_fd(), f)
    }

    /// Wraps a descriptor nobody has listed or opened from yet.
    fn new(fd: OwnedFd) -> Self {
        Self { fd, listing: AtomicBool::new(false), refusals: AtomicU8::new(0) }
    }

    /// Opens an entry, without recording the access where the system allows that.
    fn open_entry(&self, name: &OsStr, flags: OFlags) -> io::Result<OwnedFd> {
        let name = component(name)?;
        let refusals = self.refusals.load(Ordering::Relaxed);
        if platform::NO_ACCESS_TIME.is_empty() || refusals >= REFUSALS_MAX {
            return Ok(open_at(self.fd.as_fd(), name, flags)?);
        }
        match open_at(self.fd.as_fd(), name, flags | platform::NO_ACCESS_TIME) {
            Err(Errno::PERM) => {
                let fd = open_at(self.fd.as_fd(), name, flags)?;
                self.refusals.store(refusals + 1, Ordering::Relaxed);
                Ok(fd)
            }
            opened => {
                if refusals > 0 {
                    self.refusals.store(0, Ordering::Relaxed);
                }
                Ok(opened?)
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

/// Holds the turn to list a directory; dropping it gives the turn back.
struct Turn<'a>(&'a AtomicBool);

impl<'a> Turn<'a> {
    /// Takes the turn, or says that it is taken.
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

/// Returns the name if it is one component and so cannot lead out of the directory.
pub(super) fn component(name: &OsStr) -> io::Result<&OsStr> {
    let bytes = name.as_bytes();
    if matches!(bytes, b"" | b"." | b"..") || bytes.contains(&b'/') {
        let reason = "the name is not one path component";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, reason));
    }
    Ok(name)
}
