//! The thread of a measurement: takes steps and samples, publishes snapshots and the record.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use steadfast_measure::record::{Sample, Series, Unit};
use steadfast_measure::runner::{Doing, End, Session, Watch};
use steadfast_measure::workload::Workload;
use steadfast_report::document::Quantity;
use steadfast_report::{escape, measure};

use super::keep::keep;
use super::{MeasureEnd, MeasureSnapshot, Measurement, SeriesSoFar};
use crate::live::LiveStatus;

/// Series that pages show, and rates that they show of each.
const SERIES_MAX: usize = 12;
const RATES_MAX: usize = 80;

/// Measures to the end.
pub(super) fn execute(
    measurement: &Measurement,
    (workload, arguments): (&dyn Workload, &[OsString]),
    made_by: String,
    records: Option<&Path>,
) {
    let (begun, state) = (Instant::now(), MeasureSnapshot::default());
    let mut watcher = Watcher { measurement, begun, state };
    let mut end = MeasureEnd::default();
    let words = ["steadfast", "measure"].map(str::to_owned).into_iter();
    let arguments = arguments.iter().map(|word| word.to_string_lossy().into_owned());
    let command = words.chain(arguments).collect();
    let mut session = Session::begin(made_by, command, &measurement.control.stop, &mut watcher);
    workload.plan(&mut session);
    match workload.run(&mut session) {
        Ok(()) => {}
        Err(End::Stopped) => end.stopped = true,
        Err(End::Failed(error)) => end.failed.push(escape::text(&error.to_string())),
    }
    let partial = match (end.stopped, end.failed.is_empty()) {
        (true, _) => Some("interrupted".to_owned()),
        (false, true) => None,
        (false, false) => Some(end.failed.join("; ")),
    };
    let record = session.end(partial);
    if !record.series.is_empty() {
        end.kept = records.map(|folder| {
            keep(folder, &measurement.request, measurement.begun, &record)
                .map_err(|error| escape::text(&error.to_string()))
        });
        let document = measure::document(&record);
        end.made = Some((record, document));
    }
    watcher.publish(Some(Arc::new(end)));
}

/// Watches a session of measuring for pages.
struct Watcher<'a> {
    measurement: &'a Measurement,
    begun: Instant,
    state: MeasureSnapshot,
}

impl Watcher<'_> {
    fn publish_if_due(&mut self) {
        if self.measurement.control.is_due() {
            self.publish(None);
        }
    }

    fn publish(&mut self, end: Option<Arc<MeasureEnd>>) {
        let state = &self.state;
        let status = match &end {
            Some(_) => LiveStatus::Ended,
            None => self.measurement.control.status(),
        };
        self.measurement.control.publish(MeasureSnapshot {
            status,
            doing: state.doing.clone(),
            done: state.done,
            left_ns: state.left_ns,
            elapsed_ns: u64::try_from(self.begun.elapsed().as_nanos()).unwrap_or(u64::MAX),
            samples: state.samples,
            series: state.series.clone(),
            end,
            ..MeasureSnapshot::default()
        });
    }
}

impl Watch for Watcher<'_> {
    fn doing(&mut self, doing: &Doing<'_>) {
        self.state.doing = escape::text(doing.what);
        self.state.done = doing.done;
        let nanos = |left: Duration| u64::try_from(left.as_nanos()).unwrap_or(u64::MAX);
        self.state.left_ns = doing.left.map(nanos);
        self.publish_if_due();
    }

    fn sampled(&mut self, series: &Series, sample: &Sample) {
        let per_second = sample.per_second();
        let latest = match series.unit {
            Unit::Bytes => Quantity::Rate(per_second),
            Unit::Operations | Unit::Loops => Quantity::PerSecond(per_second),
        };
        let label = escape::text(&series.label);
        let all = &mut self.state.series;
        let mut so_far = match all.iter().position(|other| other.label == label) {
            Some(at) => all.remove(at),
            None => SeriesSoFar { label, latest, rates: VecDeque::new(), samples: 0 },
        };
        so_far.latest = latest;
        so_far.samples += 1;
        if so_far.rates.len() >= RATES_MAX {
            so_far.rates.pop_front();
        }
        so_far.rates.push_back(per_second);
        all.insert(0, so_far);
        all.truncate(SERIES_MAX);
        self.state.samples += 1;
        self.publish_if_due();
    }
}
