//! Cuts what a source finds into shards: sort, weigh, cut, write.
//!
//! In: a source and where the job goes. Out: a folder that is a whole job, or an error and nothing.
//! Memory is bounded by the spool's, whatever the number of files, and by the troubles that are
//! allowed. `job.jsonl` is written last.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use steadfast::event::FileError;
use steadfast::manifest::Record;
use steadfast::{FileEvent, FilePath, Subject, Timestamp, Verdict};
use steadfast_digest::{Algorithm, AlgorithmHasher};
use steadfast_events::PathText;

use crate::cut::{Cutter, FILE_COST_BYTES, Load, share_out};
use crate::error::{Error, ErrorKind};
use crate::job::{Job, JobHeader, ShardRow, SkippedText, TableHeader, name_by_chance, name_of};
use crate::order;
use crate::part::{Closing, Outcome, PartHeader};
use crate::row::Row;
use crate::sealed::Writer;
use crate::shard::{RecordLine, ShardHeader};
use crate::source::{Entry, Found, Source, Trouble};
use crate::spool::{MEMORY_LEN, Sorted, Spool};

/// Troubles of planning that a job may have: they are held in memory, and with more of them
/// something else is wrong.
const TROUBLES_MAX: usize = 10_000;

/// The cost of a shard unless said otherwise: a minute or two of a slow disk, some seconds of a
/// fast one. What is lost when a machine dies is at most that much.
const SHARD_COST_BYTES: u64 = 16 << 30;

/// How much a shard holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// About so many shards; at least one for each device, and none empty.
    Shards(u64),
    /// About so many bytes, those that files count for included.
    Cost(u64),
}

/// How a job is planned.
#[derive(Clone, Debug)]
pub struct PlanOptions {
    /// How much a shard holds.
    pub size: Size,
    /// Bytes that a file counts for besides its own.
    pub file_cost_bytes: u64,
    /// The time of day.
    pub now: Timestamp,
    /// Bytes of memory to sort in.
    pub memory_len: usize,
}

impl PlanOptions {
    /// Begins with what needs no thought.
    pub fn new(now: Timestamp) -> PlanOptions {
        PlanOptions {
            size: Size::Cost(SHARD_COST_BYTES),
            file_cost_bytes: FILE_COST_BYTES,
            now,
            memory_len: MEMORY_LEN,
        }
    }
}

/// How far the planning is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Done {
    /// Files found.
    pub found: u64,
    /// Files written to shards.
    pub written: u64,
}

/// A job that was planned.
#[derive(Debug)]
pub struct Planned {
    /// The job.
    pub job: Job,
    /// What could not be found out.
    pub troubles: Vec<Trouble>,
    /// Least and most bytes that a shard costs.
    pub cost_bytes: (u64, u64),
}

/// Plans a job in a folder that does not exist yet, or is empty.
///
/// `progress` hears now and then how far it is.
///
/// # Errors
/// If the folder holds something, the source fails, or something cannot be written. Nothing is left
/// then.
pub fn plan(
    source: &mut dyn Source,
    folder: &Path,
    options: &PlanOptions,
    stop: &AtomicBool,
    progress: &mut dyn FnMut(Done),
) -> Result<Planned, Error> {
    let place = Place::make(folder)?;
    let planned = Planning { source, place: &place, options, stop, progress }.carry_out();
    if planned.is_err() {
        place.remove();
    }
    planned
}

/// The folder of a job that is to be.
struct Place {
    folder: PathBuf,
    spool: PathBuf,
}

impl Place {
    fn make(folder: &Path) -> Result<Place, Error> {
        let system = |error| Error::system(folder, "make it", error);
        fs::create_dir_all(folder).map_err(system)?;
        if fs::read_dir(folder).map_err(system)?.next().is_some() {
            let folder = folder.display();
            return Err(Error::usage(format!(
                "`{folder}` is not empty: a job needs a folder of its own"
            )));
        }
        let place = Place { folder: folder.to_owned(), spool: folder.join("planning") };
        for name in ["planning", "shards", "parts", "failures"] {
            fs::create_dir(folder.join(name)).map_err(system)?;
        }
        Ok(place)
    }

