//! What a full check would cost, before it is done.
//!
//! In: the signatures of what would be checked, and rates measured on this machine. Out: bytes to
//! read, bytes to hash, seconds. Must not know: how long it then took. A check reads each byte
//! once and hashes it once for each kind of digest; both are done by every worker in turn.

use std::io;
use std::num::NonZeroUsize;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use steadfast_digest::{Algorithm, AlgorithmHasher};
use steadfast_sys::clock;

use crate::binary::{Binary, Slice};
use crate::hash::HashType;
use crate::pages::{CheckOptions, hash_for_rate};
use crate::signature::Signature;
use crate::source::ReadAt;

/// What a full check reads and hashes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// Bytes of headers and signatures, read before anything else.
    pub metadata_bytes: u64,
    /// Bytes of code and of sealed files, read once.
    pub read_bytes: u64,
    /// Pages and files to be hashed, counted for each digest.
    pub digests: u64,
    /// Bytes to be hashed, for each algorithm.
    hashed: Vec<(Algorithm, u64)>,
    /// Those of them that are of sealed files, each file one message.
    hashed_whole: Vec<(Algorithm, u64)>,
    /// The longest sealed file: no more than one thread is at it.
    file_len_max: u64,
    /// The longest sealed part: threads share one part after another.
    part_len_max: u64,
}

impl Cost {
    /// Adds up the slices of a file.
    pub fn of(binary: &Binary) -> Cost {
        let mut cost = Cost { metadata_bytes: binary.index_len_bytes(), ..Cost::default() };
        for slice in &binary.slices {
            cost.add_slice(slice);
        }
        cost
    }

    fn add_slice(&mut self, slice: &Slice) {
        if let Some(macho) = &slice.macho {
            self.metadata_bytes += macho.commands_len_bytes;
        }
        if let Some(signature) = &slice.signature {
            self.add_signature(signature, slice.len_bytes);
        }
    }

    /// Adds what one signature seals of a part so long.
    pub fn add_signature(&mut self, signature: &Signature, part_len_bytes: u64) {
        self.metadata_bytes += signature.superblob.bytes().len() as u64;
        let mut seen: Vec<(Algorithm, Option<u64>, u64)> = Vec::new();
        let mut read_bytes = 0;
        for directory in signature.directories().iter().filter(|found| found.scatter().is_empty()) {
            let limit = directory.code_limit().min(part_len_bytes);
            read_bytes = limit.max(read_bytes);
            let algorithm = directory.hash_type().algorithm();
            let alike = (algorithm, directory.page_len(), limit);
            if !seen.contains(&alike) {
                seen.push(alike);
                self.digests += directory.page_count_expected();
                add_to(&mut self.hashed, algorithm, limit);
            }
        }
        self.read_bytes += read_bytes;
        self.part_len_max = self.part_len_max.max(read_bytes);
    }

    /// Returns the bytes of the longest part, which say how many threads have something to do.
    pub fn part_len_max(&self) -> u64 {
        self.part_len_max
    }

    /// Adds a sealed file, with the hash types it is sealed by.
    pub fn add_file(&mut self, len_bytes: u64, hashes: &[HashType]) {
        self.read_bytes += len_bytes;
        self.file_len_max = self.file_len_max.max(len_bytes);
        for (index, hash) in hashes.iter().enumerate() {
            let algorithm = hash.algorithm();
            if !hashes[..index].iter().any(|earlier| earlier.algorithm() == algorithm) {
                self.digests += 1;
                add_to(&mut self.hashed, algorithm, len_bytes);
                add_to(&mut self.hashed_whole, algorithm, len_bytes);
            }
        }
    }

    /// Adds the cost of something else.
    pub fn add(&mut self, other: &Cost) {
        self.metadata_bytes += other.metadata_bytes;
        self.read_bytes += other.read_bytes;
        self.digests += other.digests;
        self.file_len_max = self.file_len_max.max(other.file_len_max);
        self.part_len_max = self.part_len_max.max(other.part_len_max);
        for (algorithm, bytes) in &other.hashed {
            add_to(&mut self.hashed, *algorithm, *bytes);
        }
        for (algorithm, bytes) in &other.hashed_whole {
            add_to(&mut self.hashed_whole, *algorithm, *bytes);
        }
    }

