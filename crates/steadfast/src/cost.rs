//! Where the time of a run went.
//!
//! In: laps of each thread's clock, one per stage. Out: a [`Cost`] that says what share of the
//! threads' time each stage took and which one bounds the run. Knows nothing of what the stages do.

use steadfast_sys::clock;

/// One stage of the path, as time is accounted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stage {
    /// Listing directories.
    Walk,
    /// Opening files, their status and their stored tag.
    Open,
    /// Moving bytes from the storage or the page cache into buffers.
    Read,
    /// Hashing.
    Hash,
    /// Writing tags.
    Store,
    /// Nothing to do, or waiting for another stage.
    Wait,
}

impl Stage {
    /// Every stage, in path order.
    pub const ALL: [Stage; 6] =
        [Stage::Walk, Stage::Open, Stage::Read, Stage::Hash, Stage::Store, Stage::Wait];

    /// Returns the name as documents show it.
    pub fn name(self) -> &'static str {
        match self {
            Stage::Walk => "walk",
            Stage::Open => "open",
            Stage::Read => "read",
            Stage::Hash => "hash",
            Stage::Store => "store",
            Stage::Wait => "wait",
        }
    }
}

/// Time of one or more threads, by stage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    elapsed_ns: [u64; 6],
    /// Time within opening and reading that was spent waiting for the storage. The rest of it is
    /// system calls, and copying from the page cache.
    pub storage_wait_ns: u64,
}

impl Cost {
    /// Returns the time that a stage took, summed over threads, in nanoseconds.
    pub fn elapsed_ns(&self, stage: Stage) -> u64 {
        self.elapsed_ns[stage as usize]
    }

    /// Adds time to a stage.
    pub fn add(&mut self, stage: Stage, elapsed_ns: u64) {
        self.elapsed_ns[stage as usize] += elapsed_ns;
    }

    /// Adds another thread's account.
    pub fn merge(&mut self, other: &Cost) {
        for (sum, part) in self.elapsed_ns.iter_mut().zip(other.elapsed_ns) {
            *sum += part;
        }
        self.storage_wait_ns += other.storage_wait_ns;
    }

    /// Returns the time of all stages but waiting, in nanoseconds.
    pub fn busy_ns(&self) -> u64 {
        self.elapsed_ns.iter().sum::<u64>() - self.elapsed_ns(Stage::Wait)
    }

    /// Returns the share of busy time that a stage took, 0 to 1.
    pub fn share(&self, stage: Stage) -> f64 {
        match self.busy_ns() {
            0 => 0.0,
            busy => self.elapsed_ns(stage) as f64 / busy as f64,
        }
    }

    /// Returns the stage that took most of the busy time, if any time was taken.
    pub fn bound(&self) -> Option<Stage> {
        let busiest =
            Stage::ALL[..5].iter().copied().max_by_key(|&stage| self.elapsed_ns(stage))?;
        (self.elapsed_ns(busiest) > 0).then_some(busiest)
    }
}

/// One thread's stopwatch: every lap goes to one stage, so no time is counted twice or lost.
#[derive(Debug)]
pub(crate) struct StageClock {
    last_ns: u64,
    cost: Cost,
}

impl StageClock {
    pub(crate) fn start() -> StageClock {
        StageClock { last_ns: clock::monotonic_ns(), cost: Cost::default() }
    }

    /// Gives the time since the last lap to `stage` and returns it, in nanoseconds.
    pub(crate) fn lap(&mut self, stage: Stage) -> u64 {
        let now_ns = clock::monotonic_ns();
        let elapsed_ns = now_ns.saturating_sub(self.last_ns);
        self.last_ns = now_ns;
        self.cost.add(stage, elapsed_ns);
        elapsed_ns
    }

    /// Adds time that opening and reading waited for the storage, in nanoseconds.
    pub(crate) fn add_storage_wait(&mut self, waited_ns: u64) {
        self.cost.storage_wait_ns += waited_ns;
    }

    /// Hands over what was counted since the last call.
    pub(crate) fn take(&mut self) -> Cost {
        std::mem::take(&mut self.cost)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_leave_waiting_out_and_the_largest_bounds() {
        let mut cost = Cost::default();
        cost.add(Stage::Hash, 60);
        cost.add(Stage::Read, 30);
        cost.add(Stage::Walk, 10);
        cost.add(Stage::Wait, 900);
        let mut twice = cost;
        twice.merge(&cost);
        assert_eq!(twice.busy_ns(), 200);
        assert_eq!(twice.share(Stage::Hash), 0.6);
        assert_eq!(twice.bound(), Some(Stage::Hash));
        assert_eq!(Cost::default().bound(), None);
        assert_eq!(Cost::default().share(Stage::Read), 0.0);
    }
}
