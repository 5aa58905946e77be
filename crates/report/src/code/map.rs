//! Maps which bytes of some code are sealed and which are damaged, in cells of equal length.
//!
//! In: the coverage of a file and its damaged ranges. Out: a limited number of cells, in the order
//! of the file. Problems take precedence: a cell with one damaged page is damaged, and a cell with
//! one unsealed byte is unsealed.

use std::ops::Range;

use steadfast_codesign::{CodeVerification, Coverage, RangeCover};

/// The state of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum MapMark {
    /// It is as it was sealed, or was not checked.
    Covered(RangeCover),
    /// It is not as it was sealed.
    Damaged,
}

impl MapMark {
    /// Every mark, in the order of legends.
    pub const ALL: [MapMark; 7] = [
        MapMark::Covered(RangeCover::Sealed),
        MapMark::Covered(RangeCover::Signed),
        MapMark::Covered(RangeCover::Structure),
        MapMark::Covered(RangeCover::UnsealedZero),
        MapMark::Covered(RangeCover::Unsealed),
        MapMark::Covered(RangeCover::Unsigned),
        MapMark::Damaged,
    ];

    /// Returns the name, as documents have it.
    pub fn name(self) -> &'static str {
        match self {
            MapMark::Covered(cover) => cover.name(),
            MapMark::Damaged => "damaged",
        }
    }
}

/// One cell of a map.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MapCell {
    /// The bytes of the file, end excluded.
    pub bytes: Range<u64>,
    /// Its state.
    pub mark: MapMark,
}

/// A file as cells.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CodeMap {
    /// Bytes of a cell; the last may have fewer.
    pub cell_len_bytes: u64,
    /// The cells, in the order of the file.
    pub cells: Vec<MapCell>,
    /// The number of bytes in each state, in the order of [`MapMark::ALL`].
    pub bytes: Vec<(MapMark, u64)>,
}

impl CodeMap {
    /// Maps a file in at most `cells_max` cells of whole pages of 4 KiB.
    pub fn of(coverage: &Coverage, verification: &CodeVerification, cells_max: u64) -> CodeMap {
        let verdicts = verification.parts.iter().map(|part| &part.bytes);
        let damage = verdicts.flat_map(|bytes| &bytes.damage).map(|damage| damage.bytes.clone());
        CodeMap::of_ranges(coverage, damage.collect(), cells_max)
    }

    fn of_ranges(coverage: &Coverage, damage: Vec<Range<u64>>, cells_max: u64) -> CodeMap {
        const PAGE_LEN: u64 = 4096;
        let damage = joined(damage);
        let len = coverage.ranges.last().map_or(0, |range| range.bytes.end);
        let pages = len.div_ceil(PAGE_LEN).div_ceil(cells_max.max(1)).max(1);
        let cell_len_bytes = pages * PAGE_LEN;
        let (mut cells, mut first) = (Vec::new(), 0);
        for start in (0..len).step_by(usize::try_from(cell_len_bytes).unwrap_or(usize::MAX)) {
            let bytes = start..(start + cell_len_bytes).min(len);
            while coverage.ranges.get(first).is_some_and(|range| range.bytes.end <= start) {
                first += 1;
            }
            let mark = mark_of(&bytes, &coverage.ranges[first..], &damage);
            cells.push(MapCell { bytes, mark });
        }
        let damaged: u64 = damage.iter().map(|range| range.end - range.start).sum();
        let bytes = MapMark::ALL.into_iter().map(|mark| match mark {
            MapMark::Damaged => (mark, damaged),
            // Damaged bytes are sealed; they are not counted twice.
            MapMark::Covered(RangeCover::Sealed) => {
                (mark, coverage.len_bytes(RangeCover::Sealed).saturating_sub(damaged))
            }
            MapMark::Covered(cover) => (mark, coverage.len_bytes(cover)),
        });
        let bytes = bytes.filter(|(_, bytes)| *bytes > 0).collect();
        CodeMap { cell_len_bytes, cells, bytes }
    }
}

