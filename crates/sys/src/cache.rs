//! The page cache: an open file in; how much of it is in memory out.
//!
//! It tells from where a read would be served. It does not read the file, and it does not decide
//! what to make of the answer.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "macos")]
mod macos;
mod mapping;

use std::io;
use std::os::fd::AsFd;

#[cfg(target_os = "linux")]
use linux as platform;
#[cfg(target_os = "macos")]
use macos as platform;

use crate::file::File;

/// Returns how many of the first `length` bytes of a file are in the page cache.
///
/// Counted in pages, of which the last one counts no further than `length`. The answer is of one
/// moment and may be stale by the time it is returned.
///
/// Linux: `cachestat(2)`, before 6.5 and on an overlay `mincore(2)`. macOS: `mincore(2)`.
///
/// # Errors
/// `PermissionDenied` for a file of another user, about which Linux may not tell the truth;
/// `Unsupported` when the file system has no page cache.
pub fn cached_bytes(file: &File, length: u64) -> io::Result<u64> {
    if length == 0 {
        return Ok(0);
    }
    platform::cached_bytes(file.as_fd(), length)
}

/// Drops a file from the page cache, after writing out what of it is still unwritten. For tests
/// and for measuring: a check has no business evicting what others cached.
///
/// Pages others have mapped stay; [`cached_bytes`] tells.
///
/// # Errors
/// `Unsupported` on macOS, otherwise whatever the system says.
pub fn drop_cached(file: &File) -> io::Result<()> {
    platform::drop_cached(file.as_fd())
}
