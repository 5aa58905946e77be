//! Chunk → digest: threads that open, read and hash files, several messages to a core at once.
//!
//! In: entries from the walk, and a [`Task`] that decides what to do with each file. Out: one
//! finished [`FileEvent`] per entry, in walk order. Knows nothing of verdicts or of what a task
//! stores.
//!
//! Each worker takes the most useful job: it hashes if it can fill its lanes, otherwise it reads
//! ahead, otherwise it hashes with fewer lanes. Small files are read many to a buffer and hashed
//! together by the thread that read them, while they are in its cache. Large files are read in
//! chunks, ahead of the hashing, so that a single file is limited by the rate of the hash or of the
//! storage and not by their sum. While reads wait for the storage, further threads that only read
//! are used. A thread is started when there is work for it and no idle thread for that work.
//! Buffers are made and lanes are tried likewise, so that a check of one small file costs little.

mod outcome;
mod settings;
mod job;
mod worker;
mod links;
mod reorder_buffer;
mod buffer_pool;
mod schedule;

use std::collections::BTreeMap;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use steadfast_sys::file::{DownloadScope, File, allow_downloads, keep_access_times};

use links::Links;
pub(crate) use outcome::{Algorithms, Contents, Digests};
use reorder_buffer::{Finished, Numbered, ReorderBuffer};
use schedule::{Call, Schedule};
pub(crate) use settings::{AttributesOf, Settings};

use crate::calibration::LaneChoice;
use crate::cost::{Account, JobFacts, Ledger, Role, SpanSink, Stage, StageClock, ThreadSlot};
use crate::error::Error;
use crate::event::{FileEvent, Notice};
use crate::qos::{self, Level};
use crate::read::Engine;
use crate::walk::{Entry, WalkItem};

/// The work of a verb on each file, called from many threads.
pub(crate) trait Task: Send + Sync {
    /// Looks at an opened file and returns whether its contents are needed.
    fn open(&self, file: &File, event: &mut FileEvent) -> Plan;

    /// Finishes a file that was read completely and hashed. A task that hashes no file has nothing
    /// to do.
    fn conclude(&self, file: &File, event: &mut FileEvent, contents: Contents) {
        let _ = (file, event, contents);
    }

    /// Finishes a file whose contents could not be read. The event has the reason.
    fn give_up(&self, file: &File, event: &mut FileEvent) {
        let _ = (file, event);
    }

    /// Returns a sink that receives the bytes of a file besides its digests, if the task needs one.
    fn sink(&self, event: &FileEvent) -> Option<Box<dyn ByteSink>> {
        let _ = event;
        None
    }
}

/// Receives the bytes of one file, in order, as they are hashed.
pub(crate) trait ByteSink: Send {
    /// Receives the next bytes.
    fn take(&mut self, data: &[u8]);

    /// Notes in the event of a file that was read completely what the bytes were, before
    /// [`Task::conclude`].
    fn close(&mut self, event: &mut FileEvent) {
        let _ = event;
    }

    /// Ends a file that was read completely, after [`Task::conclude`].
    fn finish(self: Box<Self>, event: &mut FileEvent);
}

/// What a task needs from a file.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Plan {
    /// Nothing more: the event is complete.
    Done,
    /// Its digests. If a tag of them is to be written, the file must be `settled`: no later change
    /// may get the modification time that it has now.
    Hash { algorithms: Algorithms, settled: bool },
    /// Its contents, read as if they were hashed. This measures reading alone.
    Read,
}

/// The kinds of threads that a pipeline starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Crew {
    /// Threads that hash, and also do any other job.
    Workers,
    /// Threads that only read.
    Readers,
}

