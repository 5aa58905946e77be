//! One thread's stopwatch.
//!
//! Takes laps, and the beginnings and ends of jobs. Hands in the thread's [`Cost`] after every job.
//! Every lap belongs to one stage, so no time is counted twice or lost. Knows nothing of what a job
//! does.

use std::sync::Arc;

use steadfast_sys::clock;

use super::trace::{JobFacts, Tracer};
use super::{Cost, Ledger, Stage, ThreadSlot};

/// If less than this part of a job's time can have been waiting, the system is not asked whether
/// the thread slept.
const IDLE_PART_MIN: u64 = 64;

/// Of small files in a row, one in this many has a lap between opening and reading. For files in
/// memory, reading the clock twice for each costs 1 % of the run.
const SMALL_FILES_PER_SPLIT: u32 = 8;

/// If files take longer than this, each has that lap, because it then costs nothing.
const QUICK_FILE_NS_MAX: u64 = 30_000;

/// A wait that may have ended in the queue for a processor. Shorter ones ended before the thread
/// slept.
const WOKEN_AFTER_NS_MIN: u64 = 20_000;

/// The small files of one job, some of which have a lap between opening and reading.
#[derive(Clone, Copy, Default)]
struct SmallFiles {
    count: u32,
    /// Whether the present file has that lap.
    split: bool,
    /// Whether it also represents files without that lap.
    example: bool,
    /// How long the last one took.
    last_ns: u64,
    /// Time of files with that lap, and of those without.
    opened_ns: u64,
    read_ns: u64,
    whole_ns: u64,
}

/// One thread's stopwatch, with its place in the ledger.
pub(crate) struct StageClock {
    ledger: Arc<Ledger>,
    slot: ThreadSlot,
    tracer: Option<Tracer>,
    last_ns: u64,
    /// When the time in `cost` began.
    taken_ns: u64,
    cost: Cost,
    /// The thread's processor time at the end of the last job.
    processor_ns: u64,
    /// The thread's time in the queue for a processor when it was last read.
    queued_ns: Option<u64>,
    /// `cost`, and how often the thread had slept, at the beginning of the job.
    began: (Cost, Option<u64>),
    small: SmallFiles,
}

