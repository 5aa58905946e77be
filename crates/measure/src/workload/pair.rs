//! Workload `pair`: the same work in two or three folders in turn, to compare ciphers, shares or
//! drives.
//!
//! In every round each folder gets a file of each length, in a new random order. The file is
//! written and flushed, dropped from the cache, read, dropped again, and read and hashed. Then each
//! folder is read and written at random, with several requests in flight. A disturbance of a round
//! affects all folders alike, so the ratio of two is more precise than either rate.

use std::path::{Path, PathBuf};
use std::time::Duration;

use steadfast_digest::{Algorithm, AlgorithmHasher, Digest};
use steadfast_sys::file::{AlignedBuffer, Status};

use super::queue::{OTHER_FILES, QueueCombination, QueueFiles, QueueWork};
use super::storage::folder::{OwnFolder, chunks};
use super::storage::plan::PlannedFile;
use super::storage::way::{Way, note_origin};
use super::{Bench, Outline, Phase, SweepStep, Workload};
use crate::contents::{CHUNK_LEN_BYTES, TestBytes};
use crate::error::Error;
use crate::random::Random;
use crate::record::{self, Cache, Factors, Order, Series, Side, Stage, Unit};
use crate::runner::{End, SeriesId, Session};

/// The steps of each file, in this order.
const STEPS: [Stage; 3] = [Stage::Write, Stage::Read, Stage::ReadHash];

/// Each file is written, compared, and read twice.
const FILE_PASSES: f64 = 4.0;

/// Bytes of a random request.
const BLOCK_LEN_BYTES: u64 = 4 << 10;

/// What is done with several requests in flight, in which order and with how many bytes each. In
/// sequence the threads share one position, as the readers of a check do.
const WORKS: [(QueueWork, Order, u64); 3] = [
    (QueueWork::Read, Order::Random, BLOCK_LEN_BYTES),
    (QueueWork::Write, Order::Random, BLOCK_LEN_BYTES),
    (QueueWork::Read, Order::Sequential, CHUNK_LEN_BYTES as u64),
];

/// Requests in flight, as `measure pair` compares them.
#[derive(Clone, Debug)]
pub struct PairDepths {
    /// Numbers of requests in flight.
    pub depths: Vec<u32>,
    /// Length of the file that is read, and of the one that is written, in bytes.
    pub file_len_bytes: u64,
    /// Time of each depth in a round.
    pub span: Duration,
    /// Whether to read in sequence, too.
    pub sequential: bool,
}

impl PairDepths {
    fn cells(&self) -> impl Iterator<Item = QueueCombination> {
        let works = if self.sequential { &WORKS[..] } else { &WORKS[..2] };
        works.iter().flat_map(|&(work, order, block_len)| {
            self.depths.iter().map(move |&depth| QueueCombination { work, order, block_len, depth })
        })
    }
}

/// Options of `measure pair`.
#[derive(Clone, Debug)]
pub struct Pair {
    /// The folders, each with its side in the comparison. The first two are A and B.
    pub folders: Vec<(Side, PathBuf)>,
    /// Lengths of the files, in bytes.
    pub lens_bytes: Vec<u64>,
    /// Random reads and writes with several in flight, if they are measured.
    pub depths: Option<PairDepths>,
    /// The most rounds.
    pub rounds: u32,
    /// Begin no further round after this time, if there is a limit.
    pub span: Option<Duration>,
    /// Rest before each round but the first.
    pub pause: Duration,
    /// The seed of contents and orders.
    pub seed: u64,
}

/// One folder, while it is measured.
struct PairFolder {
    side: Side,
    folder: OwnFolder,
    /// Files for several requests in flight.
    queue: Option<QueueFiles>,
}

impl Pair {
    /// Returns the standard: files of 1 to 256 MB, and 1, 8 and 32 requests in flight.
    pub fn standard(folders: Vec<(Side, PathBuf)>, seed: u64) -> Pair {
        Pair {
            folders,
            lens_bytes: vec![1_000_000, 16_000_000, 256_000_000],
            depths: Some(PairDepths {
                depths: vec![1, 8, 32],
                file_len_bytes: 256 << 20,
                span: Duration::from_millis(100),
                sequential: false,
            }),
            rounds: 40,
            span: Some(Duration::from_secs(1800)),
            pause: Duration::ZERO,
            seed,
        }
    }

