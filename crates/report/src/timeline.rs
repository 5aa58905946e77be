//! Collects the work of each thread of a run over time in bounded memory, and draws it as a chart.
//!
//! Time is divided into bins of equal width. The width doubles whenever a run needs more bins than
//! there are, so a run of a second and one of a week take the same memory. A bin shows the stage
//! that took most of it.

use std::collections::BTreeMap;

use steadfast::Stage;
use steadfast::cost::Span;

use crate::document::{Axis, Chart, Layer, Mark, Point, Quantity};

/// Most bins of a thread. A chart is about 500 units wide.
const BINS_MAX: usize = 400;

/// Initial width of a bin in nanoseconds.
const WIDTH_NS: u64 = 1_000_000;

/// The work of the threads of a run.
#[derive(Clone, Debug)]
pub struct Timeline {
    width_ns: u64,
    begun_ns: Option<u64>,
    threads: BTreeMap<usize, ThreadBins>,
}

#[derive(Clone, Debug, Default)]
struct ThreadBins {
    name: String,
    /// Time of each stage in each bin, in nanoseconds.
    bins: Vec<[u64; Stage::ALL.len()]>,
}

impl Default for Timeline {
    fn default() -> Timeline {
        Timeline { width_ns: WIDTH_NS, begun_ns: None, threads: BTreeMap::new() }
    }
}

impl Timeline {
    /// Sets a thread's name.
    pub fn thread(&mut self, thread: usize, name: &str) {
        self.threads.entry(thread).or_default().name = name.to_owned();
    }

    /// Adds the next spans of a thread.
    pub fn spans(&mut self, thread: usize, spans: &[Span]) {
        for span in spans {
            self.add(thread, span);
        }
    }

    fn add(&mut self, thread: usize, span: &Span) {
        // Threads report their spans late, so the first span here need not be the earliest.
        let begun_ns = *self.begun_ns.get_or_insert(span.start_ns);
        let start_ns = span.start_ns.saturating_sub(begun_ns);
        let end_ns = start_ns + span.elapsed_ns;
        while end_ns.div_ceil(self.width_ns) as usize > BINS_MAX {
            self.widen();
        }
        let width_ns = self.width_ns;
        let bins = &mut self.threads.entry(thread).or_default().bins;
        let (first, last) = (start_ns / width_ns, end_ns / width_ns);
        if bins.len() <= last as usize {
            bins.resize(last as usize + 1, [0; Stage::ALL.len()]);
        }
        for bin in first..=last {
            let from = start_ns.max(bin * width_ns);
            let to = end_ns.min((bin + 1) * width_ns);
            bins[bin as usize][span.stage as usize] += to.saturating_sub(from);
        }
    }

    /// Makes every bin twice as wide.
    fn widen(&mut self) {
        self.width_ns *= 2;
        for thread in self.threads.values_mut() {
            let pairs = thread.bins.chunks(2).map(|pair| {
                let second = pair.get(1).copied().unwrap_or_default();
                std::array::from_fn(|stage| pair[0][stage] + second[stage])
            });
            thread.bins = pairs.collect();
        }
    }

    /// Draws the threads that did not only wait, one row each, with a layer for each stage.
    pub fn chart(&self) -> Option<Chart> {
        let busy = |thread: &&ThreadBins| {
            let works =
                |bin: &[u64; Stage::ALL.len()]| Stage::BUSY.iter().any(|&s| bin[s as usize] > 0);
            thread.bins.iter().any(works)
        };
        let threads: Vec<&ThreadBins> = self.threads.values().filter(busy).collect();
        if threads.is_empty() {
            return None;
        }
        let layers = Stage::BUSY.into_iter().map(|stage| self.layer(stage, &threads));
        let layers: Vec<Layer> = layers.filter(|layer| !layer.points.is_empty()).collect();
        let names = Axis::names(threads.iter().map(|thread| thread.name.clone()));
        let width = crate::units::duration(self.width_ns);
        let description = format!(
            "One row for each thread. Each piece of {width} shows the stage that took most of it; \
             where a row is empty, the thread waited for most of the time."
        );
        let axes = (Axis::linear("time since the run began", Quantity::Time(0.0)), names);
        Some(Chart::new("timeline", "What each thread did", description, axes, layers))
    }

    /// Joins neighbouring bins in which the same stage took most of the time.
    fn layer(&self, stage: Stage, threads: &[&ThreadBins]) -> Layer {
        let mut points = Vec::new();
        for (row, thread) in threads.iter().enumerate() {
            let mut open: Option<usize> = None;
            for bin in 0..=thread.bins.len() {
                let shown = thread.bins.get(bin).and_then(most) == Some(stage);
                match (open, shown) {
                    (None, true) => open = Some(bin),
                    (Some(from), false) => {
                        points.push(self.span(row, from, bin));
                        open = None;
                    }
                    _ => {}
                }
            }
        }
        Layer::new(stage.name().to_owned(), Mark::Spans, points)
    }

    fn span(&self, row: usize, from: usize, to: usize) -> Point {
        let ends = (from as f64 * self.width_ns as f64, to as f64 * self.width_ns as f64);
        Point { x: ends.1, y: row as f64, interval: Some(ends) }
    }
}

/// Returns the stage that took most of a bin; `None` if the thread waited or the bin is empty.
fn most(bin: &[u64; Stage::ALL.len()]) -> Option<Stage> {
    let most = Stage::ALL.into_iter().max_by_key(|&stage| bin[stage as usize])?;
    (bin[most as usize] > 0 && Stage::BUSY.contains(&most)).then_some(most)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(stage: Stage, start_ns: u64, elapsed_ns: u64) -> Span {
        Span { stage, start_ns, elapsed_ns, bytes: 0, files: 0, path: None }
    }

    #[test]
    fn a_thread_shows_what_took_most_of_each_piece() {
        let mut timeline = Timeline::default();
        timeline.thread(0, "worker 0");
        timeline.spans(
            0,
            &[span(Stage::Read, 500, 3_000_000), span(Stage::Hash, 3_000_500, 2_000_000)],
        );
        let chart = timeline.chart().expect("a thread did something");
        let of = |label: &str| {
            let layer = chart.layers.iter().find(|layer| layer.label == label);
            layer.expect("the stage took time").points.iter().map(|point| point.interval).collect()
        };
        let (reads, hashes): (Vec<_>, Vec<_>) = (of("read"), of("hash"));
        assert_eq!(reads, vec![Some((0.0, 3e6))]);
        assert_eq!(hashes, vec![Some((3e6, 5e6))]);
    }

    #[test]
    fn a_long_run_takes_no_more_room_and_loses_no_time() {
        let mut timeline = Timeline::default();
        timeline.thread(0, "worker 0");
        let hour_ns = 3_600_000_000_000;
        for hour in 0..200 {
            timeline.spans(0, &[span(Stage::Hash, hour * hour_ns, hour_ns)]);
        }
        let bins = &timeline.threads[&0].bins;
        assert!(bins.len() <= BINS_MAX + 1, "{} bins", bins.len());
        let total: u64 = bins.iter().map(|bin| bin[Stage::Hash as usize]).sum();
        assert_eq!(total, 200 * hour_ns);
    }

    #[test]
    fn who_only_waits_has_no_row() {
        let mut timeline = Timeline::default();
        timeline.thread(0, "reader 0");
        timeline.spans(0, &[span(Stage::Wait, 0, 9_000_000)]);
        assert_eq!(timeline.chart(), None);
    }
}
