//! Workload `pair`: the same work in two or three folders in turn, to compare ciphers, shares or
//! drives.
//!
//! In every round each folder gets a file of each length, in a new random order. The file is
//! written and flushed, dropped from the cache, read, dropped again, and read and hashed. A
//! disturbance of a round affects all folders alike, so the ratio of two is more precise than
//! either rate.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use steadfast_digest::{Algorithm, AlgorithmHasher};
use steadfast_sys::file::{AlignedBuffer, Status};

use super::Workload;
use super::storage::bench::{Way, through};
use super::storage::plan::PlannedFile;
use super::storage::timed;
use crate::contents::{CHUNK_LEN_BYTES, TestBytes};
use crate::error::Error;
use crate::place::Site;
use crate::random::Random;
use crate::record::{self, Cache, Factors, Order, Sample, Series, Side, Stage};
use crate::runner::{End, PlaceId, SeriesId, Session};
use crate::scratch::{self, Scratch};
use crate::stats;

/// The steps of each file, in this order.
const STEPS: [Stage; 3] = [Stage::Write, Stage::Read, Stage::ReadHash];

/// Rounds before ratios are first tested for precision.
const ROUNDS_LOOKED_AT_MIN: u32 = 7;

/// Options of `measure pair`.
#[derive(Clone, Debug)]
pub struct Pair {
    /// The folders, each with its side in the comparison. The first two are A and B.
    pub folders: Vec<(Side, PathBuf)>,
    /// Lengths of the files, in bytes.
    pub lens_bytes: Vec<u64>,
    /// The most rounds.
    pub rounds: u32,
    /// Stop when half the width of the interval of every ratio of A to B is less than this share.
    pub half_width: f64,
    /// Begin no further round after this time.
    pub span: Duration,
    /// The seed of contents and orders.
    pub seed: u64,
}

/// One folder, while it is measured.
struct PairBench {
    side: Side,
    folder: PathBuf,
    site: Site,
    place: PlaceId,
    scratch: Scratch,
}

/// The key of a series: folder, step and length, by index.
type SeriesKey = (usize, usize, u64);

impl Pair {
    fn check(&self) -> Result<(), Error> {
        if self.folders.len() < 2 || self.folders.len() > 3 {
            return Err(Error::usage("a pair is two folders, and a control if there is one"));
        }
        for (at, (_, one)) in self.folders.iter().enumerate() {
            if self.folders[..at].iter().any(|(_, other)| is_same(one, other)) {
                return Err(Error::usage("is named twice: there is nothing to compare").at(one));
            }
        }
        if self.lens_bytes.is_empty() || self.lens_bytes.contains(&0) || self.rounds == 0 {
            return Err(Error::usage("nothing to measure: no lengths, or no rounds"));
        }
        Ok(())
    }

    fn bytes_of_round(&self) -> u64 {
        self.lens_bytes.iter().sum::<u64>() * self.folders.len() as u64
    }
}

impl Workload for Pair {
    fn plan(&self, session: &mut Session<'_>) {
        // Each file is written, compared, and read twice.
        session.plan(f64::from(self.rounds) * 4.0 * self.bytes_of_round() as f64 / 1e9);
    }

    fn writes(&self) -> Vec<(&Path, u64)> {
        let bytes = u64::from(self.rounds) * self.lens_bytes.iter().sum::<u64>();
        self.folders.iter().map(|(_, folder)| (folder.as_path(), bytes)).collect()
    }

    fn run(&self, session: &mut Session<'_>) -> Result<(), End> {
        self.check()?;
        let mut running = PairRun::begin(self, session)?;
        let begun = Instant::now();
        for round in 0..self.rounds {
            if begun.elapsed() > self.span {
                let rounds = self.rounds;
                session.warn(format!("pair: time was up after {round} of {rounds} rounds"));
                break;
            }
            running.round(session, round)?;
            session.did(4.0 * self.bytes_of_round() as f64 / 1e9);
            if round + 1 >= ROUNDS_LOOKED_AT_MIN && running.is_enough(session) {
                break;
            }
        }
        running.close()
    }
}

