//! The page cache on macOS: `mincore` to count, `msync` to drop.

use std::io;
use std::os::fd::BorrowedFd;

use super::mapping;

/// Counts resident bytes; the length is not 0.
pub(super) fn cached_bytes(file: BorrowedFd<'_>, length: u64) -> io::Result<u64> {
    mapping::resident_bytes(file, length)
}

/// Writes what is unwritten and invalidates every page.
pub(super) fn drop_cached(file: BorrowedFd<'_>) -> io::Result<()> {
    let length = u64::try_from(rustix::fs::fstat(file)?.st_size).unwrap_or(0);
    match rustix::fs::fsync(file) {
        Ok(()) => mapping::invalidate(file, length),
        Err(error) => Err(error.into()),
    }
}
