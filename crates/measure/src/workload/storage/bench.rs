//! A folder of our own with planned files: written, read in several ways, compared, removed.

use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use steadfast::Origin;
use steadfast::read::Engine;
use steadfast::read::buffered::Buffered;
use steadfast::read::direct::Direct;
use steadfast_sys::file::{AlignedBuffer, File, Flush};
use strum::{EnumMessage, IntoStaticStr, VariantArray};

use super::beside::Counted;
use super::plan::{Plan, PlannedFile};
use super::timed::{self, Went};
use crate::contents::{CHUNK_LEN_BYTES, TestBytes};
use crate::error::Error;
use crate::place::Site;
use crate::record::{Cache, Factors, Order, Sample, Series, Stage, Workload};
use crate::runner::{End, PlaceId, SeriesId, Session, Stopped};
use crate::scratch::{self, Scratch};

/// What a reader of write rates must know of a file system that macOS cannot flush whole.
const PLAIN_FLUSH: &str = "this file system has no full flush (F_FULLFSYNC): written files went to \
                           its server or drive, which may keep them in memory for a while";

/// A way of reading.
#[derive(EnumMessage, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "lowercase")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Through the page cache, after dropping the file from it.
    Cold,
    /// Past the page cache.
    Direct,
    /// From the page cache, after filling it.
    Warm,
}

impl Way {
    /// Returns the name, as on the command line.
    pub fn name(self) -> &'static str {
        self.into()
    }

    pub(in crate::workload) fn engine(self) -> &'static dyn Engine {
        match self {
            Way::Cold | Way::Warm => &Buffered,
            Way::Direct => &Direct,
        }
    }

    /// Returns the factors of a series of this way. Each sample confirms or corrects the origin
    /// that they state.
    pub(in crate::workload) fn factors(self, order: Order) -> Factors {
        let cache = match self {
            Way::Cold => Cache::Cold,
            Way::Direct => Cache::Direct,
            Way::Warm => Cache::Warm,
        };
        Factors {
            stage: Some(Stage::Read),
            backend: Some(self.engine().name().to_owned()),
            threads: Some(1),
            buffer_len_bytes: Some(CHUNK_LEN_BYTES as u64),
            queue_depth: Some(1),
            order: Some(order),
            cache: Some(cache),
            ..Factors::default()
        }
    }

    pub(in crate::workload) fn method(self) -> &'static str {
        match self {
            Way::Cold => {
                "put out of the page cache, which was asked what was left; then timed: opened, \
                 read to its end 1 MiB at a time by one thread, closed"
            }
            Way::Direct => {
                "timed: opened, read past the page cache to its end, 1 MiB at a time and one after \
                 the other, closed"
            }
            Way::Warm => {
                "read once untimed, the page cache asked what it holds; then timed: opened, read \
                 to its end 1 MiB at a time by one thread, closed"
            }
        }
    }
}

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
    site: Site,
    place: PlaceId,
    scratch: Scratch,
    contents: TestBytes,
    buffer: AlignedBuffer,
}

/// Returns the expected seconds for this many bytes.
pub(in crate::workload) fn expected_s(bytes: u64) -> f64 {
    bytes as f64 / 1e9 * EXPECTED_S_PER_GB
}

impl Bench {
    /// Examines a folder, checks its free space, and makes a folder of our own in it.
    pub(in crate::workload) fn open(
        session: &mut Session<'_>,
        workload: Workload,
        folder: &Path,
        plan: &Plan,
    ) -> Result<Bench, Error> {
        plan.check()?;
        let (mut site, scratch) = scratch::prepare(session, folder, plan.bytes())?;
        note_alignment(&mut site, &scratch)
            .map_err(|error| Error::system("make a file in it", error).at(folder))?;
        for warning in site.warnings() {
            session.warn(warning);
        }
        if let Some(why) = plan.departs() {
            session.warn(format!("{}: {why}", workload.name()));
        }
        let contents = TestBytes::new(plan.seed);
        let place = session.add_place(site.place.clone());
        Ok(Bench {
            workload,
            plan: plan.clone(),
            files: plan.files(),
            site,
            place,
            scratch,
            contents,
            buffer: AlignedBuffer::new(CHUNK_LEN_BYTES),
        })
    }

    /// Returns the files in the order of writing, or in the one in which the folder lists them.
    pub(in crate::workload) fn files(&self, order: Order) -> Result<Vec<PlannedFile>, Error> {
        if order != Order::Sequential {
            return Ok(self.files.clone());
        }
        let failed = |error| Error::system("list it", error).at(self.scratch.path());
        let listed = self.scratch.listed().map_err(failed)?;
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
        session.add_series_at(self.place, series.seeded(self.plan.seed))
    }

