//! Sorts any number of files by device and path in bounded memory.
//!
//! In: entries in any order. Out: the same entries, sorted. They are in a table of SQLite in the
//! folder of the planning, which is removed when planning ends. Entries that arrive in order, as
//! those of a walk, are appended to it: of 2 million paths, each takes about a microsecond of
//! processor time, and ten if they arrive scattered, little beside the check of a file.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, Row, params};
use steadfast::manifest::{Mtime, Record, Step};
use steadfast::{Algorithm, Digest, Timestamp};
use steadfast_sys::names::NameBuf as _;

use crate::error::Error;
use crate::order;
use crate::source::JobFile;

/// Entries that are read at a time.
const BATCH_LEN: i64 = 1 << 10;

/// The table. The folder is removed when the planning ends or fails, so there is nothing to recover
/// after a crash. 64 MiB of memory hold its pages.
const TABLE: &str = "\
PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE;
PRAGMA cache_size = -65536;
CREATE TABLE entry (
    device INTEGER NOT NULL, key BLOB NOT NULL, number INTEGER NOT NULL,
    file_device INTEGER NOT NULL, bytes INTEGER NOT NULL, length INTEGER,
    mtime_s INTEGER, mtime_ns INTEGER, mtime_step INTEGER, tagged_s INTEGER, checked_s INTEGER,
    digests BLOB NOT NULL, PRIMARY KEY (device, key, number)
) WITHOUT ROWID;
BEGIN;";

const PUT: &str = "INSERT INTO entry VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";

const NEXT: &str = "\
SELECT * FROM entry WHERE (device, key, number) > (?, ?, ?) ORDER BY device, key, number LIMIT ?";

/// Every step, by its number in the table.
const STEPS: [Step; 3] = [Step::Nanosecond, Step::Millisecond, Step::Second];

/// Sorts entries.
pub(crate) struct Spool {
    table: Connection,
    path: PathBuf,
    /// How many entries there are. Entries with equal paths keep their order.
    number: i64,
}

impl Spool {
    /// Begins a sort in a folder.
    pub(crate) fn new(folder: &Path) -> Result<Spool, Error> {
        let path = folder.join("entries");
        let table = Connection::open(&path).and_then(|table| {
            table.execute_batch(TABLE)?;
            Ok(table)
        });
        let table = table.map_err(|error| failed(&path, &error))?;
        Ok(Spool { table, path, number: 0 })
    }

    /// Adds an entry. `device` is the number by which it is sorted.
    pub(crate) fn put(&mut self, device: u32, entry: &JobFile) -> Result<(), Error> {
        let JobFile { record, device: file_device, bytes, checked_s } = entry;
        let mtime = record.mtime.as_ref();
        let mut digests = Vec::new();
        for (algorithm, digest) in &record.digests {
            let known = Algorithm::ALL.iter().position(|known| known == algorithm);
            digests.push(known.expect("every algorithm is among all") as u8);
            digests.push(digest.as_bytes().len() as u8);
            digests.extend(digest.as_bytes());
        }
        self.number += 1;
        let row = params![
            device,
            order::key(&record.path),
            self.number,
            file_device.cast_signed(),
            bytes.cast_signed(),
            record.length.map(u64::cast_signed),
            mtime.map(|mtime| mtime.time.seconds),
            mtime.map(|mtime| mtime.time.nanoseconds),
            mtime.map(|mtime| mtime.step as u8),
            record.tagged.map(|tagged| tagged.seconds),
            checked_s,
            digests,
        ];
        let put = self.table.prepare_cached(PUT).and_then(|mut put| put.execute(row));
        put.map(drop).map_err(|error| failed(&self.path, &error))
    }

    /// Returns all entries in order.
    pub(crate) fn sorted(self) -> Result<Sorted, Error> {
        let Spool { table, path, .. } = self;
        table.execute_batch("COMMIT").map_err(|error| failed(&path, &error))?;
        Ok(Sorted { table, path, last: (-1, Vec::new(), 0), batch: VecDeque::new() })
    }
}

fn failed(path: &Path, error: &rusqlite::Error) -> Error {
    Error::temporary(path, format!("cannot sort the files: {error}"))
}

/// The sorted entries.
pub(crate) struct Sorted {
    table: Connection,
    path: PathBuf,
    /// The place of the last entry of the batch: device, key and number.
    last: (i64, Vec<u8>, i64),
    batch: VecDeque<(u32, JobFile)>,
}

impl Sorted {
    /// Returns the next entry and its device's number.
    pub(crate) fn next(&mut self) -> Result<Option<(u32, JobFile)>, Error> {
        if self.batch.is_empty() {
            self.read().map_err(|error| failed(&self.path, &error))?;
        }
        Ok(self.batch.pop_front())
    }

