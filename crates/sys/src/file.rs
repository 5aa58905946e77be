//! Files and directories: names in; descriptors, facts and bytes out.
//!
//! A tree is walked from an open directory, one component at a time and never through a symlink,
//! so nothing planted while a run is under way can lead out of it. Opening asks the system not to
//! record the access where it allows that. Only `file/create.rs` and `file/draft.rs` write: files
//! of a program's own, and files that are written whole or not at all. Nothing here knows what a
//! file is read for.

mod buffer;
mod create;
mod directory;
mod draft;
#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "macos")]
mod macos;

pub use buffer::AlignedBuffer;
pub use directory::{Dir, DirEntry};
pub use draft::{Draft, Existing, write_private, write_whole};
pub use steadfast_time::Timestamp;

use std::fmt;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

#[cfg(target_os = "linux")]
use linux as platform;
#[cfg(target_os = "macos")]
use macos as platform;
use rustix::fs::{FileType, Mode, OFlags};
use rustix::io::{Errno, retry_on_intr};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// What every file is opened with: never waiting for a fifo's writer or a terminal's carrier.
const FILE: OFlags =
    OFlags::RDONLY.union(OFlags::NONBLOCK).union(OFlags::NOCTTY).union(OFlags::CLOEXEC);

/// Names what an entry of a directory is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FileKind {
    /// A regular file.
    Regular,
    /// A directory.
    Directory,
    /// A symbolic link.
    Symlink,
    /// A fifo, a socket or a device: nothing whose contents can be kept.
    Other,
}

impl FileKind {
    /// Translates the system's file type; `None` when the file system does not say.
    fn from_type(file_type: FileType) -> Option<Self> {
        match file_type {
            FileType::RegularFile => Some(Self::Regular),
            FileType::Directory => Some(Self::Directory),
            FileType::Symlink => Some(Self::Symlink),
            FileType::Unknown => None,
            _ => Some(Self::Other),
        }
    }
}

/// Holds what the system says about a file at one moment.
///
/// Two equal values around a read are the evidence that the file was not changed meanwhile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Status {
    /// The device, as the system numbers it; with `inode` it identifies the file.
    pub device: u64,
    /// The inode number.
    pub inode: u64,
    /// What kind of file it is.
    pub kind: FileKind,
    /// Length in bytes.
    pub length: u64,
    /// The number of hard links.
    pub links: u64,
    /// When the contents were last changed, as anyone may set it.
    pub mtime: Timestamp,
    /// When the inode was last changed, which only the system sets.
    pub ctime: Timestamp,
    /// `st_mode`: the type bits and the permission bits.
    pub mode: u32,
    /// Whether the contents are elsewhere and reading would download them (macOS `SF_DATALESS`).
    /// Linux has no such mark: always false there.
    pub dataless: bool,
}

impl Status {
    /// Looks at what a path the user gave leads to, following symlinks.
    ///
    /// # Errors
    /// Whatever the system says; `NotFound` also for a symlink to nothing.
    pub fn of(path: &Path) -> io::Result<Self> {
        Ok(platform::status(&rustix::fs::stat(path)?))
    }

    /// Looks at a path the user gave; if it is a symlink, at the link.
    ///
    /// # Errors
    /// Whatever the system says.
    pub fn of_link(path: &Path) -> io::Result<Self> {
        Ok(platform::status(&rustix::fs::lstat(path)?))
    }
}

/// Names a mark by which the system refuses changes of a file, to its superuser too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protection {
    /// Nothing of it may be changed.
    Immutable,
    /// Bytes may be added at its end, and nothing else may be changed.
    AppendOnly,
}

impl Protection {
    /// Returns the command that removes the mark, without the file's name.
    pub fn removed_by(self) -> &'static str {
        platform::removed_by(self)
    }
}

impl fmt::Display for Protection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Immutable => "immutable",
            Self::AppendOnly => "append-only",
        })
    }
}

/// Holds what direct reads of a file must be aligned to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DirectAlignment {
    /// Alignment of the memory read into, in bytes.
    pub memory: u32,
    /// Alignment of offset and length in the file, in bytes.
    pub offset: u32,
}

/// Asks for bytes of a file, and holds what came of it.
#[derive(Debug)]
pub struct PositionedRead<'a> {
    /// The file.
    pub file: &'a File,
    /// Where the bytes go.
    pub buffer: &'a mut [u8],
    /// Offset of the first byte in the file.
    pub offset: u64,
    /// How many bytes were read, as [`File::read_at`] says it; until then that nothing was.
    pub outcome: io::Result<usize>,
}

impl<'a> PositionedRead<'a> {
    /// Asks for bytes that nobody has read yet.
    pub fn new(file: &'a File, buffer: &'a mut [u8], offset: u64) -> Self {
        Self { file, buffer, offset, outcome: Err(io::ErrorKind::Unsupported.into()) }
    }
}

/// Describes the file system a file is on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileSystem {
    /// The system's own name for it (`ext4`, `fuse.sshfs`, `cifs`, `apfs`), or the magic number
    /// in hex where it has none.
    pub name: String,
    /// Whether it is mounted read-only.
    pub read_only: bool,
}

/// Holds a file open for reading.
///
/// It has no position of its own to share, so any number of threads may read through one.
pub struct File {
    fd: OwnedFd,
}

