//! Decides what the pipeline's threads do next.
//!
//! Takes entries and finished jobs, and returns jobs. Holds everything that waits between two
//! stages, in a fixed number of buffers. Knows nothing of how a job is carried out.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Instant;

use steadfast_sys::file::AlignedBuffer;

use super::buffer_pool::BufferPool;
use super::job::{Batch, Broken, Chunk, ChunkRead, ChunkWanted, Done, Item, Job, Opened, Running};
use super::{Crew, Settings};
use crate::calibration::{LaneChoice, WORTH_TRYING_BYTES};
use crate::cost::JobTime;
use crate::qos::Level;
use crate::walk::Entry;

/// Chunks of one file that may be read ahead of its hashing. Reading then pauses until half of them
/// are hashed, because waking a sleeping thread for each chunk costs as much as copying it.
const AHEAD_MAX: usize = 16;

/// Share of reading time spent waiting, above which a reader is added, and below which one is
/// removed.
const WAIT_SHARE_HIGH: f64 = 0.5;
const WAIT_SHARE_LOW: f64 = 0.2;

/// A large file under way.
struct Large {
    opened: Arc<Opened>,
    running: Option<Running>,
    /// The worker that hashed it last, whose cache should have its chunks.
    home: usize,
    /// Chunks read or being read, in file order without gaps.
    chunks: VecDeque<Ahead>,
    /// Offset of the next chunk.
    next_offset: u64,
    reads: usize,
    /// Whether chunks are being read until [`AHEAD_MAX`] are ahead.
    fills: bool,
    /// Reading time not yet added to a chunk.
    read_ns: u64,
    broken: Option<Broken>,
}

/// A chunk that is read or being read, and not hashed yet.
struct Ahead {
    offset: u64,
    len: usize,
    /// The bytes, once they are read.
    buffer: Option<AlignedBuffer>,
}

impl Large {
    fn wants_read(&self) -> bool {
        self.broken.is_none() && self.fills && self.next_offset < self.opened.status.length
    }

    /// Bytes that are not read yet.
    fn rest_len(&self) -> u64 {
        self.opened.status.length - self.next_offset
    }

    fn can_hash(&self) -> bool {
        self.broken.is_none()
            && self.running.is_some()
            && self.chunks.front().is_some_and(|ahead| ahead.buffer.is_some())
    }

    fn can_give_up(&self) -> bool {
        self.broken.is_some() && self.reads == 0 && self.running.is_some()
    }
}

/// How to get one more thread to work.
pub(super) enum Call {
    /// Wake one that waits.
    Wake,
    /// Start the thread with this number.
    Start(usize),
}

/// The number of threads of a crew.
struct Headcount {
    most: usize,
    started: usize,
    /// Threads that wait, or are just being started.
    idle: usize,
}

impl Headcount {
    fn up_to(most: usize) -> Headcount {
        Headcount { most, started: 0, idle: 0 }
    }
}

/// All state between the stages.
// Over 15 fields: one lock guards them, and a worker decides by all of them.
pub(super) struct Schedule {
    settings: Settings,
    /// The level of the threads that are started now.
    pub(super) level: Level,
    items: VecDeque<Item>,
    walk_over: bool,
    chunk_pool: BufferPool,
    batch_pool: BufferPool,
    batches: VecDeque<Batch>,
    large: Vec<Large>,
    waiting: Vec<(Arc<Opened>, Running)>,
    jobs_under_way: usize,
    fills_under_way: usize,
    reads_under_way: usize,
    workers: Headcount,
    readers: Headcount,
    active_readers: usize,
    /// Readers that may be active now.
    allowed_readers: usize,
    began: Instant,
    /// Bytes of large files passed on for hashing.
    bytes_taken: u64,
    /// Bytes of files that were opened for reading.
    bytes_opened: u64,
    /// Whether the lanes still have to be tried, once there is enough to hash.
    untried: bool,
}

