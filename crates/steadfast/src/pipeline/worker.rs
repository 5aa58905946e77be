//! Carries out the jobs of the pipeline's threads.
//!
//! Takes a job and its data. Returns results for the schedule, and puts finished events into the
//! reorder buffer. No lock is held here.

mod fill;

use std::io;
use std::sync::atomic::Ordering;

use steadfast_digest::Messages;
use steadfast_sys::file::{Status, Timestamp};

use super::job::{Batch, Broken, Chunk, ChunkRead, ChunkWanted, Done, Job, Opened, Running, Small};
use super::outcome::{FileHasher, Outcome};
use super::reorder_buffer::Numbered;
use super::{AttributesOf, ByteSink, Shared};
use crate::belongings::Attributes;
use crate::calibration::fastest_lanes;
use crate::cost::{JobFacts, Stage, StageClock};
use crate::event::FileEvent;
use crate::read::PositionedRead;

/// Files up to this length share a buffer; longer ones are read in chunks.
pub(super) const SMALL_LEN_BYTES_MAX: u64 = 64 << 10;

/// The cost of opening a file, in bytes, where storage is timed: one block.
const OPENED_LEN_BYTES: u64 = 4 << 10;

impl Job {
    /// Returns whether the job reads from the storage.
    pub(super) fn reads(&self) -> bool {
        matches!(self, Job::Fill { .. } | Job::Ahead { .. })
    }

    /// Carries the job out.
    pub(super) fn perform(self, shared: &Shared, clock: &mut StageClock) -> Done {
        clock.begin_job();
        let reading = self.reads().then(|| shared.ledger.begin_reading());
        let mut facts = self.facts(shared.ledger.is_traced());
        let mut worker = Worker { shared, clock, finished: Vec::new() };
        let mut done = match self {
            Job::Fill { items, buffer } => worker.fill(items, buffer),
            Job::Ahead { wanted } => worker.read_ahead(wanted),
            Job::Hash { batch, chunks } => worker.hash(batch, chunks),
            Job::TryLanes => worker.try_lanes(),
            Job::GiveUp { opened, running, why } => worker.give_up(&opened, running, why),
        };
        let finished = worker.finished;
        let time = clock.end_job();
        if done.was_fill {
            facts.files -= done.returned.len() as u64;
            facts.bytes = done.batch.iter().flat_map(|batch| &batch.files).map(Small::bytes).sum();
        }
        if let Some(reading) = reading {
            let opened_len = if done.was_fill { facts.files * OPENED_LEN_BYTES } else { 0 };
            shared.ledger.end_reading(&reading, facts.bytes + opened_len);
            done.reading = Some(time);
        }
        clock.hand_in(facts);
        shared.finished.put(finished);
        done
    }

    /// Returns what the job works on. The size of a fill is known only afterwards.
    fn facts(&self, with_path: bool) -> JobFacts {
        match self {
            Job::Fill { items, .. } => JobFacts { files: items.len() as u64, ..Default::default() },
            Job::Ahead { wanted } => JobFacts {
                files: wanted.len() as u64,
                bytes: wanted.iter().map(|wanted| wanted.len as u64).sum(),
                path: None,
            },
            Job::Hash { batch, chunks } => {
                let small = batch.iter().flat_map(|batch| &batch.files);
                let chunk_bytes: u64 = chunks.iter().map(|chunk| chunk.len as u64).sum();
                let path = match &chunks[..] {
                    [chunk] if with_path && batch.is_none() => {
                        Some(chunk.running.event.path.to_path())
                    }
                    _ => None,
                };
                JobFacts {
                    files: small.clone().count() as u64 + chunks.len() as u64,
                    bytes: small.map(Small::bytes).sum::<u64>() + chunk_bytes,
                    path,
                }
            }
            Job::TryLanes => JobFacts::default(),
            Job::GiveUp { .. } => JobFacts { files: 1, ..JobFacts::default() },
        }
    }
}

struct Worker<'a> {
    shared: &'a Shared,
    clock: &'a mut StageClock,
    finished: Vec<Numbered>,
}

