//! The page cache on macOS: `mincore` to count, nothing to drop.
//!
//! It knows no more than the kernel tells about one descriptor.

use std::io;
use std::os::fd::BorrowedFd;

use super::mapping;

/// Counts resident bytes; the length is not 0.
pub(super) fn cached_bytes(file: BorrowedFd<'_>, length: u64) -> io::Result<u64> {
    mapping::resident_bytes(file, length)
}

/// Refuses: macOS offers only to purge every cache of the machine, to root.
pub(super) fn drop_cached(_file: BorrowedFd<'_>) -> io::Result<()> {
    let reason = "macOS cannot drop one file from its cache";
    Err(io::Error::new(io::ErrorKind::Unsupported, reason))
}
