//! Plans a job: sorts the files of a source and cuts them into shards.
//!
//! In: a source and a folder. Out: a complete job in the folder, or an error and nothing. Memory is
//! bounded by the sort and by the number of failures allowed, whatever the number of files. Writes
//! `job.jsonl` last.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use steadfast::event::FileError;
use steadfast::json::PathText;
use steadfast::manifest::Record;
use steadfast::{FileEvent, FilePath, Subject, Timestamp, Verdict};
use steadfast_digest::{Algorithm, AlgorithmHasher};

use crate::cut::{Cutter, DeviceLoad, FILE_COST_BYTES, share_out};
use crate::error::{Error, ErrorKind};
use crate::job::{Job, JobHeader, ShardRow, TableHeader, name_by_chance, name_of};
use crate::order;
use crate::part::{Closing, PartHeader, PartOutcome};
use crate::row::Row;
use crate::sealed::SealedWriter;
use crate::shard::{RecordLine, ShardHeader};
use crate::source::{JobFile, JobSource, SourceFailure, SourceItem};
use crate::spool::{Sorted, Spool};

/// Most failures of planning. They are kept in memory, and more of them mean that something else is
/// wrong.
const TROUBLES_MAX: usize = 10_000;

/// The default cost of a shard: a minute or two on a slow disk, some seconds on a fast one. At most
/// that much is lost when a machine fails.
const SHARD_COST_BYTES: u64 = 16 << 30;

/// The size of shards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// About so many shards: at least one per device, and none of them empty.
    Shards(u64),
    /// About so many bytes per shard, including the cost of files.
    Cost(u64),
}

/// The options of planning.
#[derive(Clone, Debug)]
pub struct PlanOptions {
    /// The size of shards.
    pub size: Size,
    /// The cost of a file besides its own bytes, in bytes.
    pub file_cost_bytes: u64,
    /// The time of day.
    pub now: Timestamp,
}

impl PlanOptions {
    /// Returns the defaults.
    pub fn new(now: Timestamp) -> PlanOptions {
        PlanOptions { size: Size::Cost(SHARD_COST_BYTES), file_cost_bytes: FILE_COST_BYTES, now }
    }
}

/// The progress of planning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PlanProgress {
    /// The number of files found.
    pub found: u64,
    /// The number of files written to shards.
    pub written: u64,
}

/// A planned job.
#[derive(Debug)]
pub struct PlannedJob {
    /// The job.
    pub job: Job,
    /// The directories and lines that could not be read.
    pub troubles: Vec<SourceFailure>,
    /// The least and the highest cost of a shard, in bytes.
    pub cost_bytes: (u64, u64),
}

/// Plans a job in a folder that is empty or does not exist yet. Calls `progress` from time to time.
///
/// # Errors
/// If the folder is not empty, the source fails, or a file cannot be written. Then removes
/// everything that it has written.
pub fn plan(
    source: &mut dyn JobSource,
    folder: &Path,
    options: &PlanOptions,
    stop: &AtomicBool,
    progress: &mut dyn FnMut(PlanProgress),
) -> Result<PlannedJob, Error> {
    let place = JobFolder::make(folder)?;
    let planned = Planning { source, place: &place, options, stop, progress }.execute();
    if planned.is_err() {
        place.remove();
    }
    planned
}

/// The folder of a job that is being planned.
struct JobFolder {
    folder: PathBuf,
    spool: PathBuf,
}

impl JobFolder {
    fn make(folder: &Path) -> Result<JobFolder, Error> {
        let system = |error| Error::system(folder, "make it", error);
        fs::create_dir_all(folder).map_err(system)?;
        if fs::read_dir(folder).map_err(system)?.next().is_some() {
            let folder = folder.display();
            return Err(Error::usage(format!(
                "`{folder}` is not empty: a job needs a folder of its own"
            )));
        }
        let place = JobFolder { folder: folder.to_owned(), spool: folder.join("planning") };
        for name in ["planning", "shards", "parts", "failures"] {
            fs::create_dir(folder.join(name)).map_err(system)?;
        }
        Ok(place)
    }