    /// Takes away what was made here: the folder was empty before.
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

/// What planning goes by.
struct Planning<'a> {
    source: &'a mut dyn Source,
    place: &'a Place,
    options: &'a PlanOptions,
    stop: &'a AtomicBool,
    progress: &'a mut dyn FnMut(Done),
}

/// What was found, and waits to be cut.
struct Gathered {
    sorted: Sorted,
    loads: Vec<Load>,
    troubles: Vec<Trouble>,
    skipped: SkippedText,
}

impl Planning<'_> {
    fn carry_out(mut self) -> Result<Planned, Error> {
        let Place { folder, spool } = self.place;
        let name = name_of_job(folder, self.source.root(), self.options.now);
        let mut gathered = self.gather()?;
        let mut cuts = self.cut(&name, &mut gathered)?;
        let table_sha256 = cuts.table.finish()?.to_string();
        let Gathered { loads, mut troubles, skipped, .. } = gathered;
        troubles.append(&mut cuts.troubles);
        // Stable: what a document says twice stays in its order.
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
        Writer::create(&folder.join("job.jsonl"), &header)?.finish()?;
        Ok(Planned { job: Job::open(folder)?, troubles, cost_bytes: cuts.cost_bytes })
    }

    /// Takes all that the source finds, and puts it in order.
    fn gather(&mut self) -> Result<Gathered, Error> {
        let mut spool = Spool::new(&self.place.spool, self.options.memory_len);
        let mut devices: HashMap<u64, u32> = HashMap::new();
        let (mut loads, mut troubles): (Vec<Load>, Vec<Trouble>) = (Vec::new(), Vec::new());
        let mut done = Done::default();
        let Planning { source, stop, progress, .. } = self;
        let skipped = source.each(stop, &mut |found| {
            let entry = match found {
                Found::File(entry) => entry,
                Found::Trouble(trouble) => return keep(&mut troubles, trouble),
            };
            let device = *devices.entry(entry.device).or_insert(loads.len() as u32);
            if device as usize == loads.len() {
                loads.push(Load::default());
            }
            loads[device as usize].add(entry.bytes);
            done.found += 1;
            tell(done, progress);
            spool.put(device, &entry)
        })?;
        let skipped = SkippedText::of(skipped);
        Ok(Gathered { sorted: spool.sorted()?, loads, troubles, skipped })
    }

    /// Writes the shards.
    fn cut(&mut self, name: &str, gathered: &mut Gathered) -> Result<Cuts, Error> {
        let shares = self.shares(&gathered.loads);
        let mut cuts = Cuts::begin(self, name)?;
        let mut cutter: Option<(u32, Cutter)> = None;
        let mut waiting: Option<(u32, Entry)> = None;
        let mut done = Done::default();
        loop {
            let next = gathered.sorted.next()?;
            // Two lines of a manifest about one file are one file.
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
            tell(done, self.progress);
            if self.stop.load(Ordering::Relaxed) {
                return Err(Error::new(ErrorKind::Interrupted, "the planning was interrupted"));
            }
        }
        cuts.end_shard()?;
        Ok(cuts)
    }

    /// How many shards each device gets.
    fn shares(&self, loads: &[Load]) -> Vec<u64> {
        let file_cost_bytes = self.options.file_cost_bytes;
        match self.options.size {
            Size::Shards(shards) => share_out(loads, shards, file_cost_bytes),
            Size::Cost(cost) => {
                let cost = u128::from(cost.max(1));
                let shards = |load: &Load| load.cost(file_cost_bytes).div_ceil(cost);
                loads.iter().map(|load| u64::try_from(shards(load)).unwrap_or(u64::MAX)).collect()
            }
        }
    }
}

