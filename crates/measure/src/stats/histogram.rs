//! Numbers → how many lie where.
//!
//! In: samples of one kind. Out: bins of one width, chosen by the spread of the middle half, so
//! that a few far samples do not squeeze all others into one bin.

use super::describe::{at_share, sorted};

/// The most bins: more cannot be told apart in a drawing.
const BINS_MAX: usize = 100;

/// How many numbers lie where.
#[derive(Clone, Debug, PartialEq)]
pub struct Histogram {
    /// Where the first bin begins: the least number.
    pub from: f64,
    /// Width of each bin; 0 if all numbers are the same.
    pub width: f64,
    /// Numbers in each bin: from its lower bound up to its upper one, which only the last holds.
    pub counts: Vec<usize>,
}

impl Histogram {
    /// Returns where a bin begins and ends.
    pub fn bounds(&self, bin: usize) -> (f64, f64) {
        let bound = |bin: usize| self.from + self.width * bin as f64;
        (bound(bin), bound(bin + 1))
    }
}

/// Counts numbers into bins. `None` if there are none, or one is not finite.
///
/// The bins are as wide as Freedman and Diaconis advise, 2 quartile distances ÷ ∛count, rounded so
/// that they fill the range, from 1 to 100 of them. If the middle half is one number, there are
/// as many as Sturges advises, log₂ count + 1.
///
/// Source: D. Freedman and P. Diaconis, "On the histogram as a density estimator", Zeitschrift für
/// Wahrscheinlichkeitstheorie 57 (1981), number 4.
pub fn histogram(values: &[f64]) -> Option<Histogram> {
    let sorted = sorted(values)?;
    let (from, to) = (sorted[0], sorted[sorted.len() - 1]);
    let range = to - from;
    if range <= 0.0 || !range.is_finite() {
        return Some(Histogram { from, width: 0.0, counts: vec![sorted.len()] });
    }
    let count = sorted.len() as f64;
    let quartiles = at_share(&sorted, 0.75) - at_share(&sorted, 0.25);
    let bins = match 2.0 * quartiles / count.cbrt() {
        width if width > 0.0 => range / width,
        _ => count.log2() + 1.0,
    };
    let bins = (bins.ceil() as usize).clamp(1, BINS_MAX);
    let mut counts = vec![0; bins];
    for value in &sorted {
        let bin = (value - from) / range * bins as f64;
        counts[(bin as usize).min(bins - 1)] += 1;
    }
    Some(Histogram { from, width: range / bins as f64, counts })
}