    /// Removes everything that planning has created. The folder was empty before.
    fn remove(&self) {
        for name in ["planning", "shards", "parts", "failures"] {
            let _ = fs::remove_dir_all(self.folder.join(name));
        }
        for name in ["shards.jsonl", "troubles.jsonl"] {
            let _ = fs::remove_file(self.folder.join(name));
        }
        let _ = fs::remove_dir(&self.folder);
    }
}

/// The inputs of planning.
struct Planning<'a> {
    source: &'a mut dyn JobSource,
    place: &'a JobFolder,
    options: &'a PlanOptions,
    stop: &'a AtomicBool,
    progress: &'a mut dyn FnMut(PlanProgress),
}

/// The sorted files, to be cut into shards.
struct Gathered {
    sorted: Sorted,
    loads: Vec<DeviceLoad>,
    troubles: Vec<SourceFailure>,
    skipped: steadfast::Skipped,
}

impl Planning<'_> {
    fn execute(mut self) -> Result<PlannedJob, Error> {
        let JobFolder { folder, spool } = self.place;
        let name = name_of_job(folder, self.source.root(), self.options.now);
        let mut gathered = self.gather()?;
        let mut cuts = self.cut(&name, &mut gathered)?;
        let table_sha256 = cuts.table.finish()?.to_string();
        let Gathered { loads, mut troubles, skipped, .. } = gathered;
        troubles.append(&mut cuts.troubles);
        // A stable sort keeps the order of lines about the same path.
        troubles.sort_by(|a, b| order::compare_paths(&a.path, &b.path));
        write_troubles(&name, folder, &troubles, self.options.now)?;
        fs::remove_dir_all(spool).map_err(|error| Error::system(spool, "remove it", error))?;
        let header = JobHeader {
            steadfast_fleet_job: 1,
            job: name,
            planned_s: self.options.now.seconds,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            by: self.source.by().name().to_owned(),
            root: PathText::of(self.source.root()),
            document: self.source.document().map(PathText::of),
            catalogue_run: self.source.catalogue_run(),
            shards: cuts.shards,
            files: cuts.whole.files,
            bytes: cuts.whole.bytes,
            file_cost_bytes: self.options.file_cost_bytes,
            troubles: troubles.len() as u64,
            devices: loads.len() as u64,
            skipped,
            table_sha256,
        };
        SealedWriter::create(&folder.join("job.jsonl"), &header)?.finish()?;
        Ok(PlannedJob { job: Job::open(folder)?, troubles, cost_bytes: cuts.cost_bytes })
    }

    /// Sorts all files of the source.
    fn gather(&mut self) -> Result<Gathered, Error> {
        let mut spool = Spool::new(&self.place.spool)?;
        let mut devices: HashMap<u64, u32> = HashMap::new();
        let (mut loads, mut troubles): (Vec<DeviceLoad>, Vec<SourceFailure>) =
            (Vec::new(), Vec::new());
        let mut done = PlanProgress::default();
        let Planning { source, stop, progress, .. } = self;
        let skipped = source.each(stop, &mut |found| {
            let entry = match found {
                SourceItem::File(entry) => entry,
                SourceItem::Failure(trouble) => return keep(&mut troubles, trouble),
            };
            let device = *devices.entry(entry.device).or_insert(loads.len() as u32);
            if device as usize == loads.len() {
                loads.push(DeviceLoad::default());
            }
            loads[device as usize].add(entry.bytes);
            done.found += 1;
            report_progress(done, progress);
            spool.put(device, &entry)
        })?;
        Ok(Gathered { sorted: spool.sorted()?, loads, troubles, skipped })
    }

    /// Writes the shards.
    fn cut(&mut self, name: &str, gathered: &mut Gathered) -> Result<Cuts, Error> {
        let shares = self.shares(&gathered.loads);
        let mut cuts = Cuts::begin(self, name)?;
        let mut cutter: Option<(u32, Cutter)> = None;
        let mut waiting: Option<(u32, JobFile)> = None;
        let mut done = PlanProgress::default();
        loop {
            let next = gathered.sorted.next()?;
            // Combines two lines of a manifest about the same file.
            if let (Some((device, entry)), Some((same, other))) = (&mut waiting, &next)
                && device == same
                && entry.record.path == other.record.path
            {
                if !join(entry, other) {
                    keep(&mut cuts.troubles, contradiction(&other.record))?;
                }
                continue;
            }
            if let Some((device, entry)) = std::mem::replace(&mut waiting, next) {
                let load = gathered.loads[device as usize];
                let share = shares[device as usize];
                let cutter = match &mut cutter {
                    Some((of, cutter)) if *of == device => cutter,
                    other => {
                        let cutter = Cutter::new(load, share, self.options.file_cost_bytes);
                        &mut other.insert((device, cutter)).1
                    }
                };
                let begins = cutter.begins(entry.bytes);
                cuts.put(device, &entry, begins)?;
            }
            if waiting.is_none() {
                break;
            }
            done.written += 1;
            report_progress(done, self.progress);
            if self.stop.load(Ordering::Relaxed) {
                return Err(Error::new(ErrorKind::Interrupted, "the planning was interrupted"));
            }
        }
        cuts.end_shard()?;
        Ok(cuts)
    }

    /// Returns the number of shards of each device.
    fn shares(&self, loads: &[DeviceLoad]) -> Vec<u64> {
        let file_cost_bytes = self.options.file_cost_bytes;
        match self.options.size {
            Size::Shards(shards) => share_out(loads, shards, file_cost_bytes),
            Size::Cost(cost) => {
                let cost = u128::from(cost.max(1));
                let shards = |load: &DeviceLoad| load.cost(file_cost_bytes).div_ceil(cost);
                loads.iter().map(|load| u64::try_from(shards(load)).unwrap_or(u64::MAX)).collect()
            }
        }
    }
}

