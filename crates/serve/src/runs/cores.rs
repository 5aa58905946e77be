//! The load of each processor, second by second: the difference of two samples of its times.
//!
//! Out: the loads of the last minute by processor. Empty if the system does not tell the times.

use std::collections::{BTreeMap, VecDeque};
use std::time::{Duration, Instant};

use steadfast::qos::{CpuTime, cpu_times};

/// Samples that are kept: a minute.
const SAMPLES_MAX: usize = 60;

/// Time between two samples.
const SAMPLE_EVERY: Duration = Duration::from_secs(1);

/// The load of each processor in the last minute.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct CoreHistory {
    /// Loads from 0 to 1 by processor, the latest last.
    pub(crate) shares: BTreeMap<usize, VecDeque<f32>>,
}

/// Samples the processors.
pub(super) struct CoreWatch {
    sampled: Option<Instant>,
    before: BTreeMap<usize, CpuTime>,
    history: CoreHistory,
}

impl CoreWatch {
    pub(super) fn new() -> CoreWatch {
        let mut watch =
            CoreWatch { sampled: None, before: BTreeMap::new(), history: CoreHistory::default() };
        watch.sample();
        watch
    }

    /// Takes a sample if one is due, and returns the history if it did.
    pub(super) fn sample(&mut self) -> Option<CoreHistory> {
        if self.sampled.is_some_and(|sampled| sampled.elapsed() < SAMPLE_EVERY) {
            return None;
        }
        self.sampled = Some(Instant::now());
        let times = cpu_times().ok()?;
        self.take(&times);
        Some(self.history.clone())
    }

    fn take(&mut self, times: &[CpuTime]) {
        for time in times {
            if let Some(before) = self.before.get(&time.cpu) {
                let shares = self.history.shares.entry(time.cpu).or_default();
                if shares.len() >= SAMPLES_MAX {
                    shares.pop_front();
                }
                shares.push_back(share(before, time));
            }
        }
        self.before = times.iter().map(|time| (time.cpu, *time)).collect();
    }
}

/// The share of the time between two samples in which a processor was busy.
fn share(before: &CpuTime, now: &CpuTime) -> f32 {
    let total = now.total.saturating_sub(before.total);
    let busy = now.busy.saturating_sub(before.busy).min(total);
    if total == 0 { 0.0 } else { busy as f32 / total as f32 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_of_the_time_in_between() {
        let mut watch =
            CoreWatch { sampled: None, before: BTreeMap::new(), history: CoreHistory::default() };
        let at = |busy, total| [CpuTime { cpu: 3, busy, total }];
        watch.take(&at(100, 1000));
        assert!(watch.history.shares.is_empty());
        watch.take(&at(150, 1100));
        // Times that went back count as no load.
        watch.take(&at(140, 1100));
        for _ in 0..2 * SAMPLES_MAX {
            watch.take(&at(140, 1100));
        }
        watch.take(&at(180, 1140));
        let shares = &watch.history.shares[&3];
        assert_eq!((shares.len(), shares[SAMPLES_MAX - 1], shares[0]), (SAMPLES_MAX, 1.0, 0.0));
    }
}
