//! Workload `queue`: reads and writes of one size at several depths, with the latency of each.
//!
//! Both go past the page cache: reads to a file of our own, writes to another one. The depth is the
//! number of threads, each with one request in flight, as in a check. Depth 1 shows the latency
//! that a cipher adds to every read.

mod written;

use std::fs;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use steadfast_sys::clock;
use steadfast_sys::file::{AlignedBuffer, File};
use strum::{EnumMessage, IntoStaticStr, VariantArray};

use written::WrittenPages;

use super::Workload;
use super::storage::bench::through;
use super::storage::plan::PlannedFile;
use super::storage::timed;
use crate::contents::{CHUNK_LEN_BYTES, TestBytes};
use crate::error::Error;
use crate::latencies::LatencyHistogram;
use crate::random::Random;
use crate::record::{self, Cache, Factors, Order, Sample, Series, Stage, Unit};
use crate::runner::{End, PlaceId, SeriesId, Session};
use crate::scratch;

/// The file that is read.
const FILE: u32 = 0;

/// Reads among a hundred operations of a mix, as CrystalDiskMark has them.
const MIX_READS_PERCENT: u64 = 70;

/// Order, length and depth of the rows that CrystalDiskMark, KDiskMark and AmorphousDiskMark print:
/// SEQ1M Q8T1, SEQ1M Q1T1, RND4K Q32T1 and RND4K Q1T1.
pub const FOUR_ROWS: [(Order, u64, u32); 4] = [
    (Order::Sequential, 1 << 20, 8),
    (Order::Sequential, 1 << 20, 1),
    (Order::Random, 4 << 10, 32),
    (Order::Random, 4 << 10, 1),
];

/// What a queue does.
#[derive(EnumMessage, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "kebab-case")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueWork {
    /// Reads.
    Read,
    /// Writes, past the page cache and not flushed.
    Write,
    /// Seven reads to three writes.
    Mix,
}

impl QueueWork {
    fn stage(self) -> Stage {
        match self {
            QueueWork::Read => Stage::Read,
            QueueWork::Write => Stage::Write,
            QueueWork::Mix => Stage::ReadWrite,
        }
    }

    fn noun(self) -> &'static str {
        match self {
            QueueWork::Read => "reads",
            QueueWork::Write => "writes",
            QueueWork::Mix => "reads and writes",
        }
    }
}

/// Options of `measure queue`.
#[derive(Clone, Debug)]
pub struct Queue {
    /// The folder.
    pub folder: PathBuf,
    /// Length of the file that is read, in bytes.
    pub file_len_bytes: u64,
    /// Lengths of reads, in bytes: multiples of the alignment of direct reads.
    pub block_lens_bytes: Vec<u64>,
    /// Numbers of reads in flight.
    pub depths: Vec<u32>,
    /// Sequential, random, or both.
    pub orders: Vec<Order>,
    /// Whether to measure [`FOUR_ROWS`] instead of every combination.
    pub four_rows: bool,
    /// Reads, writes, mixes.
    pub works: Vec<QueueWork>,
    /// Rounds. Intervals come from whole rounds, because disturbances affect whole rounds.
    pub rounds: u32,
    /// Time of each combination in a round.
    pub span: Duration,
    /// The seed of orders and contents.
    pub seed: u64,
}

/// One combination of length, depth and order.
#[derive(Clone, Copy, Debug)]
struct QueueCombination {
    work: QueueWork,
    order: Order,
    block_len: u64,
    depth: u32,
    series: SeriesId,
}

impl Queue {
    /// Checks the options.
    fn check(&self) -> Result<(), Error> {
        let most = self.block_lens_bytes.iter().max().copied().unwrap_or(0);
        if self.depths.iter().any(|depth| !(1..=256).contains(depth)) {
            return Err(Error::usage("a queue is 1 to 256 reads deep"));
        }
        if self.block_lens_bytes.iter().any(|length| length % 512 != 0 || *length == 0) {
            return Err(Error::usage("reads are of whole sectors: multiples of 512 bytes"));
        }
        if self.file_len_bytes < 64 * most {
            return Err(Error::usage("the file must hold at least 64 of the largest reads"));
        }
        let writable = |length: &u64| written::fits(*length);
        if self.writes_too() && !self.block_lens_bytes.iter().all(writable) {
            let message = "writes are of 4 KiB to 1 MiB, by powers of two, or of whole MiB";
            return Err(Error::usage(message));
        }
        if self.rounds == 0 || self.span.is_zero() {
            return Err(Error::usage("nothing to measure: no rounds, or no time for them"));
        }
        Ok(())
    }

