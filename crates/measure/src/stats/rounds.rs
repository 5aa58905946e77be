//! Lines with their intervals, from rounds of points.
//!
//! The intervals of the reported line and of its checks are over whole rounds.

use super::bootstrap::{Bootstrap, Estimate};
use super::fit::{Fits, Line, Point, fit, least_squares, robust_from, theil_sen_of};

/// Pairs of points per resample: as many as 300 points have. More take minutes and change no
/// interval.
const PAIRS_RESAMPLED_MAX: usize = 45_000;

/// A line and its intervals. Intervals are absent if there are too few rounds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Intervals {
    /// The lines of all points.
    pub fits: Fits,
    /// Rate of the reported line, in the amount's unit per second.
    pub rate_per_s: Option<Estimate>,
    /// Latency of the reported line, in seconds.
    pub latency_s: Option<Estimate>,
    /// Rate by least squares. Its interval is too narrow if some points stall.
    pub least_squares_rate_per_s: Option<Estimate>,
    /// The confidence band of the reported line, by rising amount.
    pub band: Option<[Banded; BAND_LEN]>,
    /// The confidence band of the line by least squares.
    pub least_squares_band: Option<[Banded; BAND_LEN]>,
}

/// How many amounts a band has.
pub const BAND_LEN: usize = 7;

/// The time of one amount by a line, with its interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Banded {
    /// The amount.
    pub amount: f64,
    /// Its time in seconds.
    pub time_s: Estimate,
}

/// Fits points by every estimator, with intervals over whole rounds.
///
/// `None` if [`fit`] has no result for all points together.
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
/// Not part of [`fit_rounds`], because every resample computes the slopes of its pairs again.
pub fn theil_sen_rate(rounds: &[Vec<Point>], bootstrap: &Bootstrap) -> Option<Estimate> {
    let rate = |points: &[Point]| theil_sen_of(points, PAIRS_RESAMPLED_MAX)?.rate_per_s();
    bootstrap.of_rounds(rounds, rate)
}
