//! Finds the pages of a file that differ from kept leaves.
//!
//! Takes a source, and its earlier leaves. Returns ranges of pages that differ, and of those that
//! cannot be read. Must not know where leaves come from, or whether they are authentic: the caller
//! must check that by computing their root.

use std::io;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

use super::leaves::{buffer_for, hash_span};
use super::{ReadOptions, SPAN_LEN, VerityParams};
use steadfast_sys::source::ReadAt;

/// The most ranges of damaged pages, and of unreadable ones, that are listed; 16 MiB each. Further
/// pages are only counted.
const RANGES_MAX: usize = 1 << 20;

/// The result for the pages of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PageCheck {
    /// Pages that have a kept leaf.
    pub pages: u64,
    /// Pages that differ from their leaves, or are beyond the present end of the file: as ranges,
    /// in order.
    pub damaged: Vec<Range<u64>>,
    /// Number of damaged pages.
    pub damaged_pages: u64,
    /// Pages that could not be read: as ranges, in order.
    pub unreadable: Vec<Range<u64>>,
    /// Number of pages that could not be read.
    pub unreadable_pages: u64,
    /// Bytes of the file that were read.
    pub read_bytes: u64,
}

impl PageCheck {
    /// Returns whether every page is unchanged.
    pub fn is_intact(&self) -> bool {
        self.damaged_pages == 0 && self.unreadable_pages == 0
    }
}

/// Reads a source once and compares every page with its kept leaf.
///
/// Shape: `kept` has the leaves, one after the other. Pages without a leaf are not read.
///
/// # Errors
/// If the leaves cannot be read, or the reading was stopped. Pages of the source that cannot be
/// read are in the result.
pub fn check(
    source: &dyn ReadAt,
    kept: &dyn ReadAt,
    params: &VerityParams,
    options: &ReadOptions<'_>,
) -> io::Result<PageCheck> {
    let leaf_len = params.hash.digest_len() as u64;
    let pages = kept.len_bytes() / leaf_len;
    let len_bytes = source.len_bytes().min(pages * params.page_len as u64);
    let there = params.pages(len_bytes);
    let run = PageScan {
        source,
        kept,
        params,
        options,
        found: Mutex::default(),
        next: AtomicU64::new(0),
    };
    let spans = len_bytes.div_ceil(SPAN_LEN as u64);
    let outcome = thread::scope(|scope| {
        let others = (1..options.workers.get() as u64).take_while(|other| *other < spans);
        let threads: Vec<_> = others
            // If a thread cannot be started, the others do its work.
            .filter_map(|_| thread::Builder::new().spawn_scoped(scope, || run.work(len_bytes)).ok())
            .collect();
        let own = run.work(len_bytes);
        let failed = || io::Error::other("a thread failed");
        let others = threads.into_iter().map(|one| one.join().unwrap_or_else(|_| Err(failed())));
        others.fold(own, |before, now| before.and(now))
    });
    outcome?;
    let mut found = run.found.into_inner().unwrap_or_else(PoisonError::into_inner);
    if there < pages {
        note(&mut found.damaged, &mut found.damaged_pages, there..pages);
    }
    join(&mut found.damaged);
    join(&mut found.unreadable);
    Ok(PageCheck { pages, ..found })
}

/// One check under way.
struct PageScan<'a> {
    source: &'a dyn ReadAt,
    kept: &'a dyn ReadAt,
    params: &'a VerityParams,
    options: &'a ReadOptions<'a>,
    found: Mutex<PageCheck>,
    /// The next span that no thread has taken.
    next: AtomicU64,
}

impl PageScan<'_> {
    fn found(&self) -> MutexGuard<'_, PageCheck> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes spans until none are left.
    fn work(&self, len_bytes: u64) -> io::Result<()> {
        let (mut buffer, mut kept) = (buffer_for(len_bytes), Vec::new());
        loop {
            let start = self.next.fetch_add(1, Ordering::Relaxed) * SPAN_LEN as u64;
            if start >= len_bytes {
                return Ok(());
            }
            self.options.go_on()?;
            let page = start / self.params.page_len as u64;
            let len = (len_bytes - start).min(SPAN_LEN as u64) as usize;
            let leaf_len = self.params.hash.digest_len();
            kept.resize(len.div_ceil(self.params.page_len) * leaf_len, 0);
            self.kept.read_exact_at(&mut kept, page * leaf_len as u64)?;
            self.span(start, &mut buffer[..len], &kept);
        }
    }

    /// Reads and compares one span. If it cannot be read at once, it is read page by page.
    fn span(&self, start: u64, buffer: &mut [u8], kept: &[u8]) {
        let first = start / self.params.page_len as u64;
        if self.source.read_exact_at(buffer, start).is_ok() {
            return self.compare(first, buffer, kept);
        }
        let pages = buffer.chunks_mut(self.params.page_len);
        let leaves = kept.chunks(self.params.hash.digest_len());
        for (page, (bytes, leaf)) in (first..).zip(pages.zip(leaves)) {
            let offset = page * self.params.page_len as u64;
            match self.source.read_exact_at(bytes, offset) {
                Ok(()) => self.compare(page, bytes, leaf),
                // The file was longer when its length was read: it shrank meanwhile.
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                    let found = &mut *self.found();
                    note(&mut found.damaged, &mut found.damaged_pages, page..page + 1);
                }
                Err(_) => {
                    let found = &mut *self.found();
                    note(&mut found.unreadable, &mut found.unreadable_pages, page..page + 1);
                }
            }
        }
    }

    /// Hashes pages from `first` on and compares them with their leaves.
    fn compare(&self, first: u64, bytes: &[u8], kept: &[u8]) {
        let leaf_len = self.params.hash.digest_len();
        let leaves = hash_span(self.params, self.options.lanes, bytes);
        let found = &mut *self.found();
        found.read_bytes += bytes.len() as u64;
        if leaves == kept {
            return;
        }
        let pairs = leaves.chunks(leaf_len).zip(kept.chunks(leaf_len));
        for (page, (leaf, kept)) in (first..).zip(pairs) {
            if leaf != kept {
                note(&mut found.damaged, &mut found.damaged_pages, page..page + 1);
            }
        }
    }
}

/// Counts pages, and keeps their range while there is room.
fn note(ranges: &mut Vec<Range<u64>>, count: &mut u64, pages: Range<u64>) {
    *count += pages.end - pages.start;
    let has_room = ranges.len() < RANGES_MAX;
    match ranges.last_mut() {
        Some(last) if last.end == pages.start => last.end = pages.end,
        _ if has_room => ranges.push(pages),
        _ => {}
    }
}

/// Sorts ranges, because threads find them in any order, and joins adjacent ones.
fn join(ranges: &mut Vec<Range<u64>>) {
    ranges.sort_unstable_by_key(|range| range.start);
    ranges.dedup_by(|next, last| {
        let touch = next.start == last.end;
        if touch {
            last.end = next.end;
        }
        touch
    });
}
