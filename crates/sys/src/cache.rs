//! The page cache: how much of an open file is in memory, and dropping it from there.

#[cfg_attr(target_os = "linux", path = "cache/linux.rs")]
#[cfg_attr(target_os = "macos", path = "cache/macos.rs")]
mod platform;
mod mapping;

use std::io;
use std::os::fd::AsFd;

use crate::file::File;

/// Returns how many of the first `length` bytes of a file are in the page cache.
///
/// Counts pages; the last one counts up to `length`. The answer may be outdated when it is
/// returned.
///
/// Linux: `cachestat(2)`, before 6.5 and on an overlay `mincore(2)`. macOS: `mincore(2)`.
///
/// # Errors
/// `PermissionDenied` for a file of another user, for which Linux may give a wrong answer;
/// `Unsupported` if the file system has no page cache.
pub fn cached_bytes(file: &File, length: u64) -> io::Result<u64> {
    if length == 0 {
        return Ok(0);
    }
    platform::cached_bytes(file.as_fd(), length)
}

/// Writes the unwritten parts of a file and drops it from the page cache. For tests and for
/// measuring: a check must not evict what other programs cached.
///
/// Pages that other programs have mapped may stay; [`cached_bytes`] counts them.
///
/// # Errors
/// Whatever the system says.
pub fn drop_cached(file: &File) -> io::Result<()> {
    platform::drop_cached(file.as_fd())
}
