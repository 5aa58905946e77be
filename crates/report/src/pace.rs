//! How fast a run went while somebody changed its pace, and how long each file took: a section of
//! the run's document.

use steadfast::qos::{CoresUsed, Pace};

use crate::document::{Axis, Cell, Chart, Field, Layer, Mark, Point, Quantity, Section, Table};
use crate::units::{self, Units};

/// Files whose times are kept. With more, every other one is dropped.
const FILES_MAX: usize = 1_000;

/// Readings of the processors that are kept. With more, two of one pace are joined.
const READINGS_MAX: usize = 400;

/// Changes of the pace that are kept: the latest.
const SPANS_MAX: usize = 24;

/// What a run did at one pace, from one change to the next.
#[derive(Clone, Debug)]
struct PaceSpan {
    pace: Pace,
    /// What the whole process used of the processors meanwhile.
    used: CoresUsed,
    bytes: u64,
}

/// What was used of the processors between two readings, in nanoseconds.
#[derive(Clone, Copy, Debug)]
struct CoresReading {
    pace: Pace,
    elapsed_ns: u64,
    spent_ns: u64,
}

/// The paces of a run, and the times of its files, in bounded memory.
#[derive(Clone, Debug, Default)]
pub struct PaceHistory {
    /// From one change of the pace to the next, in order. Only the latest are kept.
    spans: Vec<PaceSpan>,
    /// What was used between two readings, in order.
    readings: Vec<CoresReading>,
    /// Bytes and nanoseconds of files, evenly chosen.
    files: Vec<(u64, u64)>,
    /// Files since the last one that was kept, and how many of them go unkept.
    skipped: u32,
    every: u32,
}

impl PaceHistory {
    /// Adds what was used and read at a pace since the last time.
    pub fn add(&mut self, pace: Pace, used: &CoresUsed, bytes: u64) {
        if self.spans.last().is_none_or(|span| span.pace != pace) {
            if self.spans.len() >= SPANS_MAX {
                self.spans.remove(0);
            }
            self.spans.push(PaceSpan { pace, used: CoresUsed::default(), bytes: 0 });
        }
        if let Some(span) = self.spans.last_mut() {
            span.used.join(used);
            span.bytes += bytes;
        }
        let elapsed_ns = u64::try_from(used.elapsed.as_nanos()).unwrap_or(u64::MAX);
        self.readings.push(CoresReading { pace, elapsed_ns, spent_ns: used.all_spent_ns() });
        if self.readings.len() > READINGS_MAX {
            self.readings = join_pairs(&self.readings);
        }
    }

    /// Adds a file that was read.
    pub fn file(&mut self, bytes: u64, elapsed_ns: u64) {
        self.skipped += 1;
        if self.skipped < self.every {
            return;
        }
        self.skipped = 0;
        self.files.push((bytes, elapsed_ns));
        if self.files.len() > FILES_MAX {
            let mut keeps = false;
            self.files.retain(|_| {
                keeps = !keeps;
                keeps
            });
            self.every = self.every.max(1) * 2;
        }
    }

    /// Makes the section; `None` if nothing was read.
    pub fn section(&self, units: Units) -> Option<Section> {
        let spans: Vec<&PaceSpan> = self.spans.iter().filter(|span| span.bytes > 0).collect();
        if spans.is_empty() {
            return None;
        }
        let rate = |of: &PaceSpan| {
            of.bytes as f64 / (of.used.elapsed.as_secs_f64()).max(f64::MIN_POSITIVE)
        };
        let said = spans.iter().map(|of| {
            let time = u64::try_from(of.used.elapsed.as_nanos()).unwrap_or(u64::MAX);
            let (pace, time) = (of.pace, units::rough_duration(time));
            format!("{pace} for {time} at {}", Quantity::Rate(rate(of)).text(units))
        });
        let said = said.collect::<Vec<_>>().join(", then ");
        let fields: &[Field<'_, &PaceSpan>] = &[
            ("Pace", &|of| Cell::text(of.pace.to_string())),
            (">Time", &|of| Cell::Number(Quantity::Time(of.used.elapsed.as_nanos() as f64))),
            (">Read", &|of| Cell::bytes(of.bytes)),
            (">Rate", &|of| Cell::Number(Quantity::Rate(rate(of)))),
            (">Processors used", &|of| match of.used.all_spent_ns() {
                0 => Cell::text("not told"),
                _ => Cell::text(format!("{:.2}", cores(&of.used))),
            }),
            (">Waited for one", &|of| match of.used.all_spent_ns() {
                0 => Cell::text("not told"),
                _ => Cell::Number(Quantity::Share(of.used.waited())),
            }),
        ];
        Some(Section {
            title: "Pace".to_owned(),
            sentences: vec![format!("The pace was {said}.")],
            tables: vec![Table::of("pace", "From one pace to the next", 1, &spans, fields)],
            charts: self.cores_chart().into_iter().chain(self.files_chart()).collect(),
            notes: vec![
                "Processors are those of the whole program, which serves pages too.".to_owned(),
            ],
            ..Section::default()
        })
    }

