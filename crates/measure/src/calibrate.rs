//! What measuring itself costs: the clock's step, and the time that timing nothing takes.

use steadfast_sys::clock;

use crate::record::Clock;

/// How often nothing is timed. Some 20,000 readings take a millisecond.
const TRIES: usize = 4_096;

/// Calibrates the clock that samples are timed with.
pub fn clock() -> Clock {
    Clock {
        name: "monotonic".to_owned(),
        resolution_ns: resolution_ns(),
        overhead_ns: overhead_ns(),
    }
}

/// Finds the smallest step between two readings that differ.
fn resolution_ns() -> u64 {
    let mut smallest = u64::MAX;
    let mut last = clock::monotonic_ns();
    for _ in 0..TRIES {
        let now = clock::monotonic_ns();
        if now > last {
            smallest = smallest.min(now - last);
        }
        last = now;
    }
    if smallest == u64::MAX { 1 } else { smallest }
}

/// Times nothing, as a sample is timed, and returns the median.
fn overhead_ns() -> u64 {
    let mut times: Vec<u64> = (0..TRIES)
        .map(|_| {
            let _cpu = clock::process_cpu_ns();
            let start = clock::monotonic_ns();
            let end = clock::monotonic_ns();
            let _cpu = clock::process_cpu_ns();
            end - start
        })
        .collect();
    let middle = times.len() / 2;
    *times.select_nth_unstable(middle).1
}
