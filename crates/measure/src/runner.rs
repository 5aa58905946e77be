//! A session of measuring: workloads add series to it, and it returns a record.
//!
//! The record is marked partial if the session was stopped.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use steadfast::Level;
use steadfast_sys::energy::EnergyReading;
use steadfast_sys::{clock, machine};

use crate::calibrate;
use crate::error::Error;
use crate::record::{Format, Load, Machine, Place, Record, Sample, Series, SessionLevel, VERSION};

/// Receives the progress of a session.
pub trait Watch {
    /// A step begins. Called often, so an implementation should draw only now and then.
    fn doing(&mut self, doing: &Doing<'_>);

    /// A sample was taken.
    fn sampled(&mut self, _series: &Series, _sample: &Sample) {}
}

/// The progress of a session.
#[derive(Clone, Copy, Debug)]
pub struct Doing<'a> {
    /// Label of the series, or the preparation for it.
    pub what: &'a str,
    /// Share of the whole session that is done, 0 to 1.
    pub done: f64,
    /// Estimated time left; `None` at the beginning.
    pub left: Option<Duration>,
}

/// Ignores the progress.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unwatched;

impl Watch for Unwatched {
    fn doing(&mut self, _doing: &Doing<'_>) {}
}

/// The session was stopped. It keeps its samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stopped;

/// Why a workload ended early.
#[derive(Debug)]
pub enum End {
    /// It was stopped. The samples so far are kept.
    Stopped,
    /// It failed. The samples so far are kept.
    Failed(Error),
}

impl From<Stopped> for End {
    fn from(_: Stopped) -> End {
        End::Stopped
    }
}

impl From<Error> for End {
    fn from(error: Error) -> End {
        End::Failed(error)
    }
}

/// The time of some work.
#[derive(Clone, Copy, Debug)]
pub struct Timed {
    /// When it began, in nanoseconds since the start of the session.
    pub start_ns: u64,
    /// How long it took, in nanoseconds; at least 1.
    pub elapsed_ns: u64,
    /// Processor time of the whole process during the work, in nanoseconds.
    pub cpu_ns: u64,
    /// The part of it on performance cores, in nanoseconds, if the system tells.
    pub performance_cpu_ns: Option<u64>,
    /// How long the calling thread waited for a processor, in nanoseconds, if the system tells.
    pub queued_ns: Option<u64>,
    /// Energy during the work, in nanojoules, if the system tells.
    pub energy_nj: Option<u64>,
}

impl Timed {
    /// Makes a sample of it. `amount` is in the unit of the series.
    pub fn sample(self, round: u32, amount: u64) -> Sample {
        Sample {
            round,
            amount,
            start_ns: self.start_ns,
            elapsed_ns: self.elapsed_ns,
            cpu_ns: Some(self.cpu_ns),
            performance_cpu_ns: self.performance_cpu_ns,
            queued_ns: self.queued_ns,
            energy_nj: self.energy_nj,
            ..Sample::default()
        }
    }
}

/// Names a series of the session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeriesId(usize);

/// Names a place of the session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlaceId(usize);

/// One session of measuring.
pub struct Session<'a> {
    record: Record,
    stop: &'a AtomicBool,
    watch: &'a mut dyn Watch,
    begun_ns: u64,
    stolen_ns: Option<u64>,
    /// The planned work and the part that is done, in expected seconds.
    planned: f64,
    done: f64,
}

