//! The bytes of a set on their way to its parity.

use std::ops::Range;

use steadfast_digest::{AlgorithmHasher, Lanes};
use steadfast_parity::{
    Geometry, PAGE_LEN, PageMark, ParityEncoder, ParityPages, RUN_LEN, RUN_PAGES, RunBuffer,
};

/// Bytes that are marked at a time: a whole number of pages, and of these a run has a whole number.
pub(super) const CHUNK_LEN: usize = 128 << 10;

/// So many bytes are read into the run and marked there, together with their file's tag. Fewer are
/// collected first, because lanes want many pages at a time.
pub(super) const DIRECT_LEN_MIN: usize = 16 * PAGE_LEN;

/// Takes the bytes of a set in order and encodes them: 8 MiB of memory, and the buffer of runs,
/// which several streams can use in turn, a run each.
pub(super) struct SetStream {
    encoder: ParityEncoder,
    geometry: Geometry,
    lanes: Lanes,
    marks: Vec<PageMark>,
    chunk: Vec<u8>,
    /// The place in the set after the last byte that was taken.
    end: u64,
}

impl SetStream {
    /// Starts a set.
    pub(super) fn new(geometry: Geometry, lanes: Lanes) -> SetStream {
        let marks = Vec::with_capacity(geometry.pages() as usize);
        let chunk = Vec::with_capacity(CHUNK_LEN);
        SetStream { encoder: ParityEncoder::new(geometry), geometry, lanes, marks, chunk, end: 0 }
    }

    /// Takes bytes at a place of the set, which is not before the last ones, and adds them to the
    /// tag of their file. Zeros are between.
    pub(super) fn append(
        &mut self,
        place: u64,
        mut bytes: &[u8],
        tag: &mut AlgorithmHasher,
        buffer: &mut RunBuffer,
    ) {
        self.fill_to(place, buffer);
        while !bytes.is_empty() {
            let (now, later) = bytes.split_at(bytes.len().min(self.room()));
            tag.update(now);
            self.chunk.extend_from_slice(now);
            self.advance(now.len(), buffer);
            bytes = later;
        }
    }

    /// Returns room in the run for whole pages at a place of the set, which is not before the last
    /// bytes; `None` if no page begins there. What is written there goes to
    /// [`SetStream::append_first_pages`].
    pub(super) fn room_for_pages<'b>(
        &mut self,
        place: u64,
        buffer: &'b mut RunBuffer,
    ) -> Option<&'b mut [u8]> {
        self.fill_to(place, buffer);
        if !self.chunk.len().is_multiple_of(PAGE_LEN) {
            return None;
        }
        self.flush(buffer);
        let pages = (self.run_left().min(CHUNK_LEN) / PAGE_LEN) as u32;
        let first = self.marks.len() as u32 % RUN_PAGES;
        Some(buffer.room(first..first + pages))
    }

    /// Takes the first bytes of the room, and adds them to the tag of their file.
    pub(super) fn append_first_pages(
        &mut self,
        len: usize,
        tag: &mut AlgorithmHasher,
        buffer: &mut RunBuffer,
    ) {
        let first = self.marks.len() as u32 % RUN_PAGES;
        let whole = first..first + (len / PAGE_LEN) as u32;
        let bytes = &buffer.room(first..first + len.div_ceil(PAGE_LEN) as u32)[..len];
        let (pages, rest) = bytes.split_at(len / PAGE_LEN * PAGE_LEN);
        self.marks.extend(hash_and_mark(tag, self.lanes, pages));
        tag.update(rest);
        self.chunk.extend_from_slice(rest);
        self.end += len as u64;
        buffer.set_filled(whole.clone());
        self.encode_full(whole, buffer);
    }

    /// Takes zeros up to a place of the set.
    fn fill_to(&mut self, place: u64, buffer: &mut RunBuffer) {
        while self.end < place {
            let len = (place - self.end).min(self.room() as u64) as usize;
            self.chunk.resize(self.chunk.len() + len, 0);
            self.advance(len, buffer);
        }
    }

    /// Returns how many bytes the run has room for.
    fn run_left(&self) -> usize {
        (RUN_LEN - self.end % RUN_LEN) as usize
    }

    /// Returns how many bytes the chunk has room for. It does not go beyond its run.
    fn room(&self) -> usize {
        (CHUNK_LEN - self.chunk.len()).min(self.run_left())
    }

    fn advance(&mut self, len: usize, buffer: &mut RunBuffer) {
        self.end += len as u64;
        if self.chunk.len() == CHUNK_LEN || self.end.is_multiple_of(RUN_LEN) {
            self.flush(buffer);
        }
    }

    /// Marks the pages of the chunk and puts them into the run.
    fn flush(&mut self, buffer: &mut RunBuffer) {
        let mut chunk = std::mem::take(&mut self.chunk);
        self.take(PageMark::of_all(self.lanes, &chunk, None), &chunk, buffer);
        chunk.clear();
        self.chunk = chunk;
    }

    /// Puts pages into the run, which is encoded when it is full.
    fn take(&mut self, marks: Vec<PageMark>, pages: &[u8], buffer: &mut RunBuffer) {
        let first = self.marks.len() as u32;
        self.marks.extend(marks);
        for (page, bytes) in (first..).zip(pages.chunks(PAGE_LEN)) {
            buffer.fill(page % RUN_PAGES, bytes);
        }
        self.encode_full(first..self.marks.len() as u32, buffer);
    }

    /// Encodes the run if the pages that were added fill it.
    fn encode_full(&mut self, added: Range<u32>, buffer: &mut RunBuffer) {
        let pages = self.marks.len() as u32;
        if !added.is_empty() && pages.is_multiple_of(RUN_PAGES) {
            self.encoder.add(pages / RUN_PAGES - 1, buffer);
        }
    }

    /// Ends the set: fills what is left with zeros, and returns the marks and the parity.
    pub(super) fn finish(mut self, buffer: &mut RunBuffer) -> (Vec<PageMark>, ParityPages) {
        let end = u64::from(self.geometry.pages()) * PAGE_LEN as u64;
        self.fill_to(end, buffer);
        self.flush(buffer);
        let pages = self.marks.len() as u32;
        if !pages.is_multiple_of(RUN_PAGES) {
            self.encoder.add(pages / RUN_PAGES, buffer);
        }
        (self.marks, self.encoder.finish())
    }
}

/// Adds whole pages to the tag of their file, and returns the marks of the pages. SHA-256 of both
/// is computed at once, in lanes.
fn hash_and_mark(tag: &mut AlgorithmHasher, lanes: Lanes, pages: &[u8]) -> Vec<PageMark> {
    if let Some(hasher) = tag.as_sha256() {
        return PageMark::of_all(lanes, pages, Some(hasher));
    }
    tag.update(pages);
    PageMark::of_all(lanes, pages, None)
}
