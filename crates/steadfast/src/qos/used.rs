//! What a process used of the processors in some time.

use std::collections::BTreeMap;
use std::time::Duration;

use super::ThreadTimes;

/// What a process used of the processors in some time: the differences of the times of its threads.
#[derive(Clone, Debug, Default)]
pub struct CoresUsed {
    /// The time.
    pub elapsed: Duration,
    /// How long its threads waited for a processor, in nanoseconds.
    pub queued_ns: u64,
    /// Processor time by the processor that a thread was on last, in nanoseconds.
    pub spent_ns: BTreeMap<usize, u64>,
}

impl CoresUsed {
    /// Adds what was used between two readings of the times of its threads.
    pub fn add(&mut self, elapsed: Duration, before: &[ThreadTimes], now: &[ThreadTimes]) {
        self.elapsed += elapsed;
        for thread in now {
            let earlier = before.iter().find(|earlier| earlier.number == thread.number);
            let (cpu_ns, queued_ns) = earlier.map_or((0, 0), |one| (one.cpu_ns, one.queued_ns));
            self.queued_ns += thread.queued_ns.saturating_sub(queued_ns);
            let spent_ns = self.spent_ns.entry(thread.processor).or_default();
            *spent_ns += thread.cpu_ns.saturating_sub(cpu_ns);
        }
    }

    /// Adds what was used in another time.
    pub fn join(&mut self, other: &CoresUsed) {
        self.elapsed += other.elapsed;
        self.queued_ns += other.queued_ns;
        for (processor, spent_ns) in &other.spent_ns {
            *self.spent_ns.entry(*processor).or_default() += spent_ns;
        }
    }

    /// Returns how many processors some processor time is, on average.
    pub fn cores(&self, spent_ns: u64) -> f64 {
        spent_ns as f64 / self.elapsed.as_nanos().max(1) as f64
    }

    /// Returns the processor time on all processors, in nanoseconds.
    pub fn all_spent_ns(&self) -> u64 {
        self.spent_ns.values().sum()
    }

    /// Returns the share of its threads' time in which they waited for a processor.
    pub fn waited(&self) -> f64 {
        self.queued_ns as f64 / (self.queued_ns + self.all_spent_ns()).max(1) as f64
    }
}