    fn combinations(&self) -> Vec<(QueueWork, Order, u64, u32)> {
        let every = self.orders.iter().flat_map(|&order| {
            self.block_lens_bytes.iter().flat_map(move |&block_len| {
                self.depths.iter().map(move |&depth| (order, block_len, depth))
            })
        });
        let of_one: Vec<(Order, u64, u32)> =
            if self.four_rows { FOUR_ROWS.to_vec() } else { every.collect() };
        let works = self.works.iter();
        let each = works.flat_map(|&work| of_one.iter().map(move |&(o, b, d)| (work, o, b, d)));
        each.collect()
    }

    fn writes_too(&self) -> bool {
        self.works.iter().any(|&work| work != QueueWork::Read)
    }

    fn span_s(&self) -> f64 {
        self.span.as_secs_f64()
    }
}

impl Queue {
    /// Returns the standard, over a file of 4 GiB.
    pub fn standard(folder: PathBuf, seed: u64) -> Queue {
        Queue {
            folder,
            file_len_bytes: 4 << 30,
            block_lens_bytes: vec![4 << 10, 64 << 10, 1 << 20],
            depths: vec![1, 2, 4, 8, 16, 32],
            orders: vec![Order::Sequential, Order::Random],
            four_rows: false,
            works: vec![QueueWork::Read],
            rounds: 5,
            span: Duration::from_secs(1),
            seed,
        }
    }

    /// Returns a short form, over a file of 256 MiB.
    pub fn quick(folder: PathBuf, seed: u64) -> Queue {
        Queue {
            file_len_bytes: 256 << 20,
            depths: vec![1, 4, 32],
            block_lens_bytes: vec![4 << 10, 1 << 20],
            rounds: 5,
            span: Duration::from_millis(120),
            ..Queue::standard(folder, seed)
        }
    }
}

impl Workload for Queue {
    fn plan(&self, session: &mut Session<'_>) {
        let cells = self.combinations().len() as f64;
        let write_s = 2.0 * self.file_len_bytes as f64 / 1e9;
        session.plan(cells * f64::from(self.rounds) * self.span_s() + write_s);
    }

    fn writes(&self) -> Vec<(&Path, u64)> {
        // How much a queue writes in its time depends on the drive: 1 GB/s is assumed.
        let spans = self.combinations().iter().filter(|of| of.0 != QueueWork::Read).count();
        let written = (spans as f64 * f64::from(self.rounds) * self.span_s() * 1e9) as u64;
        let files = if self.writes_too() { 2 } else { 1 };
        vec![(&self.folder, files * self.file_len_bytes + written)]
    }

