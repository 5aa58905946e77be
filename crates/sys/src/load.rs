//! What each processor did since the machine began: nothing in, ticks out.
//!
//! Two looks and their difference tell how busy each was in between. It judges nothing.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "macos")]
mod macos;

use std::io;

#[cfg(target_os = "linux")]
use linux as platform;
#[cfg(target_os = "macos")]
use macos as platform;

/// The time of one processor, in ticks of the system's own length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CpuTime {
    /// The processor's number.
    pub cpu: usize,
    /// Ticks in which it worked.
    pub busy: u64,
    /// Ticks in all.
    pub total: u64,
}

/// Returns what each processor in use did since the machine began, in the order of their numbers.
///
/// # Errors
/// `Unsupported` where the system does not tell.
pub fn cpu_times() -> io::Result<Vec<CpuTime>> {
    platform::cpu_times()
}
