//! How far a job is: what is there, what is not, and why.
//!
//! In: a job. Out: counts. Of parts only the end is read; a merge reads them whole.

use std::collections::BTreeMap;

use serde::Serialize;
use steadfast::Verdict;
use steadfast::verdict::worse_status;

use crate::error::Error;
use crate::failure::{self, Failure};
use crate::fit::Fit;
use crate::job::Job;
use crate::part;

/// Shards that are named, of each kind.
const NAMED_MAX: usize = 100;

/// How far a job is. Its fields are serialized as `docs/formats/fleet.md` specifies them.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Status {
    /// All of it.
    pub whole: Amount,
    /// What parts tell of.
    pub done: Amount,
    /// How many files got which verdict.
    pub verdicts: BTreeMap<&'static str, u64>,
    /// Time that the parts took, one after the other.
    pub elapsed_ns: u64,
    /// Parts that a limit on the rate bound: their rate is that limit, not the storage's.
    pub rate_limited: u64,
    /// What a file cost besides its bytes, in bytes, by these parts; `None` where they cannot tell.
    pub file_cost_bytes: Option<u64>,
    /// Directories and lines that planning could not make out.
    pub troubles: u64,
    /// The first shards without a part.
    pub missing: Vec<u64>,
    /// The first shards whose part has an end that cannot be understood, or that tells of another
    /// number of files than were planned.
    pub damaged: Vec<u64>,
    /// How many shards could not be run the last time that it was tried.
    pub failures: u64,
    /// The first of these, and why.
    pub failed: Vec<Failed>,
    /// By device.
    pub devices: Vec<Device>,
    /// How many of the failures will not pass by themselves, and need a person.
    #[serde(skip)]
    pub hopeless: u64,
    /// How many files were compared with a record of them.
    #[serde(skip)]
    pub judged: u64,
    /// What a check of all that is done would end with: 2 if no file of a whole job was judged.
    #[serde(skip)]
    pub checked_status: u8,
}

/// So much of a job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Amount {
    /// Shards.
    pub shards: u64,
    /// Files.
    pub files: u64,
    /// Bytes, as planned.
    pub bytes: u64,
}

impl Amount {
    fn add(&mut self, files: u64, bytes: u64) {
        self.shards += 1;
        self.files += files;
        self.bytes = self.bytes.saturating_add(bytes);
    }
}

/// A device of a job.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Device {
    /// Its number within the job.
    pub device: u64,
    /// All of it.
    pub whole: Amount,
    /// What parts tell of.
    pub done: Amount,
}

/// A shard that could not be run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Failed {
    /// The shard.
    pub shard: u64,
    /// The machine.
    pub host: String,
    /// When, in seconds since 1970.
    pub at_s: i64,
    /// Whether to try again makes sense.
    pub temporary: bool,
    /// Why.
    pub error: String,
}

impl Status {
    /// Says whether there is a part of every shard.
    pub fn is_complete(&self) -> bool {
        self.done.shards == self.whole.shards
    }

    /// Says whether parts are missing, and none of them can come before somebody has looked.
    pub fn is_stuck(&self) -> bool {
        !self.is_complete() && self.done.shards + self.hopeless == self.whole.shards
    }
}

/// Looks how far a job is.
///
/// # Errors
/// If the job cannot be read.
pub fn status(job: &Job) -> Result<Status, Error> {
    let there = job.numbers("parts")?;
    let failed = job.numbers("failures")?;
    let mut status = Status { troubles: job.header().troubles, ..Status::default() };
    let (mut devices, mut fit): (BTreeMap<u64, Device>, Fit) = Default::default();
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
                // What a file costs besides its bytes is hidden by the limit.
                if !outcome.rate_limited {
                    fit.add(outcome.files, outcome.bytes, outcome.elapsed_ns);
                }
                status.elapsed_ns = status.elapsed_ns.saturating_add(outcome.elapsed_ns);
                status.checked_status = worse_status(status.checked_status, outcome.exit_status);
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
                status.failed.extend(failure.map(Failed::of));
            }
        }
        Ok(())
    })?;
    if status.troubles > 0 {
        status.checked_status = worse_status(status.checked_status, 2);
    }
    let judged = Verdict::ALL.into_iter().filter(|verdict| verdict.judges());
    status.judged = judged.filter_map(|verdict| status.verdicts.get(verdict.name())).sum();
    if status.is_complete() && status.judged == 0 && !job.had_nothing_due() {
        status.checked_status = worse_status(status.checked_status, 2);
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

impl Failed {
    fn of(failure: Failure) -> Failed {
        let Failure { shard, host, at_s, temporary, error, .. } = failure;
        Failed { shard, host, at_s, temporary, error }
    }
}
