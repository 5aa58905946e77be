//! Measures the hashing of a check on a sample, to predict how long all of it takes.
//!
//! [`Code::estimate`](crate::Code::estimate) runs a check with a [`Meter`]. Each stage that hashes
//! more than [`TRY_LEN`] then hashes only parts of its input, and reports the time to the meter.
//! The parts are spread over the whole input, so that they are cached in the same proportion.

use std::sync::Mutex;

/// The most bytes that one stage hashes to predict its time: a few milliseconds of work.
pub(crate) const TRY_LEN: u64 = 8 << 20;

/// One in this many samples, the slowest ones, is left out: in those a thread was preempted.
const SLOWEST_ONE_IN: usize = 8;

/// Collects what the stages measured.
#[derive(Debug, Default)]
pub(crate) struct Meter(Mutex<Measured>);

/// The sums over all stages.
#[derive(Debug, Default)]
pub(crate) struct Measured {
    /// Bytes that were hashed.
    pub(crate) tried_bytes: u64,
    /// How long the samples took, and the work that was timed apart from hashing.
    pub(crate) tried_ns: u64,
    /// How long hashing everything would take, where only samples were hashed.
    pub(crate) whole_ns: u64,
    /// What the work that was timed apart adds to a check.
    pub(crate) beside_ns: u64,
}

impl Meter {
    /// Returns the sums, once all stages have ended.
    pub(crate) fn total(self) -> Measured {
        self.0.into_inner().expect("no thread panicked")
    }

    /// Records that a stage hashed all its input, of this length.
    pub(crate) fn hashed(&self, bytes: u64) {
        self.0.lock().expect("no thread panicked").tried_bytes += bytes;
    }

    /// Records that a stage hashed samples, and that all its input would take `whole_ns`.
    pub(crate) fn tried(&self, bytes: u64, took_ns: u64, whole_ns: u64) {
        let mut sums = self.0.lock().expect("no thread panicked");
        sums.tried_bytes += bytes;
        sums.tried_ns += took_ns;
        sums.whole_ns += whole_ns;
    }

    /// Records work that was done alone here and that a check does in parallel with hashing, where
    /// it adds only `adds_ns`.
    pub(crate) fn beside(&self, took_ns: u64, adds_ns: u64) {
        let mut sums = self.0.lock().expect("no thread panicked");
        sums.tried_ns += took_ns;
        sums.beside_ns += adds_ns;
    }
}

/// Returns the mean of some times. If all bytes came from memory the slowest are left out: they
/// waited for something other than the bytes.
pub(crate) fn mean_ns(times_ns: &mut Vec<u64>, from_memory: bool) -> u64 {
    if from_memory {
        times_ns.sort_unstable();
        times_ns.truncate(times_ns.len() - times_ns.len() / SLOWEST_ONE_IN);
    }
    times_ns.iter().sum::<u64>() / times_ns.len().max(1) as u64
}

/// Returns `wanted` of `count` indexes, evenly spread, in groups of neighbours.
pub(crate) fn spread(count: usize, wanted: usize, group: usize) -> Vec<usize> {
    if count <= wanted {
        return (0..count).collect();
    }
    let groups = wanted / group;
    let place = |index: usize| index * (count - group) / (groups - 1).max(1);
    (0..groups).flat_map(|index| place(index)..place(index) + group).collect()
}

#[cfg(test)]
mod tests {
    use super::{mean_ns, spread};

    #[test]
    fn what_is_tried_is_spread_and_nothing_is_tried_twice() {
        for (count, wanted, group) in
            [(5, 8, 4), (33, 32, 8), (561, 32, 8), (100, 16, 1), (9, 8, 8)]
        {
            let picked = spread(count, wanted, group);
            assert_eq!(picked.len(), wanted.min(count));
            assert!(picked.windows(2).all(|pair| pair[0] < pair[1]), "{picked:?}");
            assert!(*picked.last().unwrap() < count);
            assert_eq!(picked[0], 0);
            let reached = *picked.last().unwrap() == count - 1;
            assert!(reached || wanted / group == 1, "{count}: {picked:?}");
        }
    }

    #[test]
    fn waiting_counts_only_where_it_is_part_of_the_work() {
        let times = || vec![10, 10, 10, 10, 90, 10, 10, 10];
        assert_eq!(mean_ns(&mut times(), true), 10);
        assert_eq!(mean_ns(&mut times(), false), 20);
        assert_eq!(mean_ns(&mut Vec::new(), true), 0);
    }
}
