//! Files on Linux: `openat` flags, `getdents64`, `statx`, the table of mounts.

use std::cell::Cell;
use std::ffi::OsStr;
use std::io;
use std::mem::MaybeUninit;
use std::ops::ControlFlow;
use std::os::fd::{AsRawFd as _, BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::fs::{
    Advice, AtFlags, FileType, IFlags, Mode, OFlags, RawDir, ResolveFlags, SeekFrom, Stat,
    StatVfsMountFlags, StatxAttributes, StatxFlags,
};
use rustix::io::Errno;
use steadfast_time::names::NameBytes as _;

use super::{
    ChangeTimes, DirEntry, DirectAlignment, DownloadScope, File, FileKind, FileSystem, Flush,
    INTERRUPTS_MAX, Protection, Status, Timestamp, retry_on_intr,
};
use crate::mounts;

/// Does not record the access. The system refuses it with `EPERM` on files of other users.
pub(super) const NO_ACCESS_TIME: OFlags = OFlags::NOATIME;

/// The longest read of one call. The kernel shortens longer ones to this.
pub(super) const READ_LENGTH_MAX: usize = 0x7fff_f000;

/// Room for one `getdents64` call, in bytes: several hundred entries.
const LISTING_LENGTH: usize = 32 * 1024;

type ListingBuffer = Box<[MaybeUninit<u8>]>;

thread_local! {
    /// The buffer of the last listing on this thread, so that a directory costs no allocation.
    static LISTING: Cell<Option<ListingBuffer>> = const { Cell::new(None) };
}

/// Opens a path that leads through no symlink. Before Linux 5.6, and where containers forbid the
/// call, only its last name is no symlink.
pub(super) fn open_through_no_link(path: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
    let (flags, resolve) = (flags | OFlags::NOFOLLOW, ResolveFlags::NO_SYMLINKS);
    match rustix::fs::openat2(rustix::fs::CWD, path, flags, Mode::empty(), resolve) {
        Err(Errno::NOSYS | Errno::PERM) => {
            rustix::fs::openat(rustix::fs::CWD, path, flags, Mode::empty())
        }
        opened => opened,
    }
}

/// Translates `struct stat`.
#[allow(clippy::useless_conversion, reason = "the number of links is narrower on Arm")]
pub(super) fn status(stat: &Stat) -> Status {
    let file_type = FileType::from_raw_mode(stat.st_mode);
    Status {
        device: stat.st_dev,
        inode: stat.st_ino,
        kind: FileKind::from_type(file_type).unwrap_or(FileKind::Other),
        length: stat.st_size as u64,
        links: u64::from(stat.st_nlink),
        mtime: Timestamp { seconds: stat.st_mtime, nanoseconds: stat.st_mtime_nsec as u32 },
        ctime: Timestamp { seconds: stat.st_ctime, nanoseconds: stat.st_ctime_nsec as u32 },
        mode: stat.st_mode,
        uid: stat.st_uid,
        gid: stat.st_gid,
        dataless: false,
    }
}

/// Makes an empty file share the blocks of another; false if the file system cannot.
pub(super) fn share_blocks(to: &std::fs::File, from: &File) -> io::Result<bool> {
    match rustix::fs::ioctl_ficlone(to, from) {
        Ok(()) => Ok(true),
        Err(error @ (Errno::IO | Errno::NOSPC | Errno::DQUOT)) => Err(error.into()),
        Err(_) => Ok(false),
    }
}

/// Flags of an inode that its owner sets (`chattr`). The file system sets all others itself, and
/// an immutable or append-only file cannot be replaced.
const FLAGS_OF_OWNER: IFlags = IFlags::COMPRESSED
    .union(IFlags::JOURNALING)
    .union(IFlags::NOATIME)
    .union(IFlags::NOCOW)
    .union(IFlags::NODUMP)
    .union(IFlags::NOTAIL)
    .union(IFlags::SECURE_REMOVAL)
    .union(IFlags::SYNC)
    .union(IFlags::UNRM);

/// Gives an empty file the flags that the owner of another has set.
pub(super) fn copy_flags(to: &std::fs::File, from: &File) -> io::Result<()> {
    let of_owner = |flags: IFlags| flags & FLAGS_OF_OWNER;
    // Some file systems have none.
    let Ok(wanted) = rustix::fs::ioctl_getflags(from).map(of_owner) else { return Ok(()) };
    let now = rustix::fs::ioctl_getflags(to)?;
    if of_owner(now) == wanted {
        return Ok(());
    }
    rustix::fs::ioctl_setflags(to, (now - FLAGS_OF_OWNER) | wanted)?;
    match of_owner(rustix::fs::ioctl_getflags(to)?) == wanted {
        true => Ok(()),
        false => Err(io::Error::other("the system sets other ones")),
    }
}

/// Flushes the file system of a directory.
pub(super) fn sync_volume(dir: BorrowedFd<'_>) -> Result<(), Errno> {
    rustix::fs::syncfs(dir)
}

/// Lists a directory from its beginning.
pub(super) fn entries(
    dir: BorrowedFd<'_>,
    f: &mut dyn FnMut(DirEntry<'_>) -> ControlFlow<()>,
) -> io::Result<()> {
    rustix::fs::seek(dir, SeekFrom::Start(0))?;
    // Taken out of its place, because `f` may list other directories on this thread.
    let mut buffer = LISTING.take().unwrap_or_else(|| Box::new_uninit_slice(LISTING_LENGTH));
    let outcome = entries_into(dir, &mut buffer, f);
    LISTING.set(Some(buffer));
    outcome
}

fn entries_into(
    dir: BorrowedFd<'_>,
    buffer: &mut [MaybeUninit<u8>],
    f: &mut dyn FnMut(DirEntry<'_>) -> ControlFlow<()>,
) -> io::Result<()> {
    let mut listing = RawDir::new(dir, buffer);
    let mut interrupts = 0;
    while let Some(entry) = listing.next() {
        let entry = match entry {
            Err(Errno::INTR) if interrupts < INTERRUPTS_MAX => {
                interrupts += 1;
                continue;
            }
            Err(Errno::INTR) => return Err(Errno::IO.into()),
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

/// Sets `O_DIRECT` on the open file.
///
/// All flags are known, so they are not read first. `O_NONBLOCK` has no meaning for reads of
/// regular files, and with it a ring refuses reads that have to wait, so it is left out.
pub(super) fn set_uncached(file: BorrowedFd<'_>) -> io::Result<()> {
    let set = |flags| rustix::fs::fcntl_setfl(file, flags);
    let outcome = match set(OFlags::DIRECT | NO_ACCESS_TIME) {
        Err(Errno::PERM) => set(OFlags::DIRECT),
        outcome => outcome,
    };
    match outcome {
        Err(Errno::INVAL) => {
            let reason = "the file system does not offer direct reads";
            Err(io::Error::new(io::ErrorKind::Unsupported, reason))
        }
        outcome => Ok(outcome?),
    }
}

/// Reads the alignment of direct reads from `statx`.
///
/// Source: `statx(2)`: zero alignments mean that direct reads are not supported on this file.
pub(super) fn direct_alignment(file: BorrowedFd<'_>) -> io::Result<Option<DirectAlignment>> {
    let facts = rustix::fs::statx(file, c"", AtFlags::EMPTY_PATH, StatxFlags::DIOALIGN)?;
    if facts.stx_mask & StatxFlags::DIOALIGN.bits() == 0 {
        let reason = "the system does not say whether reads can be direct";
        return Err(io::Error::new(io::ErrorKind::Unsupported, reason));
    }
    let alignment =
        DirectAlignment { memory: facts.stx_dio_mem_align, offset: facts.stx_dio_offset_align };
    Ok((alignment.offset != 0).then_some(alignment))
}

/// Writes the cached parts of a file or directory to the medium.
pub(super) fn flush(file: BorrowedFd<'_>) -> Result<Flush, Errno> {
    retry_on_intr(|| rustix::fs::fsync(file)).map(|()| Flush::Medium)
}

/// Changes nothing: there are no files that reading would fetch.
pub(super) fn allow_downloads(_: DownloadScope, _: bool) -> io::Result<()> {
    Ok(())
}

/// Does nothing: each file is opened so.
pub(super) fn keep_access_times() -> io::Result<()> {
    Ok(())
}

/// No error means that.
pub(super) fn is_contents_elsewhere(_: Errno) -> bool {
    false
}

/// Permissions are what they look like.
pub(super) fn advice(_: i32) -> Option<&'static str> {
    None
}

/// Reads the marks that `chattr` sets from `statx`.
pub(super) fn protection(file: BorrowedFd<'_>) -> io::Result<Option<Protection>> {
    let facts = rustix::fs::statx(file, c"", AtFlags::EMPTY_PATH, StatxFlags::empty())?;
    let marks = facts.stx_attributes;
    Ok(if marks.contains(StatxAttributes::IMMUTABLE) {
        Some(Protection::Immutable)
    } else if marks.contains(StatxAttributes::APPEND) {
        Some(Protection::AppendOnly)
    } else {
        None
    })
}

/// Returns the command of e2fsprogs, which works on all file systems.
pub(super) fn removed_by(protection: Protection) -> Option<&'static str> {
    match protection {
        Protection::Immutable => Some("chattr -i"),
        Protection::AppendOnly => Some("chattr -a"),
        Protection::System => None,
    }
}

/// Doubles the kernel's read-ahead for the file.
pub(super) fn advise_sequential(file: BorrowedFd<'_>) {
    let _ = rustix::fs::fadvise(file, 0, None, Advice::Sequential);
}

/// File systems that ask a server for a lease, which refuses it for reasons of its own.
///
/// Source: `linux/magic.h`: NFS, CIFS, SMB 2 and 9P.
const SERVED: [u32; 4] = [0x6969, 0xff53_4d42, 0xfe53_4d42, 0x0102_1997];

/// The command that sets which signal tells of the end of a lease.
///
/// Source: `asm-generic/fcntl.h`; the libc crate lacks it.
const F_SETSIG: libc::c_int = 10;

/// Takes a lease that ends when somebody opens the file to write to it. Returns false if this file
/// cannot have one.
///
/// Source: `fcntl(2)`, "Leases". The signal that tells of the end is one that is ignored unless a
/// program asks for it: `SIGIO`, the usual one, would end the process.
///
/// # Errors
/// `ResourceBusy` if somebody has it open so.
pub(super) fn take_read_lease(file: BorrowedFd<'_>) -> io::Result<bool> {
    let served = |magic| SERVED.contains(&(magic as u32));
    if rustix::fs::fstatfs(file).is_ok_and(|found| served(found.f_type)) {
        return Ok(false);
    }
    if fcntl(file, F_SETSIG, libc::SIGURG).is_err() {
        return Ok(false);
    }
    match fcntl(file, libc::F_SETLEASE, libc::F_RDLCK) {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
            Err(io::ErrorKind::ResourceBusy.into())
        }
        Err(_) => Ok(false),
    }
}

/// Says whether the lease still stands.
pub(super) fn has_read_lease(file: BorrowedFd<'_>) -> bool {
    fcntl(file, libc::F_GETLEASE, 0).is_ok_and(|kind| kind == libc::c_int::from(libc::F_RDLCK))
}

/// Ends a lease. One that cannot be ended ends with the file.
pub(super) fn give_lease_back(file: BorrowedFd<'_>) {
    let _ = fcntl(file, libc::F_SETLEASE, libc::F_UNLCK);
}

#[expect(unsafe_code, reason = "rustix has no leases")]
fn fcntl(
    file: BorrowedFd<'_>,
    command: libc::c_int,
    value: libc::c_int,
) -> io::Result<libc::c_int> {
    // SAFETY: `file` is open while it is borrowed, and these commands take a number, no pointer.
    let outcome = unsafe { libc::fcntl(file.as_raw_fd(), command, value) };
    if outcome < 0 { Err(io::Error::last_os_error()) } else { Ok(outcome) }
}

/// Names the file system by the table of mounts, otherwise by its magic number.
pub(super) fn file_system(file: BorrowedFd<'_>) -> io::Result<FileSystem> {
    let read_only = rustix::fs::fstatvfs(file)?.f_flag.contains(StatVfsMountFlags::RDONLY);
    let facts = rustix::fs::statx(file, c"", AtFlags::EMPTY_PATH, StatxFlags::MNT_ID).ok();
    let name = match facts.as_ref().and_then(mounts::mount_of) {
        Some(mount) => mount.file_system,
        None => magic_name(rustix::fs::fstatfs(file)?.f_type as u64),
    };
    Ok(FileSystem { name, read_only })
}

/// Says what change times prove on the file system of a file, by its magic number.
///
/// Measured on Linux 6 for ext4, XFS, Btrfs and tmpfs, where `crates/cli/tests/it/change_time.rs`
/// repeats it; ZFS keeps them as its on-disk format says. On tmpfs, writing through a mapping
/// moves no time. FAT and exFAT store no change time, and FUSE, network file systems and overlays
/// show what somebody else keeps.
pub(super) fn change_times(file: BorrowedFd<'_>) -> io::Result<ChangeTimes> {
    Ok(match magic_name(rustix::fs::fstatfs(file)?.f_type as u64).as_str() {
        "ext4" | "xfs" | "btrfs" | "zfs" => ChangeTimes::Prove,
        "tmpfs" => ChangeTimes::Miss,
        _ => ChangeTimes::Unknown,
    })
}

/// Returns the highest limit on open files that the system grants: the hard limit.
pub(super) fn open_files_ceiling(hard: u64) -> io::Result<u64> {
    Ok(hard)
}

/// Names a file system by its magic number.
///
/// Source: `statfs(2)` and `linux/magic.h`.
fn magic_name(magic: u64) -> String {
    let name = match magic {
        0xef53 => "ext4",
        0x9123_683e => "btrfs",
        0x5846_5342 => "xfs",
        0x0102_1994 => "tmpfs",
        0x4d44 => "vfat",
        0x2011_bab0 => "exfat",
        0x794c_7630 => "overlay",
        0x6573_5546 => "fuse",
        0x6969 => "nfs",
        0xff53_4d42 => "cifs",
        0xfe53_4d42 => "smb3",
        0x2fc1_2fc1 => "zfs",
        0xf2f5_2010 => "f2fs",
        0xca45_1a4e => "bcachefs",
        0x5346_544e => "ntfs",
        0x7366_746e => "ntfs3",
        0x4244 => "hfs",
        0x482b => "hfsplus",
        0x9660 => "iso9660",
        0x1501_3346 => "udf",
        0x7371_7368 => "squashfs",
        0xe0f5_e1e2 => "erofs",
        0x0102_1997 => "9p",
        0x00c3_6400 => "ceph",
        0x8584_58f6 => "ramfs",
        0x9fa0 => "proc",
        0x6265_6572 => "sysfs",
        _ => return format!("{magic:#x}"),
    };
    name.to_owned()
}

#[cfg(test)]
mod tests {
    use super::magic_name;

    #[test]
    fn an_unknown_magic_number_is_shown_in_hex() {
        assert_eq!(magic_name(0xef53), "ext4");
        assert_eq!(magic_name(0x1234_abcd), "0x1234abcd");
    }
}
