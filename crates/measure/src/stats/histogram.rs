//! Histograms with bins of one width.
//!
//! The spread of the middle half chooses the width, so a few outliers do not put all other samples
//! into one bin.

use super::describe::{at_share, sorted};

/// The most bins. More cannot be distinguished in a drawing.
const BINS_MAX: usize = 100;

/// A histogram.
#[derive(Clone, Debug, PartialEq)]
pub struct Histogram {
    /// The start of the first bin: the least number.
    pub from: f64,
    /// Width of each bin; 0 if all numbers are the same.
    pub width: f64,
    /// How many numbers are in each bin. A bin excludes its upper bound, except the last bin.
    pub counts: Vec<usize>,
}

impl Histogram {
    /// Returns the bounds of a bin.
    pub fn bounds(&self, bin: usize) -> (f64, f64) {
        let bound = |bin: usize| self.from + self.width * bin as f64;
        (bound(bin), bound(bin + 1))
    }
}

/// Counts numbers into bins. `None` if there are none, or one is not finite.
///
/// The width is by the rule of Freedman and Diaconis, 2 interquartile ranges ÷ ∛count, rounded so
/// that 1 to 100 bins fill the range. If the middle half is one number, the count of bins is by the
/// rule of Sturges, log₂ count + 1.
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
