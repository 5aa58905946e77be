//! Puts parts together: one result, in the order of a walk, the same whatever the shards were.
//!
//! In: a job whose parts are there. Out: a result file, the events of one run, and for a job of a
//! catalogue, its update. Memory is that of the parts that are open, one of each device, and some
//! bytes for each shard.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde::{Deserialize, Serialize};
use steadfast::verdict::worse_status;
use steadfast::{Event, FileEvent, Monitor, Notice, Summary, Timestamp, Verdict};
use steadfast_events::PathText;

use crate::error::{Error, ErrorKind};
use crate::failure;
use crate::job::{Job, ShardRow};
use crate::joined::{Joined, Outcomes, Placed, faulty};
use crate::keep;
use crate::plural;
use crate::sealed::{self, Writer};
use crate::source::By;

/// The member that names the version of a result.
const RESULT_KEY: &str = "steadfast_fleet_result";

/// Numbers of missing parts that an error names.
const NAMED_MAX: usize = 10;

/// How parts are put together.
#[derive(Clone, Debug)]
pub struct MergeOptions {
    /// Whether parts may be missing.
    pub partial: bool,
    /// Whether a file without a tag fails the check.
    pub require_tags: bool,
    /// Whether a job of no file, or of none with a tag, is a success all the same.
    pub allow_empty: bool,
    /// Whether the catalogue that the job is of hears of it.
    pub catalogue: bool,
    /// The time of day.
    pub now: fn() -> Timestamp,
    /// Set from outside to end early; nothing is left then.
    pub stop: Arc<AtomicBool>,
}

/// What the parts come to.
#[derive(Debug)]
pub struct Merged {
    /// As one run would say it. Its time is that of all shards, one after the other.
    pub summary: Summary,
    /// Parts that are in the result.
    pub parts: u64,
    /// Shards without a part.
    pub missing: Vec<u64>,
}

/// The header of a result.
#[derive(Serialize, Deserialize)]
struct ResultHeader {
    steadfast_fleet_result: u32,
    root: PathText,
    by: String,
}

/// The record before the last line of a result.
#[derive(Serialize)]
struct ResultClosing {
    summary: ResultSummary,
}

/// What a result comes to: only what does not depend on how it was made.
#[derive(Serialize)]
struct ResultSummary {
    files: u64,
    /// Lengths of the files that were read whole.
    bytes: u64,
    verdicts: BTreeMap<&'static str, u64>,
    exit_status: u8,
    /// Files of shards without a part.
    missing_files: u64,
}

/// Puts the parts of a job together in a file, which is whole or absent.
///
/// # Errors
/// If parts are missing and may not be; if one is damaged, of another job or of a shard that has
/// changed, or a path comes twice; if the file is there and no result, or cannot be written.
pub fn merge(
    job: &Job,
    out: &Path,
    options: &MergeOptions,
    monitor: &mut dyn Monitor,
) -> Result<Merged, Error> {
    ensure_ours(out)?;
    ensure_folder(out)?;
    let (shards, missing) = present(job)?;
    if !missing.is_empty() && !options.partial {
        return Err(absent(job, &missing));
    }
    let parts = shards.len() as u64;
    let header = ResultHeader {
        steadfast_fleet_result: 1,
        root: PathText::of(job.root()),
        by: job.by().name().to_owned(),
    };
    let mut result = Writer::create(out, &header)?;
    let mut joined = Joined::begin(job, shards.clone())?;
    let mut summary = Summary::default();
    summary.verb = "check";
    summary.skipped = job.header().skipped.to_skipped();
    let mut bytes = 0;
    while let Some(Placed { row, shard, .. }) = joined.next()? {
        if options.stop.load(Ordering::Relaxed) {
            return Err(Error::new(ErrorKind::Interrupted, "interrupted: no result was written"));
        }
        let event = row.to_event(job.root()).ok_or_else(|| {
            let message = "a row of it makes no sense: it is of a later version, or made by hand";
            faulty(job, shard, message)
        })?;
        let status = status_of(&event, options.require_tags);
        summary.count(&event, status);
        bytes += row.length().unwrap_or(0);
        monitor.event(&Event::File(Box::new(event)));
        result.put(&row.without_reading())?;
    }
    complete(&mut summary, &joined.outcomes, &missing);
    let unproved = unproved(job, &mut summary, options.allow_empty);
    let missing_files = missing_files(job, &missing)?;
    let closing = ResultSummary {
        files: summary.files,
        bytes,
        verdicts: counts(&summary),
        exit_status: summary.exit_status(),
        missing_files,
    };
    result.put(&ResultClosing { summary: closing })?;
    result.finish()?;
    if options.catalogue && job.by() == By::Catalogue {
        let begun_s = joined.outcomes.begun_s;
        let mut rows = Joined::begin(job, shards)?;
        keep::keep(job, &mut || rows.next(), (begun_s, options.now), &mut summary, monitor)?;
        summary.catalogued = true;
    }
    let notices = notices(job, parts, &missing, missing_files).into_iter().map(Notice::new);
    for notice in notices.chain(unproved) {
        monitor.event(&Event::Notice(notice));
    }
    if missing.is_empty() {
        // Nobody needs a shard any more: what dead workers left may go.
        sealed::drafts(&job.folder().join("parts")).iter().for_each(|draft| {
            let _ = fs::remove_file(draft);
        });
    }
    Ok(Merged { summary, parts, missing })
}

