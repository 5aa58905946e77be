//! Entry → chunk: the contract of an engine, one way of moving a file's bytes into a buffer.
//!
//! In: an open file. Out: its bytes, in order of the caller's asking. Knows nothing of digests,
//! tags or threads.

pub mod buffered;
pub mod direct;
pub mod limited;
pub mod null;

use std::io;

pub use steadfast_sys::file::PositionedRead;
use steadfast_sys::file::{File, Status};

/// Where bytes came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Origin {
    /// Through the page cache: what is in memory may differ from what is on the medium.
    Cache,
    /// From the storage itself, past the page cache.
    Media,
}

/// One way of moving bytes.
///
/// An engine has no state of its own between calls; all threads of a run share one.
pub trait Engine: Send + Sync {
    /// Returns the name that flags, reports and records use.
    fn name(&self) -> &'static str;

    /// Prepares an open file for reading and says where its bytes will come from.
    ///
    /// # Errors
    /// If the file cannot be read this way and no honest other way remains.
    fn prepare(&self, file: &File, status: &Status) -> io::Result<Origin>;

    /// Says where the bytes came from, once all are read: where `prepare` said, or less than that.
    fn confirm(&self, _file: &File, _status: &Status, prepared: Origin) -> Origin {
        prepared
    }

    /// Reads at `offset` into `buffer` and returns the bytes read; 0 means end of file.
    ///
    /// Shape: `offset` and the buffer's start and length are multiples of [`Engine::alignment`].
    /// A read shorter than the buffer is the end of the file, or the next call starts there.
    ///
    /// # Errors
    /// Whatever the storage reports. Nothing is retried but an interrupted call.
    fn read_at(&self, file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize>;

    /// Carries out several reads, each as [`Engine::read_at`] would, and fills in their outcomes.
    fn read_many(&self, reads: &mut [PositionedRead<'_>]) {
        for read in reads {
            read.outcome = self.read_at(read.file, read.buffer, read.offset);
        }
    }

    /// Returns how many reads one thread keeps in flight: 1 for an engine that carries them out one
    /// after another.
    fn in_flight(&self) -> usize {
        1
    }

    /// Returns the alignment of buffers and offsets, in bytes, a power of two.
    fn alignment(&self) -> usize;

    /// Returns the most bytes that are read in a second, if there is such a limit.
    fn bytes_per_s_max(&self) -> Option<u64> {
        None
    }

    /// Says whether the bytes are made up. No verb that judges or tags takes such an engine.
    fn invents(&self) -> bool {
        false
    }

    /// Returns what the reader of a report should know of how the reading went, if anything.
    fn notice(&self) -> Option<String> {
        None
    }
}