/// The state that the threads of a pipeline share.
// Over 15 fields: every thread of a run uses each of them.
struct Shared {
    task: Arc<dyn Task>,
    engine: Arc<dyn Engine>,
    lanes: LaneChoice,
    settings: Settings,
    schedule: Mutex<Schedule>,
    /// Signalled when there is a job for a worker.
    work: Condvar,
    /// Signalled when there is a job for a thread that only reads.
    reads: Condvar,
    /// Signalled when the walk may continue.
    room: Condvar,
    finished: ReorderBuffer,
    links: Links,
    ledger: Arc<Ledger>,
    /// Bytes read so far, and bytes of files that did not need reading.
    bytes_read: AtomicU64,
    bytes_passed: AtomicU64,
    notices: Mutex<Vec<Notice>>,
    /// Entries that the walk passed on.
    fed: AtomicU64,
    stop: Arc<AtomicBool>,
    /// Threads that ended because the level changed, to be replaced.
    retired: Mutex<Vec<(Crew, usize)>>,
    /// Whether threads should begin no job for now.
    held: AtomicBool,
    /// Whether a thread panicked.
    failed: AtomicBool,
    threads: AtomicUsize,
}

/// Threads at work on one run's entries.
pub(crate) struct Pipeline {
    shared: Arc<Shared>,
}

impl Pipeline {
    /// Starts the first thread, which waits for entries. Others follow as there is work for them.
    ///
    /// # Errors
    /// If the system refuses to start a thread.
    pub(crate) fn start(
        task: Arc<dyn Task>,
        engine: Arc<dyn Engine>,
        lanes: LaneChoice,
        settings: Settings,
        trace: Option<Arc<dyn SpanSink>>,
    ) -> Result<Pipeline, Error> {
        let settings = Settings { reads: engine.in_flight(), ..settings };
        let shared = Arc::new(Shared {
            task,
            engine,
            lanes,
            settings,
            schedule: Mutex::new(Schedule::new(settings, lanes)),
            work: Condvar::new(),
            reads: Condvar::new(),
            room: Condvar::new(),
            finished: ReorderBuffer::new(),
            links: Links::new(),
            ledger: Arc::new(Ledger::new(
                settings.processors,
                settings.workers,
                settings.readers,
                settings.queue_depth,
                trace,
            )),
            bytes_read: AtomicU64::new(0),
            bytes_passed: AtomicU64::new(0),
            notices: Mutex::new(Vec::new()),
            fed: AtomicU64::new(0),
            stop: Arc::default(),
            retired: Mutex::default(),
            held: AtomicBool::new(false),
            failed: AtomicBool::new(false),
            threads: AtomicUsize::new(0),
        });
        let pipeline = Pipeline { shared };
        let first = pipeline.shared.schedule().start(Crew::Workers);
        let started = pipeline.shared.start_thread(Crew::Workers, first, settings.qos);
        started.map_err(|error| Error::system("start a thread", error))?;
        Ok(pipeline)
    }

    /// Returns the feeder for the walk's thread.
    pub(crate) fn feeder(&self) -> Feeder {
        let thread = ThreadOf::enlist(&self.shared);
        let (entries, troubles) = (Vec::new(), Vec::new());
        Feeder { thread, entries, troubles, next: 0, clock: None }
    }

    /// Waits at most `patience` and takes the next finished events in walk order.
    pub(crate) fn finished(&self, patience: Duration) -> Vec<Finished> {
        let events = self.shared.finished.take(patience);
        if !events.is_empty() {
            self.shared.room.notify_all();
        }
        events
    }

    /// Returns copies of the `wanted` events that still wait for their turn, each once.
    pub(crate) fn early(&self, wanted: impl Fn(&FileEvent) -> bool) -> Vec<FileEvent> {
        self.shared.finished.early(wanted)
    }

    /// Takes the notices of the walk.
    pub(crate) fn notices(&self) -> Vec<Notice> {
        std::mem::take(&mut locked(&self.shared.notices))
    }

    /// Returns whether all threads have ended.
    pub(crate) fn is_over(&self) -> bool {
        self.shared.threads.load(Ordering::Acquire) == 0 && locked(&self.shared.retired).is_empty()
    }

