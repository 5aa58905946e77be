//! Hashing of bytes in memory: every kernel, and messages of every size.
//!
//! Nothing is read, so the result is the upper bound of hashing. Memory is that of [`Data`] for any
//! message size: a longer message repeats the same bytes.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use steadfast::{Algorithm, Backend, Digest, Level};
use steadfast_digest::{AlgorithmHasher, Sha256};

use super::kernel::{HashKernel, backend_of_one};
use super::{HashCell, PIECE_LEN_BYTES};
use crate::calibrate;
use crate::contents::TestBytes;
use crate::error::Error;
use crate::record::{Beside, Factors, Sample, Series, Stage, Workload};
use crate::runner::{End, SeriesId, Session, Timed};
use crate::workload::together::{Together, together};

/// Length of one message of a kernel's sample, in bytes.
const MESSAGE_LEN_BYTES: usize = 1 << 20;

/// Up to this length, the slow portable backend verifies messages.
const PORTABLE_LEN_BYTES_MAX: u64 = 64_000_000;

/// The bytes to hash, and their known digests.
pub(super) struct Data {
    contents: TestBytes,
    known: RefCell<HashMap<(Algorithm, usize), Digest>>,
}

impl Data {
    /// Takes the pool of bytes that files were made from. No more files can be made then.
    pub(super) fn new(contents: TestBytes) -> Data {
        Data { contents, known: RefCell::default() }
    }

    fn bytes(&self) -> &[u8] {
        self.contents.pool()
    }

    /// Returns the digest of a message. Other code than the measured code computes it, if there is
    /// any.
    fn digest(&self, algorithm: Algorithm, number: usize) -> Digest {
        let place = number % (self.bytes().len() / MESSAGE_LEN_BYTES);
        let mut known = self.known.borrow_mut();
        *known.entry((algorithm, place)).or_insert_with(|| {
            let message = message(self.bytes(), number);
            match algorithm {
                Algorithm::Sha256 => {
                    let portable = Backend::named("portable").expect("it runs everywhere");
                    let mut hasher = Sha256::new(portable);
                    hasher.update(message);
                    hasher.finalize()
                }
                _ => {
                    let mut hasher = AlgorithmHasher::new(algorithm);
                    hasher.update(message);
                    hasher.finalize()
                }
            }
        })
    }
}

/// Returns message `number`. After the last message, the first follows again.
fn message(bytes: &[u8], number: usize) -> &[u8] {
    let count = bytes.len() / MESSAGE_LEN_BYTES;
    &bytes[number % count * MESSAGE_LEN_BYTES..][..MESSAGE_LEN_BYTES]
}

/// One kernel in a number of threads, at a level or at the current one.
pub(super) struct KernelCell {
    kernel: HashKernel,
    threads: usize,
    level: Option<Level>,
    data: Rc<Data>,
    target_ns: u64,
    id: SeriesId,
    /// Sets of messages in one sample, so that it takes long enough. Determined at the first call.
    repeats: Option<usize>,
}

impl KernelCell {
    /// Makes the cell and its series. A sample takes about `target_ns`.
    pub(super) fn new(
        session: &mut Session<'_>,
        (kernel, threads, level): (HashKernel, usize, Option<Level>),
        data: &Rc<Data>,
        target_ns: u64,
        seed: u64,
    ) -> KernelCell {
        let at = level.map_or(String::new(), |level| format!(", {level}"));
        let plural = if threads == 1 { "thread" } else { "threads" };
        let label = format!("{kernel}, {threads} {plural}{at}, in memory");
        let factors = Factors {
            stage: Some(Stage::Hash),
            algorithm: Some(kernel.algorithm().name().to_owned()),
            backend: Some(kernel.backend().to_owned()),
            lanes: Some(kernel.lanes() as u32),
            threads: Some(threads as u32),
            qos: level.map(Level::number),
            buffer_len_bytes: Some(PIECE_LEN_BYTES as u64),
            ..Factors::default()
        };
        let method = format!(
            "each thread hashes messages of {MESSAGE_LEN_BYTES} bytes, as many at once as lanes, \
             {PIECE_LEN_BYTES} bytes of each at a time, out of {} MB of memory; the digests of \
             every sample are compared with those by other code",
            data.bytes().len() / 1_000_000
        );
        let series = Series::new(Workload::Hash, label, method, factors);
        let id = session.add_series(series.seeded(seed));
        KernelCell { kernel, threads, level, data: Rc::clone(data), target_ns, id, repeats: None }
    }

    fn hash(&self, session: &mut Session<'_>, repeats: usize) -> Result<Timed, End> {
        let (kernel, lanes) = (self.kernel, self.kernel.lanes());
        let bytes = self.data.bytes();
        let work = |thread: usize| {
            let messages: Vec<&[u8]> =
                (0..lanes).map(|lane| message(bytes, thread * lanes + lane)).collect();
            let mut digests = Vec::new();
            for _ in 0..repeats {
                digests = kernel.digests(&messages, PIECE_LEN_BYTES);
            }
            digests
        };
        let level = self.level;
        let enter = move |_| {
            let Some(level) = level else { return Vec::new() };
            let refused = steadfast::qos::enter(level).into_iter().filter_map(|step| {
                let error = step.result.err()?;
                Some(format!("QoS {level}: {} refused ({error})", step.what))
            });
            refused.collect()
        };
        let Together { timed, results, .. } = together(session, self.threads, &enter, &work)?;
        for (number, digest) in results.into_iter().flatten().enumerate() {
            if digest != self.data.digest(kernel.algorithm(), number) {
                return Err(
                    Error::wrong(format!("{kernel}: wrong digest of message {number}")).into()
                );
            }
        }
        Ok(timed)
    }
}

