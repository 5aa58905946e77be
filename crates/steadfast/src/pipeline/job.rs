//! What the schedule hands to the threads of the pipeline, and what they return.

use std::sync::Arc;

use steadfast_digest::Lanes;
use steadfast_sys::file::{AlignedBuffer, File, Status};

use super::outcome::{Algorithms, FileHasher, Outcome};
use crate::cost::JobTime;
use crate::event::FileEvent;
use crate::walk::Entry;

/// An entry on its way to a buffer.
pub(super) enum Item {
    /// Found by the walk.
    Found(u64, Entry),
    /// Opened, but there was no room for its bytes.
    Opened(Box<Opened>, Box<FileEvent>),
}

/// An open file whose contents are needed.
pub(super) struct Opened {
    pub(super) number: u64,
    pub(super) file: File,
    pub(super) status: Status,
    /// `None` if it is only read.
    pub(super) algorithms: Option<Algorithms>,
}

/// Small files in one buffer.
pub(super) struct Batch {
    pub(super) buffer: AlignedBuffer,
    pub(super) files: Vec<Small>,
}

/// One whole file in a batch's buffer.
pub(super) struct Small {
    pub(super) opened: Box<Opened>,
    pub(super) event: Box<FileEvent>,
    pub(super) start: usize,
    pub(super) len: usize,
}

impl Small {
    pub(super) fn bytes(&self) -> u64 {
        self.len as u64
    }
}

/// The hashing state of a large file between its chunks; one thread at a time has it.
pub(super) struct Running {
    pub(super) hasher: FileHasher,
    pub(super) event: Box<FileEvent>,
}

/// Why a large file is not hashed to its end.
pub(super) enum Broken {
    Failed(Box<Outcome>),
    Shorter,
}

/// A job of a thread.
pub(super) enum Job {
    /// Open entries; read small files into the buffer, return large ones.
    Fill { items: Vec<Item>, buffer: AlignedBuffer },
    /// Read chunks of large files.
    Ahead { wanted: Vec<ChunkWanted> },
    /// Hash small files and chunks of large ones together.
    Hash { batch: Option<Batch>, chunks: Vec<Chunk> },
    /// Find out which lanes are fastest.
    TryLanes,
    /// Finish a large file that could not be read to its end.
    GiveUp { opened: Arc<Opened>, running: Running, why: Broken },
}

/// One chunk of a large file, read, and the next to be hashed.
pub(super) struct Chunk {
    pub(super) opened: Arc<Opened>,
    pub(super) running: Running,
    pub(super) buffer: AlignedBuffer,
    pub(super) len: usize,
    pub(super) last: bool,
    /// Time that reading took, of this chunk and of earlier ones not yet counted.
    pub(super) read_ns: u64,
}

/// One read of [`Job::Ahead`].
pub(super) struct ChunkWanted {
    pub(super) opened: Arc<Opened>,
    pub(super) offset: u64,
    pub(super) len: usize,
    pub(super) buffer: AlignedBuffer,
}

/// The same read, finished.
pub(super) struct ChunkRead {
    pub(super) opened: Arc<Opened>,
    pub(super) offset: u64,
    pub(super) buffer: Result<AlignedBuffer, (AlignedBuffer, Broken)>,
    pub(super) elapsed_ns: u64,
}

/// The results of a job.
#[derive(Default)]
pub(super) struct Done {
    pub(super) was_fill: bool,
    pub(super) chunk_buffers: Vec<AlignedBuffer>,
    pub(super) batch_buffer: Option<AlignedBuffer>,
    pub(super) batch: Option<Batch>,
    pub(super) large: Vec<(Arc<Opened>, Running)>,
    pub(super) returned: Vec<Item>,
    pub(super) read: Vec<ChunkRead>,
    pub(super) running: Vec<(Arc<Opened>, Running)>,
    pub(super) hashed: Vec<Arc<Opened>>,
    /// The time that reading took, and how much of it was waiting.
    pub(super) reading: Option<JobTime>,
    /// The lanes to use from now on.
    pub(super) lanes: Option<Lanes>,
}

impl Done {
    /// Returns the total length of the files that were opened for reading, in bytes.
    pub(super) fn bytes_opened(&self) -> u64 {
        let small = self.batch.iter().flat_map(|batch| &batch.files).map(Small::bytes);
        let large = self.large.iter().map(|(opened, _)| opened.status.length);
        small.chain(large).fold(0, u64::saturating_add)
    }
}
