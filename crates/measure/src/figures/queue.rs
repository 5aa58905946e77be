//! Figures of `measure queue`: reads and bytes per second by depth, and latencies.

use super::hash::Figure;
use crate::latencies::{joined, quantile_ns};
use crate::record::{Cache, Order, Record, Sample, Series, Stage, Workload};

/// Figures of all combinations of order, size and depth.
#[derive(Clone, Debug, PartialEq)]
pub struct QueueFigures {
    /// By order, then size, then depth.
    pub cells: Vec<QueueCell>,
}

/// Figures of one combination.
#[derive(Clone, Debug, PartialEq)]
pub struct QueueCell {
    /// Reading, writing, or both.
    pub stage: Stage,
    /// In which order blocks were read.
    pub order: Order,
    /// Bytes of a read.
    pub block_len_bytes: u64,
    /// Reads in flight.
    pub depth: u32,
    /// The origin of the bytes, as far as proved.
    pub cache: Cache,
    /// Index of the folder.
    pub place: Option<usize>,
    /// The folder, if there are several.
    pub folder: Option<String>,
    /// Reads per second.
    pub reads_per_s: Figure,
    /// The rate as a multiple of that of the least depth, round by round; absent for that depth
    /// itself.
    pub gain: Option<Figure>,
    /// Reads that were timed.
    pub reads: u64,
    /// Median latency in nanoseconds. A percentile needs ten reads beyond it.
    pub p50_ns: Option<u64>,
    /// Latency that 99 of 100 reads did not exceed.
    pub p99_ns: Option<u64>,
    /// Latency that 999 of 1,000 reads did not exceed.
    pub p999_ns: Option<u64>,
    /// The longest latency.
    pub max_ns: u64,
}

impl QueueCell {
    /// Returns what distinguishes groups of cells: cells of a group differ in depth only.
    pub fn group(&self) -> (Option<usize>, u8, bool, u64) {
        (self.place, self.stage as u8, self.order == Order::Random, self.block_len_bytes)
    }

    /// Returns bytes per second with their interval.
    pub fn rate(&self) -> Figure {
        self.reads_per_s.scaled(self.block_len_bytes as f64)
    }

    /// Returns bytes per second.
    pub fn bytes_per_s(&self) -> f64 {
        self.rate().value
    }
}

/// Derives the figures; `None` if the record has no such series.
pub fn of(record: &Record) -> Option<QueueFigures> {
    let series = record.series.iter().filter(|series| series.workload == Workload::Queue);
    let mut cells: Vec<(QueueCell, &Series)> =
        series.filter_map(|series| Some((cell(series)?, series))).collect();
    let first = cells.first().and_then(|(cell, _)| cell.place);
    if cells.iter().any(|(cell, _)| cell.place != first) {
        for (cell, _) in &mut cells {
            let place = cell.place.and_then(|place| record.places.get(place));
            cell.folder = place.map(|place| place.path.clone());
        }
    }
    cells.sort_by_key(|(cell, _)| (cell.group(), cell.depth));
    for group in cells.chunk_by_mut(|(one, _), (other, _)| one.group() == other.group()) {
        let Some(((_, least), deeper)) = group.split_first_mut() else { continue };
        for (cell, series) in deeper {
            // Rounds of both depths were measured in turn, so disturbances affect both.
            cell.gain = Figure::ratio(series, least);
        }
    }
    let cells: Vec<QueueCell> = cells.into_iter().map(|(cell, _)| cell).collect();
    (!cells.is_empty()).then_some(QueueFigures { cells })
}

fn cell(series: &Series) -> Option<QueueCell> {
    let samples: Vec<&Sample> = series.counting().collect();
    let latencies = joined(samples.iter().filter_map(|sample| sample.latencies.as_ref()));
    Some(QueueCell {
        stage: series.factors.stage?,
        order: series.factors.order?,
        block_len_bytes: series.factors.block_len_bytes?,
        depth: series.factors.queue_depth?,
        cache: series.factors.cache.unwrap_or(Cache::Unknown),
        place: series.place,
        folder: None,
        reads_per_s: Figure::rate_of(series)?,
        gain: None,
        reads: samples.iter().map(|sample| sample.amount).sum(),
        p50_ns: quantile_ns(&latencies, 0.5),
        p99_ns: quantile_ns(&latencies, 0.99),
        p999_ns: quantile_ns(&latencies, 0.999),
        max_ns: latencies.max_ns,
    })
}