impl Schedule {
    pub(super) fn new(settings: Settings, lanes: LaneChoice) -> Schedule {
        Schedule {
            settings,
            level: settings.qos,
            items: VecDeque::new(),
            walk_over: false,
            chunk_pool: BufferPool::new(settings.chunks, settings.chunk_len),
            batch_pool: BufferPool::new(settings.batches, settings.batch_len),
            batches: VecDeque::new(),
            large: Vec::new(),
            waiting: Vec::new(),
            jobs_under_way: 0,
            fills_under_way: 0,
            reads_under_way: 0,
            workers: Headcount::up_to(settings.workers),
            readers: Headcount::up_to(settings.readers),
            active_readers: 0,
            allowed_readers: 0,
            began: Instant::now(),
            bytes_taken: 0,
            bytes_opened: 0,
            untried: lanes.is_untried(),
        }
    }

    pub(super) fn add(&mut self, entries: &mut Vec<(u64, Entry)>) {
        self.items.extend(entries.drain(..).map(|(number, entry)| Item::Found(number, entry)));
    }

    pub(super) fn end_of_walk(&mut self) {
        self.walk_over = true;
    }

    pub(super) fn has_room(&self) -> bool {
        self.items.len() < self.settings.items
    }

    /// Returns whether every entry is finished and none will follow.
    pub(super) fn is_over(&self) -> bool {
        self.walk_over
            && self.items.is_empty()
            && self.batches.is_empty()
            && self.large.is_empty()
            && self.waiting.is_empty()
            && self.jobs_under_way == 0
    }

    fn headcount(&mut self, crew: Crew) -> &mut Headcount {
        match crew {
            Crew::Workers => &mut self.workers,
            Crew::Readers => &mut self.readers,
        }
    }

    /// Counts a thread that begins (1) or ends (-1) waiting.
    pub(super) fn idle(&mut self, crew: Crew, change: isize) {
        let idle = &mut self.headcount(crew).idle;
        *idle = idle.checked_add_signed(change).expect("a thread ends waiting after it began");
    }

    /// Counts a thread that is about to be started, and returns its number.
    pub(super) fn start(&mut self, crew: Crew) -> usize {
        let count = self.headcount(crew);
        count.started += 1;
        count.idle += 1;
        count.started - 1
    }

    /// Undoes the last start, which failed, and starts no more threads.
    pub(super) fn start_no_more(&mut self, crew: Crew) {
        let count = self.headcount(crew);
        count.started -= 1;
        count.idle -= 1;
        count.most = count.started;
    }

    /// Returns how to get one more thread of a crew to work, if there is work for it.
    pub(super) fn call(&mut self, crew: Crew) -> Option<Call> {
        let &mut Headcount { most, started, idle } = self.headcount(crew);
        if (idle == 0 && started == most) || !self.has_work(crew) {
            return None;
        }
        Some(if idle > 0 { Call::Wake } else { Call::Start(self.start(crew)) })
    }

    fn has_work(&self, crew: Crew) -> bool {
        match crew {
            Crew::Workers => {
                self.can_give_up() || self.hashable() || self.wanted_read(None).is_some()
            }
            Crew::Readers => {
                self.active_readers < self.allowed_readers && self.wanted_read(None).is_some()
            }
        }
    }

    /// Takes the next job for a thread: a worker with this number, or a thread that only reads.
    pub(super) fn next_job(&mut self, worker: Option<usize>) -> Option<Job> {
        let job = match worker {
            Some(me) => self
                .give_up()
                .or_else(|| self.try_lanes())
                .or_else(|| self.hash(me, false))
                .or_else(|| self.read(Some(me)))
                .or_else(|| self.hash(me, true)),
            None if self.active_readers < self.allowed_readers => self.read(None),
            None => None,
        }?;
        self.jobs_under_way += 1;
        self.reads_under_way += usize::from(job.reads());
        self.active_readers += usize::from(worker.is_none());
        Some(job)
    }

    fn can_give_up(&self) -> bool {
        self.large.iter().any(Large::can_give_up)
    }

    fn give_up(&mut self) -> Option<Job> {
        let at = self.large.iter().position(Large::can_give_up)?;
        let large = self.large.swap_remove(at);
        let read = large.chunks.into_iter().filter_map(|ahead| ahead.buffer);
        read.for_each(|buffer| self.chunk_pool.put(buffer));
        self.promote();
        Some(Job::GiveUp {
            opened: large.opened,
            running: large.running.expect("can_give_up looked"),
            why: large.broken.expect("can_give_up looked"),
        })
    }

