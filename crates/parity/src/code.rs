//! The code: data pages in, parity pages out, run by run and in constant memory.
//!
//! Input: the pages of a set, one run of 128 shards at a time. Output: its parity pages. Does not
//! know files or the bytes of a parity file.
//!
//! `docs/formats/parity.md` defines the code in one sentence. It is that of Leopard, computed with
//! the transforms of `reed-solomon-simd`: the inverse transform of each run gives the coefficients
//! of a polynomial, their sum is transformed forwards. Adding is exclusive or. So the parity of two
//! sets of pages that do not overlap is the exclusive or of their parities.

use reed_solomon_simd::engine::{DefaultEngine, Engine as _, ShardsRefMut};

use crate::geometry::{COLUMNS, Geometry, PAGE_LEN, RUN_PAGES, RUN_SHARDS, SHARD_PAGES, column_of};

/// The transforms work on pieces of 64 bytes, and a page is a whole number of them.
pub(crate) type Piece = [u8; 64];

const PIECES: usize = PAGE_LEN / size_of::<Piece>();

/// Pieces of one column of a run.
const COLUMN_PIECES: usize = RUN_SHARDS as usize * PIECES;

/// The pages of one run, arranged by columns: 8 MiB. Several encoders can use it in turn.
pub struct RunBuffer {
    pieces: Vec<Piece>,
    /// Which pages were filled since the buffer was last encoded.
    filled: Vec<bool>,
}

impl RunBuffer {
    /// Makes an empty buffer.
    pub fn new() -> RunBuffer {
        RunBuffer {
            pieces: vec![[0; 64]; COLUMNS * COLUMN_PIECES],
            filled: vec![false; RUN_PAGES as usize],
        }
    }

    /// Returns a page of the run to write to. Pages that are not asked for count as zeros; one
    /// that is asked for may hold old bytes, so all of it must be written.
    ///
    /// # Panics
    /// If a run has no such page.
    pub fn page_mut(&mut self, page: u32) -> &mut [u8] {
        self.filled[page as usize] = true;
        self.pieces[pieces_of(page)].as_flattened_mut()
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

    /// Sets the pages to zero that were not filled, forgets which were, and returns the number of
    /// shards up to the last that was.
    fn complete(&mut self) -> usize {
        let last = self.filled.iter().rposition(|filled| *filled);
        for page in 0..RUN_PAGES {
            if !std::mem::take(&mut self.filled[page as usize]) {
                self.pieces[pieces_of(page)].fill([0; 64]);
            }
        }
        last.map_or(0, |page| page / SHARD_PAGES as usize + 1)
    }
}

impl Default for RunBuffer {
    fn default() -> RunBuffer {
        RunBuffer::new()
    }
}

/// Returns where a page of a run is in a buffer by columns.
fn pieces_of(page: u32) -> std::ops::Range<usize> {
    let start = column_of(page) * COLUMN_PIECES + (page / SHARD_PAGES) as usize * PIECES;
    start..start + PIECES
}

/// Computes the parity of one set: 8 MiB of memory, and the buffer of runs.
pub struct ParityEncoder {
    engine: DefaultEngine,
    geometry: Geometry,
    /// Of each column, the sum of the coefficients of its runs.
    sums: Vec<Piece>,
}

impl ParityEncoder {
    /// Starts a set.
    pub fn new(geometry: Geometry) -> ParityEncoder {
        let sums = vec![[0; 64]; COLUMNS * COLUMN_PIECES];
        ParityEncoder { engine: DefaultEngine::new(), geometry, sums }
    }

    /// Adds a run of pages and empties the buffer. Runs can come in any order; one that does not
    /// come counts as zeros.
    ///
    /// # Panics
    /// If the set has no such run.
    pub fn add(&mut self, run: u32, buffer: &mut RunBuffer) {
        assert!(run < self.geometry.runs(), "the set has {} runs", self.geometry.runs());
        let shards = buffer.complete();
        if shards == 0 {
            return;
        }
        // Parity has the points below those of the first run.
        let first_point = (run as usize + 1) * RUN_SHARDS as usize;
        let columns = buffer.pieces.chunks_exact_mut(COLUMN_PIECES);
        for (data, sums) in columns.zip(self.sums.chunks_exact_mut(COLUMN_PIECES)) {
            let mut pages = ShardsRefMut::new(RUN_SHARDS as usize, PIECES, data);
            self.engine.ifft(&mut pages, 0, RUN_SHARDS as usize, shards, first_point);
            xor(sums.as_flattened_mut(), data.as_flattened());
        }
    }

    /// Ends the set and returns its parity.
    pub fn finish(mut self) -> ParityPages {
        let shards = self.geometry.parity_shards() as usize;
        for sums in self.sums.chunks_exact_mut(COLUMN_PIECES) {
            let mut pages = ShardsRefMut::new(RUN_SHARDS as usize, PIECES, sums);
            self.engine.fft(&mut pages, 0, RUN_SHARDS as usize, shards, 0);
        }
        ParityPages { geometry: self.geometry, pieces: self.sums }
    }
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
