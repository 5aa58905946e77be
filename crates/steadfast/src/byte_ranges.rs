//! Parts of a file: which bytes something is about.

use std::ops::Range;

/// Parts of a file, in order. Parts that touch are one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ByteRanges(Vec<Range<u64>>);

impl ByteRanges {
    /// Adds a part that does not begin before the last one.
    pub(crate) fn add(&mut self, part: Range<u64>) {
        match self.0.last_mut() {
            Some(last) if part.start <= last.end => last.end = last.end.max(part.end),
            _ => self.0.push(part),
        }
    }

    /// Says whether some byte of a part is in one of these.
    pub(crate) fn meets(&self, part: &Range<u64>) -> bool {
        let first = self.0.partition_point(|range| range.end <= part.start);
        self.0.get(first).is_some_and(|range| range.start < part.end)
    }

    /// Returns how many parts there are.
    pub(crate) fn count(&self) -> usize {
        self.0.len()
    }
}

impl FromIterator<Range<u64>> for ByteRanges {
    /// Takes parts in any order.
    fn from_iter<I: IntoIterator<Item = Range<u64>>>(parts: I) -> ByteRanges {
        let mut parts = Vec::from_iter(parts);
        parts.sort_unstable_by_key(|part| part.start);
        let mut ranges = ByteRanges::default();
        parts.into_iter().for_each(|part| ranges.add(part));
        ranges
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_found_by_any_of_their_bytes() {
        let ranges = ByteRanges::from_iter([20..30, 5..10, 10..12, 25..27]);
        assert_eq!(ranges.0, [5..12, 20..30]);
        for (part, meets) in
            [(0..5, false), (0..6, true), (11..12, true), (12..20, false), (29..99, true)]
        {
            assert_eq!(ranges.meets(&part), meets, "{part:?}");
        }
        assert!(!ranges.meets(&(30..31)) && !ByteRanges::default().meets(&(0..9)));
    }
}