    /// The processors used over time, before and after each change of the pace.
    fn cores_chart(&self) -> Option<Chart> {
        let mut at_ns = 0;
        let mut layers = Vec::new();
        for span in self.readings.chunk_by(|one, next| one.pace == next.pace) {
            let point = |reading: &CoresReading| {
                let middle_ns = at_ns + reading.elapsed_ns / 2;
                at_ns += reading.elapsed_ns;
                let cores = reading.spent_ns as f64 / reading.elapsed_ns.max(1) as f64;
                Point::at(middle_ns as f64, cores)
            };
            let points: Vec<Point> = span.iter().map(point).collect();
            layers.push(Layer::new(span[0].pace.to_string(), Mark::Line, points));
        }
        // A system that does not tell the times of threads shows none.
        let is_told = self.readings.iter().any(|reading| reading.spent_ns > 0);
        (is_told && self.readings.len() > 1).then(|| {
            let axes = (
                Axis::linear("time since the run began", Quantity::Time(0.0)),
                Axis::linear("processors used", Quantity::Count(0)),
            );
            let title = "Processors used over time";
            let description = "One line for each pace, from one change to the next.";
            Chart::new("pace-processors", title, description, axes, layers)
        })
    }

    /// Time against size.
    fn files_chart(&self) -> Option<Chart> {
        let point = |&(bytes, elapsed_ns): &(u64, u64)| Point {
            x: bytes as f64,
            y: elapsed_ns as f64,
            interval: None,
        };
        let layer = Layer::new("one file", Mark::Dots, self.files.iter().map(point));
        let axes = (Axis::log("size", Quantity::Bytes(0)), Axis::log("time", Quantity::Time(0.0)));
        (self.files.len() > 1).then(|| {
            let title = "Time of each file against its size";
            let description = "Each dot is one file: opening, reading, and its share of hashing.";
            Chart::new("file-times", title, description, axes, vec![layer])
        })
    }
}

/// Joins two neighbours each, if they have the same pace.
fn join_pairs(readings: &[CoresReading]) -> Vec<CoresReading> {
    let of_pace = readings.chunk_by(|one, next| one.pace == next.pace);
    let pairs = of_pace.flat_map(|span| span.chunks(2));
    let joined = pairs.map(|pair| CoresReading {
        pace: pair[0].pace,
        elapsed_ns: pair.iter().map(|one| one.elapsed_ns).sum(),
        spent_ns: pair.iter().map(|one| one.spent_ns).sum(),
    });
    joined.collect()
}

fn cores(used: &CoresUsed) -> f64 {
    used.cores(used.all_spent_ns())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn used(seconds: u64) -> CoresUsed {
        CoresUsed {
            elapsed: Duration::from_secs(seconds),
            queued_ns: 1_000_000_000,
            spent_ns: [(0, 2_000_000_000), (1, 1_000_000_000)].into(),
        }
    }

    #[test]
    fn each_pace_has_its_rate_and_what_it_used() {
        let mut history = PaceHistory::default();
        assert!(history.section(Units::Si).is_none(), "nothing was read");
        history.add(Pace::Bicycle, &used(2), 4_000_000);
        history.add(Pace::Walk, &used(1), 0);
        history.add(Pace::Tortoise, &used(4), 500);
        history.add(Pace::Tortoise, &used(2), 100);
        let section = history.section(Units::Si).unwrap();
        let said = "The pace was bicycle for 2 s at 2.00 MB/s, then tortoise for 6 s at 100 B/s.";
        assert_eq!(section.sentences, [said]);
        let shown = |at: usize| section.tables[0].rows[0][at].shown(Units::Si);
        assert_eq!((shown(4).as_str(), shown(5).as_str()), ("1.50", "25.0 %"));
        let [chart] = section.charts.as_slice() else { panic!("no file, no time of one") };
        let last = chart.layers.last().unwrap();
        assert_eq!(last.label, "tortoise");
        assert_eq!(last.points, [Point::at(5e9, 0.75), Point::at(8e9, 1.5)]);
    }

    #[test]
    fn a_system_that_tells_no_times_of_threads_shows_none() {
        let mut history = PaceHistory::default();
        let untold = CoresUsed { elapsed: Duration::from_secs(1), ..CoresUsed::default() };
        (0..2).for_each(|_| history.add(Pace::Walk, &untold, 7));
        let section = history.section(Units::Si).unwrap();
        assert!(section.charts.is_empty());
        assert_eq!(section.tables[0].rows[0][4].shown(Units::Si), "not told");
    }

    #[test]
    fn many_readings_are_joined_and_the_paces_stay_apart() {
        let mut history = PaceHistory::default();
        for at in 0..10_001 {
            let pace = if at < 7_000 { Pace::Walk } else { Pace::Bicycle };
            history.add(pace, &used(1), 1);
        }
        assert!(history.readings.len() <= READINGS_MAX, "{}", history.readings.len());
        let elapsed_s = |pace| {
            let of_pace = history.readings.iter().filter(|one| one.pace == pace);
            of_pace.map(|one| one.elapsed_ns).sum::<u64>() / 1_000_000_000
        };
        assert_eq!((elapsed_s(Pace::Walk), elapsed_s(Pace::Bicycle)), (7_000, 3_001));
        assert!(history.section(Units::Si).unwrap().charts[0].layers.len() == 2);
    }

    #[test]
    fn many_files_are_thinned_evenly() {
        let mut history = PaceHistory::default();
        for bytes in 1..=10_000 {
            history.file(bytes, 7);
        }
        assert!((500..=FILES_MAX).contains(&history.files.len()), "{}", history.files.len());
        let (first, last) = (history.files[0].0, history.files.last().unwrap().0);
        assert!(first < 20 && last > 9_970, "{first} to {last}");
    }
}
