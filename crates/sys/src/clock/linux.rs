//! Voluntary context switches of a thread on Linux, and the processor that it is on.

use std::mem::MaybeUninit;

/// Counts voluntary context switches.
#[expect(unsafe_code, reason = "rustix has no form of getrusage")]
pub(super) fn thread_sleeps() -> Option<u64> {
    let mut usage = MaybeUninit::<libc::rusage>::uninit();
    // SAFETY: the pointer is to a whole `rusage`, which the call fills and does not keep.
    let code = unsafe { libc::getrusage(libc::RUSAGE_THREAD, usage.as_mut_ptr()) };
    if code != 0 {
        return None;
    }
    // SAFETY: the call above succeeded, so it filled the whole structure.
    let usage = unsafe { usage.assume_init() };
    u64::try_from(usage.ru_nvcsw).ok()
}

/// Asks without a system call, in some 20 ns.
pub(super) fn present_processor() -> Option<usize> {
    Some(rustix::thread::sched_getcpu())
}
