//! Several reads in flight from one thread: reads in, outcomes out.
//!
//! Linux: `io_uring`. It moves the bytes that `pread` would move, into the same buffers; it does
//! not decide how many reads are worth having in flight, nor what to do where there is no ring.

// The bindings are for these processors alone. Elsewhere there is no ring, as on macOS.
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

/// Holds one thread's queue of reads.
///
/// Nothing is in flight between calls: the kernel never has a buffer that the caller can touch.
pub struct Ring {
    queue: platform::RingQueue,
    depth: u32,
}

impl Ring {
    /// Makes a queue of this many reads.
    ///
    /// # Errors
    /// Whatever the system says. It is refused by macOS, by Linux before 5.6 and on 32-bit or
    /// big-endian processors (`Unsupported`), by most containers, and where
    /// `kernel.io_uring_disabled` says so (`PermissionDenied`).
    ///
    /// # Panics
    /// If the depth is not a power of two.
    pub fn new(depth: u32) -> io::Result<Self> {
        assert!(depth.is_power_of_two(), "a ring's depth is a power of two");
        Ok(Self { queue: platform::RingQueue::new(depth)?, depth })
    }

    /// Carries out all reads, as many at a time as the queue is deep, and fills in their outcomes.
    ///
    /// An outcome is what [`crate::file::File::read_at`] would return, but that an interrupted read
    /// is not repeated. `Unsupported` means that the ring did not take the read, and will take
    /// none again.
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
