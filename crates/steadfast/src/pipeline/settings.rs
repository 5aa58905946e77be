//! The sizes of a pipeline: threads, buffers, lengths, files under way.
//!
//! Takes the processors, workers and lanes, and the limit of open files. Returns [`Settings`].

use std::time::Instant;

use steadfast_digest::Lanes;
use steadfast_sys::file::AlignedBuffer;
use steadfast_sys::qos::Level;

/// The most memory for chunks of large files, and for batches of small ones, in bytes. It is
/// exceeded only if there are so many workers that each has a single chunk.
const CHUNKS_LEN_BYTES_MAX: usize = 24 << 20;
const BATCHES_LEN_BYTES_MAX: usize = 12 << 20;

/// The sizes of a pipeline. They determine all its memory before the first read.
#[derive(Clone, Copy, Debug)]
// Over 15 fields: each is one size, and all are derived together.
pub(crate) struct Settings {
    /// Processors that the process may use.
    pub(crate) processors: usize,
    /// Threads that hash.
    pub(crate) workers: usize,
    /// Additional threads that only read, and only while reading waits for storage.
    pub(crate) readers: usize,
    /// Bytes of a large file that one read fetches; fewer while `many` are under way.
    pub(crate) chunk_len: usize,
    pub(crate) short_len: usize,
    pub(crate) many: usize,
    /// Buffers for chunks.
    pub(crate) chunks: usize,
    /// Bytes of small files that are read and hashed together.
    pub(crate) batch_len: usize,
    /// Buffers for batches.
    pub(crate) batches: usize,
    /// Large files under way at a time.
    pub(crate) large: usize,
    /// Chunks that one thread reads at a time while reading waits for storage.
    pub(crate) reads: usize,
    /// The most small files in one batch, because each keeps its file open.
    pub(crate) batch_files: usize,
    /// The most entries that wait to be opened, because each may keep its directory open.
    pub(crate) items: usize,
    /// Files that may be open.
    pub(crate) open_files: usize,
    /// Entries that the walk passes on at a time.
    pub(crate) bunch_len: usize,
    /// The most large files that are open and wait for a place.
    pub(crate) waiting: usize,
    /// Entries that may be begun or finished ahead of the oldest unfinished one.
    pub(crate) window: u64,
    /// Reading jobs at a time. One means a rotating disk: waiting entries are then read in the
    /// order of their inodes.
    pub(crate) queue_depth: usize,
    /// The level of all threads.
    pub(crate) qos: Level,
    /// The time at which the run ends, finished or not.
    pub(crate) deadline: Option<Instant>,
    /// Whether contents that are not on this machine are downloaded.
    pub(crate) downloads: bool,
    /// Whose attributes are read for the catalogue, while the file is open.
    pub(crate) attributes: AttributesOf,
}

/// The files whose attributes the catalogue is expected to lack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AttributesOf {
    None,
    /// Those whose tags the run writes or removes.
    Tagged,
    All,
}

impl Settings {
    /// Derives the sizes from the number of workers, their lanes, and the files that may be open.
    pub(crate) fn new(
        processors: usize,
        workers: usize,
        lanes: Lanes,
        open_files: u64,
        qos: Level,
    ) -> Settings {
        let chunk_len = if workers > 16 { 64 << 10 } else { 256 << 10 };
        let readers = (4 * workers).clamp(4, 16);
        // Of the open files, an eighth is for the directories of waiting entries, an eighth for
        // directories on the walk's path and for other uses, the rest for files.
        let open_files = usize::try_from(open_files).unwrap_or(usize::MAX).min(1 << 16);
        let items = (open_files / 16).clamp(8, 256);
        let waiting = (open_files / 32).clamp(2, 128);
        let settings = Settings {
            processors,
            workers,
            readers,
            chunk_len,
            short_len: chunk_len.min(64 << 10),
            many: 6 * workers,
            chunks: 0,
            batch_len: 0,
            batches: 2 * workers + readers.min(workers),
            large: 0,
            reads: 1,
            batch_files: 1,
            items,
            open_files,
            bunch_len: items / 4,
            waiting,
            window: 16_384,
            queue_depth: usize::MAX,
            qos,
            deadline: None,
            downloads: false,
            attributes: AttributesOf::None,
        };
        settings.with_lanes(lanes)
    }

    /// Adapts the lengths of chunks and batches to these lanes.
    pub(super) fn with_lanes(self, lanes: Lanes) -> Settings {
        let Settings { workers, readers, chunk_len, batches, waiting, .. } = self;
        // What is hashed together should fit a second-level cache, so at most a megabyte.
        let batch_len = if lanes.count() > 4 { 1 << 20 } else { 256 << 10 };
        let batch_len = (BATCHES_LEN_BYTES_MAX / batches).min(batch_len).max(2 << 16);
        let chunks_max = CHUNKS_LEN_BYTES_MAX / chunk_len;
        let large = (workers * lanes.count()).min(chunks_max / 3).max(workers);
        let fills = workers + readers;
        let files = (3 * self.open_files / 4).saturating_sub(large + waiting * (1 + fills));
        Settings {
            chunks: 3 * large,
            batch_len: batch_len.next_multiple_of(AlignedBuffer::ALIGNMENT),
            large,
            // A batch keeps its files open, and each entry about to be opened keeps its directory
            // open.
            batch_files: (files / (batches + 2 * fills)).clamp(1, 256),
            ..self
        }
    }

    /// Limits the reading jobs at a time.
    pub(crate) fn with_queue_depth(self, queue_depth: usize) -> Settings {
        // A rotating disk is read in inode order, so it needs a longer queue.
        let bunch_len = if queue_depth == 1 { self.items } else { self.bunch_len };
        let readers = self.readers.min(queue_depth);
        Settings { queue_depth, bunch_len, readers, ..self }
    }
}
