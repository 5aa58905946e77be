//! Figures of `measure queue`: requests per second by depth, and their latencies.

use super::{Curve, curves};
use crate::latencies::{joined, quantile_ns};
use crate::record::{Latencies, Order, Record, Series, Workload};
use crate::stats::Figure;

/// Derives the figures of all combinations, by folder, order, size and depth.
pub fn of(record: &Record) -> Vec<Curve<'_>> {
    let mut cells = curves(record, Workload::Queue);
    cells.sort_by_key(|cell| (group(cell.series), cell.factors.queue_depth));
    cells
}

/// Returns what distinguishes groups of series: those of a group differ in depth only.
pub fn group(series: &Series) -> (Option<usize>, Option<u8>, bool, Option<u64>) {
    let factors = &series.factors;
    let is_random = factors.order == Some(Order::Random);
    (series.place, factors.stage.map(|stage| stage as u8), is_random, factors.block_len_bytes)
}

/// Returns bytes per second with their interval.
pub fn rate(cell: &Curve<'_>) -> Option<Figure> {
    let length = cell.factors.block_len_bytes?;
    cell.rate.map(|per_s| per_s.scaled(length as f64))
}

/// Returns the rate as a multiple of that of the least depth of its group, round by round: both
/// were measured in turn, so disturbances affect both. `None` for that depth itself.
pub fn gain(cells: &[Curve<'_>], cell: &Curve<'_>) -> Option<Figure> {
    let least = cells.iter().find(|other| group(other.series) == group(cell.series))?;
    cell.ratio(least).filter(|_| !std::ptr::eq(least.series, cell.series))
}

/// Returns the latencies of all samples together.
pub fn latencies(cell: &Curve<'_>) -> Latencies {
    joined(cell.series.counting().filter_map(|sample| sample.latencies.as_ref()))
}

/// Returns the latency that a share of all requests did not exceed, in nanoseconds. It needs ten
/// requests beyond it.
pub fn percentile_ns(cell: &Curve<'_>, share: f64) -> Option<u64> {
    quantile_ns(&latencies(cell), share)
}
