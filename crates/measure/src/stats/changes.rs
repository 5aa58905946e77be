//! Change points: the points of a series at which the rate stepped up or down.
//!
//! A slope is not a step. [`super::cause`] names the cause of a step from
//! other evidence.
//!
//! A plain search takes every stall for a step. Therefore outliers are pulled in before the search,
//! and the price of a step rises with the autocorrelation of the values. Both were tuned on
//! synthetic series, and the tests check the result.

use std::ops::Range;

use super::fit::{DEVIATION_SCALE, Line, Point, rate_overall, robust};
use super::median::median_within;

/// The least number of points between two steps, and on each side of the centre of a running
/// median.
const SEGMENT_LEN_MIN: usize = 8;

/// Robust standard deviations from the running median beyond which a value is pulled in.
const REACH: f64 = 3.0;

/// Price of a step, in squared deviations per logarithm of the number of points.
const PRICE: f64 = 6.0;

/// The smallest step that is reported, as a ratio of rates.
const STEP_MIN: f64 = 1.06;

/// A part of a series without a step of the rate.
#[derive(Clone, Debug, PartialEq)]
pub struct Segment {
    /// Its points, by index.
    pub range: Range<usize>,
    /// The total amount before its first point.
    pub amount_before: f64,
    /// The amount in it.
    pub amount: f64,
    /// Its amount ÷ its time, including latency and stalls.
    pub rate_overall_per_s: f64,
    /// Its line by [`robust`]. `None` if all its points have one amount.
    pub line: Option<Line>,
}

/// A step of the rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Change {
    /// Index of the first point after the step.
    pub index: usize,
    /// The total amount before the step: bytes written so far.
    pub at_amount: f64,
    /// Rate after it ÷ rate before it, corrected for the lengths of files.
    pub ratio: f64,
}

/// A series divided at its steps.
#[derive(Clone, Debug, PartialEq)]
pub struct Segments {
    /// One more than there are changes. The first is the medium in its fresh state.
    pub segments: Vec<Segment>,
    /// `changes[i]` is between `segments[i]` and `segments[i + 1]`.
    pub changes: Vec<Change>,
}

/// Divides a series at its steps. `None` if there are no points, or one has no positive amount and
/// time.
///
/// The time grows with the square of the number of points: 10,000 take some tenths of a second.
pub fn segments(points: &[Point]) -> Option<Segments> {
    let levels = levels(points)?;
    let steps = change_points(&levels);
    let starts = || std::iter::once(0).chain(steps.iter().copied());
    let ends = steps.iter().copied().chain([points.len()]);
    let mut done = 0.0;
    let segments = starts().zip(ends).map(|(start, end)| {
        let points = &points[start..end];
        let amount = points.iter().map(|point| point.amount).sum();
        let amount_before = done;
        done += amount;
        Some(Segment {
            range: start..end,
            amount_before,
            amount,
            rate_overall_per_s: rate_overall(points)?,
            line: robust(points),
        })
    });
    let segments: Vec<Segment> = segments.collect::<Option<_>>()?;
    let level = |segment: &Segment| middle(&levels[segment.range.clone()]);
    let changes = segments.windows(2).map(|pair| Change {
        index: pair[1].range.start,
        at_amount: pair[1].amount_before,
        ratio: (level(&pair[1]) - level(&pair[0])).exp(),
    });
    let changes = changes.collect();
    Some(Segments { segments, changes })
}

/// Returns the logarithm of each point's rate, without the effect of its amount: the rate of a
/// small file is low because of its latency, wherever it is in the series.
fn levels(points: &[Point]) -> Option<Vec<f64>> {
    let positive = |point: &Point| point.amount > 0.0 && point.time_s > 0.0;
    if points.is_empty() || !points.iter().all(positive) {
        return None;
    }
    let line = robust(points).filter(|line| line.time_s_per_unit > 0.0);
    // Without a line, or with one that predicts a negative time, amounts are taken to have no
    // effect on the rate.
    let line = line.unwrap_or(Line { time_s_per_unit: 1.0, latency_s: 0.0 });
    let line = Line { latency_s: line.latency_s.max(0.0), ..line };
    let levels = points.iter().map(|point| (line.time_s(point.amount) / point.time_s).ln());
    levels.map(|level| level.is_finite().then_some(level)).collect()
}

