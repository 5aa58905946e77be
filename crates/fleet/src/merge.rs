//! Merges parts to one result in the order of a walk, which does not depend on the shards.
//!
//! In: a job and its parts. Out: a result file, the events of one run, and an update of the
//! catalogue if the job is of one. Memory: one open part per device, and some bytes per shard.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde::{Deserialize, Serialize};
use steadfast::ExitStatus;
use steadfast::beneath::{self, FileKind, Status};
use steadfast::json::PathText;
use steadfast::{Event, FileEvent, Monitor, Notice, Summary, Timestamp, VerbKind, Verdict};

use crate::error::{Error, ErrorKind};
use crate::failure;
use crate::job::{Job, ShardRow};
use crate::joined::{Joined, JoinedRow, Outcomes, faulty};
use crate::keep;
use crate::plural;
use crate::sealed::{self, SealedReader, SealedWriter};
use crate::source::By;

/// The member with the version of a result.
const RESULT_KEY: &str = "steadfast_fleet_result";

/// Numbers of missing parts that an error lists.
const NAMED_MAX: usize = 10;

/// The options of a merge.
#[derive(Clone, Debug)]
pub struct MergeOptions {
    /// Whether parts may be missing.
    pub partial: bool,
    /// Whether a file without a tag fails the check.
    pub require_tags: bool,
    /// Whether a job without files, or without tagged files, is a success.
    pub allow_empty: bool,
    /// Whether to update the catalogue of the job.
    pub catalogue: bool,
    /// The time of day.
    pub now: fn() -> Timestamp,
    /// Set by the caller to stop. Then nothing is written.
    pub stop: Arc<AtomicBool>,
}

/// The result of a merge.
#[derive(Debug)]
pub struct MergedJob {
    /// The summary, as of one run. Its time is the sum of all shards.
    pub summary: Summary,
    /// The number of parts in the result.
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

/// The summary of a result, without anything that depends on the shards.
#[derive(Serialize)]
struct ResultSummary {
    files: u64,
    /// The bytes of the files that were read completely.
    bytes: u64,
    verdicts: BTreeMap<&'static str, u64>,
    exit_status: ExitStatus,
    /// The number of files of shards without a part.
    missing_files: u64,
}

/// Merges the parts of a job to a file, which is complete or absent.
///
/// # Errors
/// If parts are missing and [`MergeOptions::partial`] is not set; if a part is damaged or belongs
/// to another job or to a changed shard; if a path occurs twice; if the file exists and is not a
/// result, or cannot be written.
pub fn merge(
    job: &Job,
    out: &Path,
    options: &MergeOptions,
    monitor: &mut dyn Monitor,
) -> Result<MergedJob, Error> {
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
    let mut result = SealedWriter::create(out, &header)?;
    let mut joined = Joined::begin(job, shards.clone())?;
    let mut summary = Summary::default();
    summary.verb = VerbKind::Check;
    summary.skipped = job.header().skipped;
    let mut bytes = 0;
    while let Some(JoinedRow { row, shard, .. }) = joined.next()? {
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
        let _ = monitor.event(&Event::File(Box::new(event)));
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
        monitor.notice(notice);
    }
    if missing.is_empty() {
        // All shards are done: removes the drafts of workers that died.
        sealed::drafts(&job.folder().join("parts")).iter().for_each(|draft| {
            let _ = fs::remove_file(draft);
        });
    }
    Ok(MergedJob { summary, parts, missing })
}

/// Returns a notice if no file was judged, which is a failure unless it is allowed.
fn unproved(job: &Job, summary: &mut Summary, allowed: bool) -> Option<Notice> {
    let no_file = "the job has no file: was everything mounted when it was planned?";
    let notice = summary.unproved(Notice::failure(no_file), allowed || job.had_nothing_due())?;
    summary.raise_status(notice.status);
    Some(notice)
}

/// Returns further notices of a result.
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

/// Adds how the parts were read to the summary.
fn complete(summary: &mut Summary, outcomes: &Outcomes, missing: &[u64]) {
    summary.elapsed_ns = outcomes.elapsed_ns;
    summary.means.workers = usize::try_from(outcomes.workers).unwrap_or(usize::MAX);
    summary.means.backend = outcomes.backends.join(", ");
    summary.means.engine = match outcomes.engines.as_slice() {
        [one] if one == "direct" => "direct",
        [one] if one == "buffered" => "buffered",
        _ => "several engines",
    };
    if !missing.is_empty() {
        summary.raise_status(ExitStatus::Undetermined);
    }
}

/// Returns the exit status of one event, as in a run of `check`.
fn status_of(event: &FileEvent, require_tags: bool) -> ExitStatus {
    let verdict = event.verdict.map(|verdict| verdict.exit_status(require_tags));
    let trouble = ExitStatus::Undetermined.only_if(event.trouble.is_some());
    verdict.unwrap_or_default().max(trouble)
}

fn counts(summary: &Summary) -> BTreeMap<&'static str, u64> {
    let counts =
        Verdict::ALL.into_iter().map(|verdict| (verdict.name(), summary.verdicts(verdict)));
    counts.filter(|(_, files)| *files > 0).collect()
}

/// Refuses to replace a file that is not a result.
fn ensure_ours(out: &Path) -> Result<(), Error> {
    let there = Status::of_link(out);
    let ours = || SealedReader::open(out)?.header::<ResultHeader>(RESULT_KEY);
    match there {
        Ok(there) if there.kind != FileKind::Regular || ours().is_err() => Err(Error::usage(
            format!("`{}` is something else, and is not overwritten", out.display()),
        )),
        _ => Ok(()),
    }
}

/// Refuses a folder that does not exist: probably a typing error.
fn ensure_folder(out: &Path) -> Result<(), Error> {
    let folder = out.parent().filter(|folder| !folder.as_os_str().is_empty());
    match folder {
        Some(folder) if !beneath::is_folder(folder) => {
            Err(Error::usage(format!("there is no folder `{}`", folder.display())))
        }
        _ => Ok(()),
    }
}

/// Returns the shards that have a part, and the numbers of the others.
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

/// Returns the number of missing parts with its verb.
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
