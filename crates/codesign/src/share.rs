//! Shares items of work among threads.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use steadfast_sys::file::AlignedBuffer;

/// Bytes read and hashed at a time: a multiple of every page of code, and small enough to stay in a
/// second-level cache.
pub(crate) const CHUNK_LEN: usize = 256 << 10;

/// Calls `work` once for each item, in this thread and in others. Each thread has its own buffer of
/// [`CHUNK_LEN`] bytes, so the memory does not depend on the items.
///
/// The buffer is aligned: some processors copy at half the speed to memory that begins a few bytes
/// after a `vm_page` boundary, as large vectors do.
pub(crate) fn share<T: Sync>(items: &[T], workers: usize, work: impl Fn(&T, &mut [u8]) + Sync) {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut buffer = AlignedBuffer::new(CHUNK_LEN);
        while let Some(item) = items.get(next.fetch_add(1, Ordering::Relaxed)) {
            work(item, &mut buffer);
        }
    };
    thread::scope(|scope| {
        for _ in 1..workers.min(items.len()) {
            // If a thread cannot be started, the others do its work.
            let _ = thread::Builder::new().spawn_scoped(scope, work);
        }
        work();
    });
}
