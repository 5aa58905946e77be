//! Points in order → whether the rate slid up or down.
//!
//! In: points with when each began. Out: how far the rate slid from the first to the last, and
//! whether that is more than chance, against time and against how much had been done. What grows
//! warm follows time; what fills up follows bytes.

use super::changes::{REACH, inflation, levels};
use super::describe::deviation;
use super::fit::{Point, theil_sen};
use super::normal::share_below;
use super::outliers::DEVIATION_SCALE;

/// Fewest points of which a slide is judged.
const POINTS_MIN: usize = 10;

/// A slide as steep by chance in fewer than one of a hundred series is more than chance.
const CHANCE_MAX: f64 = 0.01;

/// A smaller slide, as a share of the rate, is of no interest.
const SLIDE_MIN: f64 = 0.02;

/// A slide of the rate along something.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Drift {
    /// Rate at the last point ÷ rate at the first, by the median slope.
    pub ratio: f64,
    /// How often chance alone makes a series slide as clearly, 0 to 1, its neighbours resembling
    /// each other as these do.
    pub chance: f64,
    /// Sum of the distances from the slope, as shares of the rate: less where the slope fits.
    pub error: f64,
}

impl Drift {
    /// Returns whether the rate slid: by 2 % or more, and by more than chance.
    pub fn is_evident(&self) -> bool {
        (self.ratio - 1.0).abs() >= SLIDE_MIN && self.chance < CHANCE_MAX
    }
}

/// Slides of the rate along time and along how much was done.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Drifts {
    /// Along the time when points began.
    pub by_time: Drift,
    /// Along how much had been done before each.
    pub by_amount: Drift,
}

/// Measures how the rate slid along time and along how much was done.
///
/// Shape: `starts_s[i]` is when `points[i]` began, in seconds, in rising order. `None` if there are
/// fewer than ten points, or not as many starts, or one is not sound.
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

/// Measures how logarithms of rates slide along something, by Mann and Kendall.
///
/// Source: H. B. Mann, "Nonparametric tests against trend", Econometrica 13 (1945), number 3.
pub fn drift(places: &[f64], levels: &[f64]) -> Option<Drift> {
    let count = levels.len();
    let finite = levels.iter().chain(places).all(|value| value.is_finite());
    if count < POINTS_MIN || places.len() != count || !finite {
        return None;
    }
    // A median slope wants positive times, and logarithms of rates need not be.
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
    // Stalls resemble nothing; drawn in, they do not hide how much the others resemble each other.
    let reach = REACH * DEVIATION_SCALE * deviation(&rests)?;
    let calm: Vec<f64> = rests.iter().map(|rest| rest.clamp(-reach, reach)).collect();
    let last = raised.iter().map(|point| point.amount).fold(0.0, f64::max);
    let count = count as f64;
    let variance =
        count * (count - 1.0) * (2.0 * count + 5.0) / 18.0 * inflation(&calm, calm.len());
    // One less, since the balance goes in steps of two.
    let distance = (balance(&raised).abs() - 1.0).max(0.0) / variance.sqrt();
    Some(Drift {
        ratio: (line.time_s_per_unit * last).exp(),
        chance: (2.0 * share_below(-distance)).min(1.0),
        error: rests.iter().map(|rest| rest.abs()).sum(),
    })
}

/// Returns how many more pairs rise than fall.
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
