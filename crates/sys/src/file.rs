//! Files and directories: names in; descriptors, facts and bytes out.
//!
//! A tree is walked from an open directory, one component at a time and never through a symlink, so
//! a symlink planted during a run cannot lead out of it. Files are opened without recording the
//! access where the system allows that. Only `file/create.rs`, `file/draft.rs`, `file/replace.rs`
//! and `file/change.rs` write: files that a program makes for itself, files that are written whole
//! or not at all, and files that are changed in place.

mod buffer;
mod change;
mod create;
mod directory;
mod draft;
#[cfg_attr(target_os = "linux", path = "file/linux.rs")]
#[cfg_attr(target_os = "macos", path = "file/macos.rs")]
mod platform;
mod replace;
mod trust;

pub use buffer::AlignedBuffer;
pub use change::{ChangedFile, WriterGuard};
pub use directory::{Dir, DirEntry};
pub use draft::{
    Draft, Existing, draft_name, make_private_folder, open_private, write_private, write_whole,
};
pub use replace::{Displaced, FileExtent, Ownership};
pub use steadfast_time::{Timestamp, age_s};
pub use trust::{Stranger, TrustedUsers, user_name};

use std::fmt;
use std::fs;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::fs::{FileType, Mode, OFlags};
use rustix::io::Errno;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Flags of every file. Opening never waits for the writer of a fifo or the carrier of a terminal.
const FILE: OFlags =
    OFlags::RDONLY.union(OFlags::NONBLOCK).union(OFlags::NOCTTY).union(OFlags::CLOEXEC);

/// The kind of an entry of a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, strum::Display)]
pub enum FileKind {
    /// A regular file.
    #[strum(serialize = "file")]
    Regular,
    /// A directory.
    #[strum(serialize = "folder")]
    Directory,
    /// A symbolic link.
    #[strum(serialize = "symbolic link")]
    Symlink,
    /// A fifo, a socket or a device. Its contents cannot be kept.
    #[strum(serialize = "special file")]
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

/// The facts about a file at one moment.
///
/// If the values before and after a read are equal, the file was not changed during the read.
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
    /// When the contents were last changed. Programs can set it.
    pub mtime: Timestamp,
    /// When the inode was last changed. Only the system sets it.
    pub ctime: Timestamp,
    /// `st_mode`: the type bits and the permission bits.
    pub mode: u32,
    /// Number of the owner.
    pub uid: u32,
    /// Number of the group.
    pub gid: u32,
    /// Whether the contents are stored elsewhere, so that reading downloads them (macOS
    /// `SF_DATALESS`). Always false on Linux, which has no such mark.
    pub dataless: bool,
}

/// The error of opening, listing or reading what is not on this machine: it is in a cloud, and
/// fetching it is not allowed ([`allow_downloads`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("its contents are not on this machine")]
pub struct Dataless;

impl Dataless {
    /// Returns whether an error of this module is this one.
    #[must_use]
    pub fn is(error: &io::Error) -> bool {
        error.get_ref().is_some_and(|error| error.is::<Dataless>())
    }
}

/// Whose reads are meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DownloadScope {
    /// Every thread of this process that was not told otherwise.
    Process,
    /// The calling thread.
    Thread,
}

/// Says whether opening, listing and reading may fetch contents that are not on this machine.
///
/// If not, they fail at once with [`Dataless`], where macOS would otherwise wait for the provider
/// of a cloud folder, for as long as that takes. Linux has no such files, so nothing changes there.
///
/// # Errors
/// The error of the system. Contents may then be fetched as before.
pub fn allow_downloads(scope: DownloadScope, allowed: bool) -> io::Result<()> {
    platform::allow_downloads(scope, allowed)
}

/// Has the calling thread's reads leave the times of access of files as they are. On Linux each
/// file is opened so, where the system allows it.
///
/// # Errors
/// The error of the system. Reading then records the access, as it usually does.
pub fn keep_access_times() -> io::Result<()> {
    platform::keep_access_times()
}

/// Turns an error number into an error that says so if contents are not on this machine.
fn failed(errno: Errno) -> io::Error {
    match platform::is_contents_elsewhere(errno) {
        true => io::Error::other(Dataless),
        false => errno.into(),
    }
}

/// Returns what to do about an error of opening, listing or reading that looks like one of
/// permissions and is none: on macOS, where privacy protects a folder.
#[must_use]
pub fn advice(error: &io::Error) -> Option<&'static str> {
    platform::advice(error.raw_os_error()?)
}

/// How far a flush went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flush {
    /// As far as the system promises: to the medium.
    Medium,
    /// To the drive or the server: macOS cannot make this file system flush further.
    Drive,
}

