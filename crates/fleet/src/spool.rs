//! Entries, put in order by device and path in bounded memory, however many there are.
//!
//! In: entries in any order. Out: the same, sorted. What does not fit the memory waits in **runs**,
//! files in which each entry holds only what its path does not share with the one before. Entries
//! that come in order, as a walk's do, make one long run and are read back as it is. When there are
//! [`RUNS_MAX`] runs of one level they become one of the next, so few files are open at a time.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::fs::{self, File};
use std::io::{BufReader, BufWriter, Write as _};
use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::order;
use crate::source::Entry;

mod bytes;

use bytes::{RunReader, device_of, encode, path_of};

/// Bytes of entries that are sorted at a time.
pub(crate) const MEMORY_LEN: usize = 64 << 20;

/// Runs that are read at a time: with their buffers 4 MiB.
const RUNS_MAX: usize = 64;

/// Bytes that are read and written at a time.
const BUFFER_LEN: usize = 64 << 10;

/// Sorts entries.
pub(crate) struct Spool {
    folder: PathBuf,
    memory_len: usize,
    /// Encoded entries, each behind the last.
    arena: Vec<u8>,
    /// Where they begin.
    starts: Vec<u32>,
    /// Runs, those of level 0 first; within a level and from level to level down, the later ones
    /// hold the later entries.
    levels: Vec<Vec<PathBuf>>,
    /// The run that goes on, as long as what comes is in order, and its last entry.
    open: Option<RunWriter>,
    runs: u64,
}

impl Spool {
    /// Begins, with a folder of its own for what does not fit `memory_len`.
    pub(crate) fn new(folder: &Path, memory_len: usize) -> Spool {
        Spool {
            folder: folder.to_owned(),
            memory_len,
            arena: Vec::new(),
            starts: Vec::new(),
            levels: vec![Vec::new()],
            open: None,
            runs: 0,
        }
    }

    /// Takes an entry. `device` is the number by which it is sorted.
    pub(crate) fn put(&mut self, device: u32, entry: &Entry) -> Result<(), Error> {
        let start = u32::try_from(self.arena.len()).expect("the arena is far below 4 GiB");
        self.starts.push(start);
        encode(device, entry, &mut self.arena);
        if self.arena.len() + self.starts.len() * 4 >= self.memory_len {
            self.flush()?;
        }
        Ok(())
    }

    /// Writes what is in memory to a run, in order.
    fn flush(&mut self) -> Result<(), Error> {
        let Spool { arena, starts, .. } = self;
        // Stable: of equal paths the first one named comes first.
        starts.sort_by(|&a, &b| compare(&arena[a as usize..], &arena[b as usize..]));
        let Some(&first) = self.starts.first() else { return Ok(()) };
        let first = &self.arena[first as usize..];
        let goes_on = self.open.as_ref().is_some_and(|run| run.precedes(first));
        if !goes_on {
            self.close()?;
            let path = self.folder.join(format!("run-{}", self.runs));
            self.runs += 1;
            self.open = Some(RunWriter::create(path)?);
        }
        let run = self.open.as_mut().expect("a run was opened if there was none");
        for &start in &self.starts {
            run.put(&self.arena[start as usize..])?;
        }
        self.arena.clear();
        self.starts.clear();
        Ok(())
    }

    /// Ends the open run.
    fn close(&mut self) -> Result<(), Error> {
        let Some(run) = self.open.take() else { return Ok(()) };
        let path = run.finish()?;
        self.levels[0].push(path);
        for level in 0.. {
            if self.levels.get(level).is_none_or(|runs| runs.len() < RUNS_MAX) {
                break;
            }
            let runs = std::mem::take(&mut self.levels[level]);
            let merged = self.merge_runs(runs)?;
            if self.levels.len() == level + 1 {
                self.levels.push(Vec::new());
            }
            self.levels[level + 1].push(merged);
        }
        Ok(())
    }

