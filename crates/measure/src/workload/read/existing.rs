//! Reads files that are in a folder already.
//!
//! Reads every regular file beneath it once per round. Writes nothing and follows no symlink. The
//! files are dropped from the page cache, because memory is no measure of storage. Their correct
//! bytes are not known, so only unchanged status is checked.

use std::io;
use std::path::Path;

use steadfast_sys::cache::cached_bytes;
use steadfast_sys::file::{AlignedBuffer, Dir};

use super::super::found::{FILES_MAX, FoundFile, FoundFiles};
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

/// Options for reading the files of a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExistingFiles {
    /// How often each file is read in each way.
    pub rounds: u32,
    /// The seed of the orders.
    pub seed: u64,
}

impl ExistingFiles {
    /// Returns the number of bytes that are read in one way.
    pub(super) fn bytes(&self, folder: &Path) -> io::Result<u64> {
        let found = FoundFiles::of(Dir::open(folder)?)?;
        Ok(found.bytes().saturating_mul(u64::from(self.rounds)))
    }

    pub(super) fn run(
        &self,
        session: &mut Session<'_>,
        folder: &Path,
        ways: &[Way],
        order: Order,
    ) -> Result<(), End> {
        let failed = |error| Error::system("list it", error).at(folder);
        let mut site = Site::examine(folder)?;
        let found = Dir::open(folder).and_then(FoundFiles::of).map_err(failed)?;
        let files = &found.files;
        let Some(first) = files.first() else {
            return Err(Error::usage("has no files to read").at(folder).into());
        };
        if files.len() == FILES_MAX {
            session.warn(format!("read: only the first {FILES_MAX} files were read"));
        }
        if let Ok(first) = found.open(first) {
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
                    let sample = sample(session, &found, &site, file, way, &mut buffer);
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

/// Reads one file in one way; `None` if the file has changed since the walk.
fn sample(
    session: &mut Session<'_>,
    files: &FoundFiles,
    site: &Site,
    found: &FoundFile,
    way: Way,
    buffer: &mut AlignedBuffer,
) -> Result<Option<(Sample, steadfast::Origin)>, End> {
    let stop = session.stop_flag();
    let failed = |error| Error::system("read a file", error);
    let Ok(parent) = files.parent_of(found) else { return Ok(None) };
    let open = || files.open_in(parent.as_ref(), found);
    let Ok(before) = open() else { return Ok(None) };
    let length = found.status.length;
    let mut cached = site.empty_caches(&before, length);
    if way == Way::Warm {
        through(timed::read(way.engine(), &before, buffer, stop).map_err(failed)?)?;
        cached = cached_bytes(&before, length).ok();
    }
    let counted = Counted::now();
    let (timed, outcome) = session.time(|| {
        let file = open()?;
        timed::read(way.engine(), &file, buffer, stop)
    });
    let (read, origin) = through(outcome.map_err(failed)?)?;
    let after = before.status().map_err(failed)?;
    if !found.is(&after) || read != length {
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