impl<'a> Session<'a> {
    /// Begins a session: reads the facts of the machine and calibrates the clock, in about 20 ms.
    ///
    /// `made_by` is the program with its version and system, `command` is the verb with its
    /// arguments, and setting `stop` ends the session.
    pub fn begin(
        made_by: String,
        command: Vec<String>,
        stop: &'a AtomicBool,
        watch: &'a mut dyn Watch,
    ) -> Session<'a> {
        let mut machine = Machine::examine();
        machine.load = machine::load_average().map(|before| Load { before, ..Load::default() });
        let record = Record {
            format: Format::Record,
            version: VERSION,
            made_by,
            command,
            name: None,
            published: None,
            started_unix_s: clock::utc_now().seconds,
            elapsed_ns: 0,
            partial: None,
            machine,
            level: Some(SessionLevel::examine(None)),
            clock: calibrate::clock(),
            places: Vec::new(),
            sessions: Vec::new(),
            series: Vec::new(),
            warnings: Vec::new(),
        };
        let begun_ns = clock::monotonic_ns();
        let stolen_ns = machine::stolen_ns();
        Session { record, stop, watch, begun_ns, stolen_ns, planned: 0.0, done: 0.0 }
    }

    /// Notes the level that the command was run at.
    pub fn requested(&mut self, level: Level) {
        self.record.level = Some(SessionLevel::examine(Some(level)));
    }

    /// Adds planned work, in expected seconds, as [`Session::did`] later reports it.
    pub fn plan(&mut self, weight: f64) {
        self.planned += weight;
    }

    /// Reports that this much of the planned work is done.
    pub fn did(&mut self, weight: f64) {
        self.done = (self.done + weight).min(self.planned);
    }

    /// Reports the next step.
    ///
    /// # Errors
    /// [`Stopped`] if the session was stopped. Return it with `?`.
    pub fn doing(&mut self, what: &str) -> Result<(), Stopped> {
        if self.stop.load(Ordering::Relaxed) {
            return Err(Stopped);
        }
        let done = if self.planned > 0.0 { self.done / self.planned } else { 0.0 };
        let spent = Duration::from_nanos(self.now_ns());
        // An estimate is not useful before a fiftieth is done.
        let left = (done >= 0.02).then(|| spent.mul_f64((1.0 - done) / done));
        self.watch.doing(&Doing { what, done, left });
        Ok(())
    }

    /// Returns the flag that is set when the session is stopped, for long work.
    pub fn stop_flag(&self) -> &'a AtomicBool {
        self.stop
    }

    /// Adds a folder.
    pub fn add_place(&mut self, place: Place) -> PlaceId {
        self.record.places.push(place);
        PlaceId(self.record.places.len() - 1)
    }

    /// Adds a series. The record leaves out a series without samples.
    pub fn add_series(&mut self, series: Series) -> SeriesId {
        self.record.series.push(series);
        SeriesId(self.record.series.len() - 1)
    }

    /// Adds a series that was measured in a folder.
    pub fn add_series_at(&mut self, place: PlaceId, series: Series) -> SeriesId {
        self.add_series(Series { place: Some(place.0), ..series })
    }

    /// Adds a sample.
    pub fn add_sample(&mut self, id: SeriesId, sample: Sample) {
        let series = &mut self.record.series[id.0];
        series.samples.push(sample);
        let sample = series.samples.last().expect("one was just added");
        self.watch.sampled(series, sample);
    }

    /// Returns a series in its present state.
    pub fn series(&self, id: SeriesId) -> &Series {
        &self.record.series[id.0]
    }

    /// Returns a series for changes, for facts that only the measurement shows.
    pub fn series_mut(&mut self, id: SeriesId) -> &mut Series {
        &mut self.record.series[id.0]
    }

    /// Adds a warning for readers of the figures. A repeated warning is kept once.
    pub fn warn(&mut self, warning: impl Into<String>) {
        let warning = warning.into();
        if !self.record.warnings.contains(&warning) {
            self.record.warnings.push(warning);
        }
    }

    /// Returns nanoseconds since the session began.
    pub fn now_ns(&self) -> u64 {
        clock::monotonic_ns() - self.begun_ns
    }

    /// Runs work and measures its time.
    pub fn time<T>(&self, work: impl FnOnce() -> T) -> (Timed, T) {
        let energy = EnergyReading::now();
        let queued = clock::thread_queued_ns();
        let cpu = clock::process_cpu_ns();
        let start = clock::monotonic_ns();
        let result = work();
        let end = clock::monotonic_ns();
        let cpu_ns = clock::process_cpu_ns() - cpu;
        let queued_ns = clock::thread_queued_ns().zip(queued).map(|(now, before)| now - before);
        let EnergyReading { performance_cpu_ns, energy_nj, .. } =
            EnergyReading::now().since(&energy);
        let (start_ns, elapsed_ns) = (start - self.begun_ns, (end - start).max(1));
        (Timed { start_ns, elapsed_ns, cpu_ns, performance_cpu_ns, queued_ns, energy_nj }, result)
    }

    /// Ends the session. `partial` is the reason if not everything was measured.
    pub fn end(mut self, partial: Option<String>) -> Record {
        self.record.elapsed_ns = self.now_ns();
        self.record.partial = partial;
        if let Some(load) = &mut self.record.machine.load {
            load.after = machine::load_average().unwrap_or(load.before);
            let stolen = machine::stolen_ns().zip(self.stolen_ns);
            load.stolen_ns = stolen.map(|(after, before)| after.saturating_sub(before));
        }
        self.record.series.retain(|series| !series.samples.is_empty());
        self.record
    }
}
