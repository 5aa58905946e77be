//! Facts about the machine and about what this process uses of it.
//!
//! The facts are those of the system, for records. What the system does not tell is `unknown`, 0 or
//! `None`, never a guess.

#[cfg_attr(target_os = "linux", path = "machine/linux.rs")]
#[cfg_attr(target_os = "macos", path = "machine/macos.rs")]
mod platform;

use std::path::PathBuf;

/// The text where the system does not tell.
const UNKNOWN: &str = "unknown";

/// Returns how many logical processors this process may use, at least 1. Counts the affinity and,
/// on Linux, the quota of the control group.
#[must_use]
pub fn logical_cpus() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Returns the model of the processor, by the name that its maker or the kernel gives.
#[must_use]
pub fn cpu_model() -> String {
    platform::cpu_model().unwrap_or_else(|| UNKNOWN.to_owned())
}

/// Returns name, version and build of the operating system; on Linux, the distribution and the
/// kernel.
#[must_use]
pub fn os_version() -> String {
    platform::os_version().unwrap_or_else(|| UNKNOWN.to_owned())
}

/// Returns the name of the machine in its network, without the domain.
#[must_use]
pub fn name() -> String {
    let name = rustix::system::uname().nodename().to_string_lossy().into_owned();
    name.split('.').next().unwrap_or_default().to_owned()
}

/// Returns the memory of the machine in bytes. This process may be limited to less.
#[must_use]
pub fn memory_bytes() -> u64 {
    platform::memory_bytes().unwrap_or(0)
}

/// Returns the peak resident memory of this process, in bytes.
#[must_use]
pub fn peak_rss_bytes() -> u64 {
    platform::peak_rss_bytes().unwrap_or(0)
}

/// Returns the load average of the last minute, if the system tells.
#[must_use]
pub fn load_average() -> Option<f64> {
    platform::load_average()
}

/// Returns the messages of the kernel that it still has, if this process may read them.
#[must_use]
pub fn kernel_log() -> Option<String> {
    platform::kernel_log()
}

/// Returns the stolen processor time since the machine started (the host of this virtual machine
/// gave it to others), in nanoseconds, if the system tells.
#[must_use]
pub fn stolen_ns() -> Option<u64> {
    platform::stolen_ns()
}

/// Returns the processor time of all processes and of the kernel since the machine started, in
/// nanoseconds, if the system tells. Its resolution is one tick of the system.
#[must_use]
pub fn busy_ns() -> Option<u64> {
    platform::busy_ns()
}

/// Returns the frequency of the fastest processor now, in kHz, if the system tells.
#[must_use]
pub fn frequency_khz() -> Option<u64> {
    platform::frequency_khz()
}

/// Returns the highest temperature of the thermal zones, in thousandths of a degree Celsius, if the
/// system tells.
#[must_use]
pub fn temperature_millidegrees() -> Option<i64> {
    platform::temperature_millidegrees()
}

/// Returns the name of the hypervisor, if the machine is known to be virtual.
#[must_use]
pub fn virtual_machine() -> Option<String> {
    platform::virtual_machine()
}

/// Returns the policy that chooses the frequency of the processor, if the system tells.
#[must_use]
pub fn governor() -> Option<String> {
    platform::governor()
}

/// Returns the folder for what lasts as long as this user is logged in, as the system itself names
/// it. macOS has one; Linux names it in a variable only.
#[must_use]
pub fn user_folder() -> Option<PathBuf> {
    platform::user_folder()
}

/// Returns whether the machine runs on mains power, if the system tells.
#[must_use]
pub fn on_mains() -> Option<bool> {
    platform::on_mains()
}