    /// Takes all finished events, including those after a gap: for a run that was stopped.
    pub(crate) fn leftovers(&self) -> Vec<Finished> {
        self.shared.finished.take_all()
    }

    /// Returns whether every entry that was fed has come out.
    pub(crate) fn is_complete(&self) -> bool {
        self.shared.schedule().is_over() && self.shared.finished.is_empty()
    }

    /// Returns whether as many events came out as entries went in. Anything else is a defect.
    pub(crate) fn finished_every_entry(&self) -> bool {
        self.shared.finished.given() == self.shared.fed.load(Ordering::Acquire)
    }

    /// Returns the bytes read so far, including those of unfinished files, and the bytes of files
    /// that did not need reading.
    pub(crate) fn bytes(&self) -> (u64, u64) {
        let Shared { bytes_read, bytes_passed, .. } = &*self.shared;
        (bytes_read.load(Ordering::Relaxed), bytes_passed.load(Ordering::Relaxed))
    }

    /// Returns whether a thread panicked, so that results are missing.
    pub(crate) fn has_failed(&self) -> bool {
        self.shared.failed.load(Ordering::Acquire)
    }

    /// Makes all threads end after their present jobs.
    pub(crate) fn stop(&self) {
        self.shared.halt();
    }

    /// Holds all threads after their present jobs, or lets them continue.
    pub(crate) fn hold(&self, held: bool) {
        if self.shared.held.swap(held, Ordering::Relaxed) && !held {
            // A thread holds this lock from checking the flag until it waits, so it cannot miss the
            // signal.
            drop(self.shared.schedule());
            self.shared.wake_all();
        }
    }

    /// Changes the level: each thread ends after its present job, and [`Pipeline::renew`] replaces
    /// it. A thread cannot do this itself, because Linux refuses to raise it again.
    pub(crate) fn set_level(&self, level: Level) {
        let mut schedule = self.shared.schedule();
        if schedule.level != level {
            schedule.level = level;
            drop(schedule);
            self.shared.wake_all();
        }
    }

    /// Starts a thread at the present level for each one that ended because the level changed.
    ///
    /// Must be called from the thread that takes the finished events: it has no level, and a new
    /// thread inherits that of its parent.
    pub(crate) fn renew(&self) {
        let retired = std::mem::take(&mut *locked(&self.shared.retired));
        for (crew, number) in retired {
            let level = self.shared.schedule().level;
            if self.shared.start_thread(crew, number, level).is_err() {
                // Tried again at the next call.
                locked(&self.shared.retired).push((crew, number));
            }
        }
    }

    /// Starts the clock of the thread that takes the finished events.
    pub(crate) fn report_clock(&self) -> StageClock {
        let ledger = &self.shared.ledger;
        ledger.clock(ledger.slot(Role::Report, 0))
    }

    /// Returns the processor time of all jobs so far on each processor, in nanoseconds.
    pub(crate) fn on_processors(&self) -> BTreeMap<usize, u64> {
        self.shared.ledger.on_processors()
    }

    /// Returns where the time has gone so far, in a run that has taken `elapsed_ns`.
    pub(crate) fn account(&self, elapsed_ns: u64) -> Account {
        let account = self.shared.ledger.account(elapsed_ns);
        let Some(bytes_per_s) = self.shared.engine.bytes_per_s_max() else { return account };
        let bytes = self.shared.bytes_read.load(Ordering::Relaxed);
        let rate_limit_ns = (bytes as f64 * 1e9 / bytes_per_s as f64) as u64;
        Account { rate_limit_ns, ..account }
    }
}

impl Drop for Pipeline {
    fn drop(&mut self) {
        self.stop();
    }
}