    /// Returns a short form of half a minute: files of 1 to 16 MB, and 1 and 32 requests in flight.
    pub fn quick(folders: Vec<(Side, PathBuf)>, seed: u64) -> Pair {
        Pair {
            lens_bytes: vec![1_000_000, 4_000_000, 16_000_000],
            depths: Some(PairDepths {
                depths: vec![1, 32],
                file_len_bytes: 64 << 20,
                span: Duration::from_millis(40),
                sequential: false,
            }),
            rounds: 20,
            span: Some(Duration::from_secs(30)),
            ..Pair::standard(folders, seed)
        }
    }

    /// Returns the expected seconds of a round.
    fn round_s(&self) -> f64 {
        let folders = self.folders.len() as f64;
        let bytes: u64 = self.lens_bytes.iter().sum();
        let spans_s = self
            .depths
            .iter()
            .map(|depths| depths.cells().count() as f64 * depths.span.as_secs_f64());
        folders * (FILE_PASSES * bytes as f64 / 1e9 + spans_s.sum::<f64>())
    }

    /// Returns how many bytes the files of the depths have in each folder.
    fn depths_len_bytes(&self) -> u64 {
        self.depths.as_ref().map_or(0, |depths| 2 * depths.file_len_bytes)
    }
}

impl Workload for Pair {
    fn outline(&self) -> Outline {
        let round_s = self.round_s() + self.pause.as_secs_f64();
        let phase = Phase::of(self.rounds, round_s);
        let phase = Phase { span: self.span, pause: self.pause, ..phase };
        let workload = record::Workload::Pair;
        let (seed, departs) = (self.seed, None);
        Outline { workload, seed, departs, making_s: 0.0, phases: vec![phase] }
    }

    fn check(&self) -> Result<(), Error> {
        if self.folders.len() < 2 || self.folders.len() > 3 {
            return Err(Error::usage("a pair is two folders, and a control if there is one"));
        }
        for (at, (_, one)) in self.folders.iter().enumerate() {
            if self.folders[..at].iter().any(|(_, other)| is_same(one, other)) {
                return Err(Error::usage("is named twice: there is nothing to compare").at(one));
            }
        }
        if self.lens_bytes.is_empty() || self.lens_bytes.contains(&0) {
            return Err(Error::usage("nothing to measure: no lengths"));
        }
        if let Some(PairDepths { depths, file_len_bytes, span, .. }) = &self.depths
            && (span.is_zero()
                || *file_len_bytes < 64 * BLOCK_LEN_BYTES
                || depths.iter().any(|depth| !(1..=256).contains(depth)))
        {
            let message = "requests in flight are 1 to 256, in a file of at least 256 KiB";
            return Err(Error::usage(message));
        }
        Ok(())
    }

    fn notice(&self) -> Option<String> {
        let minutes = self.span?.as_secs_f64() / 60.0;
        let rounds = self.rounds;
        Some(format!(
            "pair: no round begins after {minutes} minutes, so there may be fewer than {rounds}; \
             --rounds N measures N"
        ))
    }

    fn writes(&self) -> Vec<(&Path, u64)> {
        let cells = self
            .depths
            .iter()
            .flat_map(|depths| depths.cells().map(move |cell| cell.written_bytes_max(depths.span)));
        let of_round = self.lens_bytes.iter().sum::<u64>() + cells.sum::<u64>();
        let bytes = self.depths_len_bytes() + u64::from(self.rounds) * of_round;
        self.folders.iter().map(|(_, folder)| (folder.as_path(), bytes)).collect()
    }

    fn prepare<'w>(&'w self, session: &mut Session<'_>) -> Result<Box<dyn Bench + 'w>, End> {
        Ok(Box::new(PairBench::open(self, session)?))
    }
}

/// What takes turns in the folders.
#[derive(Clone, Copy)]
enum PairStep {
    /// A file of this length, which goes through all steps.
    File(u64),
    /// Requests in flight, each combination for this time.
    Deep(QueueCombination, Duration),
}

