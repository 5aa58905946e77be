//! Reads the sealed bytes once and hashes their pages for every directory, in several threads.
//!
//! Each thread has one buffer, so memory does not depend on the file. A chunk is hashed by the
//! thread that read it, while it is in that core's cache.

use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use steadfast_digest::{Algorithm, AlgorithmHasher, Digest, Lanes, LastPage, PageHasher};
use steadfast_sys::file::AlignedBuffer;

use super::plan::join;
use super::{PageCheckOptions, Sealed, lanes};
use crate::directory::CodeDirectory;
use crate::share::{CHUNK_LEN, share};

/// The results for the pages of one directory.
#[derive(Clone, Debug, Default)]
pub(super) struct DirectoryPages {
    /// How many pages were hashed and compared.
    pub(super) checked: u64,
    /// Pages with other digests, as ranges in order.
    pub(super) damaged: Vec<Range<u64>>,
    /// Pages that could not be read, as ranges in order.
    pub(super) unreadable: Vec<Range<u64>>,
}

/// The results for the pages of all directories.
#[derive(Debug)]
pub(super) struct PageResults {
    pub(super) directories: Vec<DirectoryPages>,
    pub(super) read_bytes: u64,
}

/// Directories whose pages have the same digests.
struct PageGroup {
    algorithm: Algorithm,
    page_len: u64,
    limit: u64,
    members: Vec<usize>,
}

/// Reads ranges of the part and compares their pages with every directory.
pub(super) fn check(
    sealed: &Sealed<'_>,
    wanted: &[Range<u64>],
    options: &PageCheckOptions,
) -> PageResults {
    let chunks: Vec<Range<u64>> = wanted.iter().flat_map(chunks_of).collect();
    let len_bytes = wanted.iter().map(|range| range.end - range.start).sum();
    let run = PageComparison {
        sealed,
        groups: groups(sealed),
        lanes: options.lanes.unwrap_or_else(|| lanes::lanes_for(len_bytes)),
        found: Mutex::new(vec![DirectoryPages::default(); sealed.signature.directories().len()]),
        read_bytes: AtomicU64::new(0),
    };
    if !run.groups.is_empty() {
        let workers = options.workers_for(len_bytes).get();
        share(&chunks, workers, |chunk, buffer| run.chunk(chunk.clone(), buffer));
    }
    run.whole_digests(wanted);
    let mut directories = run.found.into_inner().expect("no thread panicked");
    for found in &mut directories {
        join(&mut found.damaged);
        join(&mut found.unreadable);
    }
    PageResults { directories, read_bytes: run.read_bytes.into_inner() }
}

/// Cuts a range at multiples of the chunk's length.
fn chunks_of(range: &Range<u64>) -> impl Iterator<Item = Range<u64>> + use<> {
    const LEN: u64 = CHUNK_LEN as u64;
    let Range { start, end } = *range;
    let chunks = start / LEN..end.div_ceil(LEN);
    chunks.map(move |chunk| (chunk * LEN).max(start)..((chunk + 1) * LEN).min(end))
}

/// Groups directories whose pages have the same digests. Those that cannot be checked page by page
/// are in no group.
fn groups(sealed: &Sealed<'_>) -> Vec<PageGroup> {
    let mut groups: Vec<PageGroup> = Vec::new();
    for (index, directory) in sealed.signature.directories().iter().enumerate() {
        let Some(page_len) = directory.page_len().filter(|_| directory.scatter().is_empty()) else {
            continue;
        };
        let (algorithm, limit) = (directory.hash_type().algorithm(), directory.code_limit());
        let alike = groups.iter_mut().find(|group| {
            (group.algorithm, group.page_len, group.limit) == (algorithm, page_len, limit)
        });
        match alike {
            Some(group) => group.members.push(index),
            None => groups.push(PageGroup { algorithm, page_len, limit, members: vec![index] }),
        }
    }
    groups
}

/// The state of one check.
struct PageComparison<'a> {
    sealed: &'a Sealed<'a>,
    groups: Vec<PageGroup>,
    lanes: Lanes,
    found: Mutex<Vec<DirectoryPages>>,
    read_bytes: AtomicU64,
}

