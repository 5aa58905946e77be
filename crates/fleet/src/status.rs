//! The status of a job: what is done, what is missing, and why.
//!
//! Reads only the outcome of each part. A merge reads and verifies all of it.

use std::collections::BTreeMap;

use serde::Serialize;
use steadfast::ExitStatus;
use steadfast::Verdict;

use crate::error::Error;
use crate::failure::{self, FailureNote};
use crate::fit::Fit;
use crate::job::Job;
use crate::part;

/// Shards of each kind that are listed.
const NAMED_MAX: usize = 100;

/// How far a job is. Its fields are serialized as `fleet/FORMAT.md` specifies them.
#[derive(Clone, Debug, Default, Serialize)]
pub struct JobStatus {
    /// All of it.
    pub whole: JobAmount,
    /// What parts tell of.
    pub done: JobAmount,
    /// How many files got which verdict.
    pub verdicts: BTreeMap<&'static str, u64>,
    /// Time that the parts took, one after the other.
    pub elapsed_ns: u64,
    /// The number of parts that a rate limit bounded: their rate is not that of the storage.
    pub rate_limited: u64,
    /// The cost of a file besides its bytes, fitted to the parts. `None` if it cannot be fitted.
    pub file_cost_bytes: Option<u64>,
    /// The number of directories and lines that planning could not read.
    pub troubles: u64,
    /// The first shards without a part.
    pub missing: Vec<u64>,
    /// The first shards whose part has an end that cannot be understood, or that tells of another
    /// number of files than were planned.
    pub damaged: Vec<u64>,
    /// How many shards could not be run the last time that it was tried.
    pub failures: u64,
    /// The first of these, and why.
    pub failed: Vec<FailedShard>,
    /// By device.
    pub devices: Vec<DeviceStatus>,
    /// How many of the failures will not pass by themselves, and need a person.
    #[serde(skip)]
    pub hopeless: u64,
    /// How many files were compared with a record of them.
    #[serde(skip)]
    pub judged: u64,
    /// What a check of all that is done would end with: not fine if no file of a whole job was
    /// judged.
    #[serde(skip)]
    pub checked_status: ExitStatus,
}

/// So much of a job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct JobAmount {
    /// Shards.
    pub shards: u64,
    /// The number of files.
    pub files: u64,
    /// The planned bytes.
    pub bytes: u64,
}

impl JobAmount {
    fn add(&mut self, files: u64, bytes: u64) {
        self.shards += 1;
        self.files += files;
        self.bytes = self.bytes.saturating_add(bytes);
    }
}

/// A device of a job.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct DeviceStatus {
    /// Its number within the job.
    pub device: u64,
    /// The total.
    pub whole: JobAmount,
    /// The amount that has parts.
    pub done: JobAmount,
}

/// A shard that could not be run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FailedShard {
    /// The shard.
    pub shard: u64,
    /// The machine.
    pub host: String,
    /// When, in seconds since 1970.
    pub at_s: i64,
    /// Whether a retry may succeed.
    pub temporary: bool,
    /// Why.
    pub error: String,
}

impl JobStatus {
    /// Returns whether every shard has a part.
    pub fn is_complete(&self) -> bool {
        self.done.shards == self.whole.shards
    }

    /// Returns whether parts are missing, and retries cannot fix any of them.
    pub fn is_stuck(&self) -> bool {
        !self.is_complete() && self.done.shards + self.hopeless == self.whole.shards
    }
}

/// Reads the status of a job.
///
/// # Errors
/// If the job cannot be read.
pub fn status(job: &Job) -> Result<JobStatus, Error> {
    let there = job.numbers("parts")?;
    let failed = job.numbers("failures")?;
    let mut status = JobStatus { troubles: job.header().troubles, ..JobStatus::default() };
    let (mut devices, mut fit): (BTreeMap<u64, DeviceStatus>, Fit) = Default::default();
    job.each_shard(&mut |row| {
        let device = devices.entry(row.device).or_default();
        device.device = row.device;
        device.whole.add(row.files, row.bytes);
        status.whole.add(row.files, row.bytes);
        let is_there = there.binary_search(&row.shard).is_ok();
        match is_there.then(|| part::outcome(&job.part(row.shard))) {
            Some(Ok(outcome)) if outcome.files == row.files => {
                device.done.add(row.files, row.bytes);
                status.done.add(row.files, row.bytes);
                status.rate_limited += u64::from(outcome.rate_limited);
                // A rate limit hides the cost of a file.
                if !outcome.rate_limited {
                    fit.add(outcome.files, outcome.bytes, outcome.elapsed_ns);
                }
                status.elapsed_ns = status.elapsed_ns.saturating_add(outcome.elapsed_ns);
                status.checked_status.raise(outcome.exit_status);
                for (name, files) in outcome.verdicts {
                    let known = Verdict::ALL.into_iter().find(|verdict| verdict.name() == name);
                    *status.verdicts.entry(known.map_or("others", Verdict::name)).or_default() +=
                        files;
                }
                return Ok(());
            }
            Some(_) => name(&mut status.damaged, row.shard),
            None => name(&mut status.missing, row.shard),
        }
        if failed.binary_search(&row.shard).is_ok() {
            status.failures += 1;
            let failure = failure::read(&job.failure(row.shard));
            status.hopeless += u64::from(failure.as_ref().is_some_and(|one| !one.temporary));
            if status.failed.len() < NAMED_MAX {
                status.failed.extend(failure.map(FailedShard::of));
            }
        }
        Ok(())
    })?;
    if status.troubles > 0 {
        status.checked_status.raise(ExitStatus::Undetermined);
    }
    let judged = Verdict::ALL.into_iter().filter(|verdict| verdict.judges());
    status.judged = judged.filter_map(|verdict| status.verdicts.get(verdict.name())).sum();
    if status.is_complete() && status.judged == 0 && !job.had_nothing_due() {
        status.checked_status.raise(ExitStatus::Undetermined);
    }
    status.devices = devices.into_values().collect();
    status.file_cost_bytes = fit.file_cost_bytes();
    Ok(status)
}

fn name(named: &mut Vec<u64>, shard: u64) {
    if named.len() < NAMED_MAX {
        named.push(shard);
    }
}

impl FailedShard {
    fn of(failure: FailureNote) -> FailedShard {
        let FailureNote { shard, host, at_s, temporary, error, .. } = failure;
        FailedShard { shard, host, at_s, temporary, error }
    }
}