    /// Makes one run of many.
    fn merge_runs(&mut self, runs: Vec<PathBuf>) -> Result<PathBuf, Error> {
        let path = self.folder.join(format!("run-{}", self.runs));
        self.runs += 1;
        let mut writer = RunWriter::create(path)?;
        let mut sorted = Sorted::open(&runs)?;
        while let Some(encoded) = sorted.next_encoded()? {
            writer.put(encoded)?;
        }
        for run in &runs {
            fs::remove_file(run).map_err(|error| Error::system(run, "remove it", error))?;
        }
        writer.finish()
    }

    /// Returns all entries in order.
    pub(crate) fn sorted(mut self) -> Result<Sorted, Error> {
        self.flush()?;
        self.close()?;
        // The higher the level, the earlier the entries.
        let runs: Vec<PathBuf> = self.levels.into_iter().rev().flatten().collect();
        Sorted::open(&runs)
    }
}

/// Compares encoded entries: by device, then by path.
fn compare(a: &[u8], b: &[u8]) -> Ordering {
    device_of(a).cmp(&device_of(b)).then_with(|| order::compare(path_of(a), path_of(b)))
}

/// Writes a run.
struct RunWriter {
    out: BufWriter<File>,
    path: PathBuf,
    last: Vec<u8>,
    line: Vec<u8>,
}

impl RunWriter {
    fn create(path: PathBuf) -> Result<RunWriter, Error> {
        let file = File::create_new(&path);
        let file = file.map_err(|error| Error::system(&path, "write it", error))?;
        let out = BufWriter::with_capacity(BUFFER_LEN, file);
        Ok(RunWriter { out, path, last: Vec::new(), line: Vec::new() })
    }

    /// Says whether an entry may follow.
    fn precedes(&self, next: &[u8]) -> bool {
        self.last.is_empty() || compare(&self.last, next) != Ordering::Greater
    }

    fn put(&mut self, encoded: &[u8]) -> Result<(), Error> {
        self.line.clear();
        let length = bytes::shorten(&self.last, encoded, &mut self.line);
        self.last.clear();
        self.last.extend_from_slice(&encoded[..length]);
        let written = self.out.write_all(&self.line);
        written.map_err(|error| Error::system(&self.path, "write it", error))
    }

    fn finish(mut self) -> Result<PathBuf, Error> {
        self.out.flush().map_err(|error| Error::system(&self.path, "write it", error))?;
        Ok(self.path)
    }
}

/// Entries in order.
pub(crate) struct Sorted {
    runs: Vec<RunReader<BufReader<File>>>,
    paths: Vec<PathBuf>,
    /// Heads of the runs, the least at the top.
    heads: BinaryHeap<Reverse<Head>>,
    /// The run whose head was handed out last, and has to go on.
    taken: Option<Head>,
}

impl Sorted {
    fn open(paths: &[PathBuf]) -> Result<Sorted, Error> {
        let mut sorted = Sorted {
            runs: Vec::with_capacity(paths.len()),
            paths: paths.to_vec(),
            heads: BinaryHeap::with_capacity(paths.len()),
            taken: None,
        };
        for (index, path) in paths.iter().enumerate() {
            let file = File::open(path).map_err(|error| Error::system(path, "open it", error))?;
            let reader = BufReader::with_capacity(BUFFER_LEN, file);
            sorted.runs.push(RunReader::new(reader));
            sorted.advance(Head { index, encoded: Vec::new() })?;
        }
        Ok(sorted)
    }

    fn advance(&mut self, mut head: Head) -> Result<(), Error> {
        let more = self.runs[head.index].next(&mut head.encoded);
        if more.map_err(|error| Error::system(&self.paths[head.index], "read it", error))? {
            self.heads.push(Reverse(head));
        }
        Ok(())
    }