    /// Returns the bytes to be hashed, for each algorithm.
    pub fn hashed(&self) -> &[(Algorithm, u64)] {
        &self.hashed
    }

    /// Predicts the seconds a full check takes at these rates, once the code is opened.
    pub fn seconds(&self, rates: &Rates) -> f64 {
        let read = (self.metadata_bytes + self.read_bytes) as f64 / rates.read_bytes_per_s;
        let pages = self.hashed.iter().map(|(algorithm, bytes)| {
            let paged = bytes - value_of(&self.hashed_whole, *algorithm).unwrap_or(0);
            let rate = value_of(&rates.hash_bytes_per_s, *algorithm);
            rate.map_or(0.0, |rate| paged as f64 / rate)
        });
        let files_at_once = self.files_at_once(rates.workers.get());
        let files = self.hashed_whole.iter().map(|(algorithm, bytes)| {
            let rate = value_of(&rates.whole_bytes_per_s, *algorithm);
            rate.map_or(0.0, |rate| *bytes as f64 / (rate * files_at_once))
        });
        read + pages.sum::<f64>() + files.sum::<f64>()
    }

    /// How many threads hash files, on average: the longest file is left to one of them.
    fn files_at_once(&self, workers: usize) -> f64 {
        let longest = self.hashed_whole.iter().map(|(_, bytes)| *bytes).max().unwrap_or(0) as f64;
        (longest / self.file_len_max.max(1) as f64).clamp(1.0, workers as f64)
    }
}

fn add_to(sums: &mut Vec<(Algorithm, u64)>, algorithm: Algorithm, bytes: u64) {
    match sums.iter_mut().find(|(known, _)| *known == algorithm) {
        Some((_, sum)) => *sum += bytes,
        None => sums.push((algorithm, bytes)),
    }
}

fn value_of<T: Copy>(values: &[(Algorithm, T)], algorithm: Algorithm) -> Option<T> {
    values.iter().find(|(known, _)| *known == algorithm).map(|(_, value)| *value)
}

/// How fast this machine reads and hashes.
#[derive(Clone, Debug, PartialEq)]
pub struct Rates {
    /// Bytes read in a second by all workers together, from where the code is, in the state its
    /// cache is in.
    pub read_bytes_per_s: f64,
    /// Bytes of pages hashed in a second by all workers, with each algorithm of directories.
    pub hash_bytes_per_s: Vec<(Algorithm, f64)>,
    /// Bytes of a file hashed in a second, one file by one worker: there are no lanes to fill.
    pub whole_bytes_per_s: Vec<(Algorithm, f64)>,
    /// How many workers share sealed files.
    pub workers: NonZeroUsize,
}

/// Bytes hashed at each try, by each worker: a hundred batches of lanes.
const HASH_TRY_LEN: usize = 256 << 10;
const HASH_TRIES: usize = 9;

/// Bytes read at each place, and at how many places: enough to outweigh the calls, few enough to
/// be a small part of a file for which a prediction is worth having.
const READ_TRY_LEN: u64 = 256 << 10;
const READ_TRIES: u64 = 32;

/// Of so many reads the slowest is left out: that in which the thread was put aside.
const READ_TRIES_DROPPED: usize = 8;