    /// Returns the job of trying the lanes, once, when there is enough to hash.
    fn try_lanes(&mut self) -> Option<Job> {
        let now = self.untried && self.bytes_opened >= WORTH_TRYING_BYTES;
        self.untried &= !now;
        now.then_some(Job::TryLanes)
    }

    fn hashable(&self) -> bool {
        !self.batches.is_empty() || self.large.iter().any(Large::can_hash)
    }

    /// Returns how many lanes a job should fill with large files: all of them while more files may
    /// come; at the end, a worker's share of the remaining files.
    fn lanes_wanted(&self) -> usize {
        let lanes = self.settings.large / self.settings.workers;
        let more_to_come = !self.items.is_empty()
            || !self.waiting.is_empty()
            || self.fills_under_way > 0
            || !self.walk_over;
        if more_to_come {
            lanes
        } else {
            lanes.min(self.large.len().div_ceil(self.settings.workers)).max(1)
        }
    }

    /// Takes a job that fills the lanes, or fewer lanes only if `partly`.
    fn hash(&mut self, me: usize, partly: bool) -> Option<Job> {
        let wanted = self.lanes_wanted();
        let mut ready: Vec<usize> =
            (0..self.large.len()).filter(|&at| self.large[at].can_hash()).collect();
        let with_batch = !self.batches.is_empty();
        if ready.is_empty() && !with_batch {
            return None;
        }
        if ready.len() < wanted && !with_batch && !partly {
            return None;
        }
        // A batch fills lanes by itself, so large files beside it get all lanes but one.
        let most = if with_batch { wanted.saturating_sub(1) } else { wanted };
        ready.sort_by_key(|&at| self.large[at].home != me);
        ready.truncate(most);
        let chunks = ready.iter().map(|&at| self.next_chunk(at, me)).collect();
        Some(Job::Hash { batch: self.batches.pop_back(), chunks })
    }

    fn next_chunk(&mut self, at: usize, me: usize) -> Chunk {
        let large = &mut self.large[at];
        let Ahead { offset, len, buffer } = large.chunks.pop_front().expect("can_hash looked");
        large.home = me;
        self.bytes_taken += len as u64;
        large.fills |= large.chunks.len() <= AHEAD_MAX / 2;
        Chunk {
            opened: Arc::clone(&large.opened),
            running: large.running.take().expect("can_hash looked"),
            buffer: buffer.expect("can_hash looked"),
            len,
            last: offset + len as u64 == large.opened.status.length,
            read_ns: std::mem::take(&mut large.read_ns),
        }
    }

    /// Takes the most useful reading job.
    fn read(&mut self, worker: Option<usize>) -> Option<Job> {
        Some(match self.wanted_read(worker)? {
            WantedRead::Fill => {
                let count = self.items.len().min(self.settings.batch_files);
                self.fills_under_way += 1;
                Job::Fill {
                    items: self.items.drain(..count).collect(),
                    buffer: self.batch_pool.take(),
                }
            }
            WantedRead::Ahead(first) => {
                let mut wanted = vec![self.want_chunk(first)];
                // While reads do not wait, one job reads as much as one job hashes.
                let waits = self.allowed_readers > 0;
                let most = if waits { self.settings.reads } else { self.lanes_wanted() };
                let mut last = first;
                while wanted.len() < most
                    && let Some(next) = self.read_next(last, waits, worker)
                {
                    wanted.push(self.want_chunk(next));
                    last = next;
                }
                Job::Ahead { wanted }
            }
        })
    }

    /// Returns the file whose chunk a job reads after one of `last`, if that is useful.
    fn read_next(&self, last: usize, waits: bool, worker: Option<usize>) -> Option<usize> {
        // Storage reads adjacent chunks together faster.
        if waits && self.large[last].wants_read() && !self.chunk_pool.is_empty() {
            return Some(last);
        }
        self.with_fewest_chunks(worker).filter(|&next| waits || self.large[next].chunks.is_empty())
    }

