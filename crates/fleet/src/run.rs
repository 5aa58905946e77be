//! Runs one shard and writes its part, complete or not at all.
//!
//! In: a job, a number, and the worker. Out: a part. Running a shard twice, even at the same time,
//! does no harm: a part is renamed into place when it is complete, and its results do not depend on
//! the worker.

use std::ffi::OsStr;
use std::fs;
use std::ops::ControlFlow;

use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use steadfast::{
    CatalogueUse, DatalessUse, Event, Monitor, Options, Progress, Subject, Summary, Verdict,
};
use steadfast_sys::file::{Dir, Status};

use crate::error::{Error, ErrorKind};
use crate::failure::{self, FailureNote, is_temporary};
use crate::job::Job;
use crate::part::{self, Closing, PartHeader, PartOutcome};
use crate::row::Row;
use crate::sealed::SealedWriter;
use crate::shard::{self, VerifiedShard};
use crate::source::By;

/// The worker of a shard.
#[derive(Clone, Debug)]
pub struct ShardWorker {
    /// The machine's name.
    pub host: String,
    /// The job's root on this machine, if it differs from the planned one.
    pub root: Option<PathBuf>,
    /// Whether all files of a shard may be missing. If not set, the run fails, since a file system
    /// is probably not mounted.
    pub accept_missing: bool,
}

/// A shard that was run.
#[derive(Clone, Debug)]
pub struct ShardRun {
    /// The summary of its run.
    pub summary: Summary,
    /// The outcome in its part.
    pub outcome: PartOutcome,
}

/// Returns the outcome of a shard's part, if it exists and is complete.
///
/// # Errors
/// If the job has no such shard.
pub fn existing(job: &Job, shard: u64) -> Result<Option<PartOutcome>, Error> {
    ensure_planned(job, shard)?;
    // If the shard cannot be read, [`run`] reports and notes it. A damaged part is made again and
    // replaced.
    let Ok(verified) = shard::verify(job, shard) else { return Ok(None) };
    Ok(part::verify(job, shard, &verified.sha256).ok())
}

fn ensure_planned(job: &Job, shard: u64) -> Result<(), Error> {
    let shards = job.header().shards;
    if shard >= shards {
        let message = format!("there is no shard {shard}: the job has {shards}, from 0");
        return Err(Error::usage(message));
    }
    Ok(())
}

/// Runs a shard, even if its part exists: see [`existing`]. `options.controls.stop` stops it, and
/// then no part is written.
///
/// # Errors
/// [`ErrorKind::Temporary`] if a retry may succeed: the folder of the job or the root does not
/// exist, no file of the shard exists, the disk is full, or the shard's document cannot be read.
/// [`ErrorKind::Damaged`] if that document is not as planned. No part is written then.
pub fn run(
    job: &Job,
    shard: u64,
    worker: &ShardWorker,
    options: &Options,
    monitor: &mut dyn Monitor,
) -> Result<ShardRun, Error> {
    ensure_planned(job, shard)?;
    let ran = run_shard(job, shard, worker, options, monitor);
    let note = job.failure(shard);
    match &ran {
        Ok(_) => failure::forget(&note),
        Err(error) => failure::note(
            &note,
            &FailureNote {
                steadfast_fleet_failure: 1,
                shard,
                host: worker.host.clone(),
                process: std::process::id(),
                at_s: (options.now)().seconds,
                temporary: is_temporary(error),
                error: error.to_string(),
            },
        ),
    }
    ran
}

