//! Workload `queue`: reads of one size at several queue depths, with the latency of each.
//!
//! Reads go past the page cache to a file of our own. The depth is the number of threads, each with
//! one read in flight, as in a check. Depth 1 shows the latency that a cipher adds to every read.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use steadfast_sys::clock;
use steadfast_sys::file::{AlignedBuffer, File};

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
        if self.rounds == 0 || self.span.is_zero() {
            return Err(Error::usage("nothing to measure: no rounds, or no time for them"));
        }
        Ok(())
    }

    fn combinations(&self) -> impl Iterator<Item = (Order, u64, u32)> + '_ {
        self.orders.iter().flat_map(move |&order| {
            self.block_lens_bytes.iter().flat_map(move |&block_len| {
                self.depths.iter().map(move |&depth| (order, block_len, depth))
            })
        })
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
        let cells = self.combinations().count() as f64;
        let write_s = 2.0 * self.file_len_bytes as f64 / 1e9;
        session.plan(cells * f64::from(self.rounds) * self.span_s() + write_s);
    }

    fn run(&self, session: &mut Session<'_>) -> Result<(), End> {
        self.check()?;
        let (mut site, scratch) = scratch::prepare(session, &self.folder, self.file_len_bytes)?;
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
        let place = session.add_place(site.place.clone());
        let mut cells: Vec<QueueCombination> = Vec::new();
        for (order, block_len, depth) in self.combinations() {
            let series = self.add_series(session, place, cache, (order, block_len, depth));
            cells.push(QueueCombination { order, block_len, depth, series });
        }
        let mut random = Random::new(self.seed);
        for round in 0..self.rounds {
            random.shuffle(&mut cells);
            for cell in &cells {
                if cache != Cache::Direct {
                    site.empty_caches(&file, self.file_len_bytes);
                }
                self.sample(session, &file, *cell, round, random.next_u64())?;
            }
        }
        drop(file);
        through(timed::compare(&scratch, &mut contents, planned, &mut buffer, stop)?)?;
        Ok(scratch.close()?)
    }
}

impl Queue {
    fn add_series(
        &self,
        session: &mut Session<'_>,
        place: PlaceId,
        cache: Cache,
        (order, block_len, depth): (Order, u64, u32),
    ) -> SeriesId {
        let ordered = match order {
            Order::Random => "at places drawn from the seed",
            _ => "one after the other",
        };
        let method = format!(
            "{depth} {} with one read in flight each, of {block_len} bytes, {ordered}, past \
             the page cache, of a file of {} bytes; {} s in each round, combinations in an order \
             drawn anew. The file was compared with what was written, before and after.",
            if depth == 1 { "thread" } else { "threads" },
            self.file_len_bytes,
            self.span_s()
        );
        let name = match order {
            Order::Random => "random",
            _ => "sequential",
        };
        let label = format!("{name} reads of {}, depth {depth}", size_name(block_len));
        let factors = Factors {
            stage: Some(Stage::Read),
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

    /// Reads for a set time.
    fn sample(
        &self,
        session: &mut Session<'_>,
        file: &File,
        cell: QueueCombination,
        round: u32,
        seed: u64,
    ) -> Result<(), End> {
        let label = session.series(cell.series).label.clone();
        session.doing(&label)?;
        let reading = QueueReads {
            file,
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

/// Threads that read for a set time.
struct QueueReads<'a> {
    file: &'a File,
    blocks: u64,
    cell: QueueCombination,
    span_ns: u64,
    /// The next block, if blocks are read in sequence.
    next: AtomicU64,
    stop: &'a AtomicBool,
}

impl QueueReads<'_> {
    /// Runs as many reading threads as the queue is deep.
    fn run(&self, seed: u64) -> std::io::Result<LatencyHistogram> {
        let end_ns = clock::monotonic_ns() + self.span_ns;
        thread::scope(|scope| {
            let readers: Vec<_> = (0..self.cell.depth)
                .map(|reader| scope.spawn(move || self.read(seed ^ u64::from(reader), end_ns)))
                .collect();
            let mut all = LatencyHistogram::default();
            for reader in readers {
                all.merge(&reader.join().expect("a reader does not panic")?);
            }
            Ok(all)
        })
    }

    fn read(&self, seed: u64, end_ns: u64) -> std::io::Result<LatencyHistogram> {
        let length = self.cell.block_len as usize;
        let mut buffer = AlignedBuffer::new(length);
        let mut random = Random::new(seed);
        let mut histogram = LatencyHistogram::default();
        while clock::monotonic_ns() < end_ns && !self.stop.load(Ordering::Relaxed) {
            let block = match self.cell.order {
                Order::Random => random.below(self.blocks),
                _ => self.next.fetch_add(1, Ordering::Relaxed) % self.blocks,
            };
            let begin_ns = clock::monotonic_ns();
            let count = self.file.read_at(&mut buffer[..length], block * self.cell.block_len)?;
            histogram.add(clock::monotonic_ns() - begin_ns);
            if count != length {
                return Err(std::io::ErrorKind::UnexpectedEof.into());
            }
        }
        Ok(histogram)
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
