//! The machine: nothing in, what it is and what this process has of it out.
//!
//! Facts for a record, as the system gives them. It judges nothing and guesses nothing: what the
//! system does not say is `unknown`, or 0.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "macos")]
mod macos;

#[cfg(target_os = "linux")]
use linux as platform;
#[cfg(target_os = "macos")]
use macos as platform;

/// What is said when the system does not say.
const UNKNOWN: &str = "unknown";

/// Returns how many logical processors this process may use: affinity and, on Linux, the control
/// group's quota are respected. At least 1.
#[must_use]
pub fn logical_cpus() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Returns the model of the processor, as its maker or the kernel names it.
#[must_use]
pub fn cpu_model() -> String {
    platform::cpu_model().unwrap_or_else(|| UNKNOWN.to_owned())
}

/// Returns name, version and build of the operating system; on Linux the distribution and the
/// kernel.
#[must_use]
pub fn os_version() -> String {
    platform::os_version().unwrap_or_else(|| UNKNOWN.to_owned())
}

/// Returns the machine's memory in bytes, whatever part of it this process may use.
#[must_use]
pub fn memory_bytes() -> u64 {
    platform::memory_bytes().unwrap_or(0)
}

/// Returns the most memory this process has had resident at once, in bytes.
#[must_use]
pub fn peak_rss_bytes() -> u64 {
    platform::peak_rss_bytes().unwrap_or(0)
}

/// Returns how many processes ran or wanted to, on average over the last minute, if the system
/// tells.
#[must_use]
pub fn load_average() -> Option<f64> {
    platform::load_average()
}

/// Returns the processor time that the host of this virtual machine gave to others since it began,
/// in nanoseconds, if the system tells.
#[must_use]
pub fn stolen_ns() -> Option<u64> {
    platform::stolen_ns()
}

/// Returns the processor time that all processes and the kernel's own threads have used since the
/// machine began, in nanoseconds, if the system tells. In steps of its ticks.
#[must_use]
pub fn busy_ns() -> Option<u64> {
    platform::busy_ns()
}

/// Returns the frequency of the fastest processor now, in kHz, if the system tells.
#[must_use]
pub fn frequency_khz() -> Option<u64> {
    platform::frequency_khz()
}

/// Returns the highest temperature that the system's thermal zones give, in thousandths of a degree
/// Celsius, if it tells.
#[must_use]
pub fn temperature_millidegrees() -> Option<i64> {
    platform::temperature_millidegrees()
}

/// Names what the machine runs in, if it is virtual and says so.
#[must_use]
pub fn virtual_machine() -> Option<String> {
    platform::virtual_machine()
}

/// Names the policy by which the processor's frequency is chosen, if the system tells.
#[must_use]
pub fn governor() -> Option<String> {
    platform::governor()
}

/// Returns whether the machine runs on mains power, if the system tells.
#[must_use]
pub fn on_mains() -> Option<bool> {
    platform::on_mains()
}