fn run_shard(
    job: &Job,
    shard: u64,
    worker: &ShardWorker,
    options: &Options,
    monitor: &mut dyn Monitor,
) -> Result<ShardRun, Error> {
    let verified = shard::verify(job, shard)?;
    let root = worker.root.clone().unwrap_or_else(|| job.root().to_owned());
    ensure_there(&root, &verified)?;
    let header = PartHeader {
        steadfast_fleet_part: 1,
        job: job.header().job.clone(),
        shard: Some(shard),
        shard_sha256: Some(verified.sha256),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        host: worker.host.clone(),
        process: std::process::id(),
        begun_s: (options.now)().seconds,
    };
    make_parts(job)?;
    let mut part_monitor = PartMonitor {
        writer: SealedWriter::create(&job.part(shard), &header)?,
        root: &root,
        catalogued: job.by() == By::Catalogue,
        rows: 0,
        absent: 0,
        last: PathBuf::new(),
        failed: None,
        monitor,
    };
    let list = shard::list(&job.shard(shard), job.by())?;
    let run = options_of_shard(options);
    let summary = steadfast::run::check_listed(&root, list, &run, &mut part_monitor)?;
    let PartMonitor { mut writer, rows, absent, last, failed, .. } = part_monitor;
    if let Some(error) = failed {
        return Err(error);
    }
    if summary.interrupted || options.controls.stop.load(Ordering::Relaxed) {
        return Err(Error::new(ErrorKind::Interrupted, "interrupted: no part was written"));
    }
    if rows != verified.files {
        let files = verified.files;
        let message = format!("the run told of {rows} files, and the shard has {files}");
        return Err(Error::temporary(&job.shard(shard), message));
    }
    if rows > 0 && absent == rows && !worker.accept_missing && !is_alone(rows, &last) {
        let message = format!(
            "not one of the files of shard {shard} is there: is everything mounted? If they are \
             gone, --accept-missing has it said of them"
        );
        return Err(Error::temporary(&root, message));
    }
    let outcome = PartOutcome::of(&summary);
    writer.put(&Closing { summary: outcome.clone() })?;
    writer.finish()?;
    Ok(ShardRun { summary, outcome })
}

/// Makes the options for the run of a shard.
///
/// Other shards may have tagged files, so a shard without any is no failure; the merge decides. A
/// row cannot say that a file was skipped, so one that is not on this machine is unreadable.
fn options_of_shard(options: &Options) -> Options {
    let dataless = match options.dataless {
        DatalessUse::Download => DatalessUse::Download,
        _ => DatalessUse::Fail,
    };
    options.clone().with(|options| {
        options.catalogue.choice = CatalogueUse::Off;
        options.survey = false;
        options.allow_empty = true;
        options.dataless = dataless;
    })
}

/// Creates the folder of parts, since some copying tools omit empty folders. Refuses a link in its
/// place.
fn make_parts(job: &Job) -> Result<(), Error> {
    let made = Dir::open(job.folder()).and_then(|folder| folder.make_dir(OsStr::new("parts")));
    made.map_err(|error| Error::system(&job.folder().join("parts"), "make it", error))?;
    Ok(())
}

/// Returns whether the only file of a shard is missing from a folder with other files, which shows
/// that the file system is mounted.
fn is_alone(rows: u64, path: &Path) -> bool {
    let others = path.parent().and_then(|folder| fs::read_dir(folder).ok());
    rows == 1 && others.is_some_and(|mut names| names.next().is_some())
}

/// Checks that the root exists and is not empty: otherwise, every file would be reported as missing
/// if the file system is not mounted.
fn ensure_there(root: &Path, verified: &VerifiedShard) -> Result<(), Error> {
    let mut names = fs::read_dir(root).map_err(|error| Error::system(root, "list it", error))?;
    if verified.files > 0 && names.next().is_none() {
        let shard = verified.header.shard;
        let message = format!("it is empty, and shard {shard} has files in it: is it mounted?");
        return Err(Error::temporary(root, message));
    }
    Ok(())
}

/// Writes the events of a run to its part.
struct PartMonitor<'a> {
    writer: SealedWriter,
    root: &'a Path,
    /// Whether the job is of a catalogue, which needs more data of each file.
    catalogued: bool,
    rows: u64,
    /// The number of missing files.
    absent: u64,
    /// The last missing file.
    last: PathBuf,
    failed: Option<Error>,
    monitor: &'a mut dyn Monitor,
}

impl Monitor for PartMonitor<'_> {
    fn event(&mut self, event: &Event) -> ControlFlow<()> {
        if let Event::File(file) = event
            && self.failed.is_none()
        {
            let mut row = Row::of(file, self.root);
            if self.catalogued && file.subject == Subject::File {
                row = row.with_status(Status::of_link(&file.path.to_path()).ok());
            }
            self.rows += 1;
            if file.verdict == Some(Verdict::Missing) {
                self.absent += 1;
                self.last = file.path.to_path();
            }
            self.failed = self.writer.put(&row).err();
        }
        let answer = self.monitor.event(event);
        if self.failed.is_some() { ControlFlow::Break(()) } else { answer }
    }

    fn progress(&mut self, progress: &Progress) {
        self.monitor.progress(progress);
    }
}