/// A comparison in progress.
struct PairRun<'p> {
    pair: &'p Pair,
    benches: Vec<PairBench>,
    series: BTreeMap<SeriesKey, SeriesId>,
    contents: TestBytes,
    buffer: AlignedBuffer,
    random: Random,
    next_file: u32,
}

impl<'p> PairRun<'p> {
    fn begin(pair: &'p Pair, session: &mut Session<'_>) -> Result<PairRun<'p>, End> {
        let mut benches = Vec::new();
        for (side, folder) in &pair.folders {
            benches.push(PairBench::open(session, *side, folder, pair)?);
        }
        let mut series = BTreeMap::new();
        for (at, bench) in benches.iter().enumerate() {
            for (step, &stage) in STEPS.iter().enumerate() {
                for &length in &pair.lens_bytes {
                    let id = add_series(session, bench, stage, length, pair);
                    series.insert((at, step, length), id);
                }
            }
        }
        Ok(PairRun {
            pair,
            benches,
            series,
            contents: TestBytes::new(pair.seed),
            buffer: AlignedBuffer::new(CHUNK_LEN_BYTES),
            random: Random::new(pair.seed),
            next_file: 0,
        })
    }

    /// Runs all steps once, in a new random order.
    fn round(&mut self, session: &mut Session<'_>, round: u32) -> Result<(), End> {
        let mut lengths = self.pair.lens_bytes.clone();
        self.random.shuffle(&mut lengths);
        for length in lengths {
            let mut turns: Vec<usize> = (0..self.benches.len()).collect();
            self.random.shuffle(&mut turns);
            for at in turns {
                self.file(session, at, length, round)?;
            }
        }
        Ok(())
    }

    /// Takes one file through all steps.
    fn file(
        &mut self,
        session: &mut Session<'_>,
        at: usize,
        length: u64,
        round: u32,
    ) -> Result<(), End> {
        let file = PlannedFile { number: self.next_file, set: round, length };
        self.next_file += 1;
        let label = session.series(self.series[&(at, 0, length)]).label.clone();
        session.doing(&format!("{label}, round {} of at most {}", round + 1, self.pair.rounds))?;
        let bench = &self.benches[at];
        let stop = session.stop_flag();
        let failed = |doing: &'static str| {
            let folder = bench.folder.clone();
            move |error| Error::system(doing, error).at(&folder)
        };
        let (scratch, contents) = (&bench.scratch, &mut self.contents);
        let (timed, outcome) = session.time(|| timed::write(scratch, contents, file, true, stop));
        through(outcome.map_err(failed("write a file"))?)?;
        session.add_sample(self.series[&(at, 0, length)], timed.sample(round, length));
        for (step, stage) in STEPS.iter().enumerate().skip(1) {
            let id = self.series[&(at, step, length)];
            let read = read(bench, session, file, *stage, &mut self.buffer);
            let (sample, digest) = read?;
            if let Some(digest) = digest
                && digest != expected(contents, file)
            {
                let message = "a file does not hash to what was written";
                return Err(Error::wrong(message).at(&bench.folder).into());
            }
            if sample.cached_bytes != Some(0) {
                session.series_mut(id).factors.cache = Some(Cache::Unknown);
            }
            session.add_sample(id, sample);
        }
        scratch.remove(file.number).map_err(failed("remove a file"))?;
        Ok(())
    }

    /// Returns whether the ratio of A to B is precise enough for every step and length.
    fn is_enough(&self, session: &Session<'_>) -> bool {
        let rates = |key: &SeriesKey| -> Vec<f64> {
            session.series(self.series[key]).samples.iter().map(Sample::per_second).collect()
        };
        let firsts = self.series.keys().filter(|(at, ..)| *at == 0);
        firsts.into_iter().all(|&(_, step, length)| {
            let (a, b) = (rates(&(0, step, length)), rates(&(1, step, length)));
            let rounds: Vec<(f64, f64)> = a.into_iter().zip(b).collect();
            let ratio = stats::ratio(&rounds, &stats::Bootstrap::new(self.pair.seed));
            ratio.is_some_and(|ratio| stats::enough(&ratio, self.pair.half_width))
        })
    }

    fn close(self) -> Result<(), End> {
        for bench in self.benches {
            bench.scratch.close()?;
        }
        Ok(())
    }
}

