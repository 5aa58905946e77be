//! Evidence of disturbances while files are timed.
//!
//! Measures the processor time of other processes during a sample, and the rate of hashing in
//! memory between samples. That rate falls if the processor is throttled or shared, but not if a
//! disk is hot or full.

use std::hint::black_box;

use steadfast_digest::{Digest, sha256};
use steadfast_sys::machine;

use crate::contents::CHUNK_LEN_BYTES;
use crate::error::Error;
use crate::random::Random;
use crate::record::{Beside, Factors, Series, Stage, Workload};
use crate::runner::{SeriesId, Session, Timed};

/// Bytes that are hashed between files: about 2 ms, and nearly or entirely within a second-level
/// cache.
const HASHED_LEN_BYTES: usize = 4 << 20;

/// How often memory is copied. The fastest copy is the bound, because a busy machine slows most
/// copies.
const COPIES: u32 = 9;

/// The counters of the system.
#[derive(Clone, Copy, Debug)]
pub(in crate::workload) struct Counted {
    busy_ns: Option<u64>,
    stolen_ns: Option<u64>,
}

impl Counted {
    /// Reads the counters before a sample.
    pub(in crate::workload) fn now() -> Counted {
        Counted { busy_ns: machine::busy_ns(), stolen_ns: machine::stolen_ns() }
    }

    /// Reads them again after the sample, and returns the difference.
    pub(in crate::workload) fn beside(self, timed: Timed) -> Option<Beside> {
        let since = |before: Option<u64>, now: Option<u64>| Some(now?.saturating_sub(before?));
        let busy_ns = since(self.busy_ns, machine::busy_ns());
        let beside = Beside {
            others_ns: busy_ns.map(|busy_ns| busy_ns.saturating_sub(timed.cpu_ns)),
            stolen_ns: since(self.stolen_ns, machine::stolen_ns()),
            frequency_khz: machine::frequency_khz(),
            temperature_millidegrees: machine::temperature_millidegrees(),
        };
        (beside != Beside::default()).then_some(beside)
    }
}

/// Hashes in memory between files.
#[derive(Debug)]
pub(in crate::workload) struct Core {
    workload: Workload,
    bytes: Vec<u8>,
    digest: Digest,
    /// The series of the samples, and the round of its last sample.
    series: SeriesId,
    round: u32,
}

impl Core {
    /// Adds a series for this hashing to the session.
    pub(in crate::workload) fn new(session: &mut Session<'_>, workload: Workload) -> Core {
        let mut bytes = vec![0; HASHED_LEN_BYTES];
        Random::new(0).fill(&mut bytes);
        let digest = sha256(&bytes);
        let series = add_series(session, workload);
        Core { workload, bytes, digest, series, round: 0 }
    }

    /// Hashes once. If rounds begin again, as reading does after writing, a new series begins.
    ///
    /// # Errors
    ///
    /// If the digest differs from the previous one.
    pub(in crate::workload) fn sample(
        &mut self,
        session: &mut Session<'_>,
        round: u32,
    ) -> Result<(), Error> {
        let (timed, digest) = session.time(|| sha256(black_box(&self.bytes)));
        if digest != self.digest {
            return Err(Error::wrong("the same bytes in memory gave another digest"));
        }
        if round < self.round {
            self.series = add_series(session, self.workload);
        }
        self.round = round;
        session.add_sample(self.series, timed.sample(round, self.bytes.len() as u64));
        Ok(())
    }
}

fn add_series(session: &mut Session<'_>, workload: Workload) -> SeriesId {
    let method = "4 MiB in memory hashed by one thread after each file: it falls when the \
                  processor is held back or shared, and not when a disk is";
    let factors = Factors {
        stage: Some(Stage::Hash),
        algorithm: Some("sha256".to_owned()),
        threads: Some(1),
        ..Factors::default()
    };
    session.add_series(Series::new(workload, "SHA-256 in memory, between files", method, factors))
}

/// Times copying memory as a read from the page cache does: from much memory to one buffer. No read
/// through the cache by one thread can be faster.
///
/// # Errors
///
/// If the copy differs from its source.
pub(in crate::workload) fn copy_memory(
    session: &mut Session<'_>,
    workload: Workload,
    from: &[u8],
) -> Result<(), Error> {
    let mib = from.len() >> 20;
    let method =
        format!("{mib} MiB copied by one thread to a buffer of 1 MiB, as a bound for reading");
    let factors = Factors { stage: Some(Stage::Copy), threads: Some(1), ..Factors::default() };
    let series = session.add_series(Series::new(workload, "memory to memory", method, factors));
    let mut buffer = vec![1; CHUNK_LEN_BYTES];
    for round in 0..COPIES {
        let (timed, ()) = session.time(|| {
            for chunk in black_box(from).chunks_exact(CHUNK_LEN_BYTES) {
                black_box(&mut buffer).copy_from_slice(chunk);
            }
        });
        session.add_sample(series, timed.sample(round, from.len() as u64));
    }
    if from.chunks_exact(CHUNK_LEN_BYTES).next_back() != Some(&*buffer) {
        return Err(Error::wrong("a copy in memory is not what was copied"));
    }
    Ok(())
}