    fn next_encoded(&mut self) -> Result<Option<&[u8]>, Error> {
        if let Some(head) = self.taken.take() {
            self.advance(head)?;
        }
        self.taken = self.heads.pop().map(|Reverse(head)| head);
        Ok(self.taken.as_ref().map(|head| head.encoded.as_slice()))
    }

    /// Returns the next entry and its device's number.
    pub(crate) fn next(&mut self) -> Result<Option<(u32, Entry)>, Error> {
        Ok(self.next_encoded()?.map(bytes::decode))
    }
}

struct Head {
    index: usize,
    encoded: Vec<u8>,
}

impl Ord for Head {
    fn cmp(&self, other: &Head) -> Ordering {
        compare(&self.encoded, &other.encoded).then_with(|| self.index.cmp(&other.index))
    }
}

impl PartialOrd for Head {
    fn partial_cmp(&self, other: &Head) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Head {
    fn eq(&self, other: &Head) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Head {}

#[cfg(test)]
mod tests {
    use super::*;
    use steadfast::manifest::Record;

    fn entry(path: &str, bytes: u64) -> Entry {
        let record = Record {
            path: path.into(),
            digests: Vec::new(),
            length: None,
            mtime: None,
            tagged: None,
        };
        Entry { record, device: 9, bytes, checked_s: None }
    }

    fn sorted(entries: &[(u32, Entry)], memory_len: usize) -> (Vec<(u32, Entry)>, u64) {
        let folder = tempfile::tempdir().unwrap();
        let mut spool = Spool::new(folder.path(), memory_len);
        for (device, entry) in entries {
            spool.put(*device, entry).unwrap();
        }
        spool.flush().unwrap();
        let runs = spool.runs;
        let mut sorted = spool.sorted().unwrap();
        let mut all = Vec::new();
        while let Some(next) = sorted.next().unwrap() {
            all.push(next);
        }
        (all, runs)
    }

    /// Numbers below `count` in an order that looks like none.
    fn scattered(count: u64) -> impl Iterator<Item = u64> {
        (0..count).map(move |number| number * 7_919 % count)
    }

    #[test]
    fn any_order_comes_out_sorted_whatever_the_memory() {
        let entries: Vec<_> = scattered(5_003)
            .map(|number| {
                (number as u32 % 3, entry(&format!("d{}/f{number}", number % 17), number))
            })
            .collect();
        let mut expected = entries.clone();
        expected.sort_by(|(a, x), (b, y)| {
            a.cmp(b).then_with(|| order::compare_paths(&x.record.path, &y.record.path))
        });
        for memory_len in [1, 500, 1 << 20] {
            let (found, runs) = sorted(&entries, memory_len);
            assert!(found == expected, "with {memory_len} bytes");
            assert_eq!(runs == 1, memory_len == 1 << 20, "{runs} runs");
        }
    }

    #[test]
    fn what_comes_in_order_makes_one_run() {
        let entries: Vec<_> =
            (0..2_000).map(|number| (0, entry(&format!("f{number:05}"), 1))).collect();
        let (found, runs) = sorted(&entries, 300);
        assert!(found == entries);
        assert_eq!(runs, 1);
    }

    #[test]
    fn of_equal_paths_the_first_comes_first() {
        let entries: Vec<_> = (0..1_000).map(|number| (0, entry("same", number))).collect();
        for memory_len in [1, 100, 1 << 20] {
            assert!(sorted(&entries, memory_len).0 == entries, "with {memory_len} bytes");
        }
        let twice: Vec<_> = scattered(1_009)
            .chain(scattered(1_009))
            .enumerate()
            .map(|(at, number)| (0, entry(&format!("f{number}"), at as u64)))
            .collect();
        let (found, _) = sorted(&twice, 64);
        for pair in found.chunks(2) {
            assert_eq!(pair[0].1.record.path, pair[1].1.record.path);
            assert!(pair[0].1.bytes < pair[1].1.bytes);
        }
    }
}