/// Writes the shards.
struct Cuts {
    table: SealedWriter,
    shards: u64,
    whole: DeviceLoad,
    troubles: Vec<SourceFailure>,
    cost_bytes: (u64, u64),
    open: Option<OpenShard>,
    folder: PathBuf,
    /// The members of every shard's header.
    name: String,
    by: &'static str,
    root: PathText,
    file_cost_bytes: u64,
}

struct OpenShard {
    writer: SealedWriter,
    device: u32,
    load: DeviceLoad,
    checked_s: Option<i64>,
}

impl Cuts {
    fn begin(planning: &Planning<'_>, name: &str) -> Result<Cuts, Error> {
        let folder = planning.place.folder.clone();
        let header = TableHeader { steadfast_fleet_table: 1, job: name.to_owned() };
        Ok(Cuts {
            table: SealedWriter::create(&folder.join("shards.jsonl"), &header)?,
            shards: 0,
            whole: DeviceLoad::default(),
            troubles: Vec::new(),
            cost_bytes: (u64::MAX, 0),
            open: None,
            folder,
            name: name.to_owned(),
            by: planning.source.by().name(),
            root: PathText::of(planning.source.root()),
            file_cost_bytes: planning.options.file_cost_bytes,
        })
    }

    fn put(&mut self, device: u32, entry: &JobFile, begins: bool) -> Result<(), Error> {
        if begins || self.open.is_none() {
            self.end_shard()?;
            let header = ShardHeader {
                steadfast_manifest: 1,
                steadfast_fleet_shard: 1,
                job: self.name.clone(),
                shard: self.shards,
                device: u64::from(device),
                by: self.by.to_owned(),
                root: self.root.clone(),
            };
            let path = self.folder.join("shards").join(name_of(self.shards));
            let writer = SealedWriter::create(&path, &header)?;
            let load = DeviceLoad::default();
            self.open = Some(OpenShard { writer, device, load, checked_s: entry.checked_s });
        }
        let open = self.open.as_mut().expect("a shard was opened if there was none");
        open.load.add(entry.bytes);
        // No time if a file was never checked: such shards come first.
        open.checked_s = open.checked_s.zip(entry.checked_s).map(|(first, one)| first.min(one));
        open.writer.put(&RecordLine::of(&entry.record))
    }