impl Shared {
    fn schedule(&self) -> MutexGuard<'_, Schedule> {
        locked(&self.schedule)
    }

    /// Sets the calling thread's permission to download and its QoS level, and notes the outcome of
    /// the level once.
    fn prepare_thread(&self, level: Level) {
        // If the system refuses, files that are not here are still recognised by their flag.
        let _ = allow_downloads(DownloadScope::Thread, self.settings.downloads);
        // If the system refuses, reading updates the access times.
        let _ = keep_access_times();
        let steps = qos::enter(level);
        if steps.is_empty() {
            return;
        }
        let told = steps.iter().map(|step| match &step.result {
            Ok(()) => format!("{} set", step.what),
            Err(error) => format!("{} refused ({error})", step.what),
        });
        let told = told.collect::<Vec<_>>().join(", ");
        let notice = Notice::new(format!("QoS {level}: {told}"));
        let mut notices = locked(&self.notices);
        if !notices.contains(&notice) {
            notices.push(notice);
        }
    }

    fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Makes all threads end after their present jobs.
    fn halt(&self) {
        self.stop.store(true, Ordering::Relaxed);
        // A thread holds this lock from checking the flag until it waits, so it cannot miss the
        // signal.
        drop(self.schedule());
        self.wake_all();
    }

    fn wake_all(&self) {
        self.work.notify_all();
        self.reads.notify_all();
        self.room.notify_all();
    }

    /// Wakes, or starts, one more thread of each crew that has a job to do.
    fn wake(self: &Arc<Self>, schedule: &mut Schedule) {
        for crew in [Crew::Workers, Crew::Readers] {
            match schedule.call(crew) {
                Some(Call::Wake) => self.signal(crew).notify_one(),
                Some(Call::Start(number)) => {
                    let Err(error) = self.start_thread(crew, number, schedule.level) else {
                        continue;
                    };
                    schedule.start_no_more(crew);
                    let text = format!("the system gave no further thread: {error}");
                    locked(&self.notices).push(Notice::new(text));
                }
                None => {}
            }
        }
    }

    /// Starts the thread with this number in a crew, at a level.
    fn start_thread(self: &Arc<Self>, crew: Crew, number: usize, level: Level) -> io::Result<()> {
        let slot = match crew {
            Crew::Workers => self.ledger.slot(Role::Worker, number),
            Crew::Readers => self.ledger.slot(Role::Reader, number),
        };
        let thread = ThreadOf::enlist(self);
        let named = thread::Builder::new().name(self.ledger.name(slot));
        named.spawn(move || thread.run(crew, number, slot, level)).map(drop)
    }

    /// Returns the condition that is signalled when there is a job for a thread of a crew.
    fn signal(&self, crew: Crew) -> &Condvar {
        match crew {
            Crew::Workers => &self.work,
            Crew::Readers => &self.reads,
        }
    }
}

/// Locks a mutex, even if it is poisoned because another thread panicked. The run then ends with an
/// error, but still needs the data to end properly.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Counts one thread while it lives, also if it panics.
struct ThreadOf {
    shared: Arc<Shared>,
}

impl ThreadOf {
    fn enlist(shared: &Arc<Shared>) -> ThreadOf {
        shared.threads.fetch_add(1, Ordering::AcqRel);
        ThreadOf { shared: Arc::clone(shared) }
    }

    fn run(self, crew: Crew, number: usize, slot: ThreadSlot, level: Level) {
        let shared = &self.shared;
        let worker = (crew == Crew::Workers).then_some(number);
        shared.prepare_thread(level);
        let mut clock = shared.ledger.clock(slot);
        let mut schedule = shared.schedule();
        // It was counted as waiting since it was requested.
        schedule.idle(crew, -1);
        while !shared.stopped() && !schedule.is_over() {
            if schedule.level != level {
                schedule.idle(crew, 1);
                locked(&shared.retired).push((crew, number));
                break;
            }
            let held = shared.held.load(Ordering::Relaxed);
            let job = if held { None } else { schedule.next_job(worker) };
            if !held {
                shared.wake(&mut schedule);
            }
            let Some(job) = job else {
                schedule.idle(crew, 1);
                let waited = shared.signal(crew).wait(schedule);
                schedule = waited.unwrap_or_else(PoisonError::into_inner);
                schedule.idle(crew, -1);
                clock.lap(Stage::Wait);
                continue;
            };
            drop(schedule);
            clock.lap(Stage::Wait);
            let done = job.perform(shared, &mut clock);
            schedule = shared.schedule();
            schedule.finish(done, crew);
            if schedule.has_room() {
                shared.room.notify_all();
            }
        }
        drop(schedule);
        clock.close();
        shared.wake_all();
    }
}