/// A comparison in progress.
struct PairBench {
    folders: Vec<PairFolder>,
    /// With the series of each folder: of a file, one for each of [`STEPS`].
    steps: Vec<(PairStep, Vec<Vec<SeriesId>>)>,
    contents: TestBytes,
    buffer: AlignedBuffer,
    random: Random,
    next_file: u32,
}

impl PairBench {
    fn open(pair: &Pair, session: &mut Session<'_>) -> Result<PairBench, End> {
        let mut contents = TestBytes::new(pair.seed);
        let mut folders = Vec::new();
        for (side, folder) in &pair.folders {
            folders.push(PairFolder::open(session, *side, folder, pair, &mut contents)?);
        }
        let mut steps = Vec::new();
        for &length in &pair.lens_bytes {
            let mut add = |folder: &PairFolder| {
                STEPS.map(|stage| add_series(session, folder, stage, length, pair)).to_vec()
            };
            steps.push((PairStep::File(length), folders.iter().map(&mut add).collect()));
        }
        if let Some(depths) = &pair.depths {
            for cell in depths.cells() {
                let mut add = |folder: &PairFolder| {
                    vec![add_deep_series(session, folder, cell, (depths, pair.seed))]
                };
                let ids = folders.iter().map(&mut add).collect();
                steps.push((PairStep::Deep(cell, depths.span), ids));
            }
        }
        Ok(PairBench {
            folders,
            steps,
            contents,
            buffer: AlignedBuffer::new(CHUNK_LEN_BYTES),
            random: Random::new(!pair.seed),
            next_file: OTHER_FILES,
        })
    }

    /// Takes one file through all steps.
    fn file(
        &mut self,
        session: &mut Session<'_>,
        (at, ids): (usize, &[SeriesId]),
        file: PlannedFile,
    ) -> Result<(), End> {
        let (folder, contents) = (&self.folders[at].folder, &mut self.contents);
        let (timed, _) = folder.write(session, contents, file, true, |_| {})?;
        session.add_sample(ids[0], timed.sample(file.set, file.length));
        for (stage, &id) in STEPS.iter().zip(ids).skip(1) {
            let mut hasher = AlgorithmHasher::new(Algorithm::Sha256);
            let hashes = *stage == Stage::ReadHash;
            let (sample, _) = folder.read(session, file, Way::Cold, &mut self.buffer, |bytes| {
                if hashes {
                    hasher.update(bytes);
                }
            })?;
            if hashes && hasher.finalize() != expected(contents, file) {
                let message = "a file does not hash to what was written";
                return Err(Error::wrong(message).at(folder.scratch.path()).into());
            }
            note_origin(session, id, Way::Cold, None, &sample);
            session.add_sample(id, sample);
        }
        let removed = folder.scratch.remove(file.number);
        Ok(removed.map_err(|error| folder.failed("remove a file", error))?)
    }
}

impl Bench for PairBench {
    fn steps(&self) -> Vec<SweepStep> {
        let folders = self.folders.len() as f64;
        let step = |(step, ids): &(PairStep, Vec<Vec<SeriesId>>)| {
            let cost = folders
                * match step {
                    PairStep::File(length) => FILE_PASSES * *length as f64 / 1e9,
                    PairStep::Deep(_, span) => span.as_secs_f64(),
                };
            SweepStep { phase: 0, series: ids.concat(), cost }
        };
        self.steps.iter().map(step).collect()
    }

    fn sample(&mut self, session: &mut Session<'_>, step: usize, round: u32) -> Result<(), End> {
        let (step, ids) = self.steps[step].clone();
        let mut turns: Vec<usize> = (0..self.folders.len()).collect();
        self.random.shuffle(&mut turns);
        // The folders read and write the same places.
        let seed = self.random.next_u64();
        for at in turns {
            let label = session.series(ids[at][0]).label.clone();
            session.doing(&format!("{label}, round {}", round + 1))?;
            match step {
                PairStep::File(length) => {
                    let file = PlannedFile { number: self.next_file, set: round, length };
                    self.next_file += 1;
                    self.file(session, (at, &ids[at]), file)?;
                }
                PairStep::Deep(cell, span) => {
                    let PairFolder { queue: Some(files), folder, .. } = &self.folders[at] else {
                        continue;
                    };
                    let sample = files.sample(session, folder, cell, (round, span, seed))?;
                    sample.into_iter().for_each(|sample| session.add_sample(ids[at][0], sample));
                }
            }
        }
        Ok(())
    }

