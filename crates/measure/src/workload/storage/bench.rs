//! Planned files in a folder of our own: written, read in several ways, compared, removed.

use std::path::Path;

use steadfast_sys::cache::drop_cached;
use steadfast_sys::file::{AlignedBuffer, Flush};

use super::beside::Counted;
use super::folder::OwnFolder;
use super::plan::{Plan, PlannedFile};
use super::way::{Way, note_origin};
use crate::contents::{CHUNK_LEN_BYTES, TestBytes};
use crate::error::Error;
use crate::random::Random;
use crate::record::{Factors, Order, Sample, Series, Stage, Workload};
use crate::runner::{End, SeriesId, Session};
use crate::workload::{Bench, SweepStep};

/// What a reader of write rates must know of a file system that macOS cannot flush whole.
const PLAIN_FLUSH: &str = "this file system has no full flush (F_FULLFSYNC): written files went to \
                           its server or drive, which may keep them in memory for a while";

/// Expected seconds per gigabyte, before anything is measured.
const EXPECTED_S_PER_GB: f64 = 1.0;

/// Makes the seed of the order of ways different from that of the files.
const TURNS: u64 = 0x7475_726e_7321_7475;

/// A folder of our own with planned files, a set of which is written or read in each round.
#[derive(Debug)]
pub(in crate::workload) struct FileBench {
    workload: Workload,
    /// The series of writing, if that is timed.
    pub(in crate::workload) written: Option<SeriesId>,
    /// The ways of reading, each with its series.
    reads: Vec<(Way, SeriesId)>,
    order: Order,
    /// Draws the order of the ways for each file.
    turns: Random,
    plan: Plan,
    files: Vec<PlannedFile>,
    folder: OwnFolder,
    contents: TestBytes,
    buffer: AlignedBuffer,
}

/// Returns the expected seconds for this many bytes.
pub(in crate::workload) fn expected_s(bytes: u64) -> f64 {
    bytes as f64 / 1e9 * EXPECTED_S_PER_GB
}

impl FileBench {
    /// Opens a folder with room for the planned files.
    pub(in crate::workload) fn open(
        session: &mut Session<'_>,
        workload: Workload,
        folder: &Path,
        plan: &Plan,
    ) -> Result<FileBench, End> {
        let folder = OwnFolder::open(session, folder, plan.bytes())?;
        Ok(FileBench {
            workload,
            written: None,
            reads: Vec::new(),
            order: Order::Written,
            turns: Random::new(plan.seed ^ TURNS),
            plan: plan.clone(),
            files: plan.files(),
            folder,
            contents: TestBytes::new(plan.seed),
            buffer: AlignedBuffer::new(CHUNK_LEN_BYTES),
        })
    }

    /// Returns the files of a set in the order of writing, or in the one in which the folder lists
    /// them.
    fn files(&self, set: u32) -> Result<Vec<PlannedFile>, Error> {
        let mut files = match self.order {
            Order::Sequential => {
                let listed = self.folder.scratch.listed();
                let listed = listed.map_err(|error| self.folder.failed("list it", error))?;
                let planned = |number: &u32| self.files.get(*number as usize).copied();
                listed.iter().filter_map(planned).collect()
            }
            _ => self.files.clone(),
        };
        files.retain(|file| file.set == set);
        Ok(files)
    }

    /// Adds a series for each way of reading, in which each file is read then.
    pub(in crate::workload) fn read_in(
        &mut self,
        session: &mut Session<'_>,
        ways: &[Way],
        order: Order,
    ) {
        self.order = order;
        self.reads = ways.iter().map(|&way| (way, self.read_series(session, way))).collect();
    }