impl Rates {
    /// Measures both, reading 8 MiB at most, spread over the source. Pages are hashed by as many
    /// workers as a part so long keeps busy.
    ///
    /// What the system has not in memory is read from where it is: a prediction after it holds for
    /// that, and the places read are in memory then.
    ///
    /// # Errors
    /// Whatever the source says.
    pub fn measure(
        source: &dyn ReadAt,
        part_len_bytes: u64,
        options: &CheckOptions,
    ) -> io::Result<Rates> {
        let busy = options.workers_for(part_len_bytes);
        let data = vec![0x5a; HASH_TRY_LEN];
        let algorithms = [Algorithm::Sha256, Algorithm::Sha1, Algorithm::Sha384];
        let hash_bytes_per_s = algorithms.map(|algorithm| {
            let times = at_once(busy.get(), || {
                median_ns(|| hash_for_rate(algorithm, options, part_len_bytes, &data))
            });
            (algorithm, rate(busy.get(), HASH_TRY_LEN as u64, &times))
        });
        let whole_bytes_per_s = algorithms.map(|algorithm| {
            let time_ns = median_ns(|| {
                let mut hasher = AlgorithmHasher::new(algorithm);
                hasher.update(&data);
                std::hint::black_box(hasher.finalize());
            });
            (algorithm, rate(1, HASH_TRY_LEN as u64, &[time_ns]))
        });
        Ok(Rates {
            read_bytes_per_s: measure_reading(source, busy)?,
            hash_bytes_per_s: hash_bytes_per_s.into(),
            whole_bytes_per_s: whole_bytes_per_s.into(),
            workers: options.workers,
        })
    }
}

/// Returns the median of several tries.
fn median_ns(work: impl Fn()) -> u64 {
    let tries = (0..HASH_TRIES).map(|_| {
        let start_ns = clock::monotonic_ns();
        work();
        clock::monotonic_ns() - start_ns
    });
    let mut tries: Vec<u64> = tries.collect();
    tries.sort_unstable();
    tries[HASH_TRIES / 2]
}

/// Reads places spread over the source, the workers in turn; returns bytes a second of them all.
fn measure_reading(source: &dyn ReadAt, workers: NonZeroUsize) -> io::Result<f64> {
    let len = source.len_bytes();
    let try_len = READ_TRY_LEN.min(len);
    let tries = (len / READ_TRY_LEN).clamp(1, READ_TRIES);
    let step = (len - try_len) / tries;
    let next = AtomicU64::new(0);
    let failed = Mutex::new(None);
    let times = at_once(workers.get(), || {
        let mut buffer = vec![0; try_len as usize];
        let mut times_ns = Vec::new();
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            if index >= tries {
                return times_ns;
            }
            let start_ns = clock::monotonic_ns();
            if let Err(error) = source.read_exact_at(&mut buffer, index * step) {
                *failed.lock().expect("no thread died") = Some(error);
                return times_ns;
            }
            times_ns.push(clock::monotonic_ns() - start_ns);
        }
    });
    if let Some(error) = failed.into_inner().expect("no thread died") {
        return Err(error);
    }
    let mut times_ns: Vec<u64> = times.into_iter().flatten().collect();
    times_ns.sort_unstable();
    times_ns.truncate(times_ns.len() - times_ns.len() / READ_TRIES_DROPPED);
    let spent_ns: u64 = times_ns.iter().sum();
    let read_bytes = try_len.max(1) * times_ns.len() as u64;
    Ok(rate(workers.get(), read_bytes, &[spent_ns]))
}

/// Runs the same in so many threads and returns what each gave.
fn at_once<T: Send>(workers: usize, work: impl Fn() -> T + Sync) -> Vec<T> {
    std::thread::scope(|scope| {
        let others: Vec<_> = (1..workers)
            .filter_map(|_| std::thread::Builder::new().spawn_scoped(scope, &work).ok())
            .collect();
        let own = work();
        let others = others.into_iter().map(|other| other.join().expect("no thread died"));
        std::iter::once(own).chain(others).collect()
    })
}

/// Returns bytes a second of all workers together.
fn rate(workers: usize, len_bytes: u64, times_ns: &[u64]) -> f64 {
    let each = times_ns.iter().map(|time_ns| len_bytes as f64 * 1e9 / (*time_ns).max(1) as f64);
    each.sum::<f64>() * workers as f64 / times_ns.len() as f64
}
