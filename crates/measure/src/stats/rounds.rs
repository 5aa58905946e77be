//! Rounds of points → the line with its intervals.
//!
//! In: points by round. Out: the fits of all points, and intervals of the reported rate and
//! latency over whole rounds, with those of its checks.

use super::bootstrap::{Bootstrap, Estimate};
use super::fit::{Fits, Line, Point, fit, least_squares, robust_from, theil_sen_of};

/// Pairs that a resample takes the slopes of: what 300 points have. More would not move an
/// interval, and take minutes.
const PAIRS_RESAMPLED_MAX: usize = 45_000;

/// A line and its intervals. An interval is absent where there are too few rounds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Intervals {
    /// The lines of all points.
    pub fits: Fits,
    /// Rate of the reported line, in the amount's unit per second.
    pub rate_per_s: Option<Estimate>,
    /// Latency of the reported line, in seconds.
    pub latency_s: Option<Estimate>,
    /// Rate by least squares. Its interval holds the truth too seldom where some points stall.
    pub least_squares_rate_per_s: Option<Estimate>,
    /// Where the reported line may lie as well, by rising amount.
    pub band: Option<[Banded; BAND_LEN]>,
    /// The same of the line by least squares.
    pub least_squares_band: Option<[Banded; BAND_LEN]>,
}

/// Amounts at which a band is told.
pub const BAND_LEN: usize = 7;

/// The time that a line gives one amount, with its interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Banded {
    /// The amount.
    pub amount: f64,
    /// Its time in seconds.
    pub time_s: Estimate,
}

/// Fits points by every estimator, with intervals over whole rounds.
///
/// `None` where [`fit`] has no answer for all points together.
pub fn fit_rounds(rounds: &[Vec<Point>], bootstrap: &Bootstrap) -> Option<Intervals> {
    let fits = fit(&rounds.concat())?;
    let amounts = band_amounts(rounds);
    let figures = |line: Line| -> Option<[f64; BAND_LEN + 2]> {
        let rate = line.rate_per_s()?;
        Some(std::array::from_fn(|place| match place {
            0 => rate,
            1 => line.latency_s,
            place => line.time_s(amounts[place - 2]),
        }))
    };
    let robust =
        bootstrap.of_rounds_many(rounds, |points| figures(robust_from(points, fits.robust)?));
    let squares = bootstrap.of_rounds_many(rounds, |points| figures(least_squares(points)?));
    let band = |figures: [Estimate; BAND_LEN + 2]| {
        std::array::from_fn(|at| Banded { amount: amounts[at], time_s: figures[at + 2] })
    };
    Some(Intervals {
        fits,
        rate_per_s: robust.map(|figures| figures[0]),
        latency_s: robust.map(|figures| figures[1]),
        least_squares_rate_per_s: squares.map(|figures| figures[0]),
        band: robust.map(band),
        least_squares_band: squares.map(band),
    })
}

/// Returns amounts from the least to the greatest, by equal factors.
fn band_amounts(rounds: &[Vec<Point>]) -> [f64; BAND_LEN] {
    let amounts = || rounds.iter().flatten().map(|point| point.amount);
    let (least, most) = (amounts().fold(f64::INFINITY, f64::min), amounts().fold(0.0, f64::max));
    std::array::from_fn(|at| least * (most / least).powf(at as f64 / (BAND_LEN - 1) as f64))
}

/// Returns the rate by Theil and Sen with its interval over whole rounds.
///
/// Apart from [`fit_rounds`], since every resample takes the slopes of its pairs again.
pub fn theil_sen_rate(rounds: &[Vec<Point>], bootstrap: &Bootstrap) -> Option<Estimate> {
    let rate = |points: &[Point]| theil_sen_of(points, PAIRS_RESAMPLED_MAX)?.rate_per_s();
    bootstrap.of_rounds(rounds, rate)
}
