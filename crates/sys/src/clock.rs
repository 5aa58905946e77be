//! Clocks: elapsed time, processor time, and the time of day.
//!
//! Only code that measures or records time reads a clock. Other code takes times as values.

#[cfg_attr(target_os = "linux", path = "clock/linux.rs")]
#[cfg_attr(target_os = "macos", path = "clock/macos.rs")]
mod platform;

use std::sync::LazyLock;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Instant;

use rustix::time::{ClockId, clock_gettime};

use crate::file::Timestamp;

/// Returns the nanoseconds since the first call in this process, by a monotonic clock. Comparable
/// between threads, not between processes.
#[must_use]
pub fn monotonic_ns() -> u64 {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    let start = *START;
    u64::try_from(start.elapsed().as_nanos()).expect("a process runs for less than 584 years")
}

/// Returns the processor time the calling thread has used, in nanoseconds.
#[must_use]
pub fn thread_cpu_ns() -> u64 {
    nanoseconds(ClockId::ThreadCPUTime)
}

/// Returns how often the calling thread has waited (voluntary context switches), if the system
/// counts that.
#[must_use]
pub fn thread_sleeps() -> Option<u64> {
    platform::thread_sleeps()
}

/// Returns how long the calling thread was ready to run and waited for a processor, in nanoseconds,
/// if the system counts that. Takes about a microsecond.
#[must_use]
pub fn thread_queued_ns() -> Option<u64> {
    platform::thread_queued_ns()
}

/// Returns the number of the processor that the calling thread is on at this moment, if the system
/// numbers its processors so that their types are known ([`crate::cores`]).
#[must_use]
pub fn present_processor() -> Option<usize> {
    platform::present_processor()
}

/// Returns the processor time all threads of the process have used, in nanoseconds.
#[must_use]
pub fn process_cpu_ns() -> u64 {
    nanoseconds(ClockId::ProcessCPUTime)
}

/// Seconds by which this process is ahead of the machine's clock.
static AHEAD_S: AtomicI64 = AtomicI64::new(0);

/// Sets this process ahead of the machine's clock, to try in a moment what takes a year.
pub fn set_ahead(seconds: i64) {
    AHEAD_S.store(seconds, Ordering::Relaxed);
}

/// Returns the time of day in UTC, as the machine's clock has it.
#[must_use]
pub fn utc_now() -> Timestamp {
    let now = clock_gettime(ClockId::Realtime);
    let seconds = now.tv_sec + AHEAD_S.load(Ordering::Relaxed);
    Timestamp { seconds, nanoseconds: now.tv_nsec as u32 }
}

/// Returns for how many seconds the machine has been on; on Linux, without the time it slept.
#[must_use]
pub fn awake_s() -> i64 {
    clock_gettime(ClockId::Monotonic).tv_sec + AHEAD_S.load(Ordering::Relaxed)
}

/// Reads a clock that starts at zero.
fn nanoseconds(clock: ClockId) -> u64 {
    let time = clock_gettime(clock);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}