/// Returns what to say if the job judged nothing, which fails unless it is allowed.
fn unproved(job: &Job, summary: &mut Summary, allowed: bool) -> Option<Notice> {
    let no_file = "the job has no file: was everything mounted when it was planned?";
    let notice = summary.unproved(Notice::failure(no_file), allowed || job.had_nothing_due())?;
    summary.raise_status(notice.status);
    Some(notice)
}

/// What the reader should know of a result besides.
fn notices(job: &Job, parts: u64, missing: &[u64], missing_files: u64) -> Vec<String> {
    let mut notices = Vec::new();
    if !missing.is_empty() {
        let files = plural::counted(missing_files, "file", "files");
        let (lacking, named) = (lacking(job, missing), named(missing));
        notices.push(format!("{lacking} missing: {named}; of {files} nothing is said"));
    }
    if parts > 1 {
        notices.push(format!("the times are those of {parts} shards, one after the other"));
    }
    notices
}

/// Fills in what the parts say of the reading.
fn complete(summary: &mut Summary, outcomes: &Outcomes, missing: &[u64]) {
    summary.elapsed_ns = outcomes.elapsed_ns;
    summary.workers = usize::try_from(outcomes.workers).unwrap_or(usize::MAX);
    summary.backend = outcomes.backends.join(", ");
    summary.engine = match outcomes.engines.as_slice() {
        [one] if one == "direct" => "direct",
        [one] if one == "buffered" => "buffered",
        _ => "several engines",
    };
    if !missing.is_empty() {
        summary.raise_status(2);
    }
}

/// Returns the exit status that one event asks for, as a check's run has it.
fn status_of(event: &FileEvent, require_tags: bool) -> u8 {
    let verdict = event.verdict.map_or(0, |verdict| verdict.exit_status(require_tags));
    worse_status(verdict, if event.trouble.is_some() { 2 } else { 0 })
}

fn counts(summary: &Summary) -> BTreeMap<&'static str, u64> {
    let counts =
        Verdict::ALL.into_iter().map(|verdict| (verdict.name(), summary.verdicts(verdict)));
    counts.filter(|(_, files)| *files > 0).collect()
}

/// Refuses to write over what is no result.
fn ensure_ours(out: &Path) -> Result<(), Error> {
    let there = out.symlink_metadata();
    let ours = || sealed::Reader::open(out)?.header::<ResultHeader>(RESULT_KEY);
    match there {
        Ok(there) if !there.is_file() || ours().is_err() => Err(Error::usage(format!(
            "`{}` is something else, and is not overwritten",
            out.display()
        ))),
        _ => Ok(()),
    }
}

/// A folder that is not there is a slip of the pen, and will not come by itself.
fn ensure_folder(out: &Path) -> Result<(), Error> {
    let folder = out.parent().filter(|folder| !folder.as_os_str().is_empty());
    match folder {
        Some(folder) if !folder.is_dir() => {
            Err(Error::usage(format!("there is no folder `{}`", folder.display())))
        }
        _ => Ok(()),
    }
}

/// Parts the shards in those that have a part and the numbers of those that have none.
fn present(job: &Job) -> Result<(Vec<ShardRow>, Vec<u64>), Error> {
    let there = job.numbers("parts")?;
    let (mut shards, mut missing) = (Vec::new(), Vec::new());
    job.each_shard(&mut |row| {
        match there.binary_search(&row.shard) {
            Ok(_) => shards.push(row),
            Err(_) => missing.push(row.shard),
        }
        Ok(())
    })?;
    Ok((shards, missing))
}

fn absent(job: &Job, missing: &[u64]) -> Error {
    let hopeless = |shard: &u64| failure::read(&job.failure(*shard)).is_some_and(|f| !f.temporary);
    let stuck = missing.iter().all(hopeless);
    let what = match stuck {
        true => "`steadfast fleet status` says what somebody must look at",
        false => "run these shards, or take what there is with --partial",
    };
    let message = format!("{} missing: {}; {what}", lacking(job, missing), named(missing));
    match stuck {
        true => Error::damaged(job.folder(), message),
        false => Error::temporary(job.folder(), message),
    }
}

/// Says how many parts there are not, with the verb.
fn lacking(job: &Job, missing: &[u64]) -> String {
    let verb = if missing.len() == 1 { "is" } else { "are" };
    format!("{} of {} {verb}", missing.len(), plural::counted(job.header().shards, "part", "parts"))
}

fn named(missing: &[u64]) -> String {
    let named: Vec<String> = missing.iter().take(NAMED_MAX).map(u64::to_string).collect();
    let more = if missing.len() > NAMED_MAX { ", …" } else { "" };
    format!("{}{more}", named.join(", "))
}

/// Counts the files of shards that have no part.
fn missing_files(job: &Job, missing: &[u64]) -> Result<u64, Error> {
    let mut files = 0;
    if !missing.is_empty() {
        job.each_shard(&mut |row| {
            files += if missing.binary_search(&row.shard).is_ok() { row.files } else { 0 };
            Ok(())
        })?;
    }
    Ok(files)
}
