//! Pages that moved: bytes in, and where in them known pages begin, at any offset.
//!
//! After bytes were inserted or removed, all pages behind them are whole but elsewhere. Their
//! CRC-32C is rolled over the bytes one by one; the digest decides.

use std::collections::HashMap;

use crate::format::PageMark;
use crate::geometry::PAGE_LEN;

/// CRC-32C (Castagnoli), reflected.
const POLYNOMIAL: u32 = 0x82F6_3B78;

/// Searches bytes for known pages.
pub struct PageSearch {
    /// The marks that are searched for, by their check value.
    marks: HashMap<u32, Vec<(u32, PageMark)>>,
    /// For each byte, what it adds to a check value when it enters.
    enter: [u32; 256],
    /// For each byte, what is left of it in a check value when it leaves, a page later.
    leave: [u32; 256],
}

impl PageSearch {
    /// Takes the pages to search for: numbers of the caller's, and their marks.
    pub fn new(pages: impl IntoIterator<Item = (u32, PageMark)>) -> PageSearch {
        let mut marks: HashMap<u32, Vec<(u32, PageMark)>> = HashMap::new();
        for (page, mark) in pages {
            marks.entry(mark.check).or_default().push((page, mark));
        }
        let enter = std::array::from_fn(|byte| {
            (0..8).fold(byte as u32, |crc, _| crc >> 1 ^ if crc & 1 == 1 { POLYNOMIAL } else { 0 })
        });
        // The check value of a page depends on each of its bytes by exclusive or: what a byte in
        // the first place contributes is what remains when another comes in its stead.
        let zeros = crc32c::crc32c(&[0; PAGE_LEN + 1]);
        let leave = std::array::from_fn(|byte| {
            let mut bytes = [0; PAGE_LEN + 1];
            bytes[0] = byte as u8;
            crc32c::crc32c(&bytes) ^ zeros
        });
        PageSearch { marks, enter, leave }
    }

    /// Passes each place where a page that is searched for begins to `found`: the offset in the
    /// bytes, and the number of the page. Bytes given in pieces must overlap by a page less one.
    pub fn scan(&self, bytes: &[u8], found: &mut dyn FnMut(usize, u32)) {
        let Some(first) = bytes.get(..PAGE_LEN) else { return };
        let base = crc32c::crc32c(&[0; PAGE_LEN]) ^ crc32c::crc32c(&[0; PAGE_LEN + 1]);
        let mut check = crc32c::crc32c(first);
        let mut start = 0;
        loop {
            if let Some(marks) = self.marks.get(&check) {
                let mark = PageMark::of(&bytes[start..start + PAGE_LEN]);
                let same = marks.iter().filter(|(_, wanted)| *wanted == mark);
                same.for_each(|(page, _)| found(start, *page));
            }
            let Some(next) = bytes.get(start + PAGE_LEN) else { return };
            // The value goes in and out with all bits inverted; `base` takes away what that adds to
            // a message that is one byte longer.
            let state = !check;
            let state = state >> 8 ^ self.enter[usize::from(state as u8 ^ next)];
            check = !state ^ self.leave[usize::from(bytes[start])] ^ base;
            start += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noise(len: usize) -> Vec<u8> {
        let mut state = 9_u64;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) as u8
        };
        (0..len).map(|_| next()).collect()
    }

    #[test]
    fn pages_are_found_at_any_offset() {
        let bytes = noise(6 * PAGE_LEN);
        let pages = [0, 1, 4095, 4096, 5000, 5 * PAGE_LEN];
        let marks = (0..).zip(pages.map(|at| PageMark::of(&bytes[at..at + PAGE_LEN])));
        let mut found = Vec::new();
        PageSearch::new(marks).scan(&bytes, &mut |at, page| found.push((page, at)));
        assert_eq!(found, (0..).zip(pages).collect::<Vec<_>>());
    }

    #[test]
    fn a_check_value_alone_finds_nothing() {
        let bytes = noise(2 * PAGE_LEN);
        let mark = PageMark { digest: [0; 16], ..PageMark::of(&bytes[7..7 + PAGE_LEN]) };
        PageSearch::new([(0, mark)]).scan(&bytes, &mut |_, _| panic!("the digest differs"));
        PageSearch::new([(0, mark)]).scan(&bytes[..100], &mut |_, _| panic!("no page"));
    }
}