impl File {
    /// Opens the file at a path the user gave, following symlinks.
    ///
    /// # Errors
    /// Whatever the system says. A directory opens too; its [`File::status`] tells.
    pub fn open(path: &Path) -> io::Result<Self> {
        let fd = match open_at(rustix::fs::CWD, path, FILE | platform::NO_ACCESS_TIME) {
            Err(Errno::PERM) => open_at(rustix::fs::CWD, path, FILE)?,
            opened => opened?,
        };
        Ok(Self { fd })
    }

    /// Returns what the system says about the open file.
    pub fn status(&self) -> io::Result<Status> {
        Ok(platform::status(&rustix::fs::fstat(&self.fd)?))
    }

    /// Returns the mark by which the system refuses changes of the file, if it has one.
    ///
    /// # Errors
    /// Whatever the system says. A file system that knows no such marks has none.
    pub fn protection(&self) -> io::Result<Option<Protection>> {
        platform::protection(self.fd.as_fd())
    }

    /// Reads bytes at an offset with one `pread` and returns how many; 0 is the end of the file.
    ///
    /// An interrupted call is repeated. Fewer bytes than asked for is not yet the end.
    ///
    /// # Errors
    /// Whatever the system says; a failing medium arrives here, as `EIO`.
    pub fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        let length = buf.len().min(platform::READ_LENGTH_MAX);
        let buf = &mut buf[..length];
        loop {
            match rustix::io::pread(&self.fd, &mut *buf, offset) {
                Err(Errno::INTR) => {}
                outcome => return Ok(outcome?),
            }
        }
    }

    /// Asks that reads go past the page cache: `O_DIRECT` on Linux, `F_NOCACHE` on macOS.
    ///
    /// For regular files: Linux sets all flags at once, and those of waiting are cleared.
    ///
    /// It is a request. Linux may still serve it through the cache, which
    /// [`File::direct_alignment`] foretells; macOS serves what is already cached from there.
    ///
    /// # Errors
    /// `Unsupported` when the file system refuses.
    pub fn set_uncached(&self) -> io::Result<()> {
        platform::set_uncached(self.fd.as_fd())
    }

    /// Returns what direct reads must be aligned to; `None` when reads would go through the cache
    /// in spite of being asked not to.
    ///
    /// Linux: `statx` with `STATX_DIOALIGN`.
    ///
    /// # Errors
    /// `Unsupported` when the system cannot say: Linux before 6.1, a file system that does not
    /// report it, and macOS, which aligns for itself and serves what is cached from the cache.
    pub fn direct_alignment(&self) -> io::Result<Option<DirectAlignment>> {
        platform::direct_alignment(self.fd.as_fd())
    }

    /// Hints that the file will be read from start to end. A refusal has no consequence but
    /// speed, so it is not reported.
    pub fn advise_sequential(&self) {
        platform::advise_sequential(self.fd.as_fd());
    }

    /// Gives the descriptor away, for what the standard library does with files: locks.
    #[must_use]
    pub fn into_fd(self) -> OwnedFd {
        self.fd
    }

    /// Returns the file system the file is on.
    ///
    /// It may read the table of mounts: meant to be asked once per device.
    pub fn file_system(&self) -> io::Result<FileSystem> {
        platform::file_system(self.fd.as_fd())
    }

    /// Returns the identifier of the volume the file is on (`f_fsid` of `fstatvfs`).
    ///
    /// File systems with an identifier of their own (ext4, btrfs, ZFS) keep it for good; others
    /// (XFS, and all on macOS) show the number of the device, which another mount may change.
    ///
    /// # Errors
    /// Whatever the system says.
    pub fn volume_id(&self) -> io::Result<u64> {
        Ok(rustix::fs::fstatvfs(&self.fd)?.f_fsid)
    }
}

impl AsFd for File {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

impl fmt::Debug for File {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("File").field(&self.fd).finish()
    }
}

/// Raises the soft limit on open files as far as the hard one and returns the limit in force;
/// `u64::MAX` is no limit.
///
/// On macOS no further than `kern.maxfilesperproc`, beyond which the system refuses.
pub fn raise_open_files_limit() -> io::Result<u64> {
    const NO_LIMIT: u64 = u64::MAX;
    let limit = getrlimit(Resource::Nofile);
    let current = limit.current.unwrap_or(NO_LIMIT);
    let ceiling = platform::open_files_ceiling(limit.maximum.unwrap_or(NO_LIMIT))?;
    if current >= ceiling {
        return Ok(current);
    }
    let raised = Rlimit { current: Some(ceiling), maximum: limit.maximum };
    setrlimit(Resource::Nofile, raised)?;
    Ok(getrlimit(Resource::Nofile).current.unwrap_or(NO_LIMIT))
}

/// Makes the process's table of open files large enough for `count`, as far as the limit allows.
///
/// Best before the first thread starts: in a process of several threads, Linux waits tens of
/// milliseconds each time the table grows, at 64 open files, at 128, and so on.
///
/// # Errors
/// Whatever the system says; the table grows by itself then, later.
pub fn reserve_open_files(count: u64) -> io::Result<()> {
    let limit = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    let highest = i32::try_from(count.min(limit).saturating_sub(1)).unwrap_or(i32::MAX);
    let any = rustix::fs::open(".", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
    drop(rustix::io::fcntl_dupfd_cloexec(&any, highest)?);
    Ok(())
}

/// Opens without creating; an interrupted call (network and FUSE file systems) is repeated.
fn open_at<P: rustix::path::Arg + Copy>(
    dir: BorrowedFd<'_>,
    path: P,
    flags: OFlags,
) -> Result<OwnedFd, Errno> {
    retry_on_intr(|| rustix::fs::openat(dir, path, flags, Mode::empty()))
}
