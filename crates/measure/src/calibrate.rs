//! The cost of measuring: the resolution of the clock, and the time of an empty measurement; and
//! how fast the processor itself is clocked.

use std::hint::black_box;

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

/// Measures the clock of the processor that this thread is on, in kHz.
///
/// Each step is an addition and an exclusive or that wait for the step before: two cycles on any
/// processor of the last twenty years, whatever else its other half runs. The numbers are hidden
/// from the compiler, and from processors that add small constants ahead.
pub(crate) fn clock_khz() -> Option<u64> {
    const STEPS: u64 = 1 << 19;
    let (step, mask) = black_box((0x9e37_79b9_7f4a_7c15_u64, 0x55aa_0ff0_1234_5679_u64));
    let once_ns = || {
        let begun_ns = clock::thread_cpu_ns();
        let mut chain = black_box(1_u64);
        for _ in 0..STEPS {
            chain = chain.wrapping_add(step) ^ mask;
        }
        black_box(chain);
        clock::thread_cpu_ns() - begun_ns
    };
    let least_ns = (0..3).map(|_| once_ns()).min().filter(|ns| *ns > 0)?;
    Some(2 * STEPS * 1_000_000 / least_ns)
}

/// How often a number of repetitions is tried. The fastest counts, because a disturbance only slows
/// a run down.
pub(crate) const REPETITION_TRIES: usize = 5;

/// Finds the number of repetitions that take this long. Doubles it until the fastest run takes a
/// quarter of the time.
pub(crate) fn repetitions<E>(
    sample_ns: u64,
    mut cpu_ns_of: impl FnMut(u64) -> Result<u64, E>,
) -> Result<u64, E> {
    let mut times = 1;
    loop {
        let mut best_ns = u64::MAX;
        for _ in 0..REPETITION_TRIES {
            best_ns = best_ns.min(cpu_ns_of(times)?.max(1));
            if best_ns < sample_ns / 4 {
                break;
            }
        }
        if best_ns >= sample_ns / 4 {
            return Ok((times as f64 * sample_ns as f64 / best_ns as f64).ceil() as u64);
        }
        times *= 2;
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
