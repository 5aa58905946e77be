//! Workload `queue`: reads and writes of one size at several depths, with the latency of each.
//!
//! Both go past the page cache: reads to a file of our own, writes to another one. The depth is the
//! number of threads, each with one request in flight, as in a check. Depth 1 shows the latency
//! that a cipher adds to every read.

mod threads;
mod written;

use std::path::{Path, PathBuf};
use std::time::Duration;

use strum::{EnumMessage, IntoStaticStr, VariantArray};

pub(super) use threads::{OTHER_FILES, QueueFiles};

use super::storage::folder::OwnFolder;
use super::{Bench, Outline, Phase, SweepStep, Workload};
use crate::contents::TestBytes;
use crate::error::Error;
use crate::random::Random;
use crate::record::{self, Cache, Factors, Order, Series, Stage, Unit};
use crate::runner::{End, SeriesId, Session};

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
    /// The folders, which take turns in every round.
    pub folders: Vec<PathBuf>,
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

/// One combination of work, order, length and depth.
#[derive(Clone, Copy, Debug)]
pub(super) struct QueueCombination {
    pub(super) work: QueueWork,
    pub(super) order: Order,
    pub(super) block_len: u64,
    pub(super) depth: u32,
}

impl QueueCombination {
    pub(super) fn label(self) -> String {
        let name = match self.order {
            Order::Random => "random",
            _ => "sequential",
        };
        let (nouns, size) = (self.work.noun(), size_name(self.block_len));
        format!("{name} {nouns} of {size}, depth {}", self.depth)
    }

    pub(super) fn method(self, file_len_bytes: u64, span: Duration) -> String {
        let ordered = match self.order {
            Order::Random => "at places drawn from the seed",
            _ => "one after the other",
        };
        let bounded = match self.work {
            QueueWork::Read => "",
            _ => ", or until 1 GB for each second of it is written",
        };
        format!(
            "{} {}, each with one of the {} in flight, of {} bytes, {ordered}, past the page \
             cache, of a file of {file_len_bytes} bytes; {} s in each round{bounded}, combinations \
             in an order drawn anew. The file was compared with what was written, before and \
             after.",
            self.depth,
            if self.depth == 1 { "thread" } else { "threads" },
            self.work.noun(),
            self.block_len,
            span.as_secs_f64()
        )
    }

    pub(super) fn factors(self, cache: Cache) -> Factors {
        Factors {
            stage: Some(self.work.stage()),
            block_len_bytes: Some(self.block_len),
            queue_depth: Some(self.depth),
            threads: Some(self.depth),
            order: Some(self.order),
            cache: Some(cache),
            ..Factors::default()
        }
    }

    /// Returns after how many written blocks a round ends.
    fn written_blocks_max(self, span: Duration) -> u64 {
        let bytes = threads::WRITTEN_BYTES_PER_S_MAX as f64 * span.as_secs_f64();
        match self.work {
            QueueWork::Read => u64::MAX,
            _ => bytes as u64 / self.block_len,
        }
    }

    /// Returns how many bytes a round writes at most: each thread may write one block more.
    pub(super) fn written_bytes_max(self, span: Duration) -> u64 {
        match self.work {
            QueueWork::Read => 0,
            _ => (self.written_blocks_max(span) + u64::from(self.depth)) * self.block_len,
        }
    }
}

impl Queue {
    fn combinations(&self) -> Vec<QueueCombination> {
        let every = self.orders.iter().flat_map(|&order| {
            self.block_lens_bytes.iter().flat_map(move |&block_len| {
                self.depths.iter().map(move |&depth| (order, block_len, depth))
            })
        });
        let of_one: Vec<(Order, u64, u32)> =
            if self.four_rows { FOUR_ROWS.to_vec() } else { every.collect() };
        let of_work = |&work: &QueueWork| {
            of_one.iter().map(move |&(order, block_len, depth)| QueueCombination {
                work,
                order,
                block_len,
                depth,
            })
        };
        self.works.iter().flat_map(of_work).collect()
    }

    fn writes_too(&self) -> bool {
        self.works.iter().any(|&work| work != QueueWork::Read)
    }
}