    fn want_chunk(&mut self, at: usize) -> ChunkWanted {
        // Few files use long chunks, which take fewer jobs; many files use short ones, which fit a
        // cache.
        let many = self.large.len() >= self.settings.many;
        let chunk_len = if many { self.settings.short_len } else { self.settings.chunk_len };
        let large = &mut self.large[at];
        let offset = large.next_offset;
        let len = chunk_len.min((large.opened.status.length - offset) as usize);
        large.chunks.push_back(Ahead { offset, len, buffer: None });
        large.next_offset += len as u64;
        large.reads += 1;
        large.fills = large.chunks.len() < AHEAD_MAX;
        ChunkWanted {
            opened: Arc::clone(&large.opened),
            offset,
            len,
            buffer: self.chunk_pool.take(),
        }
    }

    fn wanted_read(&self, worker: Option<usize>) -> Option<WantedRead> {
        if self.reads_under_way >= self.settings.queue_depth {
            return None;
        }
        let with_fewest_chunks = self.with_fewest_chunks(worker);
        let fill = !self.batch_pool.is_empty()
            && !self.items.is_empty()
            && self.waiting.len() < self.settings.waiting
            && self.batches.len() < self.settings.workers;
        // Opening comes first, because the largest file can begin early only if its length is
        // known.
        match with_fewest_chunks {
            _ if fill => Some(WantedRead::Fill),
            Some(at) => Some(WantedRead::Ahead(at)),
            None => None,
        }
    }

    /// Returns the large file with the least read ahead, preferably one of this worker.
    fn with_fewest_chunks(&self, worker: Option<usize>) -> Option<usize> {
        if self.chunk_pool.is_empty() {
            return None;
        }
        (0..self.large.len()).filter(|&at| self.large[at].wants_read()).min_by_key(|&at| {
            let large = &self.large[at];
            (large.chunks.len(), worker.is_some_and(|me| large.home != me))
        })
    }

    /// Takes the results of a job.
    pub(super) fn finish(&mut self, done: Done, crew: Crew) {
        self.jobs_under_way -= 1;
        self.active_readers -= usize::from(crew == Crew::Readers);
        self.fills_under_way -= usize::from(done.was_fill);
        self.bytes_opened = self.bytes_opened.saturating_add(done.bytes_opened());
        if let Some(lanes) = done.lanes {
            self.settings = self.settings.with_lanes(lanes);
            self.chunk_pool.resize(self.settings.chunks, self.settings.chunk_len);
            self.batch_pool.resize(self.settings.batches, self.settings.batch_len);
        }
        done.chunk_buffers.into_iter().for_each(|buffer| self.chunk_pool.put(buffer));
        done.batch_buffer.into_iter().for_each(|buffer| self.batch_pool.put(buffer));
        for item in done.returned.into_iter().rev() {
            self.items.push_front(item);
        }
        self.batches.extend(done.batch);
        self.waiting.extend(done.large);
        for read in done.read {
            self.add_read_chunk(read);
        }
        for (opened, running) in done.running {
            let large = self.large.iter_mut().find(|large| Arc::ptr_eq(&large.opened, &opened));
            large.expect("a file under way stays until its last chunk").running = Some(running);
        }
        for opened in done.hashed {
            self.large.retain(|large| !Arc::ptr_eq(&large.opened, &opened));
        }
        self.promote();
        if let Some(reading) = done.reading {
            self.reads_under_way -= 1;
            self.observe(&reading);
        }
    }

    fn add_read_chunk(&mut self, read: ChunkRead) {
        let large = self.large.iter_mut().find(|large| Arc::ptr_eq(&large.opened, &read.opened));
        let large = large.expect("a file under way stays until its reads have ended");
        large.reads -= 1;
        large.read_ns += read.elapsed_ns;
        match read.buffer {
            Ok(buffer) => {
                let mut ahead = large.chunks.iter_mut();
                let ahead = ahead.find(|ahead| ahead.offset == read.offset);
                ahead.expect("a chunk stays until it is hashed").buffer = Some(buffer);
            }
            Err((buffer, why)) => {
                self.chunk_pool.put(buffer);
                large.broken.get_or_insert(why);
            }
        }
    }

