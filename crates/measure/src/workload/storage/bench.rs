//! Planned files in a folder of our own: written, read in several ways, compared, removed.

use std::path::Path;
use std::time::{Duration, Instant};

use steadfast_sys::file::{AlignedBuffer, Flush};

use super::beside::Counted;
use super::folder::OwnFolder;
use super::plan::{Plan, PlannedFile};
use super::way::{Way, note_origin};
use crate::contents::{CHUNK_LEN_BYTES, TestBytes};
use crate::error::Error;
use crate::record::{Factors, Order, Sample, Series, Stage, Workload};
use crate::runner::{End, SeriesId, Session, Stopped};

/// What a reader of write rates must know of a file system that macOS cannot flush whole.
const PLAIN_FLUSH: &str = "this file system has no full flush (F_FULLFSYNC): written files went to \
                           its server or drive, which may keep them in memory for a while";

/// Expected seconds per gigabyte, before anything is measured.
const EXPECTED_S_PER_GB: f64 = 1.0;

/// Time between two checks of the stop flag during a pause.
const REST_STEP: Duration = Duration::from_millis(50);

/// A folder of our own with planned files.
#[derive(Debug)]
pub(in crate::workload) struct Bench {
    workload: Workload,
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

impl Bench {
    /// Opens a folder with room for the planned files.
    pub(in crate::workload) fn open(
        session: &mut Session<'_>,
        workload: Workload,
        folder: &Path,
        plan: &Plan,
    ) -> Result<Bench, End> {
        plan.check()?;
        let folder = OwnFolder::open(session, folder, plan.bytes())?;
        if let Some(why) = plan.departs() {
            session.warn(format!("{}: {why}", workload.name()));
        }
        Ok(Bench {
            workload,
            plan: plan.clone(),
            files: plan.files(),
            folder,
            contents: TestBytes::new(plan.seed),
            buffer: AlignedBuffer::new(CHUNK_LEN_BYTES),
        })
    }

    /// Returns the files in the order of writing, or in the one in which the folder lists them.
    pub(in crate::workload) fn files(&self, order: Order) -> Result<Vec<PlannedFile>, Error> {
        if order != Order::Sequential {
            return Ok(self.files.clone());
        }
        let listed = self.folder.scratch.listed();
        let listed = listed.map_err(|error| self.folder.failed("list it", error))?;
        let planned = |number: &u32| self.files.get(*number as usize).copied();
        let mut files: Vec<PlannedFile> = listed.iter().filter_map(planned).collect();
        // A round is a set, and rounds never decrease. Within each, the order of the folder holds.
        files.sort_by_key(|file| file.set);
        Ok(files)
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

    /// Adds a series of reading.
    pub(in crate::workload) fn read_series(
        &self,
        session: &mut Session<'_>,
        way: Way,
        order: Order,
    ) -> SeriesId {
        let ordered = match order {
            Order::Sequential => "Within each set in the order of the folder",
            _ => "In the order of writing",
        };
        let method = format!(
            "{}. {ordered}. Each file {}. Every byte compared afterwards with what was written.",
            self.plan.described(),
            way.method()
        );
        self.add_series(session, &format!("read, {}", way.name()), method, way.factors(order))
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

    /// Writes all files, with pauses between sets. Adds samples if there is a series.
    pub(in crate::workload) fn write(
        &mut self,
        session: &mut Session<'_>,
        series: Option<SeriesId>,
    ) -> Result<(), End> {
        let doing = if series.is_some() { "writing" } else { "preparing" };
        let mut set = 0;
        for file in self.files.clone() {
            if file.set != set {
                set = file.set;
                rest(session, self.plan.pause)?;
            }
            session.doing(&format!("{doing}, set {} of {}", set + 1, self.plan.sets))?;
            let counted = Counted::now();
            let (sync, contents) = (self.plan.sync, &mut self.contents);
            let (timed, flushed) = self.folder.write(session, contents, file, sync, |_| {})?;
            if flushed == Some(Flush::Drive) {
                session.warn(PLAIN_FLUSH);
            }
            if let Some(series) = series {
                let beside = counted.beside(timed);
                let sample = Sample { beside, ..timed.sample(file.set, file.length) };
                session.add_sample(series, sample);
            }
            session.did(expected_s(file.length));
        }
        Ok(())
    }

    /// Reads one file in one way into a series.
    pub(in crate::workload) fn read(
        &mut self,
        session: &mut Session<'_>,
        file: PlannedFile,
        way: Way,
        series: SeriesId,
    ) -> Result<(), End> {
        let (sample, origin) = self.folder.read(session, file, way, &mut self.buffer, |_| {})?;
        note_origin(session, series, way, Some(origin), &sample);
        session.add_sample(series, sample);
        session.did(expected_s(file.length));
        Ok(())
    }

    /// Compares a file with the written bytes, and drops it from the page cache.
    pub(in crate::workload) fn compare(
        &mut self,
        session: &mut Session<'_>,
        file: PlannedFile,
    ) -> Result<(), End> {
        self.folder.compare(session, &mut self.contents, file, &mut self.buffer)?;
        // Otherwise the files would fill the memory that writing and reading need.
        if let Ok(file) = self.folder.scratch.open(file.number) {
            let _ = steadfast_sys::cache::drop_cached(&file);
        }
        session.did(expected_s(file.length));
        Ok(())
    }

    /// Removes the folder.
    pub(in crate::workload) fn close(self) -> Result<(), End> {
        Ok(self.folder.scratch.close()?)
    }
}

/// Pauses between sets or rounds, unless the session is stopped.
pub(in crate::workload) fn rest(session: &mut Session<'_>, pause: Duration) -> Result<(), Stopped> {
    let begun = Instant::now();
    while begun.elapsed() < pause {
        session.doing("resting")?;
        std::thread::sleep(REST_STEP.min(pause - begun.elapsed().min(pause)));
    }
    Ok(())
}
