//! Puts parts together: one result, in the order of a walk, the same whatever the shards were.
//!
//! In: a job whose parts are there. Out: a result file, the events of one run, and for a job of a
//! catalogue, its update. Within a device the shards follow on each other, so of each device one
//! part is open; memory is that, and some bytes for each shard.

use std::cmp::Ordering as Order;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde::{Deserialize, Serialize};
use steadfast::verdict::worse_status;
use steadfast::{Event, FileEvent, Monitor, Notice, Summary, Timestamp, Verdict};

use crate::error::{Error, ErrorKind};
use crate::job::{Job, ShardRow};
use crate::keep;
use crate::line::PathText;
use crate::order;
use crate::part::{Outcome, Part};
use crate::row::Row;
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
    while let Some(row) = joined.next()? {
        if options.stop.load(Ordering::Relaxed) {
            return Err(Error::new(ErrorKind::Interrupted, "interrupted: no result was written"));
        }
        let event = row.to_event(job.root()).ok_or_else(|| {
            let message = "a row of it makes no sense: it is of a later version, or made by hand";
            Error::damaged(&job.folder().join("parts"), message)
        })?;
        let status = status_of(&event, options.require_tags);
        summary.count(&event, status);
        bytes += row.length().unwrap_or(0);
        monitor.event(&Event::File(Box::new(event)));
        result.put(&row.without_reading())?;
    }
    complete(&mut summary, &joined.outcomes, &missing);
    let closing = ResultSummary {
        files: summary.files,
        bytes,
        verdicts: counts(&summary),
        exit_status: summary.exit_status(),
        missing_files: joined.missing_files(job, &missing)?,
    };
    result.put(&ResultClosing { summary: closing })?;
    result.finish()?;
    if options.catalogue && job.by() == By::Catalogue {
        let mut rows = Joined::begin(job, shards)?;
        keep::keep(job, &mut || rows.next(), options.now, &mut summary, monitor)?;
        summary.catalogued = true;
    }
    let text = format!("the times are those of {parts} shards, one after the other");
    monitor.event(&Event::Notice(Notice { path: None, text }));
    if missing.is_empty() {
        // Nobody needs a shard any more: what dead workers left may go.
        sealed::drafts(&job.folder().join("parts")).iter().for_each(|draft| {
            let _ = fs::remove_file(draft);
        });
    }
    Ok(Merged { summary, parts, missing })
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
    let named: Vec<String> = missing.iter().take(NAMED_MAX).map(u64::to_string).collect();
    let more = if missing.len() > NAMED_MAX { ", …" } else { "" };
    let message = format!(
        "{} of {} parts are missing: {}{more}; run these shards, or take what there is with \
         --partial",
        missing.len(),
        job.header().shards,
        named.join(", ")
    );
    Error::temporary(job.folder(), message)
}

/// What parts say of how they were made.
#[derive(Debug, Default)]
struct Outcomes {
    elapsed_ns: u64,
    workers: u64,
    backends: Vec<String>,
    engines: Vec<String>,
}

impl Outcomes {
    fn add(&mut self, outcome: Outcome) {
        self.elapsed_ns = self.elapsed_ns.saturating_add(outcome.elapsed_ns);
        self.workers = self.workers.max(outcome.workers);
        for (known, name) in
            [(&mut self.backends, outcome.backend), (&mut self.engines, outcome.engine)]
        {
            if !known.contains(&name) {
                known.push(name);
            }
        }
    }
}

/// All rows of a job in order.
struct Joined<'a> {
    job: &'a Job,
    /// One for each device, and one for what the planning could not find out.
    streams: Vec<Stream>,
    heads: BinaryHeap<Head>,
    outcomes: Outcomes,
    /// The last file.
    last: Option<PathBuf>,
}

/// The parts of one device, one after the other.
struct Stream {
    shards: VecDeque<ShardRow>,
    open: Option<(Part, Option<ShardRow>)>,
}

impl<'a> Joined<'a> {
    fn begin(job: &'a Job, shards: Vec<ShardRow>) -> Result<Joined<'a>, Error> {
        let mut devices: BTreeMap<u64, VecDeque<ShardRow>> = BTreeMap::new();
        for shard in shards {
            devices.entry(shard.device).or_default().push_back(shard);
        }
        let troubles = Some((Part::of_troubles(job)?, None));
        let mut streams = vec![Stream { shards: VecDeque::new(), open: troubles }];
        streams.extend(devices.into_values().map(|shards| Stream { shards, open: None }));
        let (heads, outcomes) = (BinaryHeap::with_capacity(streams.len()), Outcomes::default());
        let mut joined = Joined { job, streams, heads, outcomes, last: None };
        for stream in 0..joined.streams.len() {
            joined.advance(stream)?;
        }
        Ok(joined)
    }

    /// Puts the next row of a stream where it belongs.
    fn advance(&mut self, stream: usize) -> Result<(), Error> {
        let Stream { shards, open } = &mut self.streams[stream];
        loop {
            if open.is_none() {
                let Some(shard) = shards.pop_front() else { return Ok(()) };
                *open = Some((Part::open(self.job, shard.shard, &shard.sha256)?, Some(shard)));
            }
            let Some((part, _)) = open else { return Ok(()) };
            if let Some(row) = part.next()? {
                let path = row.relative().ok_or_else(|| {
                    Error::damaged(&self.job.folder().join("parts"), "a path of it is none")
                })?;
                self.heads.push(Head { path, stream, row });
                return Ok(());
            }
            if let Some((part, Some(shard))) = open.take() {
                if part.rows() != shard.files {
                    let path = self.job.part(shard.shard);
                    let message = "it does not tell of every file of its shard";
                    return Err(Error::damaged(&path, message));
                }
                self.outcomes.add(part.outcome()?);
            }
        }
    }

    /// Returns the next row; `None` once every part was found to be whole.
    fn next(&mut self) -> Result<Option<Row>, Error> {
        let Some(Head { path, stream, row }) = self.heads.pop() else { return Ok(None) };
        self.advance(stream)?;
        if row.is_file() {
            let follows = |last: &PathBuf| order::compare_paths(last, &path) == Order::Less;
            if !self.last.as_ref().is_none_or(follows) {
                let parts = self.job.folder().join("parts");
                let message = format!("`{}` comes twice, or out of order", path.display());
                return Err(Error::damaged(&parts, message));
            }
            self.last = Some(path);
        }
        Ok(Some(row))
    }

    fn missing_files(&self, job: &Job, missing: &[u64]) -> Result<u64, Error> {
        let mut files = 0;
        if !missing.is_empty() {
            job.each_shard(&mut |row| {
                files += if missing.binary_search(&row.shard).is_ok() { row.files } else { 0 };
                Ok(())
            })?;
        }
        Ok(files)
    }
}

/// The next row of a stream; the first in the order of a walk is the greatest.
struct Head {
    path: PathBuf,
    stream: usize,
    row: Row,
}

impl Ord for Head {
    fn cmp(&self, other: &Head) -> Order {
        order::compare_paths(&other.path, &self.path).then_with(|| other.stream.cmp(&self.stream))
    }
}

impl PartialOrd for Head {
    fn partial_cmp(&self, other: &Head) -> Option<Order> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Head {
    fn eq(&self, other: &Head) -> bool {
        self.cmp(other) == Order::Equal
    }
}

impl Eq for Head {}
