//! The page cache on macOS: `mincore` to count. It has no call to drop one file.

use std::io;
use std::os::fd::BorrowedFd;

use super::mapping;

/// Counts resident bytes; the length is not 0.
pub(super) fn cached_bytes(file: BorrowedFd<'_>, length: u64) -> io::Result<u64> {
    mapping::resident_bytes(file, length)
}

/// Refuses: macOS only lets root purge every cache of the machine.
pub(super) fn drop_cached(_file: BorrowedFd<'_>) -> io::Result<()> {
    let reason = "macOS cannot drop one file from its cache";
    Err(io::Error::new(io::ErrorKind::Unsupported, reason))
}
