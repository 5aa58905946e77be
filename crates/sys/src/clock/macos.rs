//! What macOS counts of a thread.

/// The system counts for the whole process only.
pub(super) fn thread_sleeps() -> Option<u64> {
    None
}

/// The system counts for the whole process only (`ri_runnable_time`).
pub(super) fn thread_queued_ns() -> Option<u64> {
    None
}

/// The kernel numbers processors but does not say of which type each is.
pub(super) fn present_processor() -> Option<usize> {
    None
}
