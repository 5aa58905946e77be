//! The cost of measuring: the resolution of the clock, and the time of an empty measurement.

use steadfast_sys::clock;

use crate::record::Clock;

/// How many empty measurements are made. About 20,000 readings of the clock take a millisecond.
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

/// Makes empty measurements in the same way as samples, and returns their median.
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
