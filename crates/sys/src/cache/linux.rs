//! The page cache on Linux: `cachestat`, and `fadvise` to drop.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

use rustix::fs::Advice;

use super::mapping;

/// The number of `cachestat` on every architecture with the common system-call table.
///
/// Source: `asm-generic/unistd.h`, since Linux 6.5.
const SYS_CACHESTAT: libc::c_long = 451;

/// The magic number of overlayfs.
///
/// Source: `linux/magic.h`.
const OVERLAY: u64 = 0x794c_7630;

/// The range of a file to count.
///
/// Source: `linux/mman.h`, `struct cachestat_range`.
#[repr(C)]
struct CachestatRange {
    offset: u64,
    length: u64,
}

/// The answer, counted in pages.
///
/// Source: `linux/mman.h`, `struct cachestat`.
#[repr(C)]
#[derive(Default)]
struct CachestatCounts {
    cached: u64,
    dirty: u64,
    writeback: u64,
    evicted: u64,
    recently_evicted: u64,
}

/// Counts resident bytes; the length is not 0.
pub(super) fn cached_bytes(file: BorrowedFd<'_>, length: u64) -> io::Result<u64> {
    match cached_pages(file, length) {
        // An overlay caches nothing itself. Its pages belong to the file beneath, which only a
        // mapping reaches. On Linux 6.18, `cachestat` gave 0 of 1,000,003 bytes just written.
        Ok(0) if rustix::fs::fstatfs(file)?.f_type as u64 == OVERLAY => {
            require_owner(file)?;
            mapping::resident_bytes(file, length)
        }
        Ok(pages) => {
            let bytes = pages.saturating_mul(rustix::param::page_size() as u64);
            Ok(bytes.min(length))
        }
        // An older kernel has no such call, and a container may refuse it.
        Err(error) if matches!(error.raw_os_error(), Some(libc::ENOSYS | libc::EPERM)) => {
            require_owner(file)?;
            mapping::resident_bytes(file, length)
        }
        Err(error) => Err(error),
    }
}

/// Drops the pages of a file. They are written first, because dirty pages would stay.
pub(super) fn drop_cached(file: BorrowedFd<'_>) -> io::Result<()> {
    rustix::fs::fdatasync(file)?;
    Ok(rustix::fs::fadvise(file, 0, None, Advice::DontNeed)?)
}

/// Asks `cachestat` for the number of resident pages.
#[expect(unsafe_code, reason = "rustix has no form of cachestat")]
fn cached_pages(file: BorrowedFd<'_>, length: u64) -> io::Result<u64> {
    let span = CachestatRange { offset: 0, length };
    let mut counts = CachestatCounts::default();
    // SAFETY: `span` and `counts` have the layout the kernel reads and writes and outlive the
    // call; `file` is open while borrowed.
    let code = unsafe {
        libc::syscall(SYS_CACHESTAT, file.as_raw_fd(), &raw const span, &raw mut counts, 0)
    };
    if code == 0 { Ok(counts.cached) } else { Err(io::Error::last_os_error()) }
}

/// Refuses a file of another user, for which `mincore` reports that all pages are resident.
///
/// Source: `mincore(2)`, since Linux 5.2.
fn require_owner(file: BorrowedFd<'_>) -> io::Result<()> {
    let user = rustix::process::geteuid();
    if user.is_root() || rustix::fs::fstat(file)?.st_uid == user.as_raw() {
        return Ok(());
    }
    let reason = "the system tells only a file's owner what of it is cached";
    Err(io::Error::new(io::ErrorKind::PermissionDenied, reason))
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::os::fd::AsFd;

    use super::{cached_bytes, drop_cached, mapping};

    #[test]
    fn both_ways_of_counting_agree() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&vec![7; 100_001]).unwrap();
        let file = file.as_fd();
        assert_eq!(cached_bytes(file, 100_001).unwrap(), 100_001);
        assert_eq!(mapping::resident_bytes(file, 100_001).unwrap(), 100_001);
        drop_cached(file).unwrap();
        let counted = cached_bytes(file, 100_001).unwrap();
        assert_eq!(mapping::resident_bytes(file, 100_001).unwrap(), counted);
    }
}
