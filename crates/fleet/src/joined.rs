//! All rows of a job, in the order of a walk.
//!
//! In: shards that have parts. Out: rows, one by one, each with when its part was begun; and what
//! the parts say of how they were made. Within a device the shards follow on each other, so of each
//! device one part is open. What is damaged is told with the command that makes it anew.

use std::cmp::Ordering as Order;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};
use std::path::PathBuf;

use crate::error::{Error, ErrorKind};
use crate::job::{Job, ShardRow};
use crate::order;
use crate::part::{Outcome, Part};
use crate::row::Row;
use crate::sealed;

/// What parts say of how they were made.
#[derive(Debug, Default)]
pub(crate) struct Outcomes {
    pub(crate) elapsed_ns: u64,
    pub(crate) workers: u64,
    pub(crate) backends: Vec<String>,
    pub(crate) engines: Vec<String>,
    /// When the first was begun, in seconds.
    pub(crate) begun_s: Option<i64>,
}

impl Outcomes {
    fn add(&mut self, outcome: Outcome, begun_s: i64) {
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

/// A row, and where it is from.
pub(crate) struct Placed {
    pub(crate) row: Row,
    /// The shard; `None` of what the planning could not find out.
    pub(crate) shard: Option<u64>,
    /// When its part was begun, in seconds.
    pub(crate) begun_s: i64,
}

/// All rows of a job in order.
pub(crate) struct Joined<'a> {
    job: &'a Job,
    /// One for each device, and one for what the planning could not find out.
    streams: Vec<Stream>,
    heads: BinaryHeap<Head>,
    pub(crate) outcomes: Outcomes,
    /// The last file, and the shard that it is of.
    last: Option<(PathBuf, Option<u64>)>,
}

/// The parts of one device, one after the other.
struct Stream {
    shards: VecDeque<ShardRow>,
    open: Option<(Part, Option<ShardRow>)>,
}

impl<'a> Joined<'a> {
    pub(crate) fn begin(job: &'a Job, shards: Vec<ShardRow>) -> Result<Joined<'a>, Error> {
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
        let job = self.job;
        let Stream { shards, open } = &mut self.streams[stream];
        loop {
            if open.is_none() {
                let Some(shard) = shards.pop_front() else { return Ok(()) };
                let part = Part::open(job, shard.shard, &shard.sha256);
                let part = part.map_err(|error| told(job, Some(shard.shard), error))?;
                *open = Some((part, Some(shard)));
            }
            let Some((part, shard)) = open else { return Ok(()) };
            let number = shard.as_ref().map(|shard| shard.shard);
            if let Some(row) = part.next().map_err(|error| told(job, number, error))? {
                let path = row.relative();
                let path = path.ok_or_else(|| faulty(job, number, "a path of it is none"))?;
                let placed = Placed { row, shard: number, begun_s: part.begun_s() };
                self.heads.push(Head { path, stream, placed });
                return Ok(());
            }
            if let Some((part, Some(shard))) = open.take() {
                if part.rows() != shard.files {
                    let message = "it does not tell of every file of its shard";
                    return Err(faulty(job, number, message));
                }
                let begun_s = part.begun_s();
                let outcome = part.outcome().map_err(|error| told(job, number, error))?;
                self.outcomes.add(outcome, begun_s);
            }
        }
    }

    /// Returns the next row; `None` once every part was found to be whole.
    pub(crate) fn next(&mut self) -> Result<Option<Placed>, Error> {
        let Some(Head { path, stream, placed }) = self.heads.pop() else { return Ok(None) };
        self.advance(stream)?;
        if placed.row.is_file() {
            if let Some((last, shard)) = &self.last
                && order::compare_paths(last, &path) != Order::Less
            {
                // Which of the two parts is wrong, their digests may tell.
                let message = format!("`{}` comes twice, or out of order", path.display());
                ensure_whole(self.job, *shard)?;
                return Err(faulty(self.job, placed.shard, &message));
            }
            self.last = Some((path, placed.shard));
        }
        Ok(Some(placed))
    }
}

/// Makes the error of a part that says something that makes no sense. If it is not as it was
/// written, that is what is wrong with it.
pub(crate) fn faulty(job: &Job, shard: Option<u64>, message: &str) -> Error {
    let path = shard.map_or_else(|| job.troubles(), |shard| job.part(shard));
    told(job, shard, Error::damaged(&path, message))
}

fn told(job: &Job, shard: Option<u64>, error: Error) -> Error {
    if error.kind() != ErrorKind::Damaged {
        return error;
    }
    ensure_whole(job, shard).err().unwrap_or_else(|| advised(job, shard, error))
}

/// Reads the part of a shard to its end.
fn ensure_whole(job: &Job, shard: Option<u64>) -> Result<(), Error> {
    let path = shard.map_or_else(|| job.troubles(), |shard| job.part(shard));
    let read = sealed::Reader::open(&path).and_then(sealed::Reader::verify);
    read.map(|_| ()).map_err(|error| advised(job, shard, error))
}

/// Says with an error what is to be done.
fn advised(job: &Job, shard: Option<u64>, error: Error) -> Error {
    let Some(shard) = shard else { return error };
    let folder = job.folder().display();
    error.advised(&format!("`steadfast fleet run {folder} --shard {shard}` makes it anew"))
}

/// The next row of a stream; the first in the order of a walk is the greatest.
struct Head {
    path: PathBuf,
    stream: usize,
    placed: Placed,
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