/// Sorts ranges and joins those that touch: several directories find the same damage.
fn joined(mut ranges: Vec<Range<u64>>) -> Vec<Range<u64>> {
    ranges.sort_by_key(|range| (range.start, range.end));
    let mut joined: Vec<Range<u64>> = Vec::new();
    for range in ranges {
        match joined.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => joined.push(range),
        }
    }
    joined
}

fn mark_of(
    cell: &Range<u64>,
    ranges: &[steadfast_codesign::CoveredRange],
    damage: &[Range<u64>],
) -> MapMark {
    let at = damage.partition_point(|range| range.end <= cell.start);
    if damage.get(at).is_some_and(|range| range.start < cell.end) {
        return MapMark::Damaged;
    }
    let within = ranges.iter().take_while(|range| range.bytes.start < cell.end);
    let share = |range: &steadfast_codesign::CoveredRange| {
        let end = range.bytes.end.min(cell.end);
        (range.cover, end - range.bytes.start.max(cell.start))
    };
    let rank = |&(cover, bytes): &(RangeCover, u64)| (cover == RangeCover::Unsealed, bytes);
    let most = within.map(share).max_by_key(rank);
    MapMark::Covered(most.map_or(RangeCover::UnsealedZero, |(cover, _)| cover))
}

#[cfg(test)]
mod tests {
    use super::*;
    use steadfast_codesign::CoveredRange;

    fn coverage(ranges: &[(u64, u64, RangeCover)]) -> Coverage {
        let ranges = ranges.iter().map(|&(start, end, cover)| CoveredRange {
            bytes: start..end,
            cover,
            what: String::new(),
            slice: None,
        });
        Coverage { ranges: ranges.collect() }
    }

    #[test]
    fn what_is_wrong_is_never_outvoted() {
        let coverage = coverage(&[
            (0, 40_000, RangeCover::Sealed),
            (40_000, 40_001, RangeCover::Unsealed),
            (40_001, 49_000, RangeCover::Signed),
            (49_000, 90_000, RangeCover::UnsealedZero),
        ]);
        let map = CodeMap::of_ranges(&coverage, vec![8192..12_288, 8192..12_288], 100);
        assert_eq!((map.cell_len_bytes, map.cells.len()), (4096, 22));
        let mark = |at: usize| map.cells[at].mark.name();
        assert_eq!((mark(0), mark(2), mark(3)), ("sealed", "damaged", "sealed"));
        assert_eq!((mark(9), mark(10), mark(21)), ("unsealed", "signed", "unsealed-zero"));
        assert_eq!(map.cells[21].bytes, 86_016..90_000);
        let bytes: Vec<_> = map.bytes.iter().map(|(mark, bytes)| (mark.name(), *bytes)).collect();
        assert_eq!(bytes[0], ("sealed", 40_000 - 4096));
        assert_eq!(bytes.last(), Some(&("damaged", 4096)));
        assert_eq!(map.bytes.iter().map(|(_, bytes)| bytes).sum::<u64>(), 90_000);
    }

    #[test]
    fn a_map_is_small_however_long_the_file() {
        let coverage = coverage(&[(0, 1 << 40, RangeCover::Sealed)]);
        let one = std::iter::once((1 << 39)..(1 << 39) + 1).collect();
        let map = CodeMap::of_ranges(&coverage, one, 1000);
        assert!(map.cells.len() <= 1000 && map.cells.len() > 900, "{}", map.cells.len());
        let damaged = map.cells.iter().filter(|cell| cell.mark == MapMark::Damaged).count();
        assert_eq!(damaged, 1);
        let none = CodeMap::of_ranges(&Coverage { ranges: Vec::new() }, Vec::new(), 0);
        assert!(none.cells.is_empty());
    }
}
