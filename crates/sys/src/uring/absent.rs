//! The ring on systems that have none.

use std::io;

use crate::file::PositionedRead;

pub(super) const EXISTS: bool = false;

/// A queue that cannot be made.
pub(super) enum RingQueue {}

impl RingQueue {
    /// Refuses: a thread has one read in flight.
    pub(super) fn new(_depth: u32) -> io::Result<Self> {
        let reason = "the system has no rings";
        Err(io::Error::new(io::ErrorKind::Unsupported, reason))
    }

    /// Cannot be called, because no queue can be made.
    pub(super) fn read_all(&mut self, _reads: &mut [PositionedRead<'_>]) {
        match *self {}
    }
}