    fn run(&self, session: &mut Session<'_>) -> Result<(), End> {
        self.check()?;
        let files = if self.writes_too() { 2 } else { 1 };
        let bytes = files * self.file_len_bytes;
        let (mut site, scratch) = scratch::prepare(session, &self.folder, bytes)?;
        let mut contents = TestBytes::new(self.seed);
        let planned = PlannedFile { number: FILE, set: 0, length: self.file_len_bytes };
        session.doing("preparing a file to read")?;
        let stop = session.stop_flag();
        let failed = |error| Error::system("write a file", error).at(&self.folder);
        through(timed::write(&scratch, &mut contents, planned, true, stop).map_err(failed)?)?;
        let mut buffer = AlignedBuffer::new(CHUNK_LEN_BYTES);
        // The timed bytes must be the written bytes, so the whole file is compared before and
        // after.
        through(timed::compare(&scratch, &mut contents, planned, &mut buffer, stop)?)?;
        session.did(2.0 * self.file_len_bytes as f64 / 1e9);
        let opened = |error| Error::system("open a file past the page cache", error);
        let file = scratch.open(FILE).map_err(|error| opened(error).at(&self.folder))?;
        site.empty_caches(&file, self.file_len_bytes);
        let cache = uncached(&file);
        site.note_alignment(&file);
        for warning in site.warnings() {
            session.warn(warning);
        }
        if cache != Cache::Direct {
            session.warn("queue: the file system reads through the page cache whatever is asked");
        }
        let target = match self.writes_too() {
            true => Some(self.target(&scratch).map_err(failed)?),
            false => None,
        };
        let place = session.add_place(site.place.clone());
        let mut cells: Vec<QueueCombination> = Vec::new();
        for combination in self.combinations() {
            let series = self.add_series(session, place, cache, combination);
            let (work, order, block_len, depth) = combination;
            cells.push(QueueCombination { work, order, block_len, depth, series });
        }
        let mut random = Random::new(self.seed);
        for round in 0..self.rounds {
            random.shuffle(&mut cells);
            for cell in &cells {
                if cache != Cache::Direct {
                    site.empty_caches(&file, self.file_len_bytes);
                }
                let files = (&file, target.as_ref());
                self.sample(session, files, *cell, round, random.next_u64())?;
            }
        }
        if let Some(target) = target {
            self.verify(&scratch, &target).map_err(|error| error.at(&self.folder))?;
        }
        drop(file);
        through(timed::compare(&scratch, &mut contents, planned, &mut buffer, stop)?)?;
        Ok(scratch.close()?)
    }
}

impl Queue {
    /// Makes the file that is written to, with all its bytes, open past the page cache.
    fn target(&self, scratch: &scratch::Scratch) -> std::io::Result<fs::File> {
        let file = scratch.create(written::FILE)?;
        written::fill(&file, self.file_len_bytes, self.seed)?;
        // Where the file system refuses, writes go through the page cache; `cache` says so.
        let _ = File::of(&file)?.set_uncached();
        Ok(file)
    }

    /// Checks that every write is where it belongs.
    fn verify(&self, scratch: &scratch::Scratch, target: &fs::File) -> Result<(), Error> {
        let failed = |error| Error::system("read a file", error);
        target.sync_all().map_err(failed)?;
        let file = scratch.open(written::FILE).map_err(failed)?;
        match written::is_intact(&file, self.file_len_bytes, self.seed).map_err(failed)? {
            true => Ok(()),
            false => Err(Error::wrong("a file does not have what was written")),
        }
    }

    fn add_series(
        &self,
        session: &mut Session<'_>,
        place: PlaceId,
        cache: Cache,
        (work, order, block_len, depth): (QueueWork, Order, u64, u32),
    ) -> SeriesId {
        let ordered = match order {
            Order::Random => "at places drawn from the seed",
            _ => "one after the other",
        };
        let method = format!(
            "{depth} {}, each with one of the {} in flight, of {block_len} bytes, {ordered}, past \
             the page cache, of a file of {} bytes; {} s in each round, combinations in an order \
             drawn anew. The file was compared with what was written, before and after.",
            if depth == 1 { "thread" } else { "threads" },
            work.noun(),
            self.file_len_bytes,
            self.span_s()
        );
        let name = match order {
            Order::Random => "random",
            _ => "sequential",
        };
        let size = size_name(block_len);
        let label = format!("{name} {} of {size}, depth {depth}", work.noun());
        let factors = Factors {
            stage: Some(work.stage()),
            block_len_bytes: Some(block_len),
            queue_depth: Some(depth),
            threads: Some(depth),
            order: Some(order),
            cache: Some(cache),
            ..Factors::default()
        };
        let series = Series::new(record::Workload::Queue, label, method, factors);
        let series = Series { unit: Unit::Operations, ..series.seeded(self.seed) };
        session.add_series_at(place, series)
    }

