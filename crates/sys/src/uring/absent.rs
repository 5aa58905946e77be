//! Several reads in flight where no ring is to be had.
//!
//! It knows only how to say so.

use std::io;

use crate::file::PositionedRead;

/// A queue that cannot be made.
pub(super) enum RingQueue {}

impl RingQueue {
    /// Refuses: a thread has one read in flight.
    pub(super) fn new(_depth: u32) -> io::Result<Self> {
        let reason = "the system has no rings";
        Err(io::Error::new(io::ErrorKind::Unsupported, reason))
    }

    /// Cannot be called, for want of a queue.
    pub(super) fn read_all(&mut self, _reads: &mut [PositionedRead<'_>]) {
        match *self {}
    }
}
