//! The accounts of all threads of a run, while it is under way.
//!
//! Takes what the threads' clocks hand in. Returns an [`Account`] at any time. Identifies threads
//! by their place.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use steadfast_sys::clock;

use super::depth::{Depths, Entered};
use super::trace::Tracer;
use super::{Account, Cost, Role, SpanSink, Stage, StageClock, ThreadCost};

/// A thread's place in the ledger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ThreadSlot(usize);

/// The accounts of all threads of a run.
pub(crate) struct Ledger {
    processors: usize,
    workers: usize,
    readers: usize,
    reads_at_a_time: Option<usize>,
    threads: Vec<Mutex<ThreadCost>>,
    /// Processor time of jobs by the number of the processor on which they ended, in nanoseconds.
    on_processors: Mutex<BTreeMap<usize, u64>>,
    depths: Mutex<Depths>,
    files: Mutex<LoneFiles>,
    sink: Option<Arc<dyn SpanSink>>,
}

/// What was measured on single files.
#[derive(Default)]
struct LoneFiles {
    len_max: u64,
    /// Bytes and time of chunks that were hashed alone.
    alone_bytes: u64,
    alone_ns: u64,
}

impl Ledger {
    /// Opens an account for each possible worker and reader, for the walk and for the report, in a
    /// process that may use this many processors.
    pub(crate) fn new(
        processors: usize,
        workers: usize,
        readers: usize,
        reads_at_a_time: usize,
        sink: Option<Arc<dyn SpanSink>>,
    ) -> Ledger {
        let numbered = |role: Role| move |number| (format!("{} {number}", role.name()), role);
        let threads = (0..workers).map(numbered(Role::Worker));
        let threads = threads.chain((0..readers).map(numbered(Role::Reader)));
        let single = [Role::Walk, Role::Report].map(|role| (role.name().to_owned(), role));
        let threads = threads.chain(single).map(|(name, role)| {
            Mutex::new(ThreadCost { name, role, lifetime_ns: 0, cost: Cost::default() })
        });
        Ledger {
            processors,
            workers,
            readers,
            reads_at_a_time: Some(reads_at_a_time).filter(|&turns| turns < workers + readers),
            threads: threads.collect(),
            on_processors: Mutex::default(),
            depths: Mutex::new(Depths::new(workers + readers)),
            files: Mutex::default(),
            sink,
        }
    }

    /// Returns the place of a thread by its role, and its number in it.
    pub(crate) fn slot(&self, role: Role, number: usize) -> ThreadSlot {
        ThreadSlot(
            number
                + match role {
                    Role::Worker => 0,
                    Role::Reader => self.workers,
                    Role::Walk => self.workers + self.readers,
                    Role::Report => self.workers + self.readers + 1,
                },
        )
    }

    /// Returns whether spans are recorded.
    pub(crate) fn is_traced(&self) -> bool {
        self.sink.is_some()
    }

    /// Returns the name of a thread.
    pub(crate) fn name(&self, slot: ThreadSlot) -> String {
        locked(&self.threads[slot.0]).name.clone()
    }

    /// Starts the clock of the calling thread.
    pub(crate) fn clock(self: &Arc<Ledger>, slot: ThreadSlot) -> StageClock {
        let tracer = self.sink.as_ref();
        let tracer = tracer.map(|sink| Tracer::new(Arc::clone(sink), slot.0, &self.name(slot)));
        StageClock::start(Arc::clone(self), slot, tracer)
    }

    /// Adds to the account of a thread, or of several that followed each other in one slot.
    pub(super) fn hand_in(&self, slot: ThreadSlot, cost: &Cost, elapsed_ns: u64) {
        let mut thread = locked(&self.threads[slot.0]);
        thread.cost.merge(cost);
        thread.lifetime_ns += elapsed_ns;
    }

    /// Notes on which processor a job ended, and its processor time. Jobs take milliseconds, and
    /// threads seldom move within one.
    pub(super) fn spent(&self, processor: usize, spent_ns: u64) {
        *locked(&self.on_processors).entry(processor).or_default() += spent_ns;
    }

    /// Returns the processor time of all jobs so far on each processor, in nanoseconds.
    pub(crate) fn on_processors(&self) -> BTreeMap<usize, u64> {
        locked(&self.on_processors).clone()
    }

    /// Notes that a reading job begins.
    pub(crate) fn begin_reading(&self) -> Entered {
        locked(&self.depths).enter(clock::monotonic_ns())
    }

    /// Notes that a reading job has ended, and how much it fetched.
    pub(crate) fn end_reading(&self, job: &Entered, units: u64) {
        locked(&self.depths).leave(job, clock::monotonic_ns(), units);
    }

    /// Notes how long a chunk took that was hashed alone.
    pub(crate) fn hashed_alone(&self, bytes: u64, elapsed_ns: u64) {
        let mut files = locked(&self.files);
        files.alone_bytes += bytes;
        files.alone_ns += elapsed_ns;
    }

    /// Notes that a large file was hashed.
    pub(crate) fn hashed_file(&self, len: u64) {
        let mut files = locked(&self.files);
        files.len_max = files.len_max.max(len);
    }

    /// Returns the account so far, of a run that has taken `elapsed_ns`.
    pub(crate) fn account(&self, elapsed_ns: u64) -> Account {
        let threads = self.threads.iter().map(|thread| locked(thread).clone());
        // Threads are started when there is work for them, so many never start.
        let threads: Vec<ThreadCost> = threads.filter(|thread| thread.lifetime_ns > 0).collect();
        let mut account = Account {
            elapsed_ns,
            processors: self.processors,
            workers: self.workers,
            reads_at_a_time: self.reads_at_a_time,
            threads,
            ..Account::default()
        };
        let cost = account.cost();
        let reading_ns = cost.elapsed_ns(Stage::Open) + cost.elapsed_ns(Stage::Read);
        let waiting = cost.storage_wait_ns() as f64 / reading_ns.max(1) as f64;
        account.storage_ns = (waiting * locked(&self.depths).least_ns()) as u64;
        let files = locked(&self.files);
        let alone_ns_per_byte = files.alone_ns as f64 / files.alone_bytes.max(1) as f64;
        account.longest_file_ns = (files.len_max as f64 * alone_ns_per_byte) as u64;
        account
    }
}

/// Locks a mutex, even if it is poisoned because another thread panicked. The run fails in any
/// case.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
