//! Runs one shard, and leaves its part: whole, or not at all.
//!
//! In: a job, a number, and who runs it. Out: a part. To run a shard
//! twice, at the same time or one after the other, does no harm: a part gets its name when it is
//! whole, and what it says does not depend on who made it.

use std::ffi::OsStr;
use std::fs;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use steadfast::{CatalogueUse, Event, Monitor, Options, Progress, Subject, Summary, Verdict};
use steadfast_sys::file::{Dir, Status};

use crate::error::{Error, ErrorKind};
use crate::failure::{self, Failure, is_temporary};
use crate::job::Job;
use crate::part::{self, Closing, Outcome, PartHeader};
use crate::row::Row;
use crate::sealed::Writer;
use crate::shard::{self, Verified};
use crate::source::By;

/// Who runs a shard.
#[derive(Clone, Debug)]
pub struct Worker {
    /// The machine's name.
    pub host: String,
    /// Where the job's root is on this machine, if not where it was planned.
    pub root: Option<PathBuf>,
    /// Whether all files of a shard may be missing: otherwise something is taken for not mounted.
    pub accept_missing: bool,
}

/// A shard that was run.
#[derive(Clone, Debug)]
pub struct Ran {
    /// What it came to, as its run told it.
    pub summary: Summary,
    /// The same, as its part has it.
    pub outcome: Outcome,
}

/// Returns what the part of a shard says, if it is there and whole.
///
/// # Errors
/// If the job has no such shard.
pub fn existing(job: &Job, shard: u64) -> Result<Option<Outcome>, Error> {
    ensure_planned(job, shard)?;
    // Why a shard cannot be read, [`run`] says and notes. A damaged part is no part: it is made
    // again, and takes the other's place.
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

/// Runs a shard, whether its part is there or not: see [`existing`]. `options.stop` ends it early,
/// and then nothing is left.
///
/// # Errors
/// [`ErrorKind::Temporary`] where to try again may help: the folder of the job or the root is not
/// there, no file of the shard is, the disk is full, the shard's document cannot be read.
/// [`ErrorKind::Damaged`] if that is not as it was planned. No part is left then.
pub fn run(
    job: &Job,
    shard: u64,
    worker: &Worker,
    options: &Options,
    monitor: &mut dyn Monitor,
) -> Result<Ran, Error> {
    ensure_planned(job, shard)?;
    let ran = run_shard(job, shard, worker, options, monitor);
    let note = job.failure(shard);
    match &ran {
        Ok(_) => failure::forget(&note),
        Err(error) => failure::note(
            &note,
            &Failure {
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
    worker: &Worker,
    options: &Options,
    monitor: &mut dyn Monitor,
) -> Result<Ran, Error> {
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
    let ended = Arc::new(AtomicBool::new(false));
    let mut telling = Telling {
        writer: Writer::create(&job.part(shard), &header)?,
        root: &root,
        catalogued: job.by() == By::Catalogue,
        rows: 0,
        absent: 0,
        last: PathBuf::new(),
        failed: None,
        stop: &options.stop,
        ended: Arc::clone(&ended),
        monitor,
    };
    let list = shard::list(&job.shard(shard), job.by())?;
    let run =
        Options { stop: ended, catalogue: CatalogueUse::Off, survey: false, ..options.clone() };
    // A shard may have no tagged file where the job has some: the merge tells.
    let run = Options { allow_empty: true, ..run };
    let summary = steadfast::run::check_listed(&root, list, &run, &mut telling)?;
    let Telling { mut writer, rows, absent, last, failed, .. } = telling;
    if let Some(error) = failed {
        return Err(error);
    }
    if summary.interrupted || options.stop.load(Ordering::Relaxed) {
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
    let outcome = Outcome::of(&summary);
    writer.put(&Closing { summary: outcome.clone() })?;
    writer.finish()?;
    Ok(Ran { summary, outcome })
}

/// Makes the folder of parts: an empty one does not survive every copy of a job. A link in its
/// place is refused.
fn make_parts(job: &Job) -> Result<(), Error> {
    let made = Dir::open(job.folder()).and_then(|folder| folder.make_dir(OsStr::new("parts")));
    made.map_err(|error| Error::system(&job.folder().join("parts"), "make it", error))?;
    Ok(())
}

/// Says whether the only file of a shard is gone from a folder that has others: so it was mounted.
fn is_alone(rows: u64, path: &Path) -> bool {
    let others = path.parent().and_then(|folder| fs::read_dir(folder).ok());
    rows == 1 && others.is_some_and(|mut names| names.next().is_some())
}

/// Makes sure that a root is there and holds something: a folder on which nothing is mounted must
/// not be taken for a tree in which every file is gone.
fn ensure_there(root: &Path, verified: &Verified) -> Result<(), Error> {
    let mut names = fs::read_dir(root).map_err(|error| Error::system(root, "list it", error))?;
    if verified.files > 0 && names.next().is_none() {
        let shard = verified.header.shard;
        let message = format!("it is empty, and shard {shard} has files in it: is it mounted?");
        return Err(Error::temporary(root, message));
    }
    Ok(())
}

/// Writes down what a run tells.
struct Telling<'a> {
    writer: Writer,
    root: &'a Path,
    /// Whether a catalogue will want more of each file than a result has.
    catalogued: bool,
    rows: u64,
    /// Files that are missing.
    absent: u64,
    /// The last file.
    last: PathBuf,
    failed: Option<Error>,
    /// Set from outside.
    stop: &'a AtomicBool,
    /// Ends the run.
    ended: Arc<AtomicBool>,
    monitor: &'a mut dyn Monitor,
}

impl Telling<'_> {
    fn look_at_stop(&self) {
        if self.failed.is_some() || self.stop.load(Ordering::Relaxed) {
            self.ended.store(true, Ordering::Relaxed);
        }
    }
}

impl Monitor for Telling<'_> {
    fn event(&mut self, event: &Event) {
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
        self.look_at_stop();
        self.monitor.event(event);
    }

    fn progress(&mut self, progress: &Progress) {
        self.look_at_stop();
        self.monitor.progress(progress);
    }
}
