//! The machine on macOS: `sysctl` and `getrusage`.
//!
//! It knows the names of the facts.

use std::mem::MaybeUninit;

use crate::sysctl;

/// Names the processor as Apple or Intel does.
pub(super) fn cpu_model() -> Option<String> {
    sysctl::text(c"machdep.cpu.brand_string").ok()
}

/// Joins version and build.
pub(super) fn os_version() -> Option<String> {
    let version = sysctl::text(c"kern.osproductversion").ok()?;
    let build = sysctl::text(c"kern.osversion").ok()?;
    Some(format!("macOS {version} ({build})"))
}

/// Returns what is built in.
pub(super) fn memory_bytes() -> Option<u64> {
    sysctl::integer(c"hw.memsize").ok()
}

/// Returns `ru_maxrss`, which macOS gives in bytes.
#[expect(unsafe_code, reason = "rustix has no form of getrusage")]
pub(super) fn peak_rss_bytes() -> Option<u64> {
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: `usage` is writable and as large as the structure.
    let code = unsafe { libc::getrusage(libc::RUSAGE_SELF, usage.as_mut_ptr()) };
    if code != 0 {
        return None;
    }
    // SAFETY: all fields are integers, for which the zeros of `zeroed` are a value too.
    let usage = unsafe { usage.assume_init() };
    u64::try_from(usage.ru_maxrss).ok()
}

/// Asks the kernel for the first of its three averages.
#[expect(unsafe_code, reason = "rustix has no form of getloadavg")]
pub(super) fn load_average() -> Option<f64> {
    let mut averages = [0.0_f64];
    // SAFETY: the array has room for the one number that is asked for.
    let count = unsafe { libc::getloadavg(averages.as_mut_ptr(), 1) };
    (count == 1).then_some(averages[0])
}

/// macOS does not tell.
pub(super) fn stolen_ns() -> Option<u64> {
    None
}

/// Believes the kernel, which knows that it is a guest; nobody names the host.
pub(super) fn virtual_machine() -> Option<String> {
    let guest = sysctl::integer(c"kern.hv_vmm_present").ok()?;
    (guest != 0).then(|| "a hypervisor".to_owned())
}

/// Says nothing: it takes a port of the kernel's.
pub(super) fn busy_ns() -> Option<u64> {
    None
}

/// Says nothing.
pub(super) fn frequency_khz() -> Option<u64> {
    None
}

/// Says nothing.
pub(super) fn temperature_millidegrees() -> Option<i64> {
    None
}

/// macOS has no such policy to choose.
pub(super) fn governor() -> Option<String> {
    None
}

/// It takes a framework to ask, which is not worth linking for one word.
pub(super) fn on_mains() -> Option<bool> {
    None
}