impl PageComparison<'_> {
    /// Reads and checks one chunk. If that fails, it is read page by page.
    fn chunk(&self, range: Range<u64>, buffer: &mut [u8]) {
        let buffer = &mut buffer[..(range.end - range.start) as usize];
        if self.read(range.start, buffer) {
            for group in &self.groups {
                self.compare(group, range.start, buffer);
            }
            return;
        }
        for group in &self.groups {
            let first = range.start / group.page_len;
            for page in first..range.end.min(group.limit).div_ceil(group.page_len) {
                let start = page * group.page_len;
                let end = (start + group.page_len).min(range.end).min(group.limit);
                let at = (start - range.start) as usize;
                let bytes = &mut buffer[at..at + (end - start) as usize];
                if self.read(start, bytes) {
                    self.compare(group, start, bytes);
                } else {
                    let mut found = self.found.lock().expect("no thread panicked");
                    for member in &group.members {
                        found[*member].unreadable.push(page..page + 1);
                    }
                }
            }
        }
    }

    fn read(&self, start: u64, buffer: &mut [u8]) -> bool {
        let read = self.sealed.source.read_exact_at(buffer, self.sealed.offset + start);
        if read.is_ok() {
            self.read_bytes.fetch_add(buffer.len() as u64, Ordering::Relaxed);
        }
        read.is_ok()
    }

    /// Hashes the pages in some bytes of the part, and compares them with a group's directories.
    fn compare(&self, group: &PageGroup, start: u64, bytes: &[u8]) {
        let len = (group.limit.saturating_sub(start) as usize).min(bytes.len());
        let directories = self.sealed.signature.directories();
        let members: Vec<&CodeDirectory> =
            group.members.iter().map(|member| &directories[*member]).collect();
        let mut damaged: Vec<(usize, u64)> = Vec::new();
        let mut checked = vec![0; members.len()];
        let mut page = start / group.page_len;
        let mut take = |digest: &[u8]| {
            for (place, directory) in members.iter().enumerate() {
                // Pages without a digest are reported by `find_in_form`.
                if let Some(stored) = directory.page_digest(page) {
                    checked[place] += 1;
                    if stored != &digest[..stored.len()] {
                        damaged.push((place, page));
                    }
                }
            }
            page += 1;
        };
        hash_pages(group, self.lanes, &bytes[..len], &mut take);
        let mut found = self.found.lock().expect("no thread panicked");
        for (place, count) in checked.into_iter().enumerate() {
            found[group.members[place]].checked += count;
        }
        for (place, page) in damaged {
            found[group.members[place]].push_damaged(page);
        }
    }

    /// Checks directories with one digest over everything; they can only be checked as a whole.
    fn whole_digests(&self, wanted: &[Range<u64>]) {
        for (index, directory) in self.sealed.signature.directories().iter().enumerate() {
            let unpaged = directory.page_len().is_none() && directory.scatter().is_empty();
            let limit = directory.code_limit();
            let Some(stored) = directory.page_digest(0).filter(|_| unpaged) else {
                continue;
            };
            if limit > self.sealed.len_bytes || !matches!(wanted, [all] if all.end >= limit) {
                continue;
            }
            let digest = self.hash_whole(directory, limit);
            let mut found = self.found.lock().expect("no thread panicked");
            match digest {
                None => found[index].unreadable.push(0..1),
                Some(digest) => {
                    found[index].checked = 1;
                    if &digest.as_bytes()[..stored.len()] != stored {
                        found[index].push_damaged(0);
                    }
                }
            }
        }
    }

    fn hash_whole(&self, directory: &CodeDirectory, limit: u64) -> Option<Digest> {
        let mut hasher = AlgorithmHasher::new(directory.hash_type().algorithm());
        let mut buffer = AlignedBuffer::new((CHUNK_LEN as u64).min(limit) as usize);
        for range in chunks_of(&(0..limit)) {
            let bytes = &mut buffer[..(range.end - range.start) as usize];
            if !self.read(range.start, bytes) {
                return None;
            }
            hasher.update(bytes);
        }
        Some(hasher.finalize())
    }
}

impl DirectoryPages {
    fn push_damaged(&mut self, page: u64) {
        match self.damaged.last_mut() {
            Some(last) if last.end == page => last.end += 1,
            _ => self.damaged.push(page..page + 1),
        }
    }
}

/// Hashes the pages of some bytes that begin with a page; gives each digest to `take`, in order.
fn hash_pages(group: &PageGroup, lanes: Lanes, bytes: &[u8], take: &mut dyn FnMut(&[u8])) {
    let page_len = group.page_len as usize;
    if group.algorithm == Algorithm::Sha256 {
        let page_len = NonZeroUsize::new(page_len).expect("a page has bytes");
        let mut hasher = PageHasher::new(lanes, page_len, LastPage::AsIs);
        hasher.update(bytes, |digest| take(digest.as_bytes()));
        hasher.finish(|digest| take(digest.as_bytes()));
        return;
    }
    for page in bytes.chunks(page_len) {
        let mut hasher = AlgorithmHasher::new(group.algorithm);
        hasher.update(page);
        take(hasher.finalize().as_bytes());
    }
}