/// Shards, as they are written.
struct Cuts {
    table: Writer,
    shards: u64,
    whole: Load,
    troubles: Vec<Trouble>,
    cost_bytes: (u64, u64),
    open: Option<OpenShard>,
    folder: PathBuf,
    /// What the header of every shard says.
    name: String,
    by: &'static str,
    root: PathText,
    file_cost_bytes: u64,
}

struct OpenShard {
    writer: Writer,
    device: u32,
    load: Load,
    checked_s: Option<i64>,
}

impl Cuts {
    fn begin(planning: &Planning<'_>, name: &str) -> Result<Cuts, Error> {
        let folder = planning.place.folder.clone();
        let header = TableHeader { steadfast_fleet_table: 1, job: name.to_owned() };
        Ok(Cuts {
            table: Writer::create(&folder.join("shards.jsonl"), &header)?,
            shards: 0,
            whole: Load::default(),
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

    fn put(&mut self, device: u32, entry: &Entry, begins: bool) -> Result<(), Error> {
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
            let writer = Writer::create(&path, &header)?;
            let load = Load::default();
            self.open = Some(OpenShard { writer, device, load, checked_s: entry.checked_s });
        }
        let open = self.open.as_mut().expect("a shard was opened if there was none");
        open.load.add(entry.bytes);
        // Of a shard with a file that never was, no time is told: it comes before all others.
        open.checked_s = open.checked_s.zip(entry.checked_s).map(|(first, one)| first.min(one));
        open.writer.put(&RecordLine::of(&entry.record))
    }

    fn end_shard(&mut self) -> Result<(), Error> {
        let Some(OpenShard { writer, device, load, checked_s }) = self.open.take() else {
            return Ok(());
        };
        let sha256 = writer.finish()?.to_string();
        let Load { files, bytes } = load;
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

/// Adds what a further line says of a file; says whether they agree.
fn join(entry: &mut Entry, other: &Entry) -> bool {
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

fn contradiction(record: &Record) -> Trouble {
    let reason = "it contradicts an earlier line about the same file, which was taken".to_owned();
    Trouble { path: record.path.clone(), doing: "read the list", reason }
}

fn keep(troubles: &mut Vec<Trouble>, trouble: Trouble) -> Result<(), Error> {
    if troubles.len() >= TROUBLES_MAX {
        let Trouble { path, doing, reason } = &troubles[0];
        return Err(Error::usage(format!(
            "more than {TROUBLES_MAX} directories or lines cannot be made out; the first is `{}`: \
             cannot {doing}: {reason}",
            path.display()
        )));
    }
    troubles.push(trouble);
    Ok(())
}

/// Tells how far it is, but not at every file.
fn tell(done: Done, progress: &mut dyn FnMut(Done)) {
    const EVERY: u64 = 10_000;
    if (done.found + done.written).is_multiple_of(EVERY) {
        progress(done);
    }
}

/// Writes down what could not be found out, in the form of a part.
fn write_troubles(
    name: &str,
    folder: &Path,
    troubles: &[Trouble],
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
    let mut writer = Writer::create(&folder.join("troubles.jsonl"), &header)?;
    for Trouble { path, doing, reason } in troubles {
        let mut event = FileEvent::new(FilePath::whole(path));
        event.subject = Subject::Directory;
        event.verdict = Some(Verdict::Unreadable);
        event.trouble = Some(FileError { operation: doing, reason: reason.clone() });
        writer.put(&Row::of(&event, Path::new("")))?;
    }
    writer.put(&Closing { summary: Outcome::default() })?;
    writer.finish().map(|_| ())
}

/// Names a job by what no other has: the moment, the process and the place.
fn name_of_job(folder: &Path, root: &Path, now: Timestamp) -> String {
    let words =
        format!("{}\n{}\n{now:?}\n{}", folder.display(), root.display(), std::process::id());
    let mut hasher = AlgorithmHasher::new(Algorithm::Sha256);
    hasher.update(words.as_bytes());
    name_by_chance(&hasher.finalize())
}
