//! Energy and core types on macOS: `proc_pid_rusage`.

use std::sync::OnceLock;

use super::EnergyReading;
use crate::{clock, darwin};

/// The version of the structure that tells of performance cores; macOS 13 and later have it.
///
/// Source: `sys/resource.h`, `RUSAGE_INFO_V6`.
const RUSAGE_INFO_V6: libc::c_int = 6;

/// Asks the kernel about this process.
#[expect(unsafe_code, reason = "rustix has no form of proc_pid_rusage")]
pub(super) fn now() -> EnergyReading {
    let mut words = [0_u64; darwin::RUSAGE_WORDS];
    // SAFETY: always callable.
    let this = unsafe { libc::getpid() };
    // SAFETY: `words` is aligned as the structure of version 6 and has its size
    // (`darwin::RUSAGE_WORDS`); the declared type of the pointer is an accident of the header.
    let code = unsafe { libc::proc_pid_rusage(this, RUSAGE_INFO_V6, words.as_mut_ptr().cast()) };
    match code {
        0 => {
            let used = darwin::usage(&words, timebase());
            EnergyReading {
                cpu_ns: used.cpu_ns,
                performance_cpu_ns: Some(used.performance_cpu_ns),
                energy_nj: Some(used.energy_nj),
                performance_energy_nj: Some(used.performance_energy_nj),
                levels: used.levels.to_vec(),
                of_machine: false,
            }
        }
        _ => EnergyReading { cpu_ns: clock::process_cpu_ns(), ..EnergyReading::default() },
    }
}

/// Returns what a tick is in nanoseconds, as a fraction: 125/3 on Apple silicon, 1/1 on Intel.
#[expect(unsafe_code, reason = "rustix has no form of mach_timebase_info")]
#[expect(deprecated, reason = "a further crate for one call is not worth it")]
fn timebase() -> (u32, u32) {
    static TIMEBASE: OnceLock<(u32, u32)> = OnceLock::new();
    *TIMEBASE.get_or_init(|| {
        let mut info = libc::mach_timebase_info { numer: 1, denom: 1 };
        // SAFETY: `info` is writable.
        let _ = unsafe { libc::mach_timebase_info(&raw mut info) };
        (info.numer, info.denom)
    })
}