    fn read(&mut self) -> rusqlite::Result<()> {
        let mut next = self.table.prepare_cached(NEXT)?;
        let (device, key, number) = &self.last;
        let mut rows = next.query(params![device, key, number, BATCH_LEN])?;
        let mut last = None;
        while let Some(row) = rows.next()? {
            self.batch.push_back((row.get(0)?, entry_of(row)?));
            last = Some((row.get(0)?, row.get(1)?, row.get(2)?));
        }
        self.last = last.unwrap_or_else(|| std::mem::take(&mut self.last));
        Ok(())
    }
}

fn entry_of(row: &Row<'_>) -> rusqlite::Result<JobFile> {
    let unsigned = |at: usize| row.get(at).map(i64::cast_unsigned);
    let time = |seconds, nanoseconds| Timestamp { seconds, nanoseconds };
    let mtime = match (row.get(6)?, row.get(7)?, row.get::<_, Option<u8>>(8)?) {
        (Some(seconds), Some(nanoseconds), Some(step)) => {
            Some(Mtime { time: time(seconds, nanoseconds), step: STEPS[usize::from(step)] })
        }
        _ => None,
    };
    let digests: Vec<u8> = row.get(11)?;
    let mut rest = digests.as_slice();
    let mut digests = Vec::new();
    while let [algorithm, length, more @ ..] = rest {
        let (digest, more) = more.split_at(usize::from(*length));
        let digest = Digest::from_slice(digest).expect("it was a digest when it was written");
        digests.push((Algorithm::ALL[usize::from(*algorithm)], digest));
        rest = more;
    }
    let record = Record {
        path: PathBuf::from_vec(order::path_bytes(row.get(1)?)),
        digests,
        length: row.get::<_, Option<i64>>(5)?.map(i64::cast_unsigned),
        mtime,
        tagged: row.get::<_, Option<i64>>(9)?.map(|seconds| time(seconds, 0)),
    };
    Ok(JobFile { record, device: unsigned(3)?, bytes: unsigned(4)?, checked_s: row.get(10)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(path: &str, bytes: u64) -> JobFile {
        let digest = |len| Digest::from_slice(&vec![7; len]).unwrap();
        let full = bytes.is_multiple_of(2);
        let digests = vec![(Algorithm::Sha512, digest(64)), (Algorithm::Md5, digest(16))];
        let time = Timestamp { seconds: -5, nanoseconds: 7 };
        let record = Record {
            path: path.into(),
            digests: if full { digests } else { Vec::new() },
            length: full.then_some(u64::MAX),
            mtime: full.then_some(Mtime { time, step: Step::Second }),
            tagged: full.then_some(Timestamp { seconds: 1 << 40, nanoseconds: 0 }),
        };
        JobFile { record, device: u64::MAX, bytes, checked_s: full.then_some(-1) }
    }

    fn sorted(entries: &[(u32, JobFile)]) -> Vec<(u32, JobFile)> {
        let folder = tempfile::tempdir().unwrap();
        let mut spool = Spool::new(folder.path()).unwrap();
        for (device, entry) in entries {
            spool.put(*device, entry).unwrap();
        }
        let mut sorted = spool.sorted().unwrap();
        std::iter::from_fn(|| sorted.next().unwrap()).collect()
    }

    /// Numbers below `count` in an order that looks like none.
    fn scattered(count: u64) -> impl Iterator<Item = u64> {
        (0..count).map(move |number| number * 7_919 % count)
    }

    #[test]
    fn any_order_comes_out_sorted() {
        let entries: Vec<_> = scattered(5_003)
            .map(|number| {
                (number as u32 % 3, entry(&format!("d{}/f{number}", number % 17), number))
            })
            .collect();
        let mut expected = entries.clone();
        expected.sort_by(|(a, x), (b, y)| {
            a.cmp(b).then_with(|| order::compare_paths(&x.record.path, &y.record.path))
        });
        assert!(sorted(&entries) == expected);
        assert!(sorted(&[]).is_empty());
    }

    #[test]
    fn of_equal_paths_the_first_comes_first() {
        let entries: Vec<_> = (0..3_000).map(|number| (0, entry("same", number))).collect();
        assert!(sorted(&entries) == entries);
        let twice: Vec<_> = scattered(1_009)
            .chain(scattered(1_009))
            .enumerate()
            .map(|(at, number)| (0, entry(&format!("f{number}"), at as u64)))
            .collect();
        for pair in sorted(&twice).chunks(2) {
            assert_eq!(pair[0].1.record.path, pair[1].1.record.path);
            assert!(pair[0].1.bytes < pair[1].1.bytes);
        }
    }
}
