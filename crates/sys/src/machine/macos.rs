//! The machine on macOS: `sysctl` and `getrusage`.

use std::mem::MaybeUninit;
use std::path::{Path, PathBuf};

use steadfast_time::names::NameBytes as _;

use crate::sysctl;

/// Returns the name that Apple or Intel gives the processor.
pub(super) fn cpu_model() -> Option<String> {
    sysctl::text(c"machdep.cpu.brand_string").ok()
}

/// Returns version and build. The first name has the real version since macOS 11.3; the second
/// one says 10.16 to programs that asked for compatibility.
pub(super) fn os_version() -> Option<String> {
    let names = [c"kern.macosproductversion", c"kern.osproductversion"];
    let version = names.into_iter().find_map(|name| sysctl::text(name).ok())?;
    let build = sysctl::text(c"kern.osversion").ok()?;
    Some(format!("macOS {version} ({build})"))
}

/// Returns the installed memory.
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

/// Returns the first of the three load averages.
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

/// The kernel tells whether it is a guest. Nothing tells the name of the host.
pub(super) fn virtual_machine() -> Option<String> {
    let guest = sysctl::integer(c"kern.hv_vmm_present").ok()?;
    (guest != 0).then(|| "a hypervisor".to_owned())
}

/// Adds up the busy ticks of all processors, of 10 ms each.
///
/// Source: `mach/clock_types.h`, `host_processor_info`: ticks of `CLK_TCK`, 100 in a second.
pub(super) fn busy_ns() -> Option<u64> {
    let ticks: u64 = crate::load::cpu_times().ok()?.iter().map(|time| time.busy).sum();
    ticks.checked_mul(10_000_000)
}

/// Says nothing.
pub(super) fn frequency_khz() -> Option<u64> {
    None
}

/// Says nothing.
pub(super) fn temperature_millidegrees() -> Option<i64> {
    None
}

/// macOS has no such policy.
pub(super) fn governor() -> Option<String> {
    None
}

/// Not read: it needs a framework, which is not worth linking for one fact.
pub(super) fn on_mains() -> Option<bool> {
    None
}

/// Returns the user's folder beneath `/var/folders`.
#[expect(unsafe_code, reason = "rustix has no form of confstr")]
pub(super) fn user_folder() -> Option<PathBuf> {
    let mut path = [0_u8; libc::PATH_MAX as usize];
    // SAFETY: the buffer is writable for its own length.
    let length = unsafe {
        libc::confstr(libc::_CS_DARWIN_USER_TEMP_DIR, path.as_mut_ptr().cast(), path.len())
    };
    // The length counts the NUL; a longer path would be cut.
    let path = path.get(..length.checked_sub(1)?)?;
    Some(PathBuf::from(Path::from_bytes(path)))
}

/// Returns nothing: the unified log is for administrators, and slow to search.
pub(super) fn kernel_log() -> Option<String> {
    None
}
