//! Busy and total time of each processor since the machine started.
//!
//! The difference of two values tells how busy a processor was in between.

#[cfg_attr(target_os = "linux", path = "load/linux.rs")]
#[cfg_attr(target_os = "macos", path = "load/macos.rs")]
mod platform;

use std::io;

/// The time of one processor, in ticks of the system's own length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CpuTime {
    /// The processor's number.
    pub cpu: usize,
    /// Busy ticks.
    pub busy: u64,
    /// All ticks.
    pub total: u64,
}

/// Returns the time of each processor in use since the machine started, by number.
///
/// # Errors
/// `Unsupported` where the system does not tell.
pub fn cpu_times() -> io::Result<Vec<CpuTime>> {
    platform::cpu_times()
}