impl Queue {
    /// Returns the standard, over a file of 4 GiB.
    pub fn standard(folders: Vec<PathBuf>, seed: u64) -> Queue {
        Queue {
            folders,
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
    pub fn quick(folders: Vec<PathBuf>, seed: u64) -> Queue {
        Queue {
            file_len_bytes: 256 << 20,
            depths: vec![1, 4, 32],
            block_lens_bytes: vec![4 << 10, 1 << 20],
            rounds: 5,
            span: Duration::from_millis(120),
            ..Queue::standard(folders, seed)
        }
    }
}

impl Workload for Queue {
    fn outline(&self) -> Outline {
        let folders = self.folders.len() as f64;
        let round_s = folders * self.combinations().len() as f64 * self.span.as_secs_f64();
        let making_s = folders * 2.0 * self.file_len_bytes as f64 / 1e9;
        let workload = record::Workload::Queue;
        let (seed, departs) = (self.seed, None);
        Outline { workload, seed, departs, making_s, phases: vec![Phase::of(self.rounds, round_s)] }
    }

    fn check(&self) -> Result<(), Error> {
        let most = self.block_lens_bytes.iter().max().copied().unwrap_or(0);
        let writable = |length: &u64| written::fits(*length);
        let refused = if self.depths.iter().any(|depth| !(1..=256).contains(depth)) {
            "a queue is 1 to 256 reads deep"
        } else if self.block_lens_bytes.iter().any(|length| length % 512 != 0 || *length == 0) {
            "reads are of whole sectors: multiples of 512 bytes"
        } else if self.file_len_bytes < 64 * most {
            "the file must hold at least 64 of the largest reads"
        } else if self.writes_too() && !self.block_lens_bytes.iter().all(writable) {
            "writes are of 4 KiB to 1 MiB, by powers of two, or of whole MiB"
        } else if self.span.is_zero() || self.folders.is_empty() {
            "nothing to measure: no time for it, or no folder"
        } else {
            return Ok(());
        };
        Err(Error::usage(refused))
    }

    fn writes(&self) -> Vec<(&Path, u64)> {
        let cells = self.combinations();
        let of_round: u64 = cells.iter().map(|cell| cell.written_bytes_max(self.span)).sum();
        let files = if self.writes_too() { 2 } else { 1 };
        let bytes = files * self.file_len_bytes + u64::from(self.rounds) * of_round;
        self.folders.iter().map(|folder| (folder.as_path(), bytes)).collect()
    }

    fn prepare<'w>(&'w self, session: &mut Session<'_>) -> Result<Box<dyn Bench + 'w>, End> {
        let mut contents = TestBytes::new(self.seed);
        let mut places = Vec::new();
        let files = if self.writes_too() { 2 } else { 1 };
        for folder in &self.folders {
            let folder = OwnFolder::open(session, folder, files * self.file_len_bytes)?;
            let shape = (self.file_len_bytes, self.seed, self.writes_too());
            let files = QueueFiles::make(session, &folder, &mut contents, shape)?;
            places.push((folder, files));
        }
        let mut cells = Vec::new();
        for cell in self.combinations() {
            for (at, (folder, files)) in places.iter().enumerate() {
                let method = cell.method(self.file_len_bytes, self.span);
                let factors = cell.factors(files.cache);
                let series = Series::new(record::Workload::Queue, cell.label(), method, factors);
                let series = Series { unit: Unit::Operations, ..series.seeded(self.seed) };
                cells.push((cell, at, session.add_series_at(folder.place, series)));
            }
        }
        let random = Random::new(!self.seed);
        Ok(Box::new(QueueBench { span: self.span, places, cells, contents, random }))
    }
}

/// The files of a queue in each folder, and every combination in each.
struct QueueBench {
    span: Duration,
    places: Vec<(OwnFolder, QueueFiles)>,
    /// With the index of the folder.
    cells: Vec<(QueueCombination, usize, SeriesId)>,
    contents: TestBytes,
    /// Draws the places of requests.
    random: Random,
}

impl Bench for QueueBench {
    fn steps(&self) -> Vec<SweepStep> {
        self.cells
            .iter()
            .map(|cell| SweepStep { phase: 0, series: vec![cell.2], cost: 1.0 })
            .collect()
    }

    fn sample(&mut self, session: &mut Session<'_>, step: usize, round: u32) -> Result<(), End> {
        let (cell, at, id) = self.cells[step];
        let (folder, files) = &self.places[at];
        let turn = (round, self.span, self.random.next_u64());
        match files.sample(session, folder, cell, turn)? {
            Some(sample) => session.add_sample(id, sample),
            None => session.doing(&cell.label())?,
        }
        Ok(())
    }

    fn close(mut self: Box<Self>, session: &mut Session<'_>) -> Result<(), End> {
        for (folder, files) in self.places {
            files.verify(session, &folder, &mut self.contents)?;
            folder.scratch.close()?;
        }
        Ok(())
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
