//! Reads files that are in a folder already.
//!
//! Reads every regular file beneath it once per round. Writes nothing and follows no symlink. The
//! files are dropped from the page cache, because memory is no measure of storage. Their correct
//! bytes are not known, so only unchanged status is checked.

use std::ffi::{OsStr, OsString};
use std::io;
use std::ops::ControlFlow;
use std::path::Path;

use steadfast_sys::cache::cached_bytes;
use steadfast_sys::file::{AlignedBuffer, Dir, File, FileKind, Status};

use super::super::storage::bench::{Way, expected_s, note_origin, through};
use super::super::storage::beside::{Core, Counted, copy_memory};
use super::super::storage::timed;
use super::TURNS;
use crate::contents::CHUNK_LEN_BYTES;
use crate::error::Error;
use crate::place::Site;
use crate::random::Random;
use crate::record::{self, Order, Sample, Series};
use crate::runner::{End, SeriesId, Session};

/// Deeper folders are left out. They are probably a loop of mounts.
const DEPTH_MAX: usize = 64;

/// The most files. More do not improve the figures, and would fill a record.
const FILES_MAX: usize = 10_000;

/// Options for reading the files of a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExistingFiles {
    /// How often each file is read in each way.
    pub rounds: u32,
    /// The seed of the orders.
    pub seed: u64,
}

/// A file that was found.
#[derive(Clone, Debug)]
struct ExistingFile {
    /// The names of the folders that lead to it, and its own name.
    path: Vec<OsString>,
    status: Status,
}

impl ExistingFiles {
    /// Returns the number of bytes that are read in one way.
    pub(super) fn bytes(&self, folder: &Path) -> io::Result<u64> {
        let files = found(&Dir::open(folder)?)?;
        let bytes: u64 = files.iter().map(|file| file.status.length).sum();
        Ok(bytes.saturating_mul(u64::from(self.rounds)))
    }

    pub(super) fn run(
        &self,
        session: &mut Session<'_>,
        folder: &Path,
        ways: &[Way],
        order: Order,
    ) -> Result<(), End> {
        let failed = |error| Error::system("list it", error).at(folder);
        let mut site = Site::look(folder)?;
        let root = Dir::open(folder).map_err(failed)?;
        let files = found(&root).map_err(failed)?;
        let Some(first) = files.first() else {
            return Err(Error::usage("has no files to read").at(folder).into());
        };
        if files.len() == FILES_MAX {
            session.warn(format!("read: only the first {FILES_MAX} files were read"));
        }
        if let Ok(first) = open(&root, first) {
            site.note_alignment(&first);
        }
        for warning in site.warnings() {
            session.warn(warning);
        }
        let place = session.add_place(site.place.clone());
        copy_memory(session, record::Workload::Read, &vec![7; 64 << 20])?;
        let mut core = Core::new(session, record::Workload::Read);
        let add = |&way| session.add_series_at(place, self.series(way, files.len(), order));
        let series: Vec<SeriesId> = ways.iter().map(add).collect();
        let mut buffer = AlignedBuffer::new(CHUNK_LEN_BYTES);
        let mut random = Random::new(self.seed);
        let mut turn_of = Random::new(self.seed ^ TURNS);
        let mut turns: Vec<usize> = (0..ways.len()).collect();
        let mut order_of: Vec<usize> = (0..files.len()).collect();
        for round in 0..self.rounds {
            if order != Order::Sequential {
                random.shuffle(&mut order_of);
            }
            for &index in &order_of {
                turn_of.shuffle(&mut turns);
                for &turn in &turns {
                    let (way, file) = (ways[turn], &files[index]);
                    let doing = format!("reading {}, round {}", way.name(), round + 1);
                    session.doing(&doing)?;
                    let sample = sample(session, &root, &site, file, way, &mut buffer);
                    let Some((sample, origin)) = sample.map_err(|end| at(end, folder))? else {
                        let message = "read: files changed meanwhile, or went; they were left out";
                        session.warn(message);
                        continue;
                    };
                    let sample = Sample { round, ..sample };
                    note_origin(session, series[turn], way, origin, &sample);
                    session.add_sample(series[turn], sample);
                    core.sample(session, round)?;
                    session.did(expected_s(file.status.length));
                }
            }
        }
        Ok(())
    }

