//! Entry → chunk: the interface of an engine, one way of reading a file's bytes into a buffer.
//!
//! In: an open file. Out: its bytes, in the order of the calls. Knows nothing of digests, tags or
//! threads.

pub mod buffered;
pub mod direct;
pub mod limited;
pub mod null;

use std::io;

pub use steadfast_sys::file::PositionedRead;
use steadfast_sys::file::{File, Status};
use strum::{EnumString, IntoStaticStr};

/// Where bytes were read from.
#[derive(Clone, Copy, Debug, EnumString, IntoStaticStr, PartialEq, Eq, Hash)]
#[strum(serialize_all = "lowercase")]
pub enum Origin {
    /// Through the page cache: the contents in memory may differ from those on the medium.
    Cache,
    /// From the storage itself, past the page cache.
    Media,
}

impl Origin {
    /// Returns the name in lower case, as in JSON.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// One way of reading bytes.
///
/// An engine has no state of its own between calls; all threads of a run share one.
pub trait Engine: Send + Sync {
    /// Returns the name that flags, reports and records use.
    fn name(&self) -> &'static str;

    /// Prepares an open file for reading and returns where its bytes will be read from.
    ///
    /// # Errors
    /// If the file can be read neither this way nor in another way that is reported correctly.
    fn prepare(&self, file: &File, status: &Status) -> io::Result<Origin>;

    /// Returns where the bytes were read from, once all are read: the prepared origin, or a weaker
    /// one.
    fn confirm(&self, _file: &File, _status: &Status, prepared: Origin) -> Origin {
        prepared
    }

    /// Reads at `offset` into `buffer` and returns the bytes read; 0 means end of file.
    ///
    /// Shape: `offset` and the buffer's start and length are multiples of [`Engine::alignment`].
    /// After a read shorter than the buffer, the file has ended, or the next call starts there.
    ///
    /// # Errors
    /// If the storage reports an error. Only interrupted calls are retried.
    fn read_at(&self, file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize>;

    /// Carries out several reads, each as [`Engine::read_at`] would, and fills in their results.
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

    /// Returns the rate limit in bytes per second, if there is one.
    fn bytes_per_s_max(&self) -> Option<u64> {
        None
    }

    /// Returns whether the bytes are made up. No verb that judges or tags accepts such an engine.
    fn invents(&self) -> bool {
        false
    }

    /// Returns a notice about how the files were read, if one is needed.
    fn notice(&self) -> Option<String> {
        None
    }
}