impl Drop for ThreadOf {
    fn drop(&mut self) {
        if thread::panicking() {
            self.shared.failed.store(true, Ordering::Release);
            self.shared.halt();
        }
        self.shared.threads.fetch_sub(1, Ordering::AcqRel);
        self.shared.finished.notify();
    }
}

/// Receives what the walk finds, numbers it, and passes it on in bunches.
pub(crate) struct Feeder {
    thread: ThreadOf,
    entries: Vec<(u64, Entry)>,
    troubles: Vec<Numbered>,
    next: u64,
    /// Started on the walk's thread, because each thread has its own processor time.
    clock: Option<StageClock>,
}

impl Feeder {
    /// Prepares the calling thread, which is the walk's, and starts its clock.
    pub(crate) fn begin(&mut self) {
        self.thread.shared.prepare_thread(self.thread.shared.settings.qos);
        let ledger = &self.thread.shared.ledger;
        let clock = self.clock.insert(ledger.clock(ledger.slot(Role::Walk, 0)));
        clock.begin_job();
    }

    /// Feeds one item. Waits while the pipeline is full. Returns `false` if the run was stopped.
    pub(crate) fn feed(&mut self, found: WalkItem) -> bool {
        let number = self.next;
        match found {
            WalkItem::File(entry) => self.entries.push((number, entry)),
            WalkItem::Failed(event) => self.troubles.push((number, event)),
            WalkItem::Leaves(_) | WalkItem::EmptyFolder(_) | WalkItem::Ours(..) => return true,
            WalkItem::Notice(notice) => {
                locked(&self.thread.shared.notices).push(notice);
                return true;
            }
        }
        self.next += 1;
        // The first entries are passed on at once, so that a few large files begin together.
        let bunch_len = self.thread.shared.settings.bunch_len.min(1 + number as usize / 4);
        self.entries.len() + self.troubles.len() < bunch_len || self.flush()
    }

    /// Returns the flag that is set when the run is to end early.
    pub(crate) fn stop_flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.thread.shared.stop)
    }

    /// Passes on all pending entries and ends the input.
    pub(crate) fn end(mut self) {
        self.flush();
        let shared = &self.thread.shared;
        shared.fed.store(self.next, Ordering::Release);
        shared.schedule().end_of_walk();
        if let Some(clock) = self.clock.take() {
            clock.close();
        }
        shared.wake_all();
    }

    fn flush(&mut self) -> bool {
        let files = self.entries.len() as u64;
        if let Some(clock) = &mut self.clock {
            clock.lap(Stage::Walk);
            clock.end_job();
            clock.hand_in(JobFacts { files, ..JobFacts::default() });
        }
        let shared = &self.thread.shared;
        let mut schedule = shared.schedule();
        while !shared.stopped()
            && (!schedule.has_room()
                || !shared.finished.has_room(self.next, shared.settings.window))
        {
            // The timeout makes a missed signal harmless.
            schedule = shared
                .room
                .wait_timeout(schedule, Duration::from_millis(10))
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
        if shared.settings.queue_depth == 1 {
            self.entries.sort_by_key(|(_, entry)| entry.inode);
        }
        schedule.add(&mut self.entries);
        shared.wake(&mut schedule);
        drop(schedule);
        shared.finished.put(std::mem::take(&mut self.troubles));
        if let Some(clock) = &mut self.clock {
            clock.lap(Stage::Wait);
            clock.begin_job();
        }
        !shared.stopped()
    }
}