    fn end_shard(&mut self) -> Result<(), Error> {
        let Some(OpenShard { writer, device, load, checked_s }) = self.open.take() else {
            return Ok(());
        };
        let sha256 = writer.finish()?.to_string();
        let DeviceLoad { files, bytes } = load;
        let (shard, device) = (self.shards, u64::from(device));
        self.table.put(&ShardRow { shard, device, files, bytes, checked_s, sha256 })?;
        let cost = u64::try_from(load.cost(self.file_cost_bytes)).unwrap_or(u64::MAX);
        self.cost_bytes = (self.cost_bytes.0.min(cost), self.cost_bytes.1.max(cost));
        self.whole.files += files;
        self.whole.bytes = self.whole.bytes.saturating_add(bytes);
        self.shards += 1;
        Ok(())
    }
}

/// Adds a further line about the same file; returns whether both agree.
fn join(entry: &mut JobFile, other: &JobFile) -> bool {
    let (first, later) = (&mut entry.record, &other.record);
    let mut agree = true;
    for (algorithm, digest) in &later.digests {
        match first.digest(*algorithm) {
            Some(known) => agree &= known == digest,
            None => first.digests.push((*algorithm, *digest)),
        }
    }
    agree &= first.length.is_none() || later.length.is_none() || first.length == later.length;
    first.length = first.length.or(later.length);
    first.mtime = first.mtime.or(later.mtime);
    first.tagged = first.tagged.or(later.tagged);
    agree
}

fn contradiction(record: &Record) -> SourceFailure {
    let reason = "it contradicts an earlier line about the same file, which was taken".to_owned();
    SourceFailure { path: record.path.clone(), doing: "read the list", reason }
}

fn keep(troubles: &mut Vec<SourceFailure>, trouble: SourceFailure) -> Result<(), Error> {
    if troubles.len() >= TROUBLES_MAX {
        let SourceFailure { path, doing, reason } = &troubles[0];
        return Err(Error::usage(format!(
            "more than {TROUBLES_MAX} directories or lines cannot be made out; the first is `{}`: \
             cannot {doing}: {reason}",
            path.display()
        )));
    }
    troubles.push(trouble);
    Ok(())
}

/// Reports the progress, but not at every file.
fn report_progress(done: PlanProgress, progress: &mut dyn FnMut(PlanProgress)) {
    const EVERY: u64 = 10_000;
    if (done.found + done.written).is_multiple_of(EVERY) {
        progress(done);
    }
}

/// Writes the failures of planning in the format of a part.
fn write_troubles(
    name: &str,
    folder: &Path,
    troubles: &[SourceFailure],
    now: Timestamp,
) -> Result<(), Error> {
    let header = PartHeader {
        steadfast_fleet_part: 1,
        job: name.to_owned(),
        shard: None,
        shard_sha256: None,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        host: String::new(),
        process: std::process::id(),
        begun_s: now.seconds,
    };
    let mut writer = SealedWriter::create(&folder.join("troubles.jsonl"), &header)?;
    for SourceFailure { path, doing, reason } in troubles {
        let mut event = FileEvent::new(FilePath::whole(path));
        event.subject = Subject::Directory;
        event.verdict = Some(Verdict::Unreadable);
        event.trouble = Some(FileError::new(doing, reason));
        writer.put(&Row::of(&event, Path::new("")))?;
    }
    writer.put(&Closing { summary: PartOutcome::default() })?;
    writer.finish().map(|_| ())
}

/// Makes a unique name of a job: a digest of the moment, the process and the folder.
fn name_of_job(folder: &Path, root: &Path, now: Timestamp) -> String {
    let words =
        format!("{}\n{}\n{now:?}\n{}", folder.display(), root.display(), std::process::id());
    let mut hasher = AlgorithmHasher::new(Algorithm::Sha256);
    hasher.update(words.as_bytes());
    name_by_chance(&hasher.finalize())
}
