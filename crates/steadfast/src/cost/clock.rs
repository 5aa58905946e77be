//! One thread's stopwatch.
//!
//! In: laps, and the beginnings and ends of jobs. Out: the thread's [`Cost`], handed in after every
//! job. Every lap goes to one stage, so no time is counted twice or lost. Knows nothing of what a
//! job does.

use std::sync::Arc;

use steadfast_sys::clock;

use super::trace::{JobFacts, Tracer};
use super::{Cost, Ledger, Stage, ThreadSlot};

/// Time that a job neither worked nor may have waited: below this part of it, nobody asks the
/// system whether the thread slept.
const IDLE_PART_MIN: u64 = 64;

/// One thread's stopwatch, on its place in the ledger.
pub(crate) struct StageClock {
    ledger: Arc<Ledger>,
    slot: ThreadSlot,
    tracer: Option<Tracer>,
    start_ns: u64,
    last_ns: u64,
    /// When what is in `cost` began.
    taken_ns: u64,
    cost: Cost,
    /// The thread's processor time when a job ended last.
    processor_ns: u64,
    /// What `cost` was, and how often the thread had slept, when the job began.
    began: (Cost, Option<u64>),
}

/// Time of one job, in nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct JobTime {
    pub(crate) elapsed_ns: u64,
    /// The part of it that was spent asleep.
    pub(crate) waited_ns: u64,
}

impl StageClock {
    /// Starts the clock of the calling thread.
    pub(super) fn start(ledger: Arc<Ledger>, slot: ThreadSlot, tracer: Option<Tracer>) -> Self {
        let now_ns = clock::monotonic_ns();
        StageClock {
            ledger,
            slot,
            tracer,
            start_ns: now_ns,
            last_ns: now_ns,
            taken_ns: now_ns,
            cost: Cost::default(),
            processor_ns: clock::thread_cpu_ns(),
            began: (Cost::default(), None),
        }
    }

    /// Gives the time since the last lap to `stage` and returns it, in nanoseconds.
    pub(crate) fn lap(&mut self, stage: Stage) -> u64 {
        let now_ns = clock::monotonic_ns();
        let elapsed_ns = now_ns.saturating_sub(self.last_ns);
        self.last_ns += elapsed_ns;
        self.cost.add(stage, elapsed_ns);
        elapsed_ns
    }

    /// Begins a job, at the last lap.
    pub(crate) fn begin_job(&mut self) {
        self.began = (self.cost, clock::thread_sleeps());
    }

    /// Ends a job, at the last lap: finds out how much of its time the thread was asleep, and says
    /// so of its stages.
    pub(crate) fn end_job(&mut self) -> JobTime {
        let (before, sleeps) = self.began;
        let processor_ns = clock::thread_cpu_ns();
        let used_ns = processor_ns.saturating_sub(self.processor_ns);
        self.processor_ns = processor_ns;
        self.cost.processor_ns += used_ns;
        let took = |stage| self.cost.elapsed_ns(stage) - before.elapsed_ns(stage);
        let elapsed_ns: u64 = Stage::BUSY.into_iter().map(took).sum();
        let idle_ns = elapsed_ns.saturating_sub(used_ns);
        // A thread that never slept was at most put aside for others, on a busy machine.
        let waited_ns = match sleeps {
            _ if idle_ns <= elapsed_ns / IDLE_PART_MIN => 0,
            Some(before) if clock::thread_sleeps() == Some(before) => 0,
            _ => idle_ns,
        };
        // Hashing calls nobody who could make it wait.
        let outside = elapsed_ns - took(Stage::Hash);
        if waited_ns > 0 && outside > 0 {
            for stage in Stage::BUSY.into_iter().filter(|&stage| stage != Stage::Hash) {
                let took_ns = self.cost.elapsed_ns(stage) - before.elapsed_ns(stage);
                let part = took_ns as f64 / outside as f64;
                self.cost.add_waited(stage, ((waited_ns as f64 * part) as u64).min(took_ns));
            }
        }
        JobTime { elapsed_ns, waited_ns }
    }

    /// Hands in what was counted since the last call.
    pub(crate) fn hand_in(&mut self, facts: JobFacts) {
        let cost = std::mem::take(&mut self.cost);
        if let Some(tracer) = &mut self.tracer {
            tracer.job(self.taken_ns, &cost, facts);
        }
        self.taken_ns = self.last_ns;
        self.ledger.hand_in(self.slot, &cost, self.last_ns - self.start_ns);
    }

    /// Ends the account: what is left since the last lap was waiting.
    pub(crate) fn close(mut self) {
        self.lap(Stage::Wait);
        let lifetime_ns = clock::monotonic_ns() - self.start_ns;
        let cost = std::mem::take(&mut self.cost);
        if let Some(tracer) = &mut self.tracer {
            tracer.job(self.taken_ns, &cost, JobFacts::default());
            tracer.flush();
        }
        self.ledger.hand_in(self.slot, &cost, lifetime_ns);
    }
}
