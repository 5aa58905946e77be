//! The part of a shard: a document with the result of every file, and an outcome.
//!
//! In: rows in the order of the shard. Out: a file that is complete or absent.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use steadfast::ExitStatus;
use steadfast::{Bound, Stage, Summary, Verdict};

use crate::error::Error;
use crate::job::Job;
use crate::row::Row;
use crate::sealed::{self, SealedReader};

/// The member with the version.
pub(crate) const PART_KEY: &str = "steadfast_fleet_part";

/// The header.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct PartHeader {
    pub(crate) steadfast_fleet_part: u32,
    pub(crate) job: String,
    /// The shard. Absent in the document of the failures of planning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) shard: Option<u64>,
    /// The digest of the shard's document.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) shard_sha256: Option<String>,
    pub(crate) version: String,
    pub(crate) host: String,
    pub(crate) process: u32,
    /// The begin of the run, in seconds since 1970.
    pub(crate) begun_s: i64,
}

/// The outcome of a part: the record before its last line.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PartOutcome {
    /// The number of files.
    pub files: u64,
    /// Bytes read.
    pub bytes: u64,
    /// Bytes read past the page cache.
    pub bytes_from_media: u64,
    /// The time of the run.
    pub elapsed_ns: u64,
    /// The exit status of a check of these files.
    pub exit_status: ExitStatus,
    /// The number of files by verdict, without zeros.
    pub verdicts: BTreeMap<String, u64>,
    /// Time by stage, summed over threads.
    pub cost_ns: BTreeMap<String, u64>,
    /// The number of hashing threads.
    pub workers: u64,
    /// The SHA-256 backend and its lanes.
    pub backend: String,
    /// The engine that read the files.
    pub engine: String,
    /// Whether a rate limit bounded the run, and not the machine.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub rate_limited: bool,
}

impl PartOutcome {
    pub(crate) fn of(summary: &Summary) -> PartOutcome {
        let verdicts = Verdict::ALL.into_iter().map(|verdict| {
            let files = summary.verdicts(verdict);
            (verdict.name().to_owned(), files)
        });
        let cost = summary.account.cost_of(|_| true);
        let stages = Stage::ALL.into_iter();
        let cost_ns = stages.map(|stage| (stage.name().to_owned(), cost.elapsed_ns(stage)));
        let bounds = summary.account.bounds();
        PartOutcome {
            rate_limited: bounds.is_some_and(|bounds| bounds.limit.bound == Bound::RateLimit),
            files: summary.files,
            bytes: summary.bytes,
            bytes_from_media: summary.bytes_from_media,
            elapsed_ns: summary.elapsed_ns,
            exit_status: summary.exit_status(),
            verdicts: verdicts.filter(|(_, files)| *files > 0).collect(),
            cost_ns: cost_ns.filter(|(_, nanoseconds)| *nanoseconds > 0).collect(),
            workers: summary.means.workers as u64,
            backend: summary.means.backend.clone(),
            engine: summary.means.engine.to_owned(),
        }
    }
}

/// The record before the last line.
#[derive(Serialize, Deserialize)]
pub(crate) struct Closing {
    pub(crate) summary: PartOutcome,
}

/// The begin of the record before the last line. No row begins like this.
const CLOSING: &[u8] = b"{\"summary\":";

/// Reads the outcome of a part without its rows. Enough for the status of a job.
pub(crate) fn outcome(path: &Path) -> Result<PartOutcome, Error> {
    sealed::last_record::<Closing>(path).map(|closing| closing.summary)
}

/// Verifies a part, and returns its outcome if it belongs to this shard of this job.
pub(crate) fn verify(job: &Job, shard: u64, shard_sha256: &str) -> Result<PartOutcome, Error> {
    let mut part = PartReader::open(job, shard, shard_sha256)?;
    while part.next()?.is_some() {}
    part.outcome()
}

/// Reads the rows of a part.
pub(crate) struct PartReader {
    reader: SealedReader,
    path: PathBuf,
    begun_s: i64,
    rows: u64,
    outcome: Option<PartOutcome>,
}

impl PartReader {
    /// Opens the part of a shard, given the digest of the shard's document.
    pub(crate) fn open(job: &Job, shard: u64, shard_sha256: &str) -> Result<PartReader, Error> {
        let path = job.part(shard);
        let reader = SealedReader::open(&path)?;
        let header: PartHeader = reader.header(PART_KEY)?;
        if header.job != job.header().job || header.shard != Some(shard) {
            let message = "it is a part of another job, or another one of this";
            return Err(Error::damaged(&path, message));
        }
        if header.shard_sha256.as_deref() != Some(shard_sha256) {
            return Err(Error::damaged(&path, "it is of a shard that has changed since"));
        }
        Ok(PartReader { reader, path, begun_s: header.begun_s, rows: 0, outcome: None })
    }

    /// Opens the failures of planning.
    pub(crate) fn of_troubles(job: &Job) -> Result<PartReader, Error> {
        let path = job.troubles();
        let reader = SealedReader::open(&path)?;
        let header: PartHeader = reader.header(PART_KEY)?;
        if header.job != job.header().job || header.shard.is_some() {
            return Err(Error::damaged(&path, "it is of another job"));
        }
        Ok(PartReader { reader, path, begun_s: header.begun_s, rows: 0, outcome: None })
    }

    /// Returns the next row. Returns `None` at the end, after the document was verified.
    pub(crate) fn next(&mut self) -> Result<Option<Row>, Error> {
        let Some(line) = self.reader.next()? else { return Ok(None) };
        let closes = line.starts_with(CLOSING);
        if self.outcome.is_some() {
            return Err(Error::damaged(&self.path, "a line of it is out of place"));
        }
        if !closes {
            self.rows += 1;
            return self.reader.parsed().map(Some);
        }
        let Closing { summary } = self.reader.parsed()?;
        self.outcome = Some(summary);
        self.next()
    }

    /// Returns the begin of the run, in seconds since 1970.
    pub(crate) fn begun_s(&self) -> i64 {
        self.begun_s
    }

    /// Returns how many rows were read.
    pub(crate) fn rows(&self) -> u64 {
        self.rows
    }

    /// Returns the outcome, after all rows were read.
    pub(crate) fn outcome(self) -> Result<PartOutcome, Error> {
        self.outcome.ok_or_else(|| Error::damaged(&self.path, "it does not say what it came to"))
    }
}
