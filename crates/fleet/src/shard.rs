//! The document of one shard: a manifest with further members in its header.
//!
//! In: files in order. Out: a document that `steadfast check --manifest` reads as well, and the
//! list of a run. `docs/formats/manifests.md` specifies its lines.

use std::collections::BTreeMap;
use std::io::BufReader;
use std::path::Path;

use serde::{Deserialize, Serialize};
use steadfast::json::{Nanoseconds, PathText};
use steadfast::manifest::{self, Format, Record, Step};
use steadfast::run::{List, Unlisted};
use steadfast::{Algorithm, Reference};

use crate::error::Error;
use crate::job::Job;
use crate::sealed::{self, SealedReader};
use crate::source::By;

/// The member with the version.
pub(crate) const SHARD_KEY: &str = "steadfast_fleet_shard";

/// The header.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct ShardHeader {
    /// First, since it identifies a manifest.
    pub(crate) steadfast_manifest: u32,
    pub(crate) steadfast_fleet_shard: u32,
    pub(crate) job: String,
    pub(crate) shard: u64,
    pub(crate) device: u64,
    pub(crate) by: String,
    pub(crate) root: PathText,
}

/// A file as a line of a manifest.
#[derive(Serialize)]
pub(crate) struct RecordLine {
    path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    path_b64: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    algorithm: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    digest: Option<String>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    also: BTreeMap<&'static str, String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    length: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mtime_ns: Option<Nanoseconds>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mtime_step_ns: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tagged_s: Option<i64>,
}

impl RecordLine {
    pub(crate) fn of(record: &Record) -> RecordLine {
        let mut digests = record.digests.iter();
        let first = digests.next();
        let named = |(algorithm, digest): &(Algorithm, steadfast::Digest)| {
            (algorithm.name(), digest.to_string())
        };
        let step = record.mtime.map(|mtime| mtime.step).filter(|step| *step != Step::Nanosecond);
        let PathText { path, path_b64 } = PathText::of(&record.path);
        RecordLine {
            path,
            path_b64,
            algorithm: first.map(|(algorithm, _)| algorithm.name()),
            digest: first.map(|(_, digest)| digest.to_string()),
            also: digests.map(named).collect(),
            length: record.length,
            mtime_ns: record.mtime.map(|mtime| Nanoseconds(mtime.time)),
            mtime_step_ns: step.map(|step| step.nanoseconds() as u64),
            tagged_s: record.tagged.map(|tagged| tagged.seconds),
        }
    }
}

/// A shard that is as it was planned.
#[derive(Debug)]
pub(crate) struct VerifiedShard {
    pub(crate) header: ShardHeader,
    pub(crate) files: u64,
    /// The digest of its document.
    pub(crate) sha256: String,
}

/// Verifies a shard before it is run.
pub(crate) fn verify(job: &Job, shard: u64) -> Result<VerifiedShard, Error> {
    let path = job.shard(shard);
    let reader = SealedReader::open(&path)?;
    let header: ShardHeader = reader.header(SHARD_KEY)?;
    if header.job != job.header().job || header.shard != shard {
        return Err(Error::damaged(&path, "it is a shard of another job, or another one of this"));
    }
    let (sha256, files) = reader.verify()?;
    let sha256 = sha256.to_string();
    if sha256 != job.shard_row(shard)?.sha256 {
        let message = "it is whole, but not the shard that was planned: the table tells another";
        return Err(Error::damaged(&path, message));
    }
    Ok(VerifiedShard { header, files, sha256 })
}

/// Opens the list of a verified shard.
pub(crate) fn list(path: &Path, by: By) -> Result<List, Error> {
    let file = sealed::open(path).map_err(|error| Error::system(path, "open it", error))?;
    let records = manifest::read(Format::Steadfast, None, BufReader::new(file));
    let document = path.to_owned();
    Ok(Box::new(records.map(move |record| {
        let unlisted = |reason: String| Unlisted { document: document.clone(), reason };
        let record = record.map_err(|fault| unlisted(fault.to_string()))?;
        let path = manifest::confine(&record.path, Format::Steadfast);
        let path = path.map_err(|fault| unlisted(fault.to_string()))?;
        let reference = match by {
            By::Tags => None,
            By::Manifest => Some(Reference::of_record(record)),
            By::Catalogue => {
                Some(Reference { source: By::Catalogue.name(), ..Reference::of_record(record) })
            }
        };
        Ok((path, reference))
    })))
}
