//! Histograms of latencies, with constant memory and a known error.
//!
//! Each power of two is divided into 64 parts, so quantiles are exact to 1.6 %.

use crate::record::Latencies;

/// Parts of each power of two, as a power of two itself.
const PARTS_LOG2: u32 = 6;
const PARTS: u64 = 1 << PARTS_LOG2;

/// Buckets for all latencies that 64 bits hold.
const BUCKETS: usize = ((64 - PARTS_LOG2 as usize) + 1) * PARTS as usize;

/// How many operations must lie beyond a percentile.
const BEYOND_MIN: f64 = 10.0;

/// Counts latencies.
#[derive(Clone, Debug)]
pub struct LatencyHistogram {
    counts: Vec<u64>,
    max_ns: u64,
}

impl Default for LatencyHistogram {
    fn default() -> LatencyHistogram {
        LatencyHistogram { counts: vec![0; BUCKETS], max_ns: 0 }
    }
}

impl LatencyHistogram {
    /// Counts one operation.
    pub fn add(&mut self, latency_ns: u64) {
        self.counts[bucket_of(latency_ns)] += 1;
        self.max_ns = self.max_ns.max(latency_ns);
    }

    /// Adds the counts of another thread.
    pub fn merge(&mut self, other: &LatencyHistogram) {
        for (count, more) in self.counts.iter_mut().zip(&other.counts) {
            *count += more;
        }
        self.max_ns = self.max_ns.max(other.max_ns);
    }

    /// Returns the latencies for a record.
    pub fn latencies(&self) -> Latencies {
        let counted = self.counts.iter().enumerate().filter(|(_, count)| **count > 0);
        let buckets = counted.map(|(bucket, &count)| (lower_bound(bucket), count)).collect();
        Latencies { max_ns: self.max_ns, buckets }
    }
}

/// Joins the latencies of several samples.
pub fn joined<'a>(several: impl IntoIterator<Item = &'a Latencies>) -> Latencies {
    let mut all = LatencyHistogram::default();
    for latencies in several {
        for &(lower_ns, count) in &latencies.buckets {
            all.counts[bucket_of(lower_ns)] += count;
        }
        all.max_ns = all.max_ns.max(latencies.max_ns);
    }
    all.latencies()
}

/// Returns the latency that a share of all operations did not exceed, in nanoseconds; `None` if
/// fewer than ten operations lie beyond it.
pub fn quantile_ns(latencies: &Latencies, share: f64) -> Option<u64> {
    let total: u64 = latencies.buckets.iter().map(|(_, count)| count).sum();
    if total == 0 || (1.0 - share) * (total as f64) < BEYOND_MIN {
        return None;
    }
    let wanted = (share * total as f64).ceil().max(1.0) as u64;
    let mut below = 0;
    for &(lower_ns, count) in &latencies.buckets {
        below += count;
        if below >= wanted {
            // The upper bound of the bucket: no less than what was measured.
            let upper_ns = lower_bound(bucket_of(lower_ns) + 1) - 1;
            return Some(upper_ns.min(latencies.max_ns));
        }
    }
    Some(latencies.max_ns)
}

/// Returns the bucket of a latency. Up to 127 ns each has its own.
fn bucket_of(latency_ns: u64) -> usize {
    let high = u64::BITS - 1 - (latency_ns | (PARTS - 1)).leading_zeros();
    let shift = high.saturating_sub(PARTS_LOG2);
    let part = latency_ns >> shift;
    (u64::from(shift) * PARTS + part) as usize
}

/// Returns the least latency of a bucket.
fn lower_bound(bucket: usize) -> u64 {
    let bucket = bucket as u64;
    if bucket < 2 * PARTS {
        return bucket;
    }
    let shift = bucket / PARTS - 1;
    (bucket - shift * PARTS) << shift
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_latency_lies_in_its_bucket(latency_ns in any::<u64>()) {
            let bucket = bucket_of(latency_ns);
            prop_assert!(bucket < BUCKETS);
            let lower = lower_bound(bucket);
            prop_assert!(lower <= latency_ns);
            prop_assert!((latency_ns - lower) as f64 <= latency_ns as f64 / PARTS as f64);
            if bucket + 1 < BUCKETS {
                prop_assert!(latency_ns < lower_bound(bucket + 1));
            }
        }

        #[test]
        fn quantiles_are_exact_to_a_part_in_64(
            latencies in prop::collection::vec(1_u64..10_000_000_000, 100..2_000),
        ) {
            let mut histogram = LatencyHistogram::default();
            let mut sorted = latencies;
            sorted.iter().for_each(|&latency| histogram.add(latency));
            sorted.sort_unstable();
            let kept = histogram.latencies();
            let exact = sorted[(sorted.len() as f64 * 0.5).ceil() as usize - 1];
            let told = quantile_ns(&kept, 0.5).expect("fifty lie beyond it");
            prop_assert!(told >= exact && told as f64 <= exact as f64 * (1.0 + 1.0 / 32.0));
        }
    }

    #[test]
    fn a_percentile_needs_ten_beyond_it() {
        let mut histogram = LatencyHistogram::default();
        (0..999).for_each(|latency| histogram.add(latency));
        assert_eq!(quantile_ns(&histogram.latencies(), 0.99), None);
        histogram.add(5);
        assert!(quantile_ns(&histogram.latencies(), 0.99).is_some());
        assert_eq!(quantile_ns(&histogram.latencies(), 0.999), None);
    }

    #[test]
    fn joining_adds_up() {
        let mut one = LatencyHistogram::default();
        let mut other = LatencyHistogram::default();
        (1..500).for_each(|latency| one.add(latency * 1_000));
        (1..300).for_each(|latency| other.add(latency * 7_000));
        let both = joined([&one.latencies(), &other.latencies()]);
        one.merge(&other);
        assert_eq!(both, one.latencies());
    }
}
