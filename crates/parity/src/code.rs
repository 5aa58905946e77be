//! The code: data pages in, parity pages out, run by run and in constant memory.
//!
//! Input: the pages of a set, one run of 128 shards at a time. Output: its parity pages. Does not
//! know files or the bytes of a parity file.
//!
//! `docs/formats/parity.md` defines the code in one sentence. It is that of Leopard, computed with
//! the transforms of `reed-solomon-simd`: the inverse transform of each run gives the coefficients
//! of a polynomial, their sum is transformed forwards. Adding is exclusive or. So the parity of two
//! sets of pages that do not overlap is the exclusive or of their parities.

use std::ops::Range;

use reed_solomon_simd::engine::{DefaultEngine, Engine as _, ShardsRefMut};

use crate::geometry::{
    COLUMNS, Geometry, PAGE_LEN, RUN_LEN, RUN_PAGES, RUN_SHARDS, SHARD_PAGES, column_of,
    page_in_column,
};

/// The transforms work on pieces of 64 bytes, and a page is a whole number of them.
pub(crate) type Piece = [u8; 64];

const PIECES: usize = PAGE_LEN / size_of::<Piece>();

/// Pieces of one column of a run.
const COLUMN_PIECES: usize = RUN_SHARDS as usize * PIECES;

/// Pieces of each page of a column that are transformed at a time. A transform passes over its
/// pieces four times, and those of 128 pages, 64 KiB, stay in the second-level cache meanwhile.
const SLICE_PIECES: usize = 8;

/// The same pieces of each page of a column. A load or store that crosses a line of the cache takes
/// twice as long.
#[repr(align(64))]
struct Slice([Piece; RUN_SHARDS as usize * SLICE_PIECES]);

/// The pages of one run, in order: 8 MiB. Several encoders can use it in turn. In memory, each page
/// begins at a multiple of its length, so that files can be read into it past the page cache.
pub struct RunBuffer {
    bytes: Vec<u8>,
    /// Where the first page begins.
    start: usize,
    /// Which pages were filled since the buffer was last encoded.
    filled: Vec<bool>,
}

impl RunBuffer {
    /// Makes an empty buffer.
    pub fn new() -> RunBuffer {
        let bytes = vec![0; RUN_LEN as usize + PAGE_LEN - 1];
        let start = bytes.as_ptr().addr().wrapping_neg() % PAGE_LEN;
        RunBuffer { bytes, start, filled: vec![false; RUN_PAGES as usize] }
    }

    /// Returns a page of the run to write to. Pages that are not asked for count as zeros; one
    /// that is asked for may hold old bytes, so all of it must be written.
    ///
    /// # Panics
    /// If a run has no such page.
    pub fn page_mut(&mut self, page: u32) -> &mut [u8] {
        self.set_filled(page..page + 1);
        self.room(page..page + 1)
    }

    /// Returns pages of the run to write to. They count as zeros until [`RunBuffer::set_filled`].
    ///
    /// # Panics
    /// If a run has no such page.
    pub fn room(&mut self, pages: Range<u32>) -> &mut [u8] {
        let len = (pages.end - pages.start) as usize * PAGE_LEN;
        &mut self.bytes[self.start + pages.start as usize * PAGE_LEN..][..len]
    }

    /// Says that all bytes of some pages are written.
    ///
    /// # Panics
    /// If a run has no such page.
    pub fn set_filled(&mut self, pages: Range<u32>) {
        self.filled[pages.start as usize..pages.end as usize].fill(true);
    }

    /// Fills a page; bytes that the page has beyond those given become zero.
    ///
    /// # Panics
    /// If a run has no such page, or there are more bytes than one has.
    pub fn fill(&mut self, page: u32, bytes: &[u8]) {
        let (start, rest) = self.page_mut(page).split_at_mut(bytes.len());
        start.copy_from_slice(bytes);
        rest.fill(0);
    }

    /// Returns a page that was filled.
    fn page(&self, page: u32) -> Option<&[Piece]> {
        let start = self.start + page as usize * PAGE_LEN;
        self.filled[page as usize].then(|| self.bytes[start..][..PAGE_LEN].as_chunks().0)
    }

    /// Returns the number of shards up to the last with a page that was filled.
    fn shards(&self) -> usize {
        let last = self.filled.iter().rposition(|filled| *filled);
        last.map_or(0, |page| page / SHARD_PAGES as usize + 1)
    }
}

impl Default for RunBuffer {
    fn default() -> RunBuffer {
        RunBuffer::new()
    }
}

/// Returns where a page of a run is in a buffer by columns.
fn pieces_of(page: u32) -> Range<usize> {
    let start = column_of(page) * COLUMN_PIECES + (page / SHARD_PAGES) as usize * PIECES;
    start..start + PIECES
}

/// Computes the parity of one set: 8 MiB of memory, and the buffer of runs.
pub struct ParityEncoder {
    engine: DefaultEngine,
    geometry: Geometry,
    /// Of each column, the sum of the coefficients of its runs.
    sums: Vec<Piece>,
    /// What is being transformed.
    slice: Box<Slice>,
}

