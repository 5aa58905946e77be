//! The bytes of a set on their way to its parity.

use steadfast_digest::Lanes;
use steadfast_parity::{
    Geometry, PAGE_LEN, PageMark, ParityEncoder, ParityPages, RUN_PAGES, RunBuffer,
};

/// Bytes that are marked at a time: a whole number of pages, and of these a run has a whole number.
pub(super) const CHUNK_LEN: usize = 128 << 10;

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

    /// Takes bytes at a place of the set, which is not before the last ones. Zeros are between.
    pub(super) fn append(&mut self, place: u64, mut bytes: &[u8], buffer: &mut RunBuffer) {
        while self.end < place {
            let len = (place - self.end).min((CHUNK_LEN - self.chunk.len()) as u64);
            self.chunk.resize(self.chunk.len() + len as usize, 0);
            self.advance(len, buffer);
        }
        while !bytes.is_empty() {
            let (now, later) = bytes.split_at(bytes.len().min(CHUNK_LEN - self.chunk.len()));
            self.chunk.extend_from_slice(now);
            self.advance(now.len() as u64, buffer);
            bytes = later;
        }
    }

    fn advance(&mut self, len: u64, buffer: &mut RunBuffer) {
        self.end += len;
        if self.chunk.len() == CHUNK_LEN {
            self.flush(buffer);
        }
    }

    /// Marks the pages of the chunk and puts them into the run, which is encoded when it is full.
    fn flush(&mut self, buffer: &mut RunBuffer) {
        let first = self.marks.len() as u32;
        self.marks.extend(PageMark::of_all(self.lanes, &self.chunk));
        for (page, bytes) in (first..).zip(self.chunk.chunks(PAGE_LEN)) {
            buffer.fill(page % RUN_PAGES, bytes);
        }
        self.chunk.clear();
        let pages = self.marks.len() as u32;
        if pages > first && pages.is_multiple_of(RUN_PAGES) {
            self.encoder.add(pages / RUN_PAGES - 1, buffer);
        }
    }

    /// Ends the set: fills what is left with zeros, and returns the marks and the parity.
    pub(super) fn finish(mut self, buffer: &mut RunBuffer) -> (Vec<PageMark>, ParityPages) {
        let end = u64::from(self.geometry.pages()) * PAGE_LEN as u64;
        self.append(end, &[], buffer);
        self.flush(buffer);
        let pages = self.marks.len() as u32;
        if !pages.is_multiple_of(RUN_PAGES) {
            self.encoder.add(pages / RUN_PAGES, buffer);
        }
        (self.marks, self.encoder.finish())
    }
}
