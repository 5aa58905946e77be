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
