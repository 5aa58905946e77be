//! Drift: whether the rate gradually rose or fell over a series.
//!
//! Measured against time and against the preceding amount. Heat follows time; a medium that fills
//! up follows bytes.

use super::changes::{REACH, inflation, levels};
use super::describe::deviation;
use super::fit::{Point, theil_sen};
use super::normal::share_below;
use super::outliers::DEVIATION_SCALE;

/// Fewest points of a series for which drift is tested.
const POINTS_MIN: usize = 10;

/// Level of significance: a drift is evident if chance gives it in fewer than one of 100 series.
const CHANCE_MAX: f64 = 0.01;

/// The least drift of interest, as a share of the rate.
const SLIDE_MIN: f64 = 0.02;

/// A drift of the rate along time or amount.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Drift {
    /// Rate at the last point ÷ rate at the first, by the median slope.
    pub ratio: f64,
    /// Probability that chance alone gives such a drift, 0 to 1, in a series with the same
    /// autocorrelation.
    pub chance: f64,
    /// Sum of the distances from the slope, as shares of the rate: less where the slope fits.
    pub error: f64,
}

impl Drift {
    /// Returns whether the drift is evident: 2 % or more, and significant.
    pub fn is_evident(&self) -> bool {
        (self.ratio - 1.0).abs() >= SLIDE_MIN && self.chance < CHANCE_MAX
    }
}

/// Drifts of the rate along time and along the amount done.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Drifts {
    /// Along the start times of the points.
    pub by_time: Drift,
    /// Along the amount done before each point.
    pub by_amount: Drift,
}

/// Measures the drift of the rate along time and along the amount done.
///
/// Shape: `starts_s[i]` is when `points[i]` began, in seconds, in rising order. `None` if there are
/// fewer than ten points, a different number of starts, or an invalid value.
pub fn drifts(starts_s: &[f64], points: &[Point]) -> Option<Drifts> {
    let levels = levels(points)?;
    let amounts = points.iter().scan(0.0, |done, point| {
        let before = *done;
        *done += point.amount;
        Some(before)
    });
    let amounts: Vec<f64> = amounts.collect();
    Some(Drifts { by_time: drift(starts_s, &levels)?, by_amount: drift(&amounts, &levels)? })
}

/// Measures the drift of logarithms of rates along positions, by the test of Mann and Kendall.
///
/// Source: H. B. Mann, "Nonparametric tests against trend", Econometrica 13 (1945), number 3.
pub fn drift(places: &[f64], levels: &[f64]) -> Option<Drift> {
    let count = levels.len();
    let finite = levels.iter().chain(places).all(|value| value.is_finite());
    if count < POINTS_MIN || places.len() != count || !finite {
        return None;
    }
    // The median slope needs positive times, but logarithms of rates may be negative.
    let least = levels.iter().copied().fold(f64::MAX, f64::min);
    let first = places.iter().copied().fold(f64::MAX, f64::min);
    let raised: Vec<Point> = places
        .iter()
        .zip(levels)
        .map(|(place, level)| Point { amount: place - first, time_s: level - least + 1.0 })
        .collect();
    let line = theil_sen(&raised)?;
    let rests: Vec<f64> =
        raised.iter().map(|point| point.time_s - line.time_s(point.amount)).collect();
    // Stalls are independent. Pulled in, they do not hide the autocorrelation of the other points.
    let reach = REACH * DEVIATION_SCALE * deviation(&rests)?;
    let calm: Vec<f64> = rests.iter().map(|rest| rest.clamp(-reach, reach)).collect();
    let last = raised.iter().map(|point| point.amount).fold(0.0, f64::max);
    let count = count as f64;
    let variance =
        count * (count - 1.0) * (2.0 * count + 5.0) / 18.0 * inflation(&calm, calm.len());
    // Continuity correction: the statistic changes in steps of two.
    let distance = (balance(&raised).abs() - 1.0).max(0.0) / variance.sqrt();
    Some(Drift {
        ratio: (line.time_s_per_unit * last).exp(),
        chance: (2.0 * share_below(-distance)).min(1.0),
        error: rests.iter().map(|rest| rest.abs()).sum(),
    })
}

/// Returns the number of rising pairs minus the number of falling pairs.
fn balance(points: &[Point]) -> f64 {
    let mut balance = 0.0;
    for (index, a) in points.iter().enumerate() {
        for b in &points[index + 1..] {
            let product = (b.amount - a.amount) * (b.time_s - a.time_s);
            balance += if product == 0.0 { 0.0 } else { product.signum() };
        }
    }
    balance
}
