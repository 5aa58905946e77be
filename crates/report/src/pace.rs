//! How fast a run went while somebody changed its pace, and how long each file took: a section of
//! the run's document.

use steadfast::qos::{CoresUsed, Pace};

use crate::document::{Axis, Cell, Chart, Field, Layer, Mark, Point, Quantity, Section, Table};
use crate::units::{self, Units};

/// Files whose times are kept. With more, every other one is dropped.
const FILES_MAX: usize = 1_000;

/// What a run did at one pace, from one change to the next.
#[derive(Clone, Debug)]
pub struct PaceSpan {
    /// The pace.
    pub pace: Pace,
    /// What the whole process used of the processors meanwhile.
    pub used: CoresUsed,
    /// Bytes that were read meanwhile.
    pub bytes: u64,
}

/// The paces of a run, and the times of its files, in bounded memory.
#[derive(Clone, Debug, Default)]
pub struct PaceHistory {
    /// From one change of the pace to the next, in order. Only the latest are kept.
    pub spans: Vec<PaceSpan>,
    /// Bytes and nanoseconds of files, evenly chosen.
    files: Vec<(u64, u64)>,
    /// Files since the last one that was kept, and how many of them go unkept.
    skipped: u32,
    every: u32,
}

impl PaceHistory {
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
            (">Processors used", &|of| Cell::text(format!("{:.2}", cores(&of.used)))),
            (">Waited for one", &|of| Cell::Number(Quantity::Share(of.used.waited()))),
        ];
        Some(Section {
            title: "Pace".to_owned(),
            sentences: vec![format!("The pace was {said}.")],
            tables: vec![Table::of("pace", "From one pace to the next", 1, &spans, fields)],
            charts: self.chart().into_iter().collect(),
            notes: vec![
                "Processors are those of the whole program, which serves pages too.".to_owned(),
            ],
            ..Section::default()
        })
    }

    /// Time against size.
    fn chart(&self) -> Option<Chart> {
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

fn cores(used: &CoresUsed) -> f64 {
    used.cores(used.all_spent_ns())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn span(pace: Pace, seconds: u64, bytes: u64) -> PaceSpan {
        let used = CoresUsed {
            elapsed: Duration::from_secs(seconds),
            queued_ns: 1_000_000_000,
            spent_ns: [(0, 2_000_000_000), (1, 1_000_000_000)].into(),
        };
        PaceSpan { pace, used, bytes }
    }

    #[test]
    fn each_pace_has_its_rate_and_what_it_used() {
        let mut history = PaceHistory::default();
        assert!(history.section(Units::Si).is_none(), "nothing was read");
        let spans = [(Pace::Bicycle, 2, 4_000_000), (Pace::Walk, 1, 0), (Pace::Tortoise, 6, 600)];
        history.spans = spans.map(|(pace, seconds, bytes)| span(pace, seconds, bytes)).into();
        let section = history.section(Units::Si).unwrap();
        let said = "The pace was bicycle for 2 s at 2.00 MB/s, then tortoise for 6 s at 100 B/s.";
        assert_eq!(section.sentences, [said]);
        let shown = |at: usize| section.tables[0].rows[0][at].shown(Units::Si);
        assert_eq!((shown(4).as_str(), shown(5).as_str()), ("1.50", "25.0 %"));
        assert!(section.charts.is_empty());
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
