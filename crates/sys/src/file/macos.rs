//! Files on macOS: `openat` flags, `readdir`, `F_NOCACHE`, `statfs`.

use std::ffi::{CStr, OsStr};
use std::io;
use std::ops::ControlFlow;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::fs::{FileType, Mode, OFlags, Stat};
use rustix::io::Errno;
use steadfast_time::names::NameBytes as _;

use super::{
    ChangeTimes, DirEntry, DirectAlignment, DownloadScope, File, FileKind, FileSystem, Flush,
    INTERRUPTS_MAX, Protection, Status, Timestamp, failed, retry_on_intr,
};
use crate::darwin::{self, FileFlag};
use crate::sysctl;

/// Empty: a policy of the thread prevents recording the access ([`keep_access_times`]).
pub(super) const NO_ACCESS_TIME: OFlags = OFlags::empty();

/// Opens a path that leads through no symlink.
pub(super) fn open_through_no_link(path: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
    let flags = flags | OFlags::from_bits_retain(libc::O_NOFOLLOW_ANY.cast_unsigned());
    rustix::fs::openat(rustix::fs::CWD, path, flags, Mode::empty())
}

/// The longest read of one call. The system refuses more than `INT_MAX` bytes.
pub(super) const READ_LENGTH_MAX: usize = i32::MAX as usize;

/// The policy of what reading does with contents that are elsewhere, and for whom it is set.
///
/// Source: `sys/resource.h`, `IOPOL_TYPE_VFS_MATERIALIZE_DATALESS_FILES`, `IOPOL_SCOPE_PROCESS`,
/// `IOPOL_SCOPE_THREAD`, `IOPOL_MATERIALIZE_DATALESS_FILES_OFF` and `_ON`.
const MATERIALIZE: libc::c_int = 3;
const SCOPE_PROCESS: libc::c_int = 0;
const SCOPE_THREAD: libc::c_int = 1;
const MATERIALIZE_OFF: libc::c_int = 1;
const MATERIALIZE_ON: libc::c_int = 2;

/// The policy of recording when a file was read.
///
/// Source: `sys/resource.h`, `IOPOL_TYPE_VFS_ATIME_UPDATES`, `IOPOL_ATIME_UPDATES_OFF`.
const ATIME_UPDATES: libc::c_int = 2;
const ATIME_UPDATES_OFF: libc::c_int = 1;

#[expect(unsafe_code, reason = "the libc crate lacks this function")]
unsafe extern "C" {
    /// Source: `sys/resource.h`, since macOS 10.5; the policy since 10.15.
    fn setiopolicy_np(kind: libc::c_int, scope: libc::c_int, policy: libc::c_int) -> libc::c_int;
}

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
        uid: stat.st_uid,
        gid: stat.st_gid,
        dataless: darwin::is_dataless(stat.st_flags),
    }
}

/// Returns false: macOS clones files by name only, into a file that does not exist yet.
#[allow(clippy::unnecessary_wraps, reason = "other systems can fail")]
pub(super) fn share_blocks(_to: &std::fs::File, _from: &File) -> io::Result<bool> {
    Ok(false)
}

/// Does nothing: flags are not restored there yet.
#[allow(clippy::unnecessary_wraps, reason = "other systems can fail")]
pub(super) fn copy_flags(_to: &std::fs::File, _from: &File) -> io::Result<()> {
    Ok(())
}

/// Flushes a directory and the drive: there is no call for a volume, and APFS stores changes in the
/// order of its transactions.
pub(super) fn sync_volume(dir: BorrowedFd<'_>) -> Result<(), Errno> {
    flush(dir).map(drop)
}

/// Sets the policy of what is elsewhere.
pub(super) fn allow_downloads(scope: DownloadScope, allowed: bool) -> io::Result<()> {
    let scope = match scope {
        DownloadScope::Process => SCOPE_PROCESS,
        DownloadScope::Thread => SCOPE_THREAD,
    };
    let policy = if allowed { MATERIALIZE_ON } else { MATERIALIZE_OFF };
    set_policy(MATERIALIZE, scope, policy)
}