    fn series(&self, way: Way, files: usize, order: Order) -> Series {
        let ordered = match order {
            Order::Sequential => "in the order of the folder",
            _ => "in an order drawn anew for each round",
        };
        let rounds = self.rounds;
        let label = format!("read, {}, files found there", way.name());
        let method = format!(
            "{files} files that were in the folder, {rounds} rounds, {ordered}; not standard: \
             files of one's own. Each file {}. What its bytes should be is not known: its length \
             and times were the same afterwards.",
            way.method()
        );
        let factors = way.factors(if order == Order::Sequential { order } else { Order::Random });
        Series::new(record::Workload::Read, label, method, factors).seeded(self.seed)
    }
}

impl ExistingFile {
    fn name(&self) -> &OsStr {
        self.path.last().expect("a file has a name")
    }
}

/// Reads one file in one way; `None` if the file has changed since the walk.
fn sample(
    session: &mut Session<'_>,
    root: &Dir,
    site: &Site,
    found: &ExistingFile,
    way: Way,
    buffer: &mut AlignedBuffer,
) -> Result<Option<(Sample, steadfast::Origin)>, End> {
    let stop = session.stop_flag();
    let failed = |error| Error::system("read a file", error);
    let Ok(below) = parent_of(root, found) else { return Ok(None) };
    let dir = below.as_ref().unwrap_or(root);
    let Ok(before) = dir.open_file(found.name()) else { return Ok(None) };
    let length = found.status.length;
    let mut cached = site.empty_caches(&before, length);
    if way == Way::Warm {
        through(timed::read(way.engine(), &before, buffer, stop).map_err(failed)?)?;
        cached = cached_bytes(&before, length).ok();
    }
    let counted = Counted::now();
    let (timed, outcome) = session.time(|| {
        let file = dir.open_file(found.name())?;
        timed::read(way.engine(), &file, buffer, stop)
    });
    let (read, origin) = through(outcome.map_err(failed)?)?;
    let after = before.status().map_err(failed)?;
    let same = (after.inode, after.mtime, after.ctime)
        == (found.status.inode, found.status.mtime, found.status.ctime);
    if !same || read != length {
        return Ok(None);
    }
    let beside = counted.beside(timed);
    Ok(Some((Sample { cached_bytes: cached, beside, ..timed.sample(0, length) }, origin)))
}

fn at(end: End, folder: &Path) -> End {
    match end {
        End::Failed(error) => End::Failed(error.at(folder)),
        End::Stopped => End::Stopped,
    }
}

/// Opens the folder of a file, one component at a time; `None` is the root.
fn parent_of(root: &Dir, found: &ExistingFile) -> io::Result<Option<Dir>> {
    let (_, folders) = found.path.split_last().expect("a file has a name");
    let mut below: Option<Dir> = None;
    for name in folders {
        below = Some(below.as_ref().unwrap_or(root).open_dir(name)?);
    }
    Ok(below)
}

fn open(root: &Dir, found: &ExistingFile) -> io::Result<File> {
    parent_of(root, found)?.as_ref().unwrap_or(root).open_file(found.name())
}

/// Finds every regular file that is not empty, in the order of the file system.
fn found(root: &Dir) -> io::Result<Vec<ExistingFile>> {
    let mut files = Vec::new();
    find(root, &mut Vec::new(), &mut files)?;
    Ok(files)
}

fn find(dir: &Dir, path: &mut Vec<OsString>, files: &mut Vec<ExistingFile>) -> io::Result<()> {
    let mut entries = Vec::new();
    dir.entries(&mut |entry| {
        entries.push(entry.name.to_owned());
        ControlFlow::Continue(())
    })?;
    let device = dir.status()?.device;
    for name in entries {
        // A file that was removed meanwhile is left out.
        let Ok(status) = dir.status_of(&name) else { continue };
        path.push(name);
        match status.kind {
            _ if files.len() == FILES_MAX => {}
            FileKind::Regular if status.length > 0 => {
                files.push(ExistingFile { path: path.clone(), status });
            }
            FileKind::Directory if path.len() < DEPTH_MAX && status.device == device => {
                let name = path.last().expect("it was pushed above");
                if let Ok(below) = dir.open_dir(name) {
                    find(&below, path, files)?;
                }
            }
            _ => {}
        }
        path.pop();
    }
    Ok(())
}
