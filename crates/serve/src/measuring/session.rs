//! The thread of a measurement: steps and samples in, states and at last the record out.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use steadfast_measure::record::{Sample, Series, Unit};
use steadfast_measure::runner::{Doing, End, Session, Watch};
use steadfast_measure::workload::Workload;
use steadfast_report::document::Quantity;
use steadfast_report::{escape, measure};

use super::kept::keep;
use super::work::command_of;
use super::{MeasureEnd, MeasureStand, MeasureState, Measurement, SeriesSoFar};

/// How often the state is told. More would be measured along.
const TELL_EVERY: Duration = Duration::from_millis(300);

/// Series that pages show, and rates of each.
const SERIES_MAX: usize = 12;
const RATES_MAX: usize = 80;

/// Measures to the end. Whatever happens, the measurement is over afterwards.
pub(super) fn carry_out(
    measurement: &Measurement,
    workload: &dyn Workload,
    made_by: String,
    records: Option<&Path>,
) {
    let _last_words = LastWords(measurement);
    let mut watcher =
        Watcher { measurement, begun: Instant::now(), told: None, state: MeasureState::default() };
    let mut end = MeasureEnd { made: None, failed: Vec::new(), stopped: false, kept: None };
    let command = command_of(&measurement.ask);
    let mut session = Session::begin(made_by, command, &measurement.stop, &mut watcher);
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
            keep(folder, &measurement.ask, measurement.begun, &record)
                .map_err(|error| escape::text(&error.to_string()))
        });
        let document = measure::document(&record);
        end.made = Some((record, document));
    }
    watcher.tell(Some(Arc::new(end)));
}

/// Hears a session.
struct Watcher<'a> {
    measurement: &'a Measurement,
    begun: Instant,
    told: Option<Instant>,
    state: MeasureState,
}

impl Watcher<'_> {
    fn tell_if_due(&mut self) {
        if self.told.is_none_or(|told| told.elapsed() >= TELL_EVERY) {
            self.told = Some(Instant::now());
            self.tell(None);
        }
    }

    fn tell(&mut self, ended: Option<Arc<MeasureEnd>>) {
        let state = &self.state;
        let stand = match &ended {
            Some(_) => MeasureStand::Over,
            None => self.measurement.stand(),
        };
        self.measurement.states.send_replace(Arc::new(MeasureState {
            stand,
            doing: state.doing.clone(),
            done: state.done,
            left_ns: state.left_ns,
            elapsed_ns: u64::try_from(self.begun.elapsed().as_nanos()).unwrap_or(u64::MAX),
            samples: state.samples,
            series: state.series.clone(),
            ended,
            ..MeasureState::default()
        }));
    }
}

impl Watch for Watcher<'_> {
    fn doing(&mut self, doing: &Doing<'_>) {
        self.state.doing = escape::text(doing.what);
        self.state.done = doing.done;
        let nanos = |left: Duration| u64::try_from(left.as_nanos()).unwrap_or(u64::MAX);
        self.state.left_ns = doing.left.map(nanos);
        self.tell_if_due();
    }

    fn sampled(&mut self, series: &Series, sample: &Sample) {
        let per_second = sample.amount as f64 * 1e9 / sample.elapsed_ns.max(1) as f64;
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
        self.tell_if_due();
    }
}

/// Says that a measurement is over if nobody else did.
struct LastWords<'a>(&'a Measurement);

impl Drop for LastWords<'_> {
    fn drop(&mut self) {
        if !self.0.is_over() {
            let reason = "it ended without saying how: this is a defect";
            let ended = MeasureEnd {
                made: None,
                failed: vec![reason.to_owned()],
                stopped: false,
                kept: None,
            };
            self.0.states.send_replace(Arc::new(MeasureState {
                stand: MeasureStand::Over,
                ended: Some(Arc::new(ended)),
                ..MeasureState::default()
            }));
        }
    }
}
