//! What each processor did, second by second: two looks at the system, and their difference.
//!
//! In: the moment to look. Out: shares of the last minute by processor, and what is known of their
//! types. Where the system does not tell there is nothing.

use std::collections::{BTreeMap, VecDeque};
use std::time::{Duration, Instant};

use steadfast::qos::{CpuTime, cpu_times};

/// Looks that are kept: a minute.
const LOOKS_MAX: usize = 60;

/// How often it is looked.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// What each processor did in the last minute.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct CoreHistory {
    /// Shares of 0 to 1 by processor, the latest last.
    pub(crate) shares: BTreeMap<usize, VecDeque<f32>>,
}

/// Looks at the processors.
pub(super) struct CoreWatch {
    looked: Option<Instant>,
    before: BTreeMap<usize, CpuTime>,
    history: CoreHistory,
}

impl CoreWatch {
    pub(super) fn new() -> CoreWatch {
        let mut watch =
            CoreWatch { looked: None, before: BTreeMap::new(), history: CoreHistory::default() };
        watch.look();
        watch
    }

    /// Looks if it is time; returns what is known if it was.
    pub(super) fn look(&mut self) -> Option<CoreHistory> {
        if self.looked.is_some_and(|looked| looked.elapsed() < LOOK_EVERY) {
            return None;
        }
        self.looked = Some(Instant::now());
        let times = cpu_times().ok()?;
        self.take(&times);
        Some(self.history.clone())
    }

    fn take(&mut self, times: &[CpuTime]) {
        for time in times {
            if let Some(before) = self.before.get(&time.cpu) {
                let shares = self.history.shares.entry(time.cpu).or_default();
                if shares.len() >= LOOKS_MAX {
                    shares.pop_front();
                }
                shares.push_back(share(before, time));
            }
        }
        self.before = times.iter().map(|time| (time.cpu, *time)).collect();
    }
}

/// The share of the time between two looks in which a processor worked.
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
            CoreWatch { looked: None, before: BTreeMap::new(), history: CoreHistory::default() };
        let at = |busy, total| [CpuTime { cpu: 3, busy, total }];
        watch.take(&at(100, 1000));
        assert!(watch.history.shares.is_empty());
        watch.take(&at(150, 1100));
        // A clock that went back is no load.
        watch.take(&at(140, 1100));
        for _ in 0..2 * LOOKS_MAX {
            watch.take(&at(140, 1100));
        }
        watch.take(&at(180, 1140));
        let shares = &watch.history.shares[&3];
        assert_eq!((shares.len(), shares[LOOKS_MAX - 1], shares[0]), (LOOKS_MAX, 1.0, 0.0));
    }
}