/// Flushes a file to the medium, like [`fs::File::sync_all`], and says how far that went. Network
/// file systems on macOS have no full flush and get a plain one, where `sync_all` fails.
///
/// # Errors
/// If the medium fails or is full.
pub fn flush(file: &fs::File) -> io::Result<Flush> {
    Ok(platform::flush(file.as_fd())?)
}

impl Status {
    /// Returns whose the file is.
    #[must_use]
    pub fn ownership(&self) -> Ownership {
        Ownership { uid: self.uid, gid: self.gid, mode: self.mode & 0o7777 }
    }

    /// Returns the status of the file at a path, following symlinks.
    ///
    /// # Errors
    /// Whatever the system says; `NotFound` also for a symlink to nothing.
    pub fn of(path: &Path) -> io::Result<Self> {
        Ok(platform::status(&rustix::fs::stat(path).map_err(failed)?))
    }

    /// Returns the status of the file at a path; of a symlink, the status of the link.
    ///
    /// # Errors
    /// Whatever the system says.
    pub fn of_link(path: &Path) -> io::Result<Self> {
        Ok(platform::status(&rustix::fs::lstat(path).map_err(failed)?))
    }
}

/// A mark that makes the system refuse changes of a file, even by root.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::Display)]
#[strum(serialize_all = "kebab-case")]
pub enum Protection {
    /// The file cannot be changed.
    Immutable,
    /// It belongs to the system, which changes it only when it is updated (System Integrity
    /// Protection of macOS).
    System,
    /// Bytes can be added at its end; nothing else can be changed.
    AppendOnly,
}

impl Protection {
    /// Returns the command that removes the mark, without the file's name; `None` if none does.
    pub fn removed_by(self) -> Option<&'static str> {
        platform::removed_by(self)
    }
}

/// The alignment that direct reads of a file need.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DirectAlignment {
    /// Alignment of the memory read into, in bytes.
    pub memory: u32,
    /// Alignment of offset and length in the file, in bytes.
    pub offset: u32,
}

/// Returns whether the user of this process may write to the file at a path, and its volume is not
/// read-only.
pub fn may_write(path: &Path) -> bool {
    rustix::fs::access(path, rustix::fs::Access::WRITE_OK).is_ok()
}

/// A request for bytes of a file, and its outcome.
#[derive(Debug)]
pub struct PositionedRead<'a> {
    /// The file.
    pub file: &'a File,
    /// Where the bytes go.
    pub buffer: &'a mut [u8],
    /// Offset of the first byte in the file.
    pub offset: u64,
    /// The result, as [`File::read_at`] returns it; `Unsupported` until the read is carried out.
    pub outcome: io::Result<usize>,
}

impl<'a> PositionedRead<'a> {
    /// Makes a request that is not carried out yet.
    pub fn new(file: &'a File, buffer: &'a mut [u8], offset: u64) -> Self {
        Self { file, buffer, offset, outcome: Err(io::ErrorKind::Unsupported.into()) }
    }
}

/// What the change time of a file proves, by its file system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeTimes {
    /// Whatever the system writes to a file moves it, and it is kept.
    Prove,
    /// Calls that write move it, but not what a program writes through a mapping of the file.
    Miss,
    /// It is not kept, is set by others, or nobody measured it.
    Unknown,
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

/// A file that is open for reading.
///
/// Every read names its offset, so any number of threads can read through one value.
pub struct File {
    fd: OwnedFd,
}

impl File {
    /// Opens the file at a path, following symlinks.
    ///
    /// # Errors
    /// The error of the system. A directory opens as well; check [`File::status`].
    pub fn open(path: &Path) -> io::Result<Self> {
        let opened = match open_at(rustix::fs::CWD, path, FILE | platform::NO_ACCESS_TIME) {
            Err(Errno::PERM) => open_at(rustix::fs::CWD, path, FILE),
            opened => opened,
        };
        let fd = opened.map_err(failed)?;
        Ok(Self { fd })
    }

    /// Returns the status of the open file.
    pub fn status(&self) -> io::Result<Status> {
        Ok(platform::status(&rustix::fs::fstat(&self.fd)?))
    }

    /// Returns the mark that protects the file from changes, if it has one.
    ///
    /// # Errors
    /// The error of the system. Files of a file system without such marks have none.
    pub fn protection(&self) -> io::Result<Option<Protection>> {
        platform::protection(self.fd.as_fd())
    }