/// Returns the indexes at which a series of logarithms of rates steps to another level.
///
/// Fewer than 16 values have no steps. A step is found if segments of at least eight values differ
/// by 6 % or more.
///
/// Source: B. Jackson and others, "An algorithm for optimal partitioning of data on an interval",
/// IEEE Signal Processing Letters 12 (2005), number 2.
pub fn change_points(levels: &[f64]) -> Vec<usize> {
    let count = levels.len();
    if count < 2 * SEGMENT_LEN_MIN || levels.iter().any(|level| !level.is_finite()) {
        return Vec::new();
    }
    let calm = calm(levels);
    let price = PRICE * (count as f64).ln() * calm.inflation;
    let steps = partition(&calm.values, price);
    let bounds: Vec<usize> = std::iter::once(0).chain(steps).chain([count]).collect();
    let large = bounds.windows(3).filter(|bound| {
        let (before, after) = (&levels[bound[0]..bound[1]], &levels[bound[1]..bound[2]]);
        (middle(after) - middle(before)).abs() >= STEP_MIN.ln()
    });
    large.map(|bound| bound[1]).collect()
}

/// A series in units of its own noise, with its outliers pulled in.
struct Calm {
    values: Vec<f64>,
    /// The factor by which autocorrelation makes noise look like steps: (1 + ρ) ÷ (1 − ρ).
    inflation: f64,
}

fn calm(levels: &[f64]) -> Calm {
    let mut differences: Vec<f64> = levels.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let centre = middle(&differences);
    differences.iter_mut().for_each(|difference| *difference = (*difference - centre).abs());
    // The noise of differences, because a step affects only one of them; they vary √2 times as much
    // as values.
    let noise = DEVIATION_SCALE * middle(&differences) / std::f64::consts::SQRT_2 + 1e-9;
    let around = |index: usize| {
        let end = (index + SEGMENT_LEN_MIN + 1).min(levels.len());
        middle(&levels[index.saturating_sub(SEGMENT_LEN_MIN)..end])
    };
    let running: Vec<f64> = (0..levels.len()).map(around).collect();
    let rests: Vec<f64> = levels
        .iter()
        .zip(&running)
        .map(|(level, around)| ((level - around) / noise).clamp(-REACH, REACH))
        .collect();
    let values = running.iter().zip(&rests).map(|(around, rest)| around / noise + rest).collect();
    Calm { values, inflation: inflation(&rests, 2 * SEGMENT_LEN_MIN + 1) }
}

/// Returns the ratio of the variance of a mean to that of a mean of independent values, from the
/// autocorrelation of neighbours.
///
/// `window` is the number of values in the mean that was subtracted for each residual. That mean
/// follows its values, so the autocorrelation of the residuals is lower than that of the values.
///
/// Source: F. H. C. Marriott and J. A. Pope, "Bias in the estimation of autocorrelations",
/// Biometrika 41 (1954), numbers 3 and 4.
fn inflation(rests: &[f64], window: usize) -> f64 {
    let mean = rests.iter().sum::<f64>() / rests.len() as f64;
    let square: f64 = rests.iter().map(|rest| (rest - mean).powi(2)).sum();
    let product: f64 = rests.windows(2).map(|pair| (pair[0] - mean) * (pair[1] - mean)).sum();
    let lost = 1.0 / window as f64;
    let resemblance =
        if square > 0.0 { (product / square + lost) / (1.0 - 3.0 * lost) } else { 0.0 };
    // Above 0.9 no step would ever be found; below 0 there is no gain.
    let resemblance = resemblance.clamp(0.0, 0.9);
    (1.0 + resemblance) / (1.0 - resemblance)
}

/// Returns the divisions for which the sum of squared distances from the means of the parts, plus
/// the price of the divisions, is least.
fn partition(values: &[f64], price: f64) -> Vec<usize> {
    let sums = running_sums(values.iter().copied());
    let squares = running_sums(values.iter().map(|value| value * value));
    let cost = |start: usize, end: usize| {
        let sum = sums[end] - sums[start];
        squares[end] - squares[start] - sum * sum / (end - start) as f64
    };
    let mut best = vec![(f64::INFINITY, 0); values.len() + 1];
    best[0].0 = -price;
    for end in SEGMENT_LEN_MIN..=values.len() {
        for start in 0..=end - SEGMENT_LEN_MIN {
            let total = best[start].0 + cost(start, end) + price;
            if total < best[end].0 {
                best[end] = (total, start);
            }
        }
    }
    let mut cuts = Vec::new();
    let mut end = best[values.len()].1;
    while end > 0 {
        cuts.push(end);
        end = best[end].1;
    }
    cuts.reverse();
    cuts
}

/// Returns the sums of the first 0, 1, 2, … values.
fn running_sums(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut sum = 0.0;
    let sums = values.map(|value| {
        sum += value;
        sum
    });
    std::iter::once(0.0).chain(sums.collect::<Vec<f64>>()).collect()
}

fn middle(values: &[f64]) -> f64 {
    median_within(&mut values.to_vec()).expect("a part of a series has finite values")
}
