//! Joins the parts of a job: all rows in the order of a walk.
//!
//! In: shards that have parts. Out: rows, one by one, each with the begin of its part; and how the
//! parts were made. The shards of one device follow each other, so only one part of each device is
//! open. Errors of damaged parts name the command that makes them again.

use std::cmp::{Ordering, Reverse};
use std::collections::{BTreeMap, BinaryHeap, VecDeque};
use std::path::PathBuf;

use crate::error::{Error, ErrorKind};
use crate::job::{Job, ShardRow};
use crate::order;
use crate::part::{PartOutcome, PartReader};
use crate::row::Row;
use crate::sealed::SealedReader;

/// How the parts were made.
#[derive(Debug, Default)]
pub(crate) struct Outcomes {
    pub(crate) elapsed_ns: u64,
    pub(crate) workers: u64,
    pub(crate) backends: Vec<String>,
    pub(crate) engines: Vec<String>,
    /// The begin of the first one, in seconds since 1970.
    pub(crate) begun_s: Option<i64>,
}

impl Outcomes {
    fn add(&mut self, outcome: PartOutcome, begun_s: i64) {
        self.begun_s = Some(self.begun_s.map_or(begun_s, |first| first.min(begun_s)));
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

/// A row and its origin.
pub(crate) struct JoinedRow {
    pub(crate) row: Row,
    /// The shard. `None` for failures of planning.
    pub(crate) shard: Option<u64>,
    /// The begin of its part, in seconds since 1970.
    pub(crate) begun_s: i64,
}

/// All rows of a job in order.
pub(crate) struct Joined<'a> {
    job: &'a Job,
    /// One stream for each device, and one for the failures of planning.
    streams: Vec<Stream>,
    /// The sort keys of the streams' next rows, the least on top.
    heads: BinaryHeap<Reverse<(Vec<u8>, usize)>>,
    pub(crate) outcomes: Outcomes,
    /// The last file and its shard.
    last: Option<(PathBuf, Option<u64>)>,
}

/// The parts of one device, one after the other.
struct Stream {
    shards: VecDeque<ShardRow>,
    open: Option<(PartReader, Option<ShardRow>)>,
    /// The next row and its path.
    head: Option<(PathBuf, JoinedRow)>,
}

impl<'a> Joined<'a> {
    pub(crate) fn begin(job: &'a Job, shards: Vec<ShardRow>) -> Result<Joined<'a>, Error> {
        let mut devices: BTreeMap<u64, VecDeque<ShardRow>> = BTreeMap::new();
        for shard in shards {
            devices.entry(shard.device).or_default().push_back(shard);
        }
        let troubles = Some((PartReader::of_troubles(job)?, None));
        let mut streams = vec![Stream { shards: VecDeque::new(), open: troubles, head: None }];
        streams.extend(devices.into_values().map(|shards| Stream {
            shards,
            open: None,
            head: None,
        }));
        let (heads, outcomes) = (BinaryHeap::with_capacity(streams.len()), Outcomes::default());
        let mut joined = Joined { job, streams, heads, outcomes, last: None };
        for stream in 0..joined.streams.len() {
            joined.advance(stream)?;
        }
        Ok(joined)
    }

    /// Reads the next row of a stream.
    fn advance(&mut self, stream: usize) -> Result<(), Error> {
        let job = self.job;
        let Stream { shards, open, head } = &mut self.streams[stream];
        loop {
            if open.is_none() {
                let Some(shard) = shards.pop_front() else { return Ok(()) };
                let part = PartReader::open(job, shard.shard, &shard.sha256);
                let part = part.map_err(|error| explained(job, Some(shard.shard), error))?;
                *open = Some((part, Some(shard)));
            }
            let Some((part, shard)) = open else { return Ok(()) };
            let number = shard.as_ref().map(|shard| shard.shard);
            if let Some(row) = part.next().map_err(|error| explained(job, number, error))? {
                let path = row.relative();
                let path = path.ok_or_else(|| faulty(job, number, "a path of it is none"))?;
                let placed = JoinedRow { row, shard: number, begun_s: part.begun_s() };
                self.heads.push(Reverse((order::key(&path), stream)));
                *head = Some((path, placed));
                return Ok(());
            }
            if let Some((part, Some(shard))) = open.take() {
                if part.rows() != shard.files {
                    let message = "it does not tell of every file of its shard";
                    return Err(faulty(job, number, message));
                }
                let begun_s = part.begun_s();
                let outcome = part.outcome().map_err(|error| explained(job, number, error))?;
                self.outcomes.add(outcome, begun_s);
            }
        }
    }

    /// Returns the next row. Returns `None` at the end, after every part was verified.
    pub(crate) fn next(&mut self) -> Result<Option<JoinedRow>, Error> {
        let Some(Reverse((_, stream))) = self.heads.pop() else { return Ok(None) };
        let head = self.streams[stream].head.take();
        let (path, placed) = head.expect("a stream on the heap has a next row");
        self.advance(stream)?;
        if placed.row.is_file() {
            if let Some((last, shard)) = &self.last
                && order::compare_paths(last, &path) != Ordering::Less
            {
                // The digests may tell which of the two parts is wrong.
                let message = format!("`{}` comes twice, or out of order", path.display());
                ensure_whole(self.job, *shard)?;
                return Err(faulty(self.job, placed.shard, &message));
            }
            self.last = Some((path, placed.shard));
        }
        Ok(Some(placed))
    }
}

/// Makes the error of a part with an invalid row. If the part is damaged, the error says so
/// instead.
pub(crate) fn faulty(job: &Job, shard: Option<u64>, message: &str) -> Error {
    let path = shard.map_or_else(|| job.troubles(), |shard| job.part(shard));
    explained(job, shard, Error::damaged(&path, message))
}

fn explained(job: &Job, shard: Option<u64>, error: Error) -> Error {
    if error.kind() != ErrorKind::Damaged {
        return error;
    }
    ensure_whole(job, shard).err().unwrap_or_else(|| advised(job, shard, error))
}

/// Verifies the part of a shard.
fn ensure_whole(job: &Job, shard: Option<u64>) -> Result<(), Error> {
    let path = shard.map_or_else(|| job.troubles(), |shard| job.part(shard));
    let read = SealedReader::open(&path).and_then(SealedReader::verify);
    read.map(|_| ()).map_err(|error| advised(job, shard, error))
}

/// Adds the command that makes the part again.
fn advised(job: &Job, shard: Option<u64>, error: Error) -> Error {
    let Some(shard) = shard else { return error };
    let folder = job.folder().display();
    error.advised(&format!("`steadfast fleet run {folder} --shard {shard}` makes it anew"))
}
