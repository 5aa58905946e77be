//! What Linux counts of a thread: its voluntary context switches, its time in the queue for a
//! processor, and the processor that it is on.

use std::fs::File;
use std::mem::MaybeUninit;
use std::os::unix::fs::FileExt as _;

thread_local! {
    /// The thread's statistics of the scheduler, opened once because opening takes five times as
    /// long as reading.
    static STATISTICS: Option<File> = File::open("/proc/thread-self/schedstat").ok();
}

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

/// Reads the second of the three numbers in `schedstat`.
pub(super) fn thread_queued_ns() -> Option<u64> {
    let mut text = [0; 96];
    // A destructor of another thread-local value may call this when the file is closed already.
    let read = STATISTICS.try_with(|file| file.as_ref()?.read_at(&mut text, 0).ok());
    let text = text.get(..read.ok()??)?;
    str::from_utf8(text).ok()?.split(' ').nth(1)?.parse().ok()
}

/// Asks without a system call, in some 20 ns.
pub(super) fn present_processor() -> Option<usize> {
    Some(rustix::thread::sched_getcpu())
}