/// Time of one job, in nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct JobTime {
    pub(crate) elapsed_ns: u64,
    /// The part of it in which the thread slept.
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
            last_ns: now_ns,
            taken_ns: now_ns,
            cost: Cost::default(),
            processor_ns: clock::thread_cpu_ns(),
            queued_ns: clock::thread_queued_ns(),
            began: (Cost::default(), None),
            small: SmallFiles::default(),
        }
    }

    /// Adds the time since the last lap to `stage` and returns it, in nanoseconds.
    pub(crate) fn lap(&mut self, stage: Stage) -> u64 {
        let elapsed_ns = self.time_since_last();
        self.cost.add(stage, elapsed_ns);
        elapsed_ns
    }

    /// Reads the clock and returns the time since the last reading.
    fn time_since_last(&mut self) -> u64 {
        let elapsed_ns = clock::monotonic_ns().saturating_sub(self.last_ns);
        self.last_ns += elapsed_ns;
        elapsed_ns
    }

    /// Ends the opening of a small file that is read next, and returns its time if it was measured;
    /// otherwise [`StageClock::small_read`] includes it.
    pub(crate) fn small_opened(&mut self) -> u64 {
        let SmallFiles { count, last_ns, .. } = self.small;
        self.small.count += 1;
        // The first file of a job may have been opened in an earlier job, so it represents no
        // other.
        self.small.split =
            count % SMALL_FILES_PER_SPLIT == 1 || count == 0 || last_ns > QUICK_FILE_NS_MAX;
        self.small.example = count % SMALL_FILES_PER_SPLIT == 1;
        self.small.last_ns = if self.small.split { self.lap(Stage::Open) } else { 0 };
        if self.small.example {
            self.small.opened_ns += self.small.last_ns;
        }
        self.small.last_ns
    }

    /// Ends the reading of that file, and returns the time since the last lap.
    pub(crate) fn small_read(&mut self) -> u64 {
        let elapsed_ns = self.time_since_last();
        if self.small.split {
            self.cost.add(Stage::Read, elapsed_ns);
            self.small.read_ns += if self.small.example { elapsed_ns } else { 0 };
        } else {
            self.small.whole_ns += elapsed_ns;
        }
        self.small.last_ns += elapsed_ns;
        elapsed_ns
    }

    /// Divides the time of small files without the lap in the same proportion as that of files with
    /// it.
    fn split_small(&mut self) {
        let SmallFiles { opened_ns, read_ns, whole_ns, .. } = std::mem::take(&mut self.small);
        let opened = opened_ns as f64 / (opened_ns + read_ns).max(1) as f64;
        let opened_ns = (whole_ns as f64 * opened) as u64;
        self.cost.add(Stage::Open, opened_ns);
        self.cost.add(Stage::Read, whole_ns - opened_ns);
    }

    /// Returns the time in the queue for a processor since the last call.
    fn queued_since_last(&mut self) -> u64 {
        let Some(before_ns) = self.queued_ns else { return 0 };
        self.queued_ns = clock::thread_queued_ns();
        self.queued_ns.map_or(0, |now_ns| now_ns.saturating_sub(before_ns))
    }

    /// Begins a job, at the last lap.
    pub(crate) fn begin_job(&mut self) {
        // A thread that was woken may have waited for a processor then.
        if self.cost.elapsed_ns(Stage::Wait) >= WOKEN_AFTER_NS_MIN {
            let queued_ns = self.queued_since_last();
            self.cost.queue(Stage::Wait, queued_ns);
        }
        self.began = (self.cost, clock::thread_sleeps());
    }

    /// Ends a job, at the last lap: determines how much of its time the thread waited for a
    /// processor, which becomes a stage of its own, and how much it slept, which counts as waiting
    /// in its stages.
    pub(crate) fn end_job(&mut self) -> JobTime {
        self.split_small();
        let (before, sleeps) = self.began;
        let processor_ns = clock::thread_cpu_ns();
        let used_ns = processor_ns.saturating_sub(self.processor_ns);
        self.processor_ns = processor_ns;
        self.cost.processor_ns += used_ns;
        if let Some(processor) = clock::present_processor() {
            self.ledger.spent(processor, used_ns);
        }
        let took = Stage::BUSY.map(|stage| self.cost.elapsed_ns(stage) - before.elapsed_ns(stage));
        let elapsed_ns: u64 = took.iter().sum();
        let idle_ns = elapsed_ns.saturating_sub(used_ns);
        // A thread that never slept was at most preempted, on a busy machine.
        let (mut queued_ns, mut waited_ns) = (0, 0);
        if idle_ns > elapsed_ns / IDLE_PART_MIN {
            queued_ns = self.queued_since_last().min(idle_ns);
            let slept = sleeps.is_none() || clock::thread_sleeps() != sleeps;
            waited_ns = if slept { idle_ns - queued_ns } else { 0 };
        }
        // Hashing calls nothing that could wait.
        let outside_ns = elapsed_ns - took[Stage::Hash as usize];
        let part = |whole_ns: u64, part_ns: u64, of_ns: u64| {
            (whole_ns as f64 * part_ns as f64 / of_ns.max(1) as f64) as u64
        };
        let mut worked = took;
        for (stage, worked_ns) in Stage::BUSY.into_iter().zip(&mut worked) {
            if stage != Stage::Hash {
                let waited_ns = part(waited_ns, *worked_ns, outside_ns).min(*worked_ns);
                self.cost.add_waited(stage, waited_ns);
                *worked_ns -= waited_ns;
            }
        }
        let all_ns: u64 = worked.iter().sum();
        for (stage, worked_ns) in Stage::BUSY.into_iter().zip(worked) {
            self.cost.queue(stage, part(queued_ns, worked_ns, all_ns));
        }
        JobTime { elapsed_ns: elapsed_ns - queued_ns, waited_ns }
    }

    /// Hands in the time since the last call.
    pub(crate) fn hand_in(&mut self, facts: JobFacts) {
        let cost = std::mem::take(&mut self.cost);
        if let Some(tracer) = &mut self.tracer {
            tracer.job(self.taken_ns, &cost, facts);
        }
        let elapsed_ns = self.last_ns - self.taken_ns;
        self.taken_ns = self.last_ns;
        self.ledger.hand_in(self.slot, &cost, elapsed_ns);
    }

    /// Ends the account: the time since the last lap was waiting.
    pub(crate) fn close(mut self) {
        self.lap(Stage::Wait);
        let elapsed_ns = clock::monotonic_ns() - self.taken_ns;
        let cost = std::mem::take(&mut self.cost);
        if let Some(tracer) = &mut self.tracer {
            tracer.job(self.taken_ns, &cost, JobFacts::default());
            tracer.flush();
        }
        self.ledger.hand_in(self.slot, &cost, elapsed_ns);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cost::Role;

    #[test]
    fn the_processor_time_of_a_job_is_noted_where_it_ended() {
        let ledger = Arc::new(Ledger::new(1, 1, 0, 1, None));
        let mut stages = ledger.clock(ledger.slot(Role::Worker, 0));
        stages.begin_job();
        let began_ns = clock::thread_cpu_ns();
        while clock::thread_cpu_ns() - began_ns < 2_000_000 {}
        stages.lap(Stage::Hash);
        stages.end_job();
        let told: u64 = ledger.on_processors().values().sum();
        let told_by_system = clock::present_processor().is_some();
        assert_eq!(told >= 2_000_000, told_by_system, "{told} ns");
    }
}
