//! The two files of a queue, and the threads that read and write them.
//!
//! Reads go to one file and writes to the other, both past the page cache. All bytes are compared
//! with what was written, before and after.

use std::fs;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use steadfast_sys::clock;
use steadfast_sys::file::{AlignedBuffer, File};

use super::written::{self, WrittenPages};
use super::{QueueCombination, QueueWork};
use crate::contents::{CHUNK_LEN_BYTES, TestBytes};
use crate::error::Error;
use crate::latencies::LatencyHistogram;
use crate::random::Random;
use crate::record::{Cache, Order, Sample};
use crate::runner::{End, Session};
use crate::scratch::Scratch;
use crate::workload::storage::folder::OwnFolder;
use crate::workload::storage::plan::PlannedFile;

/// The number of the file that is read.
const FILE: u32 = 0;

/// Other files in the same folder have numbers from this one on.
pub(in crate::workload) const OTHER_FILES: u32 = written::FILE + 1;

/// Reads among a hundred operations of a mix, as CrystalDiskMark has them.
const MIX_READS_PERCENT: u64 = 70;

/// The most that is written in a second of a round, in bytes. The round ends earlier on drives that
/// write more, so it is known before how much is written at most.
pub(super) const WRITTEN_BYTES_PER_S_MAX: u64 = 1_000_000_000;

/// The files of a queue in one folder.
pub(in crate::workload) struct QueueFiles {
    planned: PlannedFile,
    seed: u64,
    file: File,
    /// The file that is written to, if any is.
    target: Option<fs::File>,
    /// Where reads come from, as far as the file system says.
    pub(in crate::workload) cache: Cache,
}

impl QueueFiles {
    /// Makes the files with all their bytes.
    ///
    /// # Errors
    /// If they cannot be written or opened, or it was stopped.
    pub(in crate::workload) fn make(
        session: &mut Session<'_>,
        folder: &OwnFolder,
        contents: &mut TestBytes,
        (length, seed, writes): (u64, u64, bool),
    ) -> Result<QueueFiles, End> {
        session.doing("preparing a file to read")?;
        let scratch = &folder.scratch;
        let planned = PlannedFile { number: FILE, set: 0, length };
        folder.write(session, contents, planned, true, |_| {})?;
        folder.compare(session, contents, planned, &mut AlignedBuffer::new(CHUNK_LEN_BYTES))?;
        let opened = |error| folder.failed("open a file past the page cache", error);
        let file = scratch.open(FILE).map_err(opened)?;
        let target = writes.then(|| target(scratch, length, seed)).transpose();
        let target = target.map_err(|error| folder.failed("write a file", error))?;
        folder.site.empty_caches(&file, length);
        let cache = uncached(&file);
        if cache != Cache::Direct {
            session.warn("queue: the file system reads through the page cache whatever is asked");
        }
        Ok(QueueFiles { planned, seed, file, target, cache })
    }

    /// Reads or writes for a set time. `None` if no request ended, or it was interrupted.
    pub(in crate::workload) fn sample(
        &self,
        session: &Session<'_>,
        folder: &OwnFolder,
        cell: QueueCombination,
        (round, span, seed): (u32, Duration, u64),
    ) -> Result<Option<Sample>, Error> {
        if self.cache != Cache::Direct {
            folder.site.empty_caches(&self.file, self.planned.length);
        }
        let threads = QueueThreads {
            files: self,
            cell,
            blocks: self.planned.length / cell.block_len,
            span_ns: span.as_nanos() as u64,
            written_max: cell.written_blocks_max(span),
            written: AtomicU64::new(0),
            next: AtomicU64::new(0),
            stop: session.stop_flag(),
        };
        let (timed, all) = session.time(|| threads.run(seed));
        let latencies = all.map_err(|error| folder.failed("read a file", error))?.latencies();
        let reads: u64 = latencies.buckets.iter().map(|(_, count)| count).sum();
        // An interrupted round is no sample: its threads end at different times.
        let whole = reads > 0 && !session.stop_flag().load(Ordering::Relaxed);
        let sample = || Sample { latencies: Some(latencies), ..timed.sample(round, reads) };
        Ok(whole.then(sample))
    }

