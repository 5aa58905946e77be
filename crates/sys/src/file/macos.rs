//! Files on macOS: `openat` flags, `readdir`, `F_NOCACHE`, `statfs`.

use std::ffi::{CStr, OsStr};
use std::io;
use std::ops::ControlFlow;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::os::unix::ffi::OsStrExt;

use rustix::fs::{FileType, OFlags, Stat};
use rustix::io::{Errno, retry_on_intr};

use super::{DirEntry, DirectAlignment, FileKind, FileSystem, Protection, Status, Timestamp};
use crate::sysctl;

/// Empty: macOS has no flag that prevents recording the access.
pub(super) const NO_ACCESS_TIME: OFlags = OFlags::empty();

/// The longest read of one call. The system refuses more than `INT_MAX` bytes.
pub(super) const READ_LENGTH_MAX: usize = i32::MAX as usize;

/// Marks a file whose contents are stored elsewhere.
///
/// Source: `sys/stat.h`, `SF_DATALESS`.
const SF_DATALESS: u32 = 0x4000_0000;

/// Mark a file as immutable: by its owner, by the superuser.
///
/// Source: `sys/stat.h`, `UF_IMMUTABLE`, `SF_IMMUTABLE`.
const IMMUTABLE: u32 = 0x0000_0002 | 0x0002_0000;

/// Mark a file as append-only: by its owner, by the superuser.
///
/// Source: `sys/stat.h`, `UF_APPEND`, `SF_APPEND`.
const APPEND: u32 = 0x0000_0004 | 0x0004_0000;

/// Translates `struct stat`.
pub(super) fn status(stat: &Stat) -> Status {
    let file_type = FileType::from_raw_mode(stat.st_mode);
    Status {
        device: u64::from(stat.st_dev.cast_unsigned()),
        inode: stat.st_ino,
        kind: FileKind::from_type(file_type).unwrap_or(FileKind::Other),
        length: stat.st_size as u64,
        links: u64::from(stat.st_nlink),
        mtime: Timestamp { seconds: stat.st_mtime, nanoseconds: stat.st_mtime_nsec as u32 },
        ctime: Timestamp { seconds: stat.st_ctime, nanoseconds: stat.st_ctime_nsec as u32 },
        mode: u32::from(stat.st_mode),
        dataless: stat.st_flags & SF_DATALESS != 0,
    }
}

/// Flushes a directory and the drive: there is no call for a volume, and APFS stores changes in the
/// order of its transactions.
pub(super) fn sync_volume(dir: BorrowedFd<'_>) -> Result<(), Errno> {
    rustix::fs::fcntl_fullfsync(dir)
}

/// Lists a directory from its beginning, through a descriptor of its own.
pub(super) fn entries(
    dir: BorrowedFd<'_>,
    f: &mut dyn FnMut(DirEntry<'_>) -> ControlFlow<()>,
) -> io::Result<()> {
    let mut listing = rustix::fs::Dir::read_from(dir)?;
    while let Some(entry) = listing.read() {
        let entry = match entry {
            Err(Errno::INTR) => continue,
            entry => entry?,
        };
        let name = entry.file_name().to_bytes();
        if matches!(name, b"." | b"..") {
            continue;
        }
        let entry = DirEntry {
            name: OsStr::from_bytes(name),
            kind: FileKind::from_type(entry.file_type()),
            inode: entry.ino(),
        };
        if f(entry).is_break() {
            break;
        }
    }
    Ok(())
}

/// Sets `F_NOCACHE` on the open file.
pub(super) fn set_uncached(file: BorrowedFd<'_>) -> io::Result<()> {
    Ok(rustix::fs::fcntl_nocache(file, true)?)
}

/// Refuses: reads may have any alignment, and cached bytes still come from the cache.
pub(super) fn direct_alignment(_file: BorrowedFd<'_>) -> io::Result<Option<DirectAlignment>> {
    let reason = "macOS does not say whether reads are direct";
    Err(io::Error::new(io::ErrorKind::Unsupported, reason))
}

/// Writes the cached parts of a file or directory to the medium, through the cache of the drive.
/// Network file systems do not support that and get a plain `fsync`.
pub(super) fn flush(file: BorrowedFd<'_>) -> Result<(), Errno> {
    match retry_on_intr(|| rustix::fs::fcntl_fullfsync(file)) {
        Err(Errno::INVAL | Errno::NOTSUP | Errno::OPNOTSUPP | Errno::NOTTY) => {
            retry_on_intr(|| rustix::fs::fsync(file))
        }
        flushed => flushed,
    }
}

/// Reads the flags that `chflags` sets.
pub(super) fn protection(file: BorrowedFd<'_>) -> io::Result<Option<Protection>> {
    let flags = rustix::fs::fstat(file)?.st_flags;
    Ok(if flags & IMMUTABLE != 0 {
        Some(Protection::Immutable)
    } else if flags & APPEND != 0 {
        Some(Protection::AppendOnly)
    } else {
        None
    })
}

/// Returns the command, for the owner's flag and root's.
pub(super) fn removed_by(protection: Protection) -> &'static str {
    match protection {
        Protection::Immutable => "chflags nouchg,noschg",
        Protection::AppendOnly => "chflags nouappnd,nosappnd",
    }
}

/// Turns read-ahead on.
#[expect(unsafe_code, reason = "rustix has no form of F_RDAHEAD")]
pub(super) fn advise_sequential(file: BorrowedFd<'_>) {
    // SAFETY: `file` is open while borrowed, and F_RDAHEAD takes an int by value.
    let _ = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_RDAHEAD, 1) };
}

/// Returns the name that `statfs` gives.
pub(super) fn file_system(file: BorrowedFd<'_>) -> io::Result<FileSystem> {
    let facts = rustix::fs::fstatfs(file)?;
    let name = facts.f_fstypename.map(i8::cast_unsigned);
    let name = CStr::from_bytes_until_nul(&name).map_err(io::Error::other)?;
    Ok(FileSystem {
        name: name.to_string_lossy().into_owned(),
        read_only: facts.f_flags & libc::MNT_RDONLY as u32 != 0,
    })
}

/// Returns the highest limit on open files that the system grants: the hard limit, and at most
/// `kern.maxfilesperproc`.
pub(super) fn open_files_ceiling(hard: u64) -> io::Result<u64> {
    Ok(hard.min(sysctl::integer(c"kern.maxfilesperproc")?))
}