    /// Adds the series of writing.
    pub(in crate::workload) fn write_series(&self, session: &mut Session<'_>) -> SeriesId {
        let flushed = match self.plan.sync {
            true => "flushed to the medium (fsync; on macOS F_FULLFSYNC)",
            false => "not flushed",
        };
        let method = format!(
            "{}. Each file timed: made, written 1 MiB at a time by one thread, {flushed}, closed. \
             Incompressible bytes, no block twice, all compared afterwards. The folder itself is \
             not flushed.",
            self.plan.described()
        );
        let factors = Factors {
            stage: Some(Stage::Write),
            threads: Some(1),
            buffer_len_bytes: Some(CHUNK_LEN_BYTES as u64),
            order: Some(Order::Random),
            ..Factors::default()
        };
        self.add_series(session, "written", method, factors)
    }

    fn read_series(&self, session: &mut Session<'_>, way: Way) -> SeriesId {
        let ordered = match self.order {
            Order::Sequential => "Within each set in the order of the folder",
            _ => "In the order of writing",
        };
        let method = format!(
            "{}. {ordered}. Each file {}. Every byte compared afterwards with what was written.",
            self.plan.described(),
            way.method()
        );
        self.add_series(session, &format!("read, {}", way.name()), method, way.factors(self.order))
    }

    fn add_series(
        &self,
        session: &mut Session<'_>,
        label: &str,
        method: String,
        factors: Factors,
    ) -> SeriesId {
        let series = Series::new(self.workload, label, method, factors);
        session.add_series_at(self.folder.place, series.seeded(self.plan.seed))
    }

    /// Writes the files of a set. Adds samples if there is a series.
    pub(in crate::workload) fn write(
        &mut self,
        session: &mut Session<'_>,
        set: u32,
        series: Option<SeriesId>,
    ) -> Result<(), End> {
        let doing = if series.is_some() { "writing" } else { "preparing" };
        let (sets, sync) = (self.plan.sets, self.plan.sync);
        for &file in self.files.iter().filter(|file| file.set == set) {
            session.doing(&format!("{doing}, set {} of {sets}", set + 1))?;
            let counted = Counted::now();
            let contents = &mut self.contents;
            let (timed, flushed) = self.folder.write(session, contents, file, sync, |_| {})?;
            if flushed == Some(Flush::Drive) {
                session.warn(PLAIN_FLUSH);
            }
            if let Some(series) = series {
                let beside = counted.beside(timed);
                let sample = Sample { beside, ..timed.sample(set, file.length) };
                session.add_sample(series, sample);
                session.did(expected_s(file.length));
            }
        }
        Ok(())
    }

    /// Reads the files of a set in every way, compares them with the written bytes, and drops them
    /// from the page cache: they would fill the memory that writing and reading need.
    fn read(&mut self, session: &mut Session<'_>, set: u32) -> Result<(), End> {
        for file in self.files(set)? {
            self.turns.shuffle(&mut self.reads);
            let length_s = expected_s(file.length);
            for &(way, series) in &self.reads {
                let (name, sets) = (way.name(), self.plan.sets);
                session.doing(&format!("reading {name}, set {} of {sets}", set + 1))?;
                let read = self.folder.read(session, file, way, &mut self.buffer, |_| {});
                let (sample, origin) = read?;
                note_origin(session, series, way, Some(origin), &sample);
                session.add_sample(series, sample);
                session.did(length_s);
            }
            self.folder.compare(session, &mut self.contents, file, &mut self.buffer)?;
            if let Ok(file) = self.folder.scratch.open(file.number) {
                let _ = drop_cached(&file);
            }
            session.did(length_s);
        }
        Ok(())
    }
}

impl Bench for FileBench {
    fn steps(&self) -> Vec<SweepStep> {
        let written = self.written.map(|id| vec![id]);
        let read = self.reads.iter().map(|(_, id)| *id).collect();
        let phases = written.into_iter().chain([read]).enumerate();
        phases.map(|(phase, series)| SweepStep { phase, series, cost: 0.0 }).collect()
    }

    fn sample(&mut self, session: &mut Session<'_>, step: usize, round: u32) -> Result<(), End> {
        match self.written.filter(|_| step == 0) {
            Some(written) => self.write(session, round, Some(written)),
            None => self.read(session, round),
        }
    }

    fn close(self: Box<Self>, _session: &mut Session<'_>) -> Result<(), End> {
        Ok(self.folder.scratch.close()?)
    }
}