impl ParityEncoder {
    /// Starts a set.
    pub fn new(geometry: Geometry) -> ParityEncoder {
        let sums = vec![[0; 64]; COLUMNS * COLUMN_PIECES];
        let slice = Box::new(Slice([[0; 64]; RUN_SHARDS as usize * SLICE_PIECES]));
        ParityEncoder { engine: DefaultEngine::new(), geometry, sums, slice }
    }

    /// Adds a run of pages and empties the buffer. Runs can come in any order; one that does not
    /// come counts as zeros.
    ///
    /// # Panics
    /// If the set has no such run.
    pub fn add(&mut self, run: u32, buffer: &mut RunBuffer) {
        assert!(run < self.geometry.runs(), "the set has {} runs", self.geometry.runs());
        let shards = buffer.shards();
        if shards == 0 {
            return;
        }
        // Parity has the points below those of the first run.
        let first_point = (run as usize + 1) * RUN_SHARDS as usize;
        let slice = &mut self.slice.0;
        for (column, start) in slices() {
            for (shard, pieces) in (0..).zip(slice.chunks_exact_mut(SLICE_PIECES)) {
                match buffer.page(page_in_column(shard, column)) {
                    Some(page) => pieces.copy_from_slice(&page[start..][..SLICE_PIECES]),
                    None => pieces.fill([0; 64]),
                }
            }
            let mut pages = ShardsRefMut::new(RUN_SHARDS as usize, SLICE_PIECES, slice);
            self.engine.ifft(&mut pages, 0, RUN_SHARDS as usize, shards, first_point);
            let sums = self.sums[column * COLUMN_PIECES..].chunks_exact_mut(PIECES);
            for (sums, pieces) in sums.zip(slice.chunks_exact(SLICE_PIECES)) {
                xor(sums[start..][..SLICE_PIECES].as_flattened_mut(), pieces.as_flattened());
            }
        }
        buffer.filled.fill(false);
    }

    /// Ends the set and returns its parity.
    pub fn finish(mut self) -> ParityPages {
        let shards = self.geometry.parity_shards() as usize;
        let slice = &mut self.slice.0;
        for (column, start) in slices() {
            let sums = &mut self.sums[column * COLUMN_PIECES..][..COLUMN_PIECES];
            for (sums, pieces) in
                sums.chunks_exact(PIECES).zip(slice.chunks_exact_mut(SLICE_PIECES))
            {
                pieces.copy_from_slice(&sums[start..][..SLICE_PIECES]);
            }
            let mut pages = ShardsRefMut::new(RUN_SHARDS as usize, SLICE_PIECES, slice);
            self.engine.fft(&mut pages, 0, RUN_SHARDS as usize, shards, 0);
            for (sums, pieces) in
                sums.chunks_exact_mut(PIECES).zip(slice.chunks_exact(SLICE_PIECES))
            {
                sums[start..][..SLICE_PIECES].copy_from_slice(pieces);
            }
        }
        ParityPages { geometry: self.geometry, pieces: self.sums }
    }
}

/// Returns the columns, and of each where the slices begin in a page.
fn slices() -> impl Iterator<Item = (usize, usize)> {
    (0..COLUMNS).flat_map(|column| (0..PIECES).step_by(SLICE_PIECES).map(move |at| (column, at)))
}

/// The parity pages of one set.
pub struct ParityPages {
    geometry: Geometry,
    pieces: Vec<Piece>,
}

impl ParityPages {
    /// Makes the parity of a set of zeros, to which stored pages can be added.
    pub fn zeros(geometry: Geometry) -> ParityPages {
        ParityPages { geometry, pieces: vec![[0; 64]; COLUMNS * COLUMN_PIECES] }
    }

    /// Returns the geometry of the set.
    pub fn geometry(&self) -> Geometry {
        self.geometry
    }

    /// Returns a parity page.
    ///
    /// # Panics
    /// If the set has no such parity page.
    pub fn page(&self, page: u32) -> &[u8] {
        assert!(page < self.geometry.parity_pages(), "the set has fewer parity pages");
        self.pieces[pieces_of(page)].as_flattened()
    }

    /// Adds a page of other parity to one of this. So pages that are added to a set need not meet
    /// those that are in it: the parity of the new ones alone is added to what is stored.
    ///
    /// # Panics
    /// If the set has no such parity page, or the other one is of another length.
    pub fn add_page(&mut self, page: u32, other: &[u8]) {
        assert!(page < self.geometry.parity_pages(), "the set has fewer parity pages");
        assert_eq!(other.len(), PAGE_LEN, "length of a page");
        xor(self.pieces[pieces_of(page)].as_flattened_mut(), other);
    }
}

fn xor(sums: &mut [u8], data: &[u8]) {
    for (sum, byte) in sums.iter_mut().zip(data) {
        *sum ^= byte;
    }
}
