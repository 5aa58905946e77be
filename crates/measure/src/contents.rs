//! The bytes of test files, from a seed: incompressible, without equal blocks, and verifiable on
//! reading.
//!
//! They come from a pool of random bytes that is filled once, so making them takes no time from
//! writing. Each page of them has a unique mark.

use crate::random::Random;

/// Length of a chunk in bytes.
pub(crate) const CHUNK_LEN_BYTES: usize = 1 << 20;

/// Bytes of a page. No two pages are equal, so no file system can deduplicate blocks or larger
/// parts.
const PAGE_LEN_BYTES: usize = 4096;

/// Chunks in the pool: 64 MiB, more than the window of any compressing file system.
const CHUNKS: u64 = 64;

/// Makes the bytes of files.
#[derive(Debug)]
pub(crate) struct TestBytes {
    seed: u64,
    pool: Vec<u8>,
}

impl TestBytes {
    /// Fills the pool, which takes some 50 ms and stays in memory.
    pub(crate) fn new(seed: u64) -> TestBytes {
        let mut pool = vec![0; CHUNKS as usize * CHUNK_LEN_BYTES];
        Random::new(seed).fill(&mut pool);
        TestBytes { seed, pool }
    }

    /// Returns a chunk of a file; `length` is at most [`CHUNK_LEN_BYTES`].
    ///
    /// Marking 256 pages takes almost no time compared with writing them.
    ///
    /// # Panics
    /// If the length is more than that.
    pub(crate) fn chunk(&mut self, file: u32, index: u64, length: usize) -> &[u8] {
        assert!(length <= CHUNK_LEN_BYTES, "a chunk is no longer than {CHUNK_LEN_BYTES} bytes");
        // Files begin at different places, so files of one length have no common pages.
        let start = (u64::from(file) * 7 + index) % CHUNKS;
        let start = start as usize * CHUNK_LEN_BYTES;
        let chunk = &mut self.pool[start..start + length];
        let first = index * (CHUNK_LEN_BYTES / PAGE_LEN_BYTES) as u64;
        for (page, bytes) in (first..).zip(chunk.chunks_mut(PAGE_LEN_BYTES)) {
            let mark = mark(self.seed, file, page);
            let length = mark.len().min(bytes.len());
            bytes[..length].copy_from_slice(&mark[..length]);
        }
        chunk
    }

    /// Returns bytes of the pool, for measuring memory; at most the pool's length.
    pub(crate) fn pool(&self) -> &[u8] {
        &self.pool
    }
}

/// Returns the first bytes of a page. They are unique.
///
/// Source of the mixing: D. Stafford's variant 13 of the finaliser of MurmurHash3.
fn mark(seed: u64, file: u32, page: u64) -> [u8; 16] {
    let mix = |mut bits: u64| {
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    };
    // A bijection for each seed: no two pages of files below 2^40 bytes have the same number.
    let number = mix(mix(u64::from(file) << 32 | page) ^ seed);
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&number.to_le_bytes());
    bytes[8..].copy_from_slice(&mix(number ^ 0x9e37_79b9_7f4a_7c15).to_le_bytes());
    bytes
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_bytes_whatever_was_made_between() {
        let (mut one, mut other) = (TestBytes::new(7), TestBytes::new(7));
        let first = one.chunk(3, 5, 10_000).to_vec();
        for index in 0..200 {
            other.chunk(index as u32 % 5, index, CHUNK_LEN_BYTES);
        }
        assert_eq!(first, other.chunk(3, 5, 10_000));
        assert_ne!(first, TestBytes::new(8).chunk(3, 5, 10_000));
        assert_ne!(first, one.chunk(4, 5, 10_000));
    }

    #[test]
    fn no_page_is_there_twice() {
        let mut contents = TestBytes::new(1);
        let mut seen = HashSet::new();
        // 160 chunks of each file: more than the pool has.
        for file in 0..3 {
            for index in 0..160 {
                for page in contents.chunk(file, index, CHUNK_LEN_BYTES).chunks(PAGE_LEN_BYTES) {
                    assert!(seen.insert(page[..16].to_vec()), "file {file}, chunk {index}");
                }
            }
        }
    }

    #[test]
    fn bytes_are_even() {
        let mut counts = [0_u32; 256];
        for &byte in TestBytes::new(2).chunk(0, 0, CHUNK_LEN_BYTES) {
            counts[usize::from(byte)] += 1;
        }
        // 4,096 of each are expected; seven standard deviations are 448.
        assert!(counts.iter().all(|count| count.abs_diff(4096) < 448), "{counts:?}");
    }
}
