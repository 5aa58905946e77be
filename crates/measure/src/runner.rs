//! One session of measuring: workloads put series into it, out comes a record.
//!
//! In: what is timed, and who watches. Out: samples with their times, and the record in the end,
//! marked partial if somebody stopped it. Knows nothing of what is measured.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use steadfast_sys::{clock, machine};

use crate::calibrate;
use crate::error::Error;
use crate::record::{Format, Load, Machine, Place, Record, Sample, Series, VERSION};

/// Hears what is being measured, and for how long still.
pub trait Watch {
    /// Hears of a step that begins. Called often: whoever draws does so when it pleases.
    fn doing(&mut self, doing: &Doing<'_>);

    /// Hears of a sample that was taken, and of its series.
    fn sampled(&mut self, _series: &Series, _sample: &Sample) {}
}

/// What is being measured.
#[derive(Clone, Copy, Debug)]
pub struct Doing<'a> {
    /// Label of the series, or what is prepared for it.
    pub what: &'a str,
    /// Share of the whole session that is done, 0 to 1.
    pub done: f64,
    /// Time left, as the pace so far promises; absent in the beginning.
    pub left: Option<Duration>,
}

/// Nobody watches.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unwatched;

impl Watch for Unwatched {
    fn doing(&mut self, _doing: &Doing<'_>) {}
}

/// Says that somebody stopped the session. Samples so far are in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stopped;

/// Why a workload ended early.
#[derive(Debug)]
pub enum End {
    /// Somebody stopped it; what was measured stands.
    Stopped,
    /// It could not go on; what was measured stands.
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

/// The time that something took.
#[derive(Clone, Copy, Debug)]
pub struct Timed {
    /// When it began, in nanoseconds after the session's beginning.
    pub start_ns: u64,
    /// How long it took, in nanoseconds; at least 1.
    pub elapsed_ns: u64,
    /// Processor time of the whole process meanwhile, in nanoseconds.
    pub cpu_ns: u64,
}

impl Timed {
    /// Makes a sample of it. `amount` is in the series' unit.
    pub fn sample(self, round: u32, amount: u64) -> Sample {
        Sample {
            round,
            amount,
            start_ns: self.start_ns,
            elapsed_ns: self.elapsed_ns,
            cpu_ns: Some(self.cpu_ns),
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
    /// Work that was announced, and of it what is done, in whatever weight workloads give it.
    planned: f64,
    done: f64,
}

impl<'a> Session<'a> {
    /// Begins a session: looks at the machine and calibrates the clock, which takes some 20 ms.
    ///
    /// `made_by` names the program with its version and system, `command` is the verb with its
    /// arguments, `stop` is raised by whoever wants it to end.
    pub fn begin(
        made_by: String,
        command: Vec<String>,
        stop: &'a AtomicBool,
        watch: &'a mut dyn Watch,
    ) -> Session<'a> {
        let mut machine = Machine::look();
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
            clock: calibrate::clock(),
            places: Vec::new(),
            series: Vec::new(),
            warnings: Vec::new(),
        };
        let begun_ns = clock::monotonic_ns();
        let stolen_ns = machine::stolen_ns();
        Session { record, stop, watch, begun_ns, stolen_ns, planned: 0.0, done: 0.0 }
    }

    /// Announces work, in any weight that later [`Session::did`] uses as well: expected seconds.
    pub fn plan(&mut self, weight: f64) {
        self.planned += weight;
    }

    /// Tells that so much of the announced work is done.
    pub fn did(&mut self, weight: f64) {
        self.done = (self.done + weight).min(self.planned);
    }

    /// Tells whoever watches what comes next.
    ///
    /// # Errors
    /// [`Stopped`] if the session is to end: pass it on with `?`.
    pub fn doing(&mut self, what: &str) -> Result<(), Stopped> {
        if self.stop.load(Ordering::Relaxed) {
            return Err(Stopped);
        }
        let done = if self.planned > 0.0 { self.done / self.planned } else { 0.0 };
        let spent = Duration::from_nanos(self.now_ns());
        // Before a fiftieth is done the pace says little.
        let left = (done >= 0.02).then(|| spent.mul_f64((1.0 - done) / done));
        self.watch.doing(&Doing { what, done, left });
        Ok(())
    }

    /// Returns what is raised when the session is to end, for work that takes long.
    pub fn stop_flag(&self) -> &'a AtomicBool {
        self.stop
    }

    /// Adds a folder.
    pub fn add_place(&mut self, place: Place) -> PlaceId {
        self.record.places.push(place);
        PlaceId(self.record.places.len() - 1)
    }

    /// Adds a series. One without samples in the end is left out of the record.
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

    /// Returns a series as it is so far.
    pub fn series(&self, id: SeriesId) -> &Series {
        &self.record.series[id.0]
    }

    /// Changes what is said of a series, as when only reading shows where bytes came from.
    pub fn series_mut(&mut self, id: SeriesId) -> &mut Series {
        &mut self.record.series[id.0]
    }

    /// Returns how many series there are so far.
    pub fn series_count(&self) -> usize {
        self.record.series.len()
    }

    /// Changes what is said of all series but the first `count`, as what holds for a workload.
    pub fn series_after_mut(&mut self, count: usize) -> &mut [Series] {
        &mut self.record.series[count..]
    }

    /// Adds what a reader should know before believing the figures. Said twice, it stands once.
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

    /// Does something and takes its time.
    pub fn time<T>(&self, work: impl FnOnce() -> T) -> (Timed, T) {
        let cpu = clock::process_cpu_ns();
        let start = clock::monotonic_ns();
        let result = work();
        let end = clock::monotonic_ns();
        let cpu_ns = clock::process_cpu_ns() - cpu;
        let elapsed_ns = (end - start).max(1);
        (Timed { start_ns: start - self.begun_ns, elapsed_ns, cpu_ns }, result)
    }

    /// Ends the session. `partial` says why not everything was measured, if so.
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
