//! How long a full check would take, found by doing all of it but most of its hashing.
//!
//! In: from each stage that hashes much, how long a part of that took and how long all of it would.
//! Out: the time of the whole. Must not know: what is hashed. A check whose price is wanted goes
//! the way of any other: it reads signatures, lists names, tries public keys. Only where there is
//! more to hash than [`TRY_LEN`], it hashes parts of it, spread over the whole, so that what is in
//! the page cache and what is not are met in proportion.

use std::sync::Mutex;

use steadfast_sys::clock;

use crate::code::Code;
use crate::cost::Cost;
use crate::error::Error;
use crate::pages::PageChoice;
use crate::verify::VerifyOptions;

/// What one stage hashes at most to find its price: a few thousandths of a second's work.
pub(crate) const TRY_LEN: u64 = 8 << 20;

/// The slowest of the tries are left out, one in so many: those in which a thread was put aside.
const SLOWEST_ONE_IN: usize = 8;

/// What a full check would take on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Price {
    /// What it reads and hashes.
    pub cost: Cost,
    /// Bytes that were hashed to find the price.
    pub tried_bytes: u64,
    /// How long hashing would take of what was only tried.
    pub hashing_ns: u64,
    /// How long everything else took, which was done: listing, reading signatures, public keys, and
    /// hashing where there was little of it.
    pub rest_ns: u64,
    /// Bytes of the executable, or of the image.
    pub len_bytes: u64,
    /// How many of them were in the page cache beforehand; `None` if that cannot be told.
    pub cached_bytes: Option<u64>,
}

impl Price {
    /// Returns how long a check would take.
    pub fn predicted_ns(&self) -> u64 {
        self.hashing_ns + self.rest_ns
    }
}

impl Code<'_> {
    /// Finds out how long verifying with these options would take, by doing part of it.
    ///
    /// The first of several prices in a process is that of the first check in a process: both find
    /// nothing of the program in memory.
    ///
    /// # Errors
    /// As [`Code::verify`]; and if sealed files cannot be looked at.
    pub fn price(&self, options: &VerifyOptions) -> Result<Price, Error> {
        let cached_bytes = self.source().cached_bytes();
        let options = VerifyOptions { pages: PageChoice::All, ..options.clone() };
        let meter = Meter::default();
        let begun_ns = clock::monotonic_ns();
        self.verify_metered(&options, Some(&meter))?;
        let elapsed_ns = clock::monotonic_ns() - begun_ns;
        let taken = meter.0.into_inner().expect("no thread died");
        Ok(Price {
            cost: self.cost(options.deep)?,
            tried_bytes: taken.tried_bytes,
            hashing_ns: taken.whole_ns,
            rest_ns: elapsed_ns.saturating_sub(taken.tried_ns) + taken.beside_ns,
            len_bytes: self.source().len_bytes(),
            cached_bytes,
        })
    }
}

/// Takes down what stages tried.
#[derive(Debug, Default)]
pub(crate) struct Meter(Mutex<Taken>);

#[derive(Debug, Default)]
struct Taken {
    tried_bytes: u64,
    tried_ns: u64,
    whole_ns: u64,
    beside_ns: u64,
}

impl Meter {
    /// Takes down that a stage hashed so many bytes, all that it had to.
    pub(crate) fn hashed(&self, bytes: u64) {
        self.0.lock().expect("no thread died").tried_bytes += bytes;
    }

    /// Takes down that a stage tried so many bytes in so long, and that all of it would take
    /// `whole_ns`.
    pub(crate) fn tried(&self, bytes: u64, took_ns: u64, whole_ns: u64) {
        let mut taken = self.0.lock().expect("no thread died");
        taken.tried_bytes += bytes;
        taken.tried_ns += took_ns;
        taken.whole_ns += whole_ns;
    }

    /// Takes down work that was done by itself, and that a check does beside hashing, so that it
    /// adds less.
    pub(crate) fn beside(&self, took_ns: u64, adds_ns: u64) {
        let mut taken = self.0.lock().expect("no thread died");
        taken.tried_ns += took_ns;
        taken.beside_ns += adds_ns;
    }
}

/// Returns the mean of some times; without the slowest if all bytes came from memory, where waiting
/// is no part of the work.
pub(crate) fn mean_ns(times_ns: &mut Vec<u64>, from_memory: bool) -> u64 {
    if from_memory {
        times_ns.sort_unstable();
        times_ns.truncate(times_ns.len() - times_ns.len() / SLOWEST_ONE_IN);
    }
    times_ns.iter().sum::<u64>() / times_ns.len().max(1) as u64
}

/// Picks so many of a number of things, evenly spread, in groups of neighbours.
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