    /// Writes all files, with pauses between sets. Adds samples if there is a series.
    pub(in crate::workload) fn write(
        &mut self,
        session: &mut Session<'_>,
        series: Option<SeriesId>,
    ) -> Result<(), End> {
        let (stop, sync) = (session.stop_flag(), self.plan.sync);
        let doing = if series.is_some() { "writing" } else { "preparing" };
        let mut set = 0;
        for file in self.files.clone() {
            if file.set != set {
                set = file.set;
                rest(session, self.plan.pause)?;
            }
            session.doing(&format!("{doing}, set {} of {}", set + 1, self.plan.sets))?;
            let counted = Counted::now();
            let (timed, outcome) =
                session.time(|| timed::write(&self.scratch, &mut self.contents, file, sync, stop));
            let failed = |error| Error::system("write a file", error).at(self.scratch.path());
            if through(outcome.map_err(failed)?)? == Some(Flush::Drive) {
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
        let path = self.scratch.path().to_owned();
        let failed = |error: io::Error| Error::system("read a file", error).at(&path);
        let stop = session.stop_flag();
        let mut before = self.scratch.open(file.number).map_err(failed)?;
        let mut cached_bytes = self.site.empty_caches(&before, file.length);
        if way == Way::Warm {
            through(timed::read(way.engine(), &before, &mut self.buffer, stop).map_err(failed)?)?;
            cached_bytes = steadfast_sys::cache::cached_bytes(&before, file.length).ok();
            before = self.scratch.open(file.number).map_err(failed)?;
        }
        drop(before);
        let counted = Counted::now();
        let (scratch, buffer) = (&self.scratch, &mut self.buffer);
        let (timed, outcome) = session.time(|| {
            let file = scratch.open(file.number)?;
            timed::read(way.engine(), &file, buffer, stop)
        });
        let (length, origin) = through(outcome.map_err(failed)?)?;
        if length != file.length {
            let message = format!("a file of {} bytes had {length} when read", file.length);
            return Err(Error::wrong(message).at(&path).into());
        }
        let beside = counted.beside(timed);
        let sample = Sample { cached_bytes, beside, ..timed.sample(file.set, file.length) };
        note_origin(session, series, way, origin, &sample);
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
        let stop = session.stop_flag();
        let (scratch, contents) = (&self.scratch, &mut self.contents);
        through(timed::compare(scratch, contents, file, &mut self.buffer, stop)?)?;
        // Otherwise the files would fill the memory that writing and reading need.
        if let Ok(file) = self.scratch.open(file.number) {
            let _ = steadfast_sys::cache::drop_cached(&file);
        }
        session.did(expected_s(file.length));
        Ok(())
    }

    /// Removes the folder.
    pub(in crate::workload) fn close(self) -> Result<(), End> {
        Ok(self.scratch.close()?)
    }
}

/// Turns a stop into the end of the workload.
pub(in crate::workload) fn through<T>(went: Went<T>) -> Result<T, Stopped> {
    match went {
        Went::Through(value) => Ok(value),
        Went::Stopped => Err(Stopped),
    }
}

/// Corrects the origin of a series if a sample contradicts it.
pub(in crate::workload) fn note_origin(
    session: &mut Session<'_>,
    series: SeriesId,
    way: Way,
    origin: Origin,
    sample: &Sample,
) {
    let holds = match way {
        Way::Cold => sample.cached_bytes == Some(0),
        Way::Warm => sample.cached_bytes == Some(sample.amount),
        Way::Direct => origin == Origin::Media,
    };
    if holds || session.series(series).factors.cache == Some(Cache::Unknown) {
        return;
    }
    session.series_mut(series).factors.cache = Some(Cache::Unknown);
    let label = session.series(series).label.clone();
    session.warn(match (way, sample.cached_bytes) {
        (Way::Direct, _) => {
            format!("{label}: the file system read through the page cache all the same")
        }
        (_, None) => format!("{label}: the system does not tell what is in memory already"),
        (Way::Cold, Some(_)) => format!("{label}: files could not be put out of the page cache"),
        (Way::Warm, Some(_)) => format!("{label}: the page cache did not hold whole files"),
    });
}

/// Asks about a file of our own, because a folder has no reads to align.
fn note_alignment(site: &mut Site, scratch: &Scratch) -> io::Result<()> {
    const NUMBER: u32 = 99_999_999;
    drop(scratch.create(NUMBER)?);
    let file: File = scratch.open(NUMBER)?;
    site.note_alignment(&file);
    drop(file);
    scratch.remove(NUMBER)
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