    /// Reads or writes for a set time.
    fn sample(
        &self,
        session: &mut Session<'_>,
        (file, target): (&File, Option<&fs::File>),
        cell: QueueCombination,
        round: u32,
        seed: u64,
    ) -> Result<(), End> {
        let label = session.series(cell.series).label.clone();
        session.doing(&label)?;
        let reading = QueueThreads {
            file,
            target,
            pattern_seed: self.seed,
            blocks: self.file_len_bytes / cell.block_len,
            cell,
            span_ns: self.span.as_nanos() as u64,
            next: AtomicU64::new(0),
            stop: session.stop_flag(),
        };
        let (timed, read) = session.time(|| reading.run(seed));
        let all = read.map_err(|error| Error::system("read a file", error).at(&self.folder))?;
        let latencies = all.latencies();
        let reads: u64 = latencies.buckets.iter().map(|(_, count)| count).sum();
        session.did(self.span_s());
        // An interrupted round is no sample: its threads end at different times.
        if reads == 0 || session.stop_flag().load(Ordering::Relaxed) {
            return session.doing(&label).map_err(End::from);
        }
        let sample = Sample { latencies: Some(latencies), ..timed.sample(round, reads) };
        session.add_sample(cell.series, sample);
        Ok(())
    }
}

/// Threads that read and write for a set time.
struct QueueThreads<'a> {
    file: &'a File,
    /// The file that is written to, if any is.
    target: Option<&'a fs::File>,
    /// The seed of its bytes.
    pattern_seed: u64,
    blocks: u64,
    cell: QueueCombination,
    span_ns: u64,
    /// The next block, if blocks are read in sequence.
    next: AtomicU64,
    stop: &'a AtomicBool,
}

impl QueueThreads<'_> {
    /// Runs as many threads as the queue is deep.
    fn run(&self, seed: u64) -> std::io::Result<LatencyHistogram> {
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

    fn work(&self, seed: u64, end_ns: u64) -> std::io::Result<LatencyHistogram> {
        let length = self.cell.block_len as usize;
        let mut buffer = AlignedBuffer::new(length);
        let mut random = Random::new(seed);
        let mut histogram = LatencyHistogram::default();
        let target = self.target.filter(|_| self.cell.work != QueueWork::Read);
        let mut writing =
            target.map(|file| (file, WrittenPages::new(self.cell.block_len, self.pattern_seed)));
        loop {
            let block = match self.cell.order {
                Order::Random => random.below(self.blocks),
                _ => self.next.fetch_add(1, Ordering::Relaxed) % self.blocks,
            };
            let offset = block * self.cell.block_len;
            let reads = self.cell.work == QueueWork::Mix && random.below(100) < MIX_READS_PERCENT;
            let count = match &mut writing {
                Some((file, pages)) if !reads => {
                    let bytes = pages.block(offset, self.cell.block_len);
                    let begin_ns = clock::monotonic_ns();
                    let count = file.write_at(bytes, offset)?;
                    histogram.add(clock::monotonic_ns() - begin_ns);
                    count
                }
                _ => {
                    let begin_ns = clock::monotonic_ns();
                    let count = self.file.read_at(&mut buffer[..length], offset)?;
                    histogram.add(clock::monotonic_ns() - begin_ns);
                    count
                }
            };
            if count != length {
                return Err(std::io::ErrorKind::UnexpectedEof.into());
            }
            // Asked last: on a busy machine the time may be over before a thread has its turn.
            if clock::monotonic_ns() >= end_ns || self.stop.load(Ordering::Relaxed) {
                return Ok(histogram);
            }
        }
    }
}

/// Requests reads past the page cache, and returns whether they will be.
fn uncached(file: &File) -> Cache {
    match (file.set_uncached(), file.direct_alignment()) {
        (Ok(()), Ok(Some(_))) => Cache::Direct,
        _ => Cache::Unknown,
    }
}

/// Formats a power of two with its binary unit: "4 KiB".
fn size_name(length: u64) -> String {
    match length {
        length if length % (1 << 20) == 0 => format!("{} MiB", length >> 20),
        length if length % (1 << 10) == 0 => format!("{} KiB", length >> 10),
        length => format!("{length} B"),
    }
}
