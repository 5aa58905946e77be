//! What macOS counts of one thread.

/// The system counts for the whole process only.
pub(super) fn thread_sleeps() -> Option<u64> {
    None
}