    fn close(mut self: Box<Self>, session: &mut Session<'_>) -> Result<(), End> {
        for PairFolder { queue, folder, .. } in self.folders {
            if let Some(queue) = queue {
                queue.verify(session, &folder, &mut self.contents)?;
            }
            folder.scratch.close()?;
        }
        Ok(())
    }
}

impl PairFolder {
    fn open(
        session: &mut Session<'_>,
        side: Side,
        folder: &Path,
        pair: &Pair,
        contents: &mut TestBytes,
    ) -> Result<PairFolder, End> {
        // A folder holds one file at a time, and those of the depths.
        let bytes = pair.lens_bytes.iter().max().copied().unwrap_or(0) + pair.depths_len_bytes();
        let folder = OwnFolder::open(session, folder, bytes)?;
        let make = |depths: &PairDepths| {
            let shape = (depths.file_len_bytes, pair.seed, true);
            QueueFiles::make(session, &folder, contents, shape)
        };
        let queue = pair.depths.as_ref().map(make).transpose()?;
        Ok(PairFolder { side, folder, queue })
    }
}

/// Returns whether two paths lead to one folder. A path that cannot be examined is reported later.
fn is_same(one: &Path, other: &Path) -> bool {
    let of = |path: &Path| Status::of(path).map(|status| (status.device, status.inode));
    matches!((of(one), of(other)), (Ok(one), Ok(other)) if one == other)
}

/// Returns the digest of the written bytes.
fn expected(contents: &mut TestBytes, file: PlannedFile) -> Digest {
    let mut hasher = AlgorithmHasher::new(Algorithm::Sha256);
    for (index, length) in chunks(file.length) {
        hasher.update(contents.chunk(file.number, index, length));
    }
    hasher.finalize()
}

fn add_series(
    session: &mut Session<'_>,
    bench: &PairFolder,
    stage: Stage,
    length: u64,
    pair: &Pair,
) -> SeriesId {
    let (step, doing) = match stage {
        Stage::Write => ("written", "made, written 1 MiB at a time, flushed to the medium, closed"),
        Stage::Read => ("read", "put out of the page cache; then opened, read 1 MiB at a time"),
        _ => ("read and hashed", "the same with SHA-256 between the reads, by one thread"),
    };
    let method = format!(
        "Folders took turns in an order drawn anew for each file and round. Each file of {length} \
         bytes: {doing}. Incompressible bytes, verified by their digest."
    );
    let writes = stage == Stage::Write;
    let factors = Factors {
        stage: Some(stage),
        algorithm: (stage == Stage::ReadHash).then(|| "sha256".to_owned()),
        threads: Some(1),
        buffer_len_bytes: Some(CHUNK_LEN_BYTES as u64),
        block_len_bytes: Some(length),
        order: Some(Order::Random),
        cache: (!writes).then_some(Cache::Cold),
        side: Some(bench.side),
        ..Factors::default()
    };
    let label = format!("{} {step}, files of {length} bytes", side_name(bench.side));
    let series = Series::new(record::Workload::Pair, label, method, factors);
    session.add_series_at(bench.folder.place, series.seeded(pair.seed))
}

fn add_deep_series(
    session: &mut Session<'_>,
    bench: &PairFolder,
    cell: QueueCombination,
    (depths, seed): (&PairDepths, u64),
) -> SeriesId {
    let cache = bench.queue.as_ref().map_or(Cache::Unknown, |files| files.cache);
    let label = format!("{} {}", side_name(bench.side), cell.label());
    let method = format!(
        "Folders took turns in an order drawn anew for each round. {}",
        cell.method(depths.file_len_bytes, depths.span)
    );
    let factors = Factors { side: Some(bench.side), ..cell.factors(cache) };
    let series = Series::new(record::Workload::Pair, label, method, factors);
    let series = Series { unit: Unit::Operations, ..series.seeded(seed) };
    session.add_series_at(bench.folder.place, series)
}

fn side_name(side: Side) -> &'static str {
    match side {
        Side::A => "A",
        Side::B => "B",
        Side::Control => "control",
    }
}
