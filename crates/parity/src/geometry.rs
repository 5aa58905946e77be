//! How many pages a set has, and to which column each belongs.
//!
//! The pages of a set are numbered. Sixteen pages in a row are a shard. Each column takes one page
//! of every shard and is a code by itself. The column moves on by one from shard to shard, so that
//! neither a burst nor damage at a distance of a power of two meets one column more than others.

use crate::error::{Error, ErrorKind};

/// Length of a page in bytes: the smallest thing that is found damaged and rebuilt.
pub const PAGE_LEN: usize = 4096;

/// Pages of a shard, one for each column.
pub const SHARD_PAGES: u32 = 16;

/// Columns of a set.
pub const COLUMNS: usize = SHARD_PAGES as usize;

/// Shards of a run: as many as are transformed together.
pub(crate) const RUN_SHARDS: u32 = 128;

/// Pages of a run.
pub const RUN_PAGES: u32 = RUN_SHARDS * SHARD_PAGES;

/// Length of a run in bytes: 8 MiB.
pub const RUN_LEN: u64 = RUN_PAGES as u64 * PAGE_LEN as u64;

/// The most parity shards of a set.
pub const PARITY_SHARDS_MAX: u32 = RUN_SHARDS;

/// The most data shards of a set: 2 % redundancy. A column of them decodes within 32 MiB.
pub const DATA_SHARDS_MAX: u32 = 6400;

/// Returns the column of a page, of data or of parity.
pub const fn column_of(page: u32) -> usize {
    ((page + page / SHARD_PAGES) % SHARD_PAGES) as usize
}

/// Returns the page of a shard that is in a column.
pub(crate) const fn page_in_column(shard: u32, column: usize) -> u32 {
    shard * SHARD_PAGES + (column as u32 + SHARD_PAGES - shard % SHARD_PAGES) % SHARD_PAGES
}

/// The number of pages of a set and of its parity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Geometry {
    pages: u32,
    parity_shards: u32,
}

impl Geometry {
    /// Takes the number of data pages and of parity shards.
    ///
    /// # Errors
    /// `Invalid` if there are none of either, or more than the format allows.
    pub fn new(pages: u32, parity_shards: u32) -> Result<Geometry, Error> {
        let fits = (1..=DATA_SHARDS_MAX * SHARD_PAGES).contains(&pages)
            && (1..=PARITY_SHARDS_MAX).contains(&parity_shards);
        match fits {
            true => Ok(Geometry { pages, parity_shards }),
            false => Err(Error::new(
                ErrorKind::Invalid,
                format!("no set has {pages} pages and {parity_shards} parity shards"),
            )),
        }
    }

    /// Returns the number of data pages.
    pub fn pages(self) -> u32 {
        self.pages
    }

    /// Returns the number of data shards. The pages that the last one lacks count as zeros.
    pub fn data_shards(self) -> u32 {
        self.pages.div_ceil(SHARD_PAGES)
    }

    /// Returns the number of parity shards: the pages that each column can lose.
    pub fn parity_shards(self) -> u32 {
        self.parity_shards
    }

    /// Returns the number of parity pages.
    pub fn parity_pages(self) -> u32 {
        self.parity_shards * SHARD_PAGES
    }

    /// Returns the number of runs.
    pub fn runs(self) -> u32 {
        self.pages.div_ceil(RUN_PAGES)
    }

    /// Returns the data pages of a column that exist, in order.
    pub fn column_pages(self, column: usize) -> impl Iterator<Item = u32> {
        let pages = (0..self.data_shards()).map(move |shard| page_in_column(shard, column));
        pages.filter(move |page| *page < self.pages)
    }

    /// Returns the parity pages of a column, in order.
    pub fn column_parity(self, column: usize) -> impl Iterator<Item = u32> {
        (0..self.parity_shards).map(move |shard| page_in_column(shard, column))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_shard_has_one_page_in_each_column() {
        for shard in 0..300 {
            for column in 0..COLUMNS {
                let page = page_in_column(shard, column);
                assert_eq!((page / SHARD_PAGES, column_of(page)), (shard, column));
            }
        }
    }

    #[test]
    fn a_burst_of_a_run_meets_every_column_equally_wherever_it_begins() {
        for start in 0..600 {
            let mut counts = [0; COLUMNS];
            (start..start + RUN_PAGES).for_each(|page| counts[column_of(page)] += 1);
            assert_eq!(counts, [RUN_SHARDS; COLUMNS], "from page {start}");
        }
    }

    #[test]
    fn damage_at_a_distance_of_a_power_of_two_is_spread() {
        // 64 KiB to 512 KiB apart, as the chunks of a striped volume are.
        for distance in [16, 32, 64, 128] {
            let mut counts = [0; COLUMNS];
            (0..1280 * SHARD_PAGES).step_by(distance).for_each(|page| counts[column_of(page)] += 1);
            let most = counts.iter().max().copied().unwrap_or(0);
            assert!(most <= 128, "one column has {most} pages at a distance of {distance}");
        }
    }
}