    /// Begins waiting files while there are places.
    fn promote(&mut self) {
        while self.large.len() < self.settings.large
            && let Some(next) = self.next_to_begin()
        {
            let (opened, running) = self.waiting.swap_remove(next);
            let of = |home| self.large.iter().filter(|large| large.home == home).count();
            let home = (0..self.settings.workers).min_by_key(|&home| of(home));
            self.large.push(Large {
                opened,
                running: Some(running),
                home: home.expect("there is a worker"),
                chunks: VecDeque::new(),
                next_offset: 0,
                reads: 0,
                fills: true,
                read_ns: 0,
                broken: None,
            });
        }
    }

    /// Returns the waiting file to begin with: the largest. If the run has a deadline, it is the
    /// first in walk order, and only if it can be finished in time beside those under way, at the
    /// rate so far. Otherwise every run could end with many files begun and none finished.
    fn next_to_begin(&self) -> Option<usize> {
        let all = 0..self.waiting.len();
        let Some(deadline) = self.settings.deadline else {
            return all.max_by_key(|&at| self.waiting[at].0.status.length);
        };
        let first = all.min_by_key(|&at| self.waiting[at].0.number)?;
        let bytes_per_s = self.bytes_taken as f64 / self.began.elapsed().as_secs_f64();
        let left = deadline.saturating_duration_since(Instant::now());
        let affordable = bytes_per_s * left.as_secs_f64();
        // A file that is too long for the remaining time does not delay the others.
        let rests = self.large.iter().map(|large| large.rest_len() as f64);
        let under_way: f64 = rests.filter(|&rest| rest <= affordable).sum();
        let fits = under_way + self.waiting[first].0.status.length as f64 <= affordable;
        (self.large.is_empty() || fits).then_some(first)
    }

    /// Adds readers while reading waits, and removes them when it does not.
    fn observe(&mut self, reading: &JobTime) {
        let waited = reading.waited_ns as f64 / reading.elapsed_ns.max(1) as f64;
        if waited > WAIT_SHARE_HIGH {
            self.allowed_readers = (self.allowed_readers + 1).min(self.settings.readers);
        } else if waited < WAIT_SHARE_LOW {
            self.allowed_readers = self.allowed_readers.saturating_sub(1);
        }
    }
}

enum WantedRead {
    /// Open the next entries, and read the small ones into one buffer.
    Fill,
    /// Read the next chunk of the large file at this place.
    Ahead(usize),
}

#[cfg(test)]
mod tests {
    use steadfast_digest::{Backend, Lanes};
    use steadfast_sys::qos::Level;

    use super::*;

    #[test]
    fn lanes_are_tried_once_and_only_for_many_bytes() {
        let lanes = Lanes::best(Backend::detect());
        let settings = Settings::new(2, 2, lanes, 1024, Level::Default);
        let mut schedule = Schedule::new(settings, LaneChoice::Fixed(lanes));
        schedule.bytes_opened = WORTH_TRYING_BYTES;
        assert!(schedule.next_job(Some(0)).is_none(), "they were asked for");
        schedule.untried = true;
        schedule.bytes_opened = WORTH_TRYING_BYTES - 1;
        assert!(schedule.next_job(Some(0)).is_none());
        schedule.bytes_opened += 1;
        assert!(schedule.next_job(None).is_none(), "readers do not hash");
        assert!(matches!(schedule.next_job(Some(1)), Some(Job::TryLanes)));
        assert!(schedule.next_job(Some(0)).is_none(), "another worker is at it");
        let narrow = Lanes::new(lanes.backend(), 1).unwrap();
        let done = Done { lanes: Some(narrow), ..Done::default() };
        schedule.finish(done, Crew::Workers);
        assert_eq!(schedule.settings.large, settings.workers);
        assert!(schedule.next_job(Some(0)).is_none());
    }

    #[test]
    fn threads_that_cannot_be_started_are_not_asked_for_again() {
        let lanes = Lanes::best(Backend::detect());
        let settings = Settings::new(3, 3, lanes, 1024, Level::Default);
        let mut schedule = Schedule::new(settings, LaneChoice::Fixed(lanes));
        assert_eq!((schedule.start(Crew::Workers), schedule.start(Crew::Workers)), (0, 1));
        assert_eq!(schedule.workers.idle, 2, "they wait from the start");
        schedule.start_no_more(Crew::Workers);
        let Headcount { most, started, idle } = schedule.workers;
        assert_eq!((most, started, idle), (1, 1, 1));
    }
}
