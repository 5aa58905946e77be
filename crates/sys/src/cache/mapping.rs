//! Counts resident bytes of a file with `mincore`; on macOS, also drops them with `msync`.
//!
//! The file is mapped one window at a time. No byte is read through the mapping, so a failing disk
//! cannot raise a signal.

use std::io;
use std::os::fd::BorrowedFd;
use std::ptr::{self, NonNull};

use rustix::mm::{MapFlags, ProtFlags};

/// Pages of a window; with 4 KiB pages, 128 MiB.
const WINDOW_PAGES: usize = 32 * 1024;

/// The bit that says a page is resident.
///
/// Source: `mincore(2)` on Linux; `MINCORE_INCORE` in `sys/mman.h` on macOS.
const RESIDENT: u8 = 1;

/// Counts the resident bytes among the first `length`, the last page no further than that.
pub(super) fn resident_bytes(file: BorrowedFd<'_>, length: u64) -> io::Result<u64> {
    let page = rustix::param::page_size() as u64;
    let mut states = vec![0; length.div_ceil(page).min(WINDOW_PAGES as u64) as usize];
    let mut resident = 0;
    for (offset, span) in windows(length) {
        let states = &mut states[..span.div_ceil(page) as usize];
        MappedWindow::map(file, offset, span as usize)?.states(states)?;
        let mut left = span;
        for state in states {
            if *state & RESIDENT != 0 {
                resident += left.min(page);
            }
            left = left.saturating_sub(page);
        }
    }
    Ok(resident)
}

/// Drops the pages of the first `length` bytes. A page that is still to be written is written.
#[cfg(target_os = "macos")]
pub(super) fn invalidate(file: BorrowedFd<'_>, length: u64) -> io::Result<()> {
    windows(length)
        .try_for_each(|(offset, span)| MappedWindow::map(file, offset, span as usize)?.invalidate())
}

/// Cuts a length into windows: offset and length of each.
fn windows(length: u64) -> impl Iterator<Item = (u64, u64)> {
    let window_length = rustix::param::page_size() as u64 * WINDOW_PAGES as u64;
    let offsets = (0..length.div_ceil(window_length)).map(move |number| number * window_length);
    offsets.map(move |offset| (offset, window_length.min(length - offset)))
}

/// A mapped part of a file. Dropping it unmaps it.
struct MappedWindow {
    start: NonNull<std::ffi::c_void>,
    length: usize,
}

impl MappedWindow {
    /// Maps a part of a file. The offset is a multiple of the page size.
    #[expect(unsafe_code, reason = "mapping has no safe form")]
    fn map(file: BorrowedFd<'_>, offset: u64, length: usize) -> io::Result<Self> {
        // SAFETY: the address is left to the system, so no memory in use is replaced.
        let start = unsafe {
            rustix::mm::mmap(
                ptr::null_mut(),
                length,
                ProtFlags::READ,
                MapFlags::SHARED,
                file,
                offset,
            )
        }?;
        let start = NonNull::new(start).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Self { start, length })
    }

    /// Reads which pages are resident, one state per page.
    ///
    /// # Panics
    /// If there is not one state for every page.
    #[expect(unsafe_code, reason = "rustix has no form of mincore")]
    fn states(&self, states: &mut [u8]) -> io::Result<()> {
        assert_eq!(states.len(), self.length.div_ceil(rustix::param::page_size()));
        // SAFETY: `map` mapped `length` bytes from `start`; the line above established that
        // `states` has a byte for every page of them.
        let code =
            unsafe { libc::mincore(self.start.as_ptr(), self.length, states.as_mut_ptr().cast()) };
        if code == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }

    /// Has the kernel write and drop the pages of the window: in a shared mapping of a file, those
    /// are the pages of the cache.
    #[cfg(target_os = "macos")]
    #[expect(unsafe_code, reason = "invalidating a mapping has no safe form")]
    fn invalidate(&self) -> io::Result<()> {
        let flags = rustix::mm::MsyncFlags::SYNC | rustix::mm::MsyncFlags::INVALIDATE;
        // SAFETY: `map` mapped `length` bytes from `start`. Nothing is read through the mapping, so
        // no reference sees the pages change.
        Ok(unsafe { rustix::mm::msync(self.start.as_ptr(), self.length, flags) }?)
    }
}

impl Drop for MappedWindow {
    #[expect(unsafe_code, reason = "unmapping has no safe form")]
    fn drop(&mut self) {
        // SAFETY: `map` mapped exactly this span and no pointer into it is left.
        let _ = unsafe { rustix::mm::munmap(self.start.as_ptr(), self.length) };
    }
}
