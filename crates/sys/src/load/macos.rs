//! Processor time on macOS: `host_processor_info`.
//!
//! The numbers are those of the kernel. Which of them are performance cores it does not tell.

use std::io;
use std::sync::OnceLock;

use super::CpuTime;
use crate::darwin;

/// Words for each processor.
///
/// Source: `mach/machine.h`, `CPU_STATE_MAX`.
const STATES: usize = 4;

/// Asks the kernel.
#[expect(unsafe_code, reason = "rustix has no form of host_processor_info")]
#[expect(deprecated, reason = "a further crate for two calls is not worth it")]
pub(super) fn cpu_times() -> io::Result<Vec<CpuTime>> {
    let (mut processors, mut length) = (0, 0);
    let mut ticks: libc::processor_info_array_t = std::ptr::null_mut();
    // SAFETY: the three places are writable, and the port is this host's.
    let code = unsafe {
        libc::host_processor_info(
            host(),
            libc::PROCESSOR_CPU_LOAD_INFO,
            &raw mut processors,
            &raw mut ticks,
            &raw mut length,
        )
    };
    if code != libc::KERN_SUCCESS || ticks.is_null() {
        return Err(io::ErrorKind::Unsupported.into());
    }
    let length = length as usize;
    // SAFETY: the call succeeded, so it allocated `length` integers there, which nobody changes.
    let words = unsafe { std::slice::from_raw_parts(ticks, length) };
    let times = words.as_chunks::<STATES>().0.iter().enumerate().map(|(cpu, states)| {
        let (busy, total) = darwin::ticks(states.map(i32::cast_unsigned));
        CpuTime { cpu, busy, total }
    });
    let times = times.collect();
    // SAFETY: the call above allocated this span in this task, and no reference into it is left.
    let _ = unsafe {
        libc::vm_deallocate(
            libc::mach_task_self(),
            ticks as libc::vm_address_t,
            length * size_of::<i32>(),
        )
    };
    Ok(times)
}

/// Returns the port of this host. Asked once, since each answer counts as a further right to it.
#[expect(unsafe_code, reason = "rustix has no form of mach_host_self")]
#[expect(deprecated, reason = "a further crate for one call is not worth it")]
fn host() -> libc::mach_port_t {
    static HOST: OnceLock<libc::mach_port_t> = OnceLock::new();
    // SAFETY: always callable.
    *HOST.get_or_init(|| unsafe { libc::mach_host_self() })
}
