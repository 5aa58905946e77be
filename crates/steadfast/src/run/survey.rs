//! Counts the files of a tree during a run, so that progress can show how much is left.
//!
//! Takes a selection. Returns the numbers of files and bytes, once all are counted. Counting starts
//! when the total is first requested, so a short run does not count. It uses a hundredth of the
//! time, so a long run knows the total early.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Once, OnceLock};
use std::thread;
use std::time::Duration;

use steadfast_sys::clock;
use steadfast_sys::qos::Level;

use crate::monitor::Progress;
use crate::selection::Selection;
use crate::store::has_tag;
use crate::walk::{Excludes, WalkItem, walk};

/// Files counted between two rests.
const STEP_FILES: u64 = 256;

/// Rest after each step, as a multiple of the time that the step took, storage included.
const REST_FACTOR: u32 = 99;

/// A count to come, under way or done.
pub(super) struct Survey {
    selection: Selection,
    excludes: Arc<Excludes>,
    qos: Level,
    started: Once,
    total: Arc<OnceLock<(u64, u64)>>,
    stop: Arc<AtomicBool>,
}

impl Survey {
    /// Prepares to count.
    pub(super) fn new(selection: Selection, excludes: Arc<Excludes>, qos: Level) -> Survey {
        let (started, total, stop) = (Once::new(), Arc::default(), Arc::default());
        Survey { selection, excludes, qos, started, total, stop }
    }

    /// Counts at once and without rests, and returns the progress of a run that has read nothing
    /// yet. Files and bytes that are `known` already are passed.
    pub(super) fn forecast(&self, known: (u64, u64)) -> Progress {
        let counted = count(&self.selection, &self.excludes, &self.stop, 0);
        let total = *self.total.get_or_init(|| counted);
        self.started.call_once(|| ());
        let bytes_passed = known.1.min(total.1);
        Progress {
            files: known.0.min(total.0),
            bytes_passed,
            total: Some(total),
            ..Progress::default()
        }
    }

    /// Starts to count. If the system gives no thread, progress has no end to show.
    fn start(&self) {
        let (total, stop) = (Arc::clone(&self.total), Arc::clone(&self.stop));
        let (selection, excludes) = (self.selection.clone(), Arc::clone(&self.excludes));
        let qos = self.qos;
        let count = move || {
            // The run's other threads report the result.
            let _ = crate::qos::enter(qos);
            let counted = count(&selection, &excludes, &stop, REST_FACTOR);
            if !stop.load(Ordering::Relaxed) {
                let _ = total.set(counted);
            }
        };
        let _ = thread::Builder::new().name("survey".to_owned()).spawn(count);
    }

    /// Returns files and bytes of the whole tree, once they are counted.
    pub(super) fn total(&self) -> Option<(u64, u64)> {
        self.started.call_once(|| self.start());
        self.total.get().copied()
    }
}

/// Counts the files of a selection and their bytes. Rests `rest_factor` times as long as it works.
fn count(
    selection: &Selection,
    excludes: &Excludes,
    stop: &Arc<AtomicBool>,
    rest_factor: u32,
) -> (u64, u64) {
    let (mut files, mut bytes) = (0, 0);
    let mut since_ns = clock::monotonic_ns();
    walk(selection, excludes, has_tag, stop, &mut |found| {
        if let WalkItem::File(entry) = found {
            files += 1;
            bytes += entry.status().map_or(0, |status| status.length);
            if files % STEP_FILES == 0 && rest_factor > 0 {
                let step_ns = clock::monotonic_ns() - since_ns;
                thread::sleep(Duration::from_nanos(step_ns) * rest_factor);
                since_ns = clock::monotonic_ns();
            }
        }
        ControlFlow::Continue(())
    });
    (files, bytes)
}

impl Drop for Survey {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::time::Instant;

    use steadfast_testing::took_at_most;

    use super::*;

    #[test]
    fn files_and_bytes_are_counted() {
        let folder = tempfile::tempdir().unwrap();
        // More files than one step has.
        let files = STEP_FILES + 3;
        for number in 0..files {
            fs::write(folder.path().join(number.to_string()), [7; 3]).unwrap();
        }
        let selection = Selection { roots: vec![folder.path().into()], ..Selection::default() };
        let excludes = Arc::new(Excludes::new(&[]).unwrap());
        let survey = Survey::new(selection, excludes, Level::Default);
        let begun = Instant::now();
        while survey.total().is_none() && took_at_most(begun, Duration::from_secs(60)) {
            thread::yield_now();
        }
        assert_eq!(survey.total(), Some((files, 3 * files)));
    }
}