    /// Reads bytes at an offset with one `pread` and returns how many; 0 is the end of the file.
    ///
    /// Repeats an interrupted call. A short read does not mean the end of the file.
    ///
    /// # Errors
    /// The error of the system. A failing medium gives `EIO`.
    pub fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        let length = buf.len().min(platform::READ_LENGTH_MAX);
        let buf = &mut buf[..length];
        retry_on_intr(|| rustix::io::pread(&self.fd, &mut *buf, offset)).map_err(failed)
    }

    /// Asks the system to read past the page cache: `O_DIRECT` on Linux, `F_NOCACHE` on macOS.
    ///
    /// Only for regular files: Linux sets all flags at once, and this clears `O_NONBLOCK`.
    ///
    /// The system may still use the cache. On Linux [`File::direct_alignment`] tells whether it
    /// will; macOS takes bytes from the cache that are already there.
    ///
    /// # Errors
    /// `Unsupported` when the file system refuses.
    pub fn set_uncached(&self) -> io::Result<()> {
        platform::set_uncached(self.fd.as_fd())
    }

    /// Returns the alignment that direct reads need; `None` if reads go through the cache anyway.
    ///
    /// Linux: `statx` with `STATX_DIOALIGN`.
    ///
    /// # Errors
    /// `Unsupported` if the system does not tell: Linux before 6.1, a file system that does not
    /// report it, and macOS, where reads need no alignment.
    pub fn direct_alignment(&self) -> io::Result<Option<DirectAlignment>> {
        platform::direct_alignment(self.fd.as_fd())
    }

    /// Hints that the file will be read from start to end. A refusal only costs speed, so it is not
    /// reported.
    pub fn advise_sequential(&self) {
        platform::advise_sequential(self.fd.as_fd());
    }

    /// Takes a file that the standard library opened, with another descriptor of it. What is set
    /// with [`File::set_uncached`] is then set for both.
    ///
    /// # Errors
    /// If there are too many open files.
    pub fn of(file: &fs::File) -> io::Result<Self> {
        Ok(Self { fd: file.try_clone()?.into() })
    }

    /// Returns the descriptor, for locks of the standard library.
    #[must_use]
    pub fn into_fd(self) -> OwnedFd {
        self.fd
    }

    /// Returns the file system the file is on.
    ///
    /// May read the table of mounts, so call it once per device.
    pub fn file_system(&self) -> io::Result<FileSystem> {
        platform::file_system(self.fd.as_fd())
    }

    /// Returns what the file's change time proves. If the system does not tell, that is unknown.
    #[must_use]
    pub fn change_times(&self) -> ChangeTimes {
        platform::change_times(self.fd.as_fd()).unwrap_or(ChangeTimes::Unknown)
    }

    /// Returns the identifier of the volume the file is on (`f_fsid` of `fstatvfs`).
    ///
    /// ext4, btrfs and ZFS have an identifier that never changes. XFS and all file systems on macOS
    /// return the number of the device, which may change with the next mount.
    ///
    /// # Errors
    /// The error of the system.
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
/// Call it before the first thread starts: in a process with several threads, Linux waits tens of
/// milliseconds each time the table grows, at 64 open files, at 128, and so on.
///
/// # Errors
/// The error of the system. The table then grows later, when files are opened.
pub fn reserve_open_files(count: u64) -> io::Result<()> {
    let limit = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    let highest = i32::try_from(count.min(limit).saturating_sub(1)).unwrap_or(i32::MAX);
    let any = rustix::fs::open(".", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
    drop(rustix::io::fcntl_dupfd_cloexec(&any, highest)?);
    Ok(())
}

/// How often a call is repeated that a signal or a file system interrupted.
pub(crate) const INTERRUPTS_MAX: u32 = 1000;

/// Repeats an interrupted call. One that never succeeds is an error of the medium: the run goes on
/// without what it asked for, instead of waiting for ever.
fn retry_on_intr<T>(mut call: impl FnMut() -> Result<T, Errno>) -> Result<T, Errno> {
    for _ in 0..INTERRUPTS_MAX {
        match call() {
            Err(Errno::INTR) => {}
            outcome => return outcome,
        }
    }
    Err(Errno::IO)
}

/// Writes all bytes at an offset.
fn write_all_at(file: &fs::File, mut bytes: &[u8], mut offset: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        let length = bytes.len().min(platform::READ_LENGTH_MAX);
        match retry_on_intr(|| rustix::io::pwrite(file, &bytes[..length], offset))? {
            0 => return Err(io::ErrorKind::WriteZero.into()),
            written => (bytes, offset) = (&bytes[written..], offset + written as u64),
        }
    }
    Ok(())
}

/// Opens a file without creating it. Repeats an interrupted call, which network and FUSE file
/// systems may give.
fn open_at<P: rustix::path::Arg + Copy>(
    dir: BorrowedFd<'_>,
    path: P,
    flags: OFlags,
) -> Result<OwnedFd, Errno> {
    retry_on_intr(|| rustix::fs::openat(dir, path, flags, Mode::empty()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_that_is_interrupted_for_ever_ends_with_an_error() {
        assert_eq!(retry_on_intr::<()>(|| Err(Errno::INTR)), Err(Errno::IO));
        let mut calls = 0;
        let once = retry_on_intr(|| {
            calls += 1;
            if calls == 1 { Err(Errno::INTR) } else { Ok(calls) }
        });
        assert_eq!(once, Ok(2));
    }
}
