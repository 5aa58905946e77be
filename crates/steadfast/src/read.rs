//! Entry → chunk: the contract of an engine, one way of moving a file's bytes into a buffer.
//!
//! In: an open file. Out: its bytes, in order of the caller's asking. Knows nothing of digests,
//! tags or threads.

pub mod buffered;
pub mod direct;

use std::io;

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

    /// Reads at `offset` into `buffer` and returns the bytes read; 0 means end of file.
    ///
    /// Shape: `offset` and the buffer's start and length are multiples of [`Engine::alignment`].
    /// A read shorter than the buffer is the end of the file, or the next call starts there.
    ///
    /// # Errors
    /// Whatever the storage reports. Nothing is retried but an interrupted call.
    fn read_at(&self, file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize>;

    /// Returns the alignment of buffers and offsets, in bytes, a power of two.
    fn alignment(&self) -> usize;
}