/// Sets the policy of access times, for the calling thread.
pub(super) fn keep_access_times() -> io::Result<()> {
    set_policy(ATIME_UPDATES, SCOPE_THREAD, ATIME_UPDATES_OFF)
}

#[expect(unsafe_code, reason = "rustix has no form of setiopolicy_np")]
fn set_policy(kind: libc::c_int, scope: libc::c_int, policy: libc::c_int) -> io::Result<()> {
    // SAFETY: all arguments are integers by value.
    match unsafe { setiopolicy_np(kind, scope, policy) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Recognises what the policy answers.
pub(super) fn is_contents_elsewhere(errno: Errno) -> bool {
    darwin::is_contents_elsewhere(errno.raw_os_error())
}

/// Recognises what the sandbox answers.
pub(super) fn advice(errno: i32) -> Option<&'static str> {
    darwin::advice(errno)
}

/// Lists a directory from its beginning, through a descriptor of its own.
pub(super) fn entries(
    dir: BorrowedFd<'_>,
    f: &mut dyn FnMut(DirEntry<'_>) -> ControlFlow<()>,
) -> io::Result<()> {
    let mut listing = rustix::fs::Dir::read_from(dir).map_err(failed)?;
    let mut interrupts = 0;
    while let Some(entry) = listing.read() {
        let entry = match entry {
            Err(Errno::INTR) if interrupts < INTERRUPTS_MAX => {
                interrupts += 1;
                continue;
            }
            Err(Errno::INTR) => return Err(Errno::IO.into()),
            entry => entry.map_err(failed)?,
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
pub(super) fn flush(file: BorrowedFd<'_>) -> Result<Flush, Errno> {
    match retry_on_intr(|| rustix::fs::fcntl_fullfsync(file)) {
        Err(errno) if darwin::lacks_full_flush(errno.raw_os_error()) => {
            retry_on_intr(|| rustix::fs::fsync(file)).map(|()| Flush::Drive)
        }
        flushed => flushed.map(|()| Flush::Medium),
    }
}

/// Reads the flags that `chflags` sets.
pub(super) fn protection(file: BorrowedFd<'_>) -> io::Result<Option<Protection>> {
    let flags = rustix::fs::fstat(file)?.st_flags;
    Ok(darwin::change_flag(flags).map(|flag| match flag {
        FileFlag::Restricted => Protection::System,
        FileFlag::Immutable => Protection::Immutable,
        FileFlag::AppendOnly => Protection::AppendOnly,
    }))
}

/// Returns the command, for the owner's flag and root's.
pub(super) fn removed_by(protection: Protection) -> Option<&'static str> {
    match protection {
        Protection::Immutable => Some("chflags nouchg,noschg"),
        Protection::AppendOnly => Some("chflags nouappnd,nosappnd"),
        Protection::System => None,
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

/// Says what change times prove on the file system of a file, by its name. HFS+ keeps whole
/// seconds only, so it is left out.
pub(super) fn change_times(file: BorrowedFd<'_>) -> io::Result<ChangeTimes> {
    Ok(match file_system(file)?.name.as_str() {
        "apfs" | "zfs" => ChangeTimes::Prove,
        _ => ChangeTimes::Unknown,
    })
}

/// Returns the highest limit on open files that the system grants: the hard limit, and at most
/// `kern.maxfilesperproc`.
pub(super) fn open_files_ceiling(hard: u64) -> io::Result<u64> {
    Ok(hard.min(sysctl::integer(c"kern.maxfilesperproc")?))
}

/// Returns false: the system has no leases for programs.
pub(super) fn take_read_lease(_: BorrowedFd<'_>) -> io::Result<bool> {
    Ok(false)
}

/// Says that there is none.
pub(super) fn has_read_lease(_: BorrowedFd<'_>) -> bool {
    false
}

/// Does nothing: there is none.
pub(super) fn give_lease_back(_: BorrowedFd<'_>) {}