impl Worker<'_> {
    /// Continues after a first call that read `read` bytes, until there are `length` or the file
    /// ends.
    fn read_on(
        &self,
        opened: &Opened,
        target: &mut [u8],
        offset: u64,
        mut read: usize,
        length: usize,
    ) -> io::Result<usize> {
        let engine = &self.shared.engine;
        let mut count = read;
        // Past the page cache, only the end of a file is shorter than a block, and nothing can be
        // read from there.
        let aligned = engine.alignment() >= 512;
        while count > 0 && read < length && (!aligned || read.is_multiple_of(engine.alignment())) {
            count = engine.read_at(&opened.file, &mut target[read..], offset + read as u64)?;
            read += count;
        }
        self.shared.bytes_read.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }

    fn read_ahead(&mut self, mut wanted: Vec<ChunkWanted>) -> Done {
        let engine = &self.shared.engine;
        let span = |len: usize| len.next_multiple_of(engine.alignment());
        let reads = wanted.iter_mut().map(|wanted| {
            let span = span(wanted.len).min(wanted.buffer.len());
            PositionedRead::new(&wanted.opened.file, &mut wanted.buffer[..span], wanted.offset)
        });
        let mut reads: Vec<PositionedRead<'_>> = reads.collect();
        engine.read_many(&mut reads);
        let outcomes: Vec<_> = reads.into_iter().map(|read| read.outcome).collect();
        let read_ns = self.clock.lap(Stage::Read) / wanted.len().max(1) as u64;
        let wanted = wanted.into_iter().zip(outcomes);
        let read = wanted.map(|(wanted, outcome)| self.read_chunk(wanted, outcome, read_ns));
        Done { read: read.collect(), ..Done::default() }
    }

    /// Finishes a chunk whose first read ended with `outcome` and took `read_ns`.
    fn read_chunk(
        &mut self,
        wanted: ChunkWanted,
        outcome: io::Result<usize>,
        read_ns: u64,
    ) -> ChunkRead {
        let ChunkWanted { opened, offset, len, mut buffer } = wanted;
        let span = len.next_multiple_of(self.shared.engine.alignment()).min(buffer.len());
        let target = &mut buffer[..span];
        let result = outcome.and_then(|read| self.read_on(&opened, target, offset, read, len));
        let elapsed_ns = read_ns + self.clock.lap(Stage::Read);
        let buffer = match result {
            Ok(read) if read >= len => Ok(buffer),
            Ok(_) => Err((buffer, Broken::Shorter)),
            Err(error) => Err((buffer, Broken::Failed(Box::new(Outcome::of_error(&error))))),
        };
        ChunkRead { opened, offset, buffer, elapsed_ns }
    }

    fn hash(&mut self, batch: Option<Batch>, chunks: Vec<Chunk>) -> Done {
        let mut done = Done::default();
        let (mut chunks, mut batch) = (chunks, batch);
        let (small_bytes, small) = match &mut batch {
            Some(batch) => (&batch.buffer[..], &mut batch.files[..]),
            None => (&[][..], &mut [][..]),
        };
        let mut hashers: Vec<FileHasher> =
            small.iter().map(|file| self.hasher(&file.opened, &file.event)).collect();
        let mut messages = Messages::new();
        let mut bytes = 0;
        for Chunk { running, buffer, len, last, .. } in &mut chunks {
            running.hasher.take(&buffer[..*len], *last, &mut messages);
            bytes += *len as u64;
        }
        for (file, hasher) in small.iter().zip(&mut hashers) {
            let data = &small_bytes[file.start..file.start + file.len];
            hasher.take(data, true, &mut messages);
            bytes += file.len as u64;
        }
        messages.update(self.shared.lanes.now());
        let hash_ns = self.clock.lap(Stage::Hash);
        if let ([chunk], None) = (&chunks[..], &batch) {
            self.shared.ledger.hashed_alone(chunk.len as u64, hash_ns);
        }
        let share_ns = |len: usize| hash_ns * len as u64 / bytes.max(1);
        for chunk in chunks {
            let Chunk { opened, mut running, buffer, len, last, read_ns } = chunk;
            running.event.reading.elapsed_ns += read_ns + share_ns(len);
            running.event.reading.bytes += len as u64;
            done.chunk_buffers.push(buffer);
            if last {
                self.conclude_large(&opened, running);
                done.hashed.push(opened);
            } else {
                done.running.push((opened, running));
            }
        }
        self.clock.lap(Stage::Store);
        let Some(batch) = batch else { return done };
        let mut files = Vec::with_capacity(batch.files.len());
        for (file, hasher) in batch.files.into_iter().zip(hashers) {
            let Small { opened, mut event, len, .. } = file;
            event.reading.elapsed_ns += share_ns(len);
            let (length, mtime) = (opened.status.length, opened.status.mtime);
            self.conclude_whole(&opened, event, hasher, (length, mtime));
            files.push(opened);
        }
        self.clock.lap(Stage::Store);
        // Closed together, so that closing has its own lap without reading the clock for each file.
        drop(files);
        self.clock.lap(Stage::Open);
        done.batch_buffer = Some(batch.buffer);
        done
    }

    /// Finishes a large file after its last chunk, and compares its times again.
    fn conclude_large(&mut self, opened: &Opened, running: Running) {
        let Status { length, mtime, .. } = opened.status;
        self.shared.ledger.hashed_file(length);
        let outcome = match opened.file.status() {
            Ok(after) if held_still(&opened.status, &after) => {
                let Running { hasher, event } = running;
                return self.conclude_whole(opened, event, hasher, (length, mtime));
            }
            Ok(_) => Outcome::Changed,
            Err(error) => Outcome::of_error(&error),
        };
        self.conclude(opened, running.event, outcome);
    }

    fn try_lanes(&mut self) -> Done {
        let lanes = fastest_lanes();
        self.clock.lap(Stage::Hash);
        Done { lanes: Some(lanes), ..Done::default() }
    }

    fn give_up(&mut self, opened: &Opened, running: Running, why: Broken) -> Done {
        let outcome = match why {
            Broken::Shorter => Outcome::Changed,
            Broken::Failed(outcome) => *outcome,
        };
        self.conclude(opened, running.event, outcome);
        self.clock.lap(Stage::Store);
        Done::default()
    }

    /// Makes a file's hasher, with the task's sink.
    fn hasher(&self, opened: &Opened, event: &FileEvent) -> FileHasher {
        let sink = opened.algorithms.and_then(|_| self.shared.task.sink(event));
        FileHasher::new(opened.algorithms, sink)
    }

    /// Lets the task compare and store, and passes the event on.
    fn conclude(&mut self, opened: &Opened, event: Box<FileEvent>, outcome: Outcome) {
        self.conclude_with(opened, event, outcome, None);
    }

    /// Concludes a file that was read completely, with its length and its modification times before
    /// and after.
    fn conclude_whole(
        &mut self,
        opened: &Opened,
        event: Box<FileEvent>,
        mut hasher: FileHasher,
        (length, mtime): (u64, Timestamp),
    ) {
        let sink = hasher.take_sink();
        self.conclude_with(opened, event, hasher.finalize(length, mtime), sink);
    }

    fn conclude_with(
        &mut self,
        opened: &Opened,
        mut event: Box<FileEvent>,
        outcome: Outcome,
        mut sink: Option<Box<dyn ByteSink>>,
    ) {
        let Opened { file, status, .. } = opened;
        event.reading.origin =
            event.reading.origin.map(|origin| self.shared.engine.confirm(file, status, origin));
        let task = &self.shared.task;
        match outcome {
            Outcome::Hashed(contents) => {
                sink.iter_mut().for_each(|sink| sink.close(&mut event));
                task.conclude(file, &mut event, contents);
            }
            Outcome::Unhashed => {}
            Outcome::Changed => {
                event.note_change();
                task.give_up(file, &mut event);
            }
            Outcome::Elsewhere => {
                event.note_dataless();
                task.give_up(file, &mut event);
            }
            Outcome::Failed(error) => {
                event.fail(error);
                task.give_up(file, &mut event);
            }
        }
        if let Some(sink) = sink {
            sink.finish(&mut event);
        }
        if event.action.is_some() {
            // Setting a tag changes the ctime, which is used to recognise the file again.
            event.visit.status = file.status().ok().filter(|after| same_contents(status, after));
        }
        self.finish(opened, event);
    }

    fn finish(&mut self, Opened { number, file, status, .. }: &Opened, mut event: Box<FileEvent>) {
        let is_wanted = match self.shared.settings.attributes {
            AttributesOf::None => false,
            AttributesOf::Tagged => event.action.is_some(),
            AttributesOf::All => true,
        };
        if is_wanted {
            event.visit.attributes = Attributes::brief(file);
        }
        self.shared.links.finish(status, &event, &mut self.finished);
        self.finished.push((*number, event));
    }
}

/// Returns whether the status of a file shows no change between two readings.
fn held_still(before: &Status, after: &Status) -> bool {
    same_contents(before, after) && before.ctime == after.ctime
}

/// Returns whether at most attributes changed between two readings of the status.
fn same_contents(before: &Status, after: &Status) -> bool {
    (before.length, before.mtime) == (after.length, after.mtime)
}