impl HashCell for KernelCell {
    fn id(&self) -> SeriesId {
        self.id
    }

    fn cost_s(&self) -> f64 {
        self.target_ns as f64 / 1e9
    }

    fn measure(&mut self, session: &mut Session<'_>, round: u32) -> Result<(), End> {
        let repeats = match self.repeats {
            Some(repeats) => repeats,
            None => {
                let once = self.hash(session, 1)?;
                let once_ns = (once.cpu_ns / self.threads as u64).max(1);
                self.target_ns.div_ceil(once_ns).clamp(1, 1 << 20) as usize
            }
        };
        self.repeats = Some(repeats);
        let timed = self.hash(session, repeats)?;
        let messages = (repeats * self.threads * self.kernel.lanes()) as u64;
        // Of several threads, or at a level, this thread's processor says little.
        let is_alone = self.threads == 1 && self.level.is_none();
        let clock_khz = is_alone.then(calibrate::clock_khz).flatten();
        let beside = clock_khz.map(|_| Beside { clock_khz, ..Beside::default() });
        let sample = timed.sample(round, messages * MESSAGE_LEN_BYTES as u64);
        session.add_sample(self.id, Sample { beside, ..sample });
        Ok(())
    }
}

/// Messages of the sizes of the files, one at a time in one thread.
pub(super) struct StreamCell {
    algorithm: Algorithm,
    size: u64,
    digest: Digest,
    data: Rc<Data>,
    id: SeriesId,
}

impl StreamCell {
    /// Makes a cell for each size, all in one series.
    ///
    /// # Errors
    ///
    /// If it was stopped.
    pub(super) fn all(
        session: &mut Session<'_>,
        (algorithm, sizes): (Algorithm, &[u64]),
        data: &Rc<Data>,
        seed: u64,
    ) -> Result<Vec<StreamCell>, End> {
        let backend = backend_of_one(algorithm);
        let label = format!("one message, {algorithm} by {backend}, in memory");
        let factors = Factors {
            stage: Some(Stage::Hash),
            algorithm: Some(algorithm.name().to_owned()),
            backend: Some(backend.to_owned()),
            engine: Some("memory".to_owned()),
            lanes: Some(1),
            threads: Some(1),
            buffer_len_bytes: Some(PIECE_LEN_BYTES as u64),
            ..Factors::default()
        };
        let method = format!(
            "one thread hashes one message, {PIECE_LEN_BYTES} bytes at a time; what is longer than \
             {} bytes is that memory over again",
            data.bytes().len()
        );
        let series = Series::new(Workload::Hash, label.as_str(), method, factors);
        let id = session.add_series(series.seeded(seed));
        let mut cells = Vec::new();
        for &size in sizes {
            session.doing(&label)?;
            // The portable backend verifies as long as that is quick. Longer messages, and other
            // algorithms, are only compared with each other.
            let digest = match algorithm {
                Algorithm::Sha256 if size <= PORTABLE_LEN_BYTES_MAX => {
                    let portable = Backend::named("portable").expect("it runs everywhere");
                    let mut hasher = Sha256::new(portable);
                    for_pieces(data.bytes(), size, |piece| hasher.update(piece));
                    hasher.finalize()
                }
                _ => stream(data.bytes(), size, algorithm),
            };
            let data = Rc::clone(data);
            cells.push(StreamCell { algorithm, size, digest, data, id });
        }
        Ok(cells)
    }
}

impl HashCell for StreamCell {
    fn id(&self) -> SeriesId {
        self.id
    }

    fn cost_s(&self) -> f64 {
        self.size as f64 / 1.5e9
    }

    fn measure(&mut self, session: &mut Session<'_>, round: u32) -> Result<(), End> {
        let (bytes, size, algorithm) = (self.data.bytes(), self.size, self.algorithm);
        let (timed, digest) = session.time(|| stream(bytes, size, algorithm));
        if digest != self.digest {
            return Err(Error::wrong(format!("{algorithm}: wrong digest of {size} bytes")).into());
        }
        session.add_sample(self.id, timed.sample(round, size));
        Ok(())
    }
}

/// Hashes `size` bytes, which repeat `bytes`.
fn stream(bytes: &[u8], size: u64, algorithm: Algorithm) -> Digest {
    let mut hasher = AlgorithmHasher::new(algorithm);
    for_pieces(bytes, size, |piece| hasher.update(piece));
    hasher.finalize()
}

/// Calls `update` with `size` bytes, which repeat `bytes`, piece by piece.
fn for_pieces(bytes: &[u8], size: u64, mut update: impl FnMut(&[u8])) {
    let mut left = size;
    while left > 0 {
        let length = usize::try_from(left).unwrap_or(usize::MAX).min(bytes.len());
        bytes[..length].chunks(PIECE_LEN_BYTES).for_each(&mut update);
        left -= length as u64;
    }
}
