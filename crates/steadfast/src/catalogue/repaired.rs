//! Repairs in the history of a file: where its contents came from.
//!
//! One event `repaired` has all sources of a file. `docs/formats/catalogue.md` specifies its bytes.

use std::collections::HashMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

use steadfast_sys::names::NameBytes as _;

use super::error::DbError;

/// The most ranges of a source. The last one then spans all further ones.
const RANGES_MAX: usize = 1000;

/// A place that gave contents to a repaired file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RepairSource {
    /// A copy of the file, or the folder of the parity. In a catalogue: from the root if it is in
    /// the tree, otherwise absolute.
    pub path: PathBuf,
    /// Pages that came from there; 0 if the whole file did, without leaves.
    pub pages: u64,
    /// The bytes of the file that came from there.
    pub ranges: Vec<Range<u64>>,
}

impl RepairSource {
    /// Makes a source that gave nothing yet.
    pub(crate) fn at(path: &Path) -> RepairSource {
        RepairSource { path: path.to_owned(), ..RepairSource::default() }
    }

    /// Notes a page, after those before it.
    pub(crate) fn give(&mut self, page: Range<u64>) {
        self.pages += 1;
        let is_full = self.ranges.len() == RANGES_MAX;
        match self.ranges.last_mut() {
            Some(last) if last.end == page.start || is_full => last.end = page.end,
            _ => self.ranges.push(page),
        }
    }
}

/// The repaired files of a run, by path from the root, with their sources.
pub(crate) type Repairs = HashMap<PathBuf, Vec<RepairSource>>;

/// Writes sources as the bytes of an event.
pub(super) fn to_bytes(sources: &[RepairSource]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for source in sources {
        let ranges = source.ranges.iter().map(|range| format!("{}-{}", range.start, range.end));
        let ranges = ranges.collect::<Vec<_>>().join(",");
        bytes.extend_from_slice(format!("{} {ranges}\0", source.pages).as_bytes());
        bytes.extend_from_slice(source.path.as_bytes());
        bytes.push(0);
    }
    bytes
}

/// Reads the bytes of an event.
pub(super) fn of_bytes(bytes: &[u8]) -> Result<Vec<RepairSource>, DbError> {
    let damaged = || DbError::damaged("a repair has no readable sources");
    let mut fields = bytes.split(|byte| *byte == 0);
    let mut sources = Vec::new();
    loop {
        let Some(numbers) = fields.next().filter(|field| !field.is_empty()) else {
            return Ok(sources);
        };
        let numbers = std::str::from_utf8(numbers).map_err(DbError::damaged)?;
        let (pages, ranges) = numbers.split_once(' ').ok_or_else(damaged)?;
        let range = |range: &str| {
            let (start, end) = range.split_once('-')?;
            Some(start.parse().ok()?..end.parse().ok()?)
        };
        let ranges = ranges.split(',').filter(|range| !range.is_empty()).map(range);
        sources.push(RepairSource {
            path: PathBuf::from(Path::from_bytes(fields.next().ok_or_else(damaged)?)),
            pages: pages.parse().map_err(DbError::damaged)?,
            ranges: ranges.collect::<Option<_>>().ok_or_else(damaged)?,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_are_read_as_they_were_written() {
        let mut one = RepairSource::at(Path::from_bytes(b"/mnt/a b\xff"));
        for page in [0, 1, 2, 5] {
            one.give(page * 4096..(page + 1) * 4096);
        }
        assert_eq!(one.ranges, [0..12288, 20480..24576]);
        let gaps = vec![0..7, 8..9];
        let other = RepairSource { ranges: gaps, ..RepairSource::at(Path::new("b")) };
        let empty = RepairSource::at(Path::new("c"));
        let sources = vec![one, other, empty];
        assert_eq!(of_bytes(&to_bytes(&sources)).unwrap(), sources);
        assert_eq!(of_bytes(b"").unwrap(), []);
        for damaged in [&b"1"[..], b"x 1-2\0a\0", b"1 1\0a\0", b"1 1-\0a\0", b"1 2-3", b"\xff\0a"] {
            assert!(of_bytes(damaged).is_err(), "{damaged:?}");
        }
    }

    #[test]
    fn many_ranges_become_one() {
        let mut source = RepairSource::default();
        for page in 0..5000_u64 {
            source.give(page * 8192..page * 8192 + 4096);
        }
        assert_eq!((source.pages, source.ranges.len()), (5000, RANGES_MAX));
        assert_eq!(source.ranges[RANGES_MAX - 1], 999 * 8192..4999 * 8192 + 4096);
    }
}