impl PairBench {
    fn open(
        session: &mut Session<'_>,
        side: Side,
        folder: &Path,
        pair: &Pair,
    ) -> Result<PairBench, Error> {
        // A folder holds one file at a time.
        let bytes = pair.lens_bytes.iter().max().copied().unwrap_or(0);
        let (mut site, scratch) = scratch::prepare(session, folder, bytes)?;
        const PROBE: u32 = 99_999_999;
        let probed = scratch.create(PROBE).and_then(|_| scratch.open(PROBE));
        if let Ok(file) = probed {
            site.note_alignment(&file);
        }
        // If it stays, it is removed with the folder.
        let _ = scratch.remove(PROBE);
        for warning in site.warnings() {
            session.warn(warning);
        }
        let place = session.add_place(site.place.clone());
        Ok(PairBench { side, folder: folder.to_owned(), site, place, scratch })
    }
}

/// Returns whether two paths lead to one folder. A path that cannot be examined is reported later.
fn is_same(one: &Path, other: &Path) -> bool {
    let of = |path: &Path| Status::of(path).map(|status| (status.device, status.inode));
    matches!((of(one), of(other)), (Ok(one), Ok(other)) if one == other)
}

/// Reads a file after dropping it from the page cache, with or without hashing it. Returns the
/// digest if it was hashed.
fn read(
    bench: &PairBench,
    session: &mut Session<'_>,
    file: PlannedFile,
    stage: Stage,
    buffer: &mut AlignedBuffer,
) -> Result<(Sample, Option<Vec<u8>>), End> {
    let failed = |error| Error::system("read a file", error).at(&bench.folder);
    let stop = session.stop_flag();
    let before = bench.scratch.open(file.number).map_err(failed)?;
    let cached_bytes = bench.site.empty_caches(&before, file.length);
    drop(before);
    let hashes = stage == Stage::ReadHash;
    let mut hasher = AlgorithmHasher::new(Algorithm::Sha256);
    let (timed, outcome) = session.time(|| {
        let opened = bench.scratch.open(file.number)?;
        timed::read_into(Way::Cold.engine(), &opened, buffer, stop, |bytes| {
            if hashes {
                hasher.update(bytes);
            }
        })
    });
    let (length, _) = through(outcome.map_err(failed)?)?;
    if length != file.length {
        let message = format!("a file of {} bytes had {length} when read", file.length);
        return Err(Error::wrong(message).at(&bench.folder).into());
    }
    let digest = hashes.then(|| hasher.finalize().as_bytes().to_vec());
    Ok((Sample { cached_bytes, ..timed.sample(file.set, file.length) }, digest))
}

/// Returns the digest of the written bytes.
fn expected(contents: &mut TestBytes, file: PlannedFile) -> Vec<u8> {
    let mut hasher = AlgorithmHasher::new(Algorithm::Sha256);
    for (index, length) in timed::chunks(file.length) {
        hasher.update(contents.chunk(file.number, index, length));
    }
    hasher.finalize().as_bytes().to_vec()
}

fn add_series(
    session: &mut Session<'_>,
    bench: &PairBench,
    stage: Stage,
    length: u64,
    pair: &Pair,
) -> SeriesId {
    let (step, doing) = match stage {
        Stage::Write => ("written", "made, written 1 MiB at a time, flushed to the medium, closed"),
        Stage::Read => ("read", "put out of the page cache; then opened, read 1 MiB at a time"),
        _ => ("read and hashed", "the same with SHA-256 between the reads, by one thread"),
    };
    let side = match bench.side {
        Side::A => "A",
        Side::B => "B",
        Side::Control => "control",
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
    let label = format!("{side} {step}, files of {length} bytes");
    let series = Series::new(record::Workload::Pair, label, method, factors);
    session.add_series_at(bench.place, series.seeded(pair.seed))
}
