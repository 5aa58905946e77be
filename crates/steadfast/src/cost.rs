//! Where the time of a run went, and what limits the run.
//!
//! In: laps of each thread's clock, one per stage. Out: an [`Account`]: every thread's time by
//! stage, how much of it was waiting, and which part of the work limits the run
//! (`docs/reference/cost.md` has the definitions). Knows nothing of what the stages do.

use strum::{IntoStaticStr, VariantArray};

mod account;
mod clock;
mod depth;
mod ledger;
mod trace;

pub use account::{Account, Bound, Bounds, Limit, Resource};
pub(crate) use clock::{JobTime, StageClock};
pub(crate) use ledger::{Ledger, ThreadSlot};
pub use steadfast_sys::energy::EnergyReading;
pub(crate) use trace::JobFacts;
pub use trace::{Span, SpanSink};

/// One stage of the path, as time is accounted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "lowercase")]
pub enum Stage {
    /// Listing directories.
    Walk,
    /// Opening and closing files, and reading their status and stored tag.
    Open,
    /// Moving bytes from the storage or the page cache into buffers.
    Read,
    /// Hashing.
    Hash,
    /// Comparing, writing tags, and recording in the catalogue.
    Store,
    /// Calling the monitor, which renders and prints.
    Report,
    /// Nothing to do, waiting for another stage, or choosing what to do next.
    Wait,
    /// Ready to run, but waiting for a processor, which other threads or programs had.
    Queue,
}

impl Stage {
    /// Every stage, in path order.
    pub const ALL: [Stage; 8] = *Stage::VARIANTS.as_array().expect("there are eight stages");

    /// Every stage in which a thread does its work, in path order.
    pub const BUSY: [Stage; 6] =
        [Stage::Walk, Stage::Open, Stage::Read, Stage::Hash, Stage::Store, Stage::Report];

    /// Returns the name as documents show it.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// Time of one or more threads, by stage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    elapsed_ns: [u64; Stage::ALL.len()],
    waited_ns: [u64; Stage::ALL.len()],
    /// Processor time, in nanoseconds.
    pub processor_ns: u64,
}

impl Cost {
    /// Returns the time that a stage took, in nanoseconds.
    pub fn elapsed_ns(&self, stage: Stage) -> u64 {
        self.elapsed_ns[stage as usize]
    }

    /// Returns the part of a stage's time in which the thread slept until the storage, or another
    /// service, had answered; in nanoseconds. The rest is work.
    pub fn waited_ns(&self, stage: Stage) -> u64 {
        self.waited_ns[stage as usize]
    }

    /// Returns the time that opening and reading waited for the storage, in nanoseconds.
    pub fn storage_wait_ns(&self) -> u64 {
        self.waited_ns(Stage::Open) + self.waited_ns(Stage::Read)
    }

    /// Returns a stage's processor time, in nanoseconds.
    ///
    /// The system measures processor time per thread and not per stage, so it is divided in
    /// proportion to each stage's time without waiting.
    pub fn processor_ns_of(&self, stage: Stage) -> u64 {
        let worked = |stage| self.elapsed_ns(stage) - self.waited_ns(stage);
        let all: u64 = Stage::BUSY.into_iter().map(worked).sum();
        if all == 0 || !Stage::BUSY.contains(&stage) {
            return 0;
        }
        (self.processor_ns as f64 * worked(stage) as f64 / all as f64) as u64
    }

    /// Adds time to a stage.
    pub fn add(&mut self, stage: Stage, elapsed_ns: u64) {
        self.elapsed_ns[stage as usize] += elapsed_ns;
    }

    /// Counts part of a stage's time as waiting, at most the time that the stage took.
    pub fn add_waited(&mut self, stage: Stage, waited_ns: u64) {
        let place = stage as usize;
        self.waited_ns[place] = (self.waited_ns[place] + waited_ns).min(self.elapsed_ns[place]);
    }

    /// Moves time of a stage, at most what it took without waiting, to [`Stage::Queue`].
    pub(crate) fn queue(&mut self, stage: Stage, queued_ns: u64) {
        let worked_ns = self.elapsed_ns(stage) - self.waited_ns(stage);
        let queued_ns = queued_ns.min(worked_ns);
        self.elapsed_ns[stage as usize] -= queued_ns;
        self.elapsed_ns[Stage::Queue as usize] += queued_ns;
    }

    /// Adds another thread's time.
    pub fn merge(&mut self, other: &Cost) {
        for place in 0..Stage::ALL.len() {
            self.elapsed_ns[place] += other.elapsed_ns[place];
            self.waited_ns[place] += other.waited_ns[place];
        }
        self.processor_ns += other.processor_ns;
    }

    /// Returns the time of all stages, in nanoseconds. For one thread, this is its lifetime.
    pub fn total_ns(&self) -> u64 {
        self.elapsed_ns.iter().sum()
    }

    /// Returns the share of all time that a stage took, 0 to 1.
    pub fn share(&self, stage: Stage) -> f64 {
        match self.total_ns() {
            0 => 0.0,
            total => self.elapsed_ns(stage) as f64 / total as f64,
        }
    }
}

/// The role of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum Role {
    /// Hashes, and also does any other job.
    Worker,
    /// Only opens and reads, and only while reading waits for the storage.
    Reader,
    /// Lists directories.
    Walk,
    /// Calls the monitor: the thread that called the run.
    Report,
}

impl Role {
    /// Returns the name as documents show it.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// The time of one thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThreadCost {
    /// The thread's name, as in "worker 0".
    pub name: String,
    /// Its role.
    pub role: Role,
    /// The thread's lifetime, measured around all stages, in nanoseconds.
    pub lifetime_ns: u64,
    /// Its time, by stage.
    pub cost: Cost,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processor_time_is_shared_out_by_work() {
        let mut cost = Cost::default();
        cost.add(Stage::Hash, 60);
        cost.add(Stage::Read, 90);
        cost.add_waited(Stage::Read, 70);
        cost.add(Stage::Wait, 850);
        cost.processor_ns = 40;
        assert_eq!(cost.processor_ns_of(Stage::Hash), 30);
        assert_eq!(cost.processor_ns_of(Stage::Read), 10);
        assert_eq!(cost.processor_ns_of(Stage::Wait), 0);
        assert_eq!((cost.total_ns(), cost.share(Stage::Hash)), (1000, 0.06));
        assert_eq!(Cost::default().processor_ns_of(Stage::Hash), 0);
        assert_eq!(Cost::default().share(Stage::Read), 0.0);
    }

    #[test]
    fn no_stage_waits_longer_than_it_took() {
        let mut cost = Cost::default();
        cost.add(Stage::Open, 10);
        cost.add(Stage::Read, 20);
        cost.add_waited(Stage::Open, 15);
        cost.add_waited(Stage::Read, 7);
        assert_eq!((cost.waited_ns(Stage::Open), cost.storage_wait_ns()), (10, 17));
        let mut twice = cost;
        twice.merge(&cost);
        assert_eq!((twice.storage_wait_ns(), twice.total_ns()), (34, 60));
    }
}
