//! What can be rebuilt of a set of which pages are lost, and rebuilding it, column by column.
//!
//! Input: the pages that are left, each proved by its mark. Output: the others, proved likewise.

use reed_solomon_simd::engine::DefaultEngine;
use reed_solomon_simd::rate::{HighRateDecoder, RateDecoder};

use crate::error::{Error, ErrorKind};
use crate::format::SetIndex;
use crate::geometry::{COLUMNS, Geometry, PAGE_LEN, RUN_SHARDS, SHARD_PAGES, column_of};

/// The pages of a set that are known to be lost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Losses {
    geometry: Geometry,
    data: Vec<bool>,
    parity: Vec<bool>,
}

impl Losses {
    /// Starts with a set of which nothing is lost.
    pub fn new(geometry: Geometry) -> Losses {
        let data = vec![false; geometry.pages() as usize];
        let parity = vec![false; geometry.parity_pages() as usize];
        Losses { geometry, data, parity }
    }

    /// Notes that a page is lost.
    ///
    /// # Panics
    /// If the set has no such page.
    pub fn lose(&mut self, page: PageAt) {
        match page {
            PageAt::Data(page) => self.data[page as usize] = true,
            PageAt::Parity(page) => self.parity[page as usize] = true,
        }
    }

    /// Says whether a page is lost.
    ///
    /// # Panics
    /// If the set has no such page.
    pub fn is_lost(&self, page: PageAt) -> bool {
        match page {
            PageAt::Data(page) => self.data[page as usize],
            PageAt::Parity(page) => self.parity[page as usize],
        }
    }

    /// Returns the lost data pages of a column, in order.
    pub fn lost_pages(&self, column: usize) -> impl Iterator<Item = u32> {
        self.geometry.column_pages(column).filter(|page| self.data[*page as usize])
    }

    /// Returns how many more pages, of data or parity, a column can lose; negative if so many are
    /// lost already that its data pages cannot be rebuilt.
    pub fn pages_left(&self, column: usize) -> i64 {
        let parity = self.geometry.column_parity(column).filter(|page| self.parity[*page as usize]);
        let lost = self.lost_pages(column).count() + parity.count();
        i64::from(self.geometry.parity_shards()) - lost as i64
    }

    /// Returns how many more pages the weakest column can lose.
    pub fn strength(&self) -> i64 {
        (0..COLUMNS).map(|column| self.pages_left(column)).min().unwrap_or(0)
    }

    /// Says whether a data page is there or can be rebuilt.
    ///
    /// # Panics
    /// If the set has no such page.
    pub fn can_have(&self, page: u32) -> bool {
        !self.data[page as usize] || self.pages_left(column_of(page)) >= 0
    }
}

/// A page of a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PageAt {
    /// A data page, by its number.
    Data(u32),
    /// A parity page, by its number.
    Parity(u32),
}

/// The data pages of a column that were lost, rebuilt.
pub type Rebuilt = Vec<(u32, Vec<u8>)>;

/// Rebuilds columns. Memory: two to four pages for each shard of the set.
pub struct ColumnDecoder {
    geometry: Geometry,
    decoder: HighRateDecoder<DefaultEngine>,
}

impl ColumnDecoder {
    /// Prepares for sets of a geometry.
    pub fn new(geometry: Geometry) -> ColumnDecoder {
        // The code is that of a full run of parity shards, of which the set has the first ones.
        let (data, parity) = (geometry.data_shards() as usize, RUN_SHARDS as usize);
        let decoder = HighRateDecoder::new(data, parity, PAGE_LEN, DefaultEngine::new(), None);
        let decoder = decoder.expect("every geometry is one of the code");
        ColumnDecoder { geometry, decoder }
    }

    /// Rebuilds the lost data pages of a column.
    ///
    /// `fetch` reads a page into the buffer and returns whether it could. It is asked for every
    /// data page of the column, then for parity pages until there are enough. A page that does not
    /// have its mark counts as lost, so nothing needs to be known of the losses before.
    ///
    /// # Errors
    /// `TooManyLost` if the pages that are left do not suffice; `Damaged` if a rebuilt page does
    /// not have its mark. Nothing is returned then.
    ///
    /// # Panics
    /// If the index is of another geometry.
    pub fn rebuild(
        &mut self,
        index: &SetIndex,
        column: usize,
        fetch: &mut dyn FnMut(PageAt, &mut [u8]) -> bool,
    ) -> Result<Rebuilt, Error> {
        let geometry = self.geometry;
        assert_eq!(index.geometry(), geometry, "geometry of the set");
        let shards = geometry.data_shards() as usize;
        self.decoder.reset(shards, RUN_SHARDS as usize, PAGE_LEN).map_err(|e| internal(&e))?;
        let mut bytes = vec![0; PAGE_LEN];
        let mut lost = Vec::new();
        for page in geometry.column_pages(column) {
            let has = fetch(PageAt::Data(page), &mut bytes) && index.is_page(page, &bytes);
            if !has {
                lost.push(page);
                continue;
            }
            let shard = (page / SHARD_PAGES) as usize;
            self.decoder.add_original_shard(shard, &bytes).map_err(|e| internal(&e))?;
        }
        if lost.is_empty() {
            return Ok(Vec::new());
        }
        if geometry.column_pages(column).count() < shards {
            // The last shard has no page in this column, which counts as zeros.
            bytes.fill(0);
            self.decoder.add_original_shard(shards - 1, &bytes).map_err(|e| internal(&e))?;
        }
        self.add_parity(index, column, lost.len(), fetch)?;
        let decoded = self.decoder.decode().map_err(|e| internal(&e))?;
        let mut rebuilt = Vec::with_capacity(lost.len());
        for page in lost {
            let bytes = decoded.restored_original((page / SHARD_PAGES) as usize);
            let bytes = bytes.filter(|bytes| index.is_page(page, bytes)).ok_or_else(|| {
                let message = format!("page {page}, rebuilt, does not have its digest");
                Error::new(ErrorKind::Damaged, message)
            })?;
            rebuilt.push((page, bytes.to_vec()));
        }
        Ok(rebuilt)
    }

    /// Adds as many parity pages as there are lost data pages.
    fn add_parity(
        &mut self,
        index: &SetIndex,
        column: usize,
        lost: usize,
        fetch: &mut dyn FnMut(PageAt, &mut [u8]) -> bool,
    ) -> Result<(), Error> {
        let mut bytes = vec![0; PAGE_LEN];
        let mut added = 0;
        for page in self.geometry.column_parity(column) {
            if added == lost {
                break;
            }
            if fetch(PageAt::Parity(page), &mut bytes) && index.is_parity(page, &bytes) {
                let shard = (page / SHARD_PAGES) as usize;
                self.decoder.add_recovery_shard(shard, &bytes).map_err(|e| internal(&e))?;
                added += 1;
            }
        }
        match added == lost {
            true => Ok(()),
            false => Err(Error::new(
                ErrorKind::TooManyLost,
                format!("column {column}: {lost} pages are lost and {added} can be rebuilt"),
            )),
        }
    }
}

/// Translates an error of the decoder, which no call here should cause.
fn internal(error: &reed_solomon_simd::Error) -> Error {
    Error::new(ErrorKind::Usage, error.to_string())
}
