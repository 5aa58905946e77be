//! Threads that keep processors busy beside a run.
//!
//! They count in registers, so they take processor time and neither memory nor storage.

use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

/// Loops between two looks at the flag.
const LOOPS: u64 = 100_000;

/// Busy threads. Dropping the value ends them.
pub(super) struct BusyThreads {
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl BusyThreads {
    /// Starts this many threads, and returns when all of them are running.
    pub(super) fn start(count: u32) -> BusyThreads {
        let stop = Arc::new(AtomicBool::new(false));
        let running = Arc::new(std::sync::Barrier::new(count as usize + 1));
        let threads = (0..count).map(|_| {
            let (stop, running) = (Arc::clone(&stop), Arc::clone(&running));
            thread::spawn(move || {
                running.wait();
                while !stop.load(Ordering::Relaxed) {
                    (0..LOOPS).for_each(|number| {
                        black_box(number);
                    });
                }
            })
        });
        let threads = threads.collect();
        running.wait();
        BusyThreads { stop, threads }
    }
}

impl Drop for BusyThreads {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            thread.join().expect("it only counts");
        }
    }
}
