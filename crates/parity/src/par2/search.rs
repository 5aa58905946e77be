//! Blocks that moved: bytes in, and where in them known blocks may begin, at any offset.
//!
//! The CRC-32 of a window is rolled over the bytes; who searches compares the digest.

use std::collections::HashMap;

use crc32fast::Hasher;

/// CRC-32 of ISO 3309, reflected.
const POLYNOMIAL: u32 = 0xEDB8_8320;

/// Searches bytes for blocks of one length by their CRC-32.
pub struct BlockSearch {
    block_len: usize,
    blocks: HashMap<u32, Vec<usize>>,
    /// For each byte, what it adds to a check value when it enters, and what is left of it when it
    /// leaves.
    enter: [u32; 256],
    leave: [u32; 256],
    /// What a message that is one byte longer adds.
    base: u32,
}

fn crc_of_zeros(first: u8, zeros: usize) -> u32 {
    let mut hasher = Hasher::new();
    hasher.update(&[first]);
    let chunk = [0; 4096];
    let mut left = zeros;
    while left > 0 {
        let len = left.min(chunk.len());
        hasher.update(&chunk[..len]);
        left -= len;
    }
    hasher.finalize()
}

impl BlockSearch {
    /// Takes the CRC-32 and the number of each block to search for.
    pub fn new(block_len: usize, wanted: impl IntoIterator<Item = (u32, usize)>) -> BlockSearch {
        let mut blocks: HashMap<u32, Vec<usize>> = HashMap::new();
        for (check, number) in wanted {
            blocks.entry(check).or_default().push(number);
        }
        let enter = std::array::from_fn(|byte| {
            (0..8).fold(byte as u32, |crc, _| crc >> 1 ^ if crc & 1 == 1 { POLYNOMIAL } else { 0 })
        });
        let zeros = crc_of_zeros(0, block_len);
        // A check value is linear in each byte: of 256 bytes, 8 tell all.
        let bits: [u32; 8] = std::array::from_fn(|bit| crc_of_zeros(1 << bit, block_len) ^ zeros);
        let leave = std::array::from_fn(|byte| {
            (0..8).filter(|bit| byte >> bit & 1 == 1).fold(0, |sum, bit| sum ^ bits[bit])
        });
        let base = crc_of_zeros(0, block_len - 1) ^ zeros;
        BlockSearch { block_len, blocks, enter, leave, base }
    }

    /// Passes each place where a block may begin to `found`, with the numbers of the blocks. It
    /// returns whether one of them is there; the search then goes on behind it. Returns where the
    /// search ended: bytes given in pieces continue there.
    pub fn scan(&self, bytes: &[u8], found: &mut dyn FnMut(usize, &[usize]) -> bool) -> usize {
        let mut start = 0;
        while let Some(window) = bytes.get(start..start + self.block_len) {
            let mut check = crc32fast::hash(window);
            loop {
                if self.blocks.get(&check).is_some_and(|numbers| found(start, numbers)) {
                    start += self.block_len;
                    break;
                }
                let Some(next) = bytes.get(start + self.block_len) else { return start + 1 };
                let state = !check;
                let state = state >> 8 ^ self.enter[usize::from(state as u8 ^ next)];
                check = !state ^ self.leave[usize::from(bytes[start])] ^ self.base;
                start += 1;
            }
        }
        start
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_found_at_any_offset() {
        let bytes: Vec<u8> =
            (0..9000_u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
        for len in [4, 100, 1000] {
            let places = [0, 1003, 2500, 7777];
            let wanted = places.map(|at| crc32fast::hash(&bytes[at..at + len]));
            let search = BlockSearch::new(len, wanted.into_iter().zip(0..));
            let mut found = Vec::new();
            let end = search.scan(&bytes, &mut |at, numbers| {
                let is_one = numbers.iter().any(|number| at == places[*number]);
                is_one.then(|| found.push(at)).is_some()
            });
            assert_eq!(found, places);
            // What is left is shorter than a block.
            assert!(bytes.len() - end < len);
        }
    }
}