    /// Checks that both files have their bytes, and every write is where it belongs.
    ///
    /// # Errors
    /// If they do not, cannot be read, or it was stopped.
    pub(in crate::workload) fn verify(
        self,
        session: &Session<'_>,
        folder: &OwnFolder,
        contents: &mut TestBytes,
    ) -> Result<(), End> {
        let failed = |error| folder.failed("read a file", error);
        if let Some(target) = &self.target {
            target.sync_all().map_err(failed)?;
            let file = folder.scratch.open(written::FILE).map_err(failed)?;
            if !written::is_intact(&file, self.planned.length, self.seed).map_err(failed)? {
                let message = "a file does not have what was written";
                return Err(Error::wrong(message).at(folder.scratch.path()).into());
            }
        }
        let mut buffer = AlignedBuffer::new(CHUNK_LEN_BYTES);
        folder.compare(session, contents, self.planned, &mut buffer)
    }
}

/// Makes the file that is written to, with all its bytes, open past the page cache.
fn target(scratch: &Scratch, length: u64, seed: u64) -> io::Result<fs::File> {
    let file = scratch.create(written::FILE)?;
    written::fill(&file, length, seed)?;
    // Where the file system refuses, writes go through the page cache; `cache` says so.
    let _ = File::of(&file)?.set_uncached();
    Ok(file)
}

/// Requests reads past the page cache, and returns whether they will be.
fn uncached(file: &File) -> Cache {
    match (file.set_uncached(), file.direct_alignment()) {
        (Ok(()), Ok(Some(_))) => Cache::Direct,
        _ => Cache::Unknown,
    }
}

/// Threads that read and write for a set time.
struct QueueThreads<'a> {
    files: &'a QueueFiles,
    cell: QueueCombination,
    blocks: u64,
    span_ns: u64,
    /// The round ends when this many blocks were written.
    written_max: u64,
    written: AtomicU64,
    /// The next block, if blocks are read in sequence.
    next: AtomicU64,
    stop: &'a AtomicBool,
}

impl QueueThreads<'_> {
    /// Runs as many threads as the queue is deep.
    fn run(&self, seed: u64) -> io::Result<LatencyHistogram> {
        let end_ns = clock::monotonic_ns() + self.span_ns;
        thread::scope(|scope| {
            let readers: Vec<_> = (0..self.cell.depth)
                .map(|reader| scope.spawn(move || self.work(seed ^ u64::from(reader), end_ns)))
                .collect();
            let mut all = LatencyHistogram::default();
            for reader in readers {
                all.merge(&reader.join().expect("a reader does not panic")?);
            }
            Ok(all)
        })
    }

    fn work(&self, seed: u64, end_ns: u64) -> io::Result<LatencyHistogram> {
        let QueueCombination { work, order, block_len, .. } = self.cell;
        let length = block_len as usize;
        let mut buffer = AlignedBuffer::new(length);
        let mut random = Random::new(seed);
        let mut histogram = LatencyHistogram::default();
        let target = self.files.target.as_ref().filter(|_| work != QueueWork::Read);
        let mut writing = target.map(|file| (file, WrittenPages::new(block_len, self.files.seed)));
        loop {
            let block = match order {
                Order::Random => random.below(self.blocks),
                _ => self.next.fetch_add(1, Ordering::Relaxed) % self.blocks,
            };
            let offset = block * block_len;
            let reads = work == QueueWork::Mix && random.below(100) < MIX_READS_PERCENT;
            let count = match &mut writing {
                Some((file, pages)) if !reads => {
                    let bytes = pages.block(offset, block_len);
                    let begin_ns = clock::monotonic_ns();
                    let count = file.write_at(bytes, offset)?;
                    histogram.add(clock::monotonic_ns() - begin_ns);
                    self.written.fetch_add(1, Ordering::Relaxed);
                    count
                }
                _ => {
                    let begin_ns = clock::monotonic_ns();
                    let count = self.files.file.read_at(&mut buffer[..length], offset)?;
                    histogram.add(clock::monotonic_ns() - begin_ns);
                    count
                }
            };
            if count != length {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            // Asked last: on a busy machine the time may be over before a thread has its turn.
            let is_spent = self.written.load(Ordering::Relaxed) >= self.written_max;
            if is_spent || clock::monotonic_ns() >= end_ns || self.stop.load(Ordering::Relaxed) {
                return Ok(histogram);
            }
        }
    }
}
