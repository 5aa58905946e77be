//! Several reads in flight from one thread, with `io_uring` on Linux.
//!
//! Reads the same bytes as `pread`, into the same buffers. The caller decides how many reads are in
//! flight, and what to do without a ring.

// The bindings support only these processors. Elsewhere there is no ring, as on macOS.
#[cfg_attr(
    all(target_os = "linux", target_pointer_width = "64", target_endian = "little"),
    path = "uring/linux.rs"
)]
#[cfg_attr(
    not(all(target_os = "linux", target_pointer_width = "64", target_endian = "little")),
    path = "uring/absent.rs"
)]
mod platform;

use std::fmt;
use std::io;

use crate::file::PositionedRead;

/// Whether this system has rings at all, so that lacking one is worth a word.
pub const EXISTS: bool = platform::EXISTS;

/// The queue of reads of one thread.
///
/// No read is in flight between calls, so the kernel never writes to a buffer that the caller can
/// use.
pub struct Ring {
    queue: platform::RingQueue,
    depth: u32,
}

impl Ring {
    /// Makes a queue of this many reads.
    ///
    /// # Errors
    /// `Unsupported` on macOS, on Linux before 5.6 and on 32-bit or big-endian processors;
    /// `PermissionDenied` in most containers, and where `kernel.io_uring_disabled` is set;
    /// otherwise the error of the system.
    ///
    /// # Panics
    /// If the depth is not a power of two.
    pub fn new(depth: u32) -> io::Result<Self> {
        assert!(depth.is_power_of_two(), "a ring's depth is a power of two");
        Ok(Self { queue: platform::RingQueue::new(depth)?, depth })
    }

    /// Carries out all reads, up to the depth of the queue at a time, and fills in their outcomes.
    ///
    /// Outcomes are those of [`crate::file::File::read_at`], except that interrupted reads are not
    /// repeated. `Unsupported` means that the ring did not accept the read and will accept no more.
    pub fn read_all(&mut self, reads: &mut [PositionedRead<'_>]) {
        for reads in reads.chunks_mut(self.depth as usize) {
            self.queue.read_all(reads);
        }
    }
}

impl fmt::Debug for Ring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ring").field("depth", &self.depth).finish_non_exhaustive()
    }
}
