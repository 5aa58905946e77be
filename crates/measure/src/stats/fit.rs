//! Fits a line of time against amount: time = latency + amount ÷ rate.
//!
//! Four estimators; the robust one is reported. With a tenth of the times stalled, it finds the
//! rate within half a percent, while least squares are off by a sixth. The estimator of Theil and
//! Sen checks it; the other two are for readers who know them from elsewhere.

use super::describe::median_within;
use super::outliers::DEVIATION_SCALE;
use crate::random::Random;

/// Up to this many points the slopes of all pairs are used; above, a sample of as many pairs.
const POINTS_PAIRED_MAX: usize = 2000;

/// Seed for drawing the pairs. It is constant, so a fit is reproducible.
const PAIRS_SEED: u64 = 0x7468_6569_6c73_656e;

/// From this many robust standard deviations on, a point has no weight: the usual tuning of the
/// bisquare, which loses a twentieth of the precision if nothing stalls.
///
/// Source: A. E. Beaton and J. W. Tukey, "The fitting of power series", Technometrics 16 (1974).
const BISQUARE_REACH: f64 = 4.685;

/// The most rounds of reweighting; most fits converge in ten.
const REWEIGHTINGS_MAX: usize = 30;

/// A fit has converged if the line changes by at most this share.
const STILL: f64 = 1e-11;

/// The most steps of the ternary search. (⅔)²⁰⁰ is 10⁻³⁵, below the last bit of any slope.
const SECTIONS_MAX: usize = 200;

/// Estimates of the rate farther apart than this share make a fit doubtful.
const DISAGREEMENT_MAX: f64 = 0.02;

/// A negative latency beyond this share of the time of the least amount is not noise.
const LATENCY_BELOW_MAX: f64 = 0.1;

/// An amount and the time it took.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// How much was done: bytes, operations or loops.
    pub amount: f64,
    /// How long it took, in seconds.
    pub time_s: f64,
}

impl Point {
    /// Makes a point from the amount and the time of a sample.
    pub fn of(amount: u64, elapsed_ns: u64) -> Point {
        Point { amount: amount as f64, time_s: elapsed_ns as f64 / 1e9 }
    }

    /// Returns the amount per second, including the latency.
    pub fn rate_per_s(self) -> f64 {
        self.amount / self.time_s
    }

    fn is_sound(&self) -> bool {
        let finite = self.amount.is_finite() && self.time_s.is_finite();
        finite && self.amount >= 0.0 && self.time_s > 0.0
    }
}

/// A straight line of time against amount.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Line {
    /// Seconds that each further unit takes: bytes, operations or loops.
    pub time_s_per_unit: f64,
    /// Seconds that an amount of 0 takes: opening, waiting, closing.
    pub latency_s: f64,
}

impl Line {
    /// Returns the amount per second without the latency. `None` if the slope is not positive.
    pub fn rate_per_s(&self) -> Option<f64> {
        let rate = 1.0 / self.time_s_per_unit;
        (self.time_s_per_unit > 0.0 && rate.is_finite()).then_some(rate)
    }

    /// Returns the seconds that an amount takes.
    pub fn time_s(&self, amount: f64) -> f64 {
        self.latency_s + amount * self.time_s_per_unit
    }

    /// Returns how much longer a point took than the line predicts, as a share of the prediction.
    pub fn excess(&self, point: Point) -> f64 {
        let expected_s = self.time_s(point.amount).max(TIME_S_MIN);
        (point.time_s - expected_s) / expected_s
    }
}

/// The least time that a line predicts, in seconds. Avoids divisions by 0.
const TIME_S_MIN: f64 = 1e-12;

/// The same points by every estimator.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fits {
    /// How many points there are.
    pub count: usize,
    /// The least of their amounts.
    pub amount_min: f64,
    /// The reported one, by [`robust`].
    pub robust: Line,
    /// Its check, by [`theil_sen`].
    pub theil_sen: Line,
    /// By [`least_squares`].
    pub least_squares: Line,
    /// By [`least_absolute`].
    pub least_absolute: Line,
    /// All amounts ÷ all times, including latency and stalls, as a user experiences it.
    pub rate_overall_per_s: f64,
}

impl Fits {
    /// Returns how far the rates of the reported line and of its check are apart, as a share of
    /// the reported one. `None` if one of them has no rate.
    pub fn disagreement(&self) -> Option<f64> {
        let (rate, check) = (self.robust.rate_per_s()?, self.theil_sen.rate_per_s()?);
        Some((check - rate).abs() / rate)
    }

    /// Returns whether the reported rate needs a warning: its check differs by more than 2 %, there
    /// is no rate, or the latency is clearly negative. No straight line fits then, for instance if
    /// small files finish before another process runs.
    pub fn is_doubtful(&self) -> bool {
        let least_s = self.amount_min * self.robust.time_s_per_unit;
        self.disagreement().is_none_or(|share| share > DISAGREEMENT_MAX)
            || self.robust.latency_s < -LATENCY_BELOW_MAX * least_s
    }
}

/// Fits a line by every estimator.
///
/// `None` if there are fewer than two amounts, or a point is not finite, has a negative amount or
/// took no time.
pub fn fit(points: &[Point]) -> Option<Fits> {
    let theil_sen = theil_sen(points)?;
    Some(Fits {
        count: points.len(),
        amount_min: points.iter().map(|point| point.amount).fold(f64::MAX, f64::min),
        robust: robust_from(points, theil_sen)?,
        theil_sen,
        least_squares: least_squares(points)?,
        least_absolute: least_absolute(points)?,
        rate_overall_per_s: rate_overall(points)?,
    })
}

/// Returns all amounts ÷ all times.
pub fn rate_overall(points: &[Point]) -> Option<f64> {
    let amount: f64 = points.iter().map(|point| point.amount).sum();
    let time_s: f64 = points.iter().map(|point| point.time_s).sum();
    (!points.is_empty() && points.iter().all(Point::is_sound)).then(|| amount / time_s)
}

/// Fits the line whose relative errors are least by Tukey's bisquare, from Theil and Sen's on.
///
/// Errors are relative, because the error of a time grows with the time. Outliers have no weight.
///
/// Source: P. W. Holland and R. E. Welsch, "Robust regression using iteratively reweighted
/// least-squares", Communications in Statistics A 6 (1977), number 9.
pub fn robust(points: &[Point]) -> Option<Line> {
    robust_from(points, theil_sen(points)?)
}

/// As [`robust`], from a given line. For resampling, where the slopes of pairs would take too long.
pub(super) fn robust_from(points: &[Point], start: Line) -> Option<Line> {
    if !can_be_fitted(points) {
        return None;
    }
    let mut line = start;
    let mut excess = Vec::with_capacity(points.len());
    let mut scratch = Vec::with_capacity(points.len());
    let mut weights = Vec::with_capacity(points.len());
    for _ in 0..REWEIGHTINGS_MAX {
        excess.clear();
        excess.extend(points.iter().map(|&point| line.excess(point)));
        scratch.clone_from(&excess);
        let middle = median_within(&mut scratch)?;
        scratch.iter_mut().for_each(|excess| *excess = (*excess - middle).abs());
        // Not 0, so that points without any error have a weight.
        let reach = BISQUARE_REACH * (DEVIATION_SCALE * median_within(&mut scratch)? + 1e-9);
        weights.clear();
        weights.extend(points.iter().zip(&excess).map(|(point, excess)| {
            let share = (excess / reach).clamp(-1.0, 1.0);
            let expected_s = line.time_s(point.amount).max(TIME_S_MIN);
            ((1.0 - share * share) / expected_s).powi(2)
        }));
        // If the points with weight have one amount only, the line stays unchanged.
        let Some(next) = least_squares_weighted(points, &weights) else { break };
        let near = |one: f64, other: f64| (one - other).abs() <= STILL * other.abs();
        let still = near(next.time_s_per_unit, line.time_s_per_unit)
            && near(next.latency_s, line.latency_s);
        line = next;
        if still {
            break;
        }
    }
    Some(line)
}

/// Fits the line whose slope is the median of the slopes of all pairs of points.
///
/// For more than 2,000 points, as many pairs are drawn as 2,000 points have. The draw is constant.
///
/// Source: P. K. Sen, "Estimates of the regression coefficient based on Kendall's tau", Journal of
/// the American Statistical Association 63 (1968), number 324.
pub fn theil_sen(points: &[Point]) -> Option<Line> {
    theil_sen_of(points, POINTS_PAIRED_MAX * (POINTS_PAIRED_MAX - 1) / 2)
}

/// As [`theil_sen`], with a limit on the number of pairs.
pub(super) fn theil_sen_of(points: &[Point], pairs_max: usize) -> Option<Line> {
    if !can_be_fitted(points) {
        return None;
    }
    let slope = |a: &Point, b: &Point| {
        (a.amount != b.amount).then(|| (b.time_s - a.time_s) / (b.amount - a.amount))
    };
    let pairs = points.len() * (points.len() - 1) / 2;
    let mut slopes = Vec::with_capacity(pairs.min(pairs_max));
    if pairs <= pairs_max {
        for (index, a) in points.iter().enumerate() {
            slopes.extend(points[index + 1..].iter().filter_map(|b| slope(a, b)));
        }
    } else {
        let mut random = Random::new(PAIRS_SEED);
        let mut draw = || &points[random.below(points.len() as u64) as usize];
        slopes.extend((0..pairs_max).filter_map(|_| slope(draw(), draw())));
    }
    let time_s_per_unit = median_within(&mut slopes)?;
    let rest = points.iter().map(|point| point.time_s - time_s_per_unit * point.amount);
    let latency_s = median_within(&mut rest.collect::<Vec<f64>>())?;
    Some(Line { time_s_per_unit, latency_s })
}

/// Fits the line with the least squared errors. Stalled samples distort it.
pub fn least_squares(points: &[Point]) -> Option<Line> {
    if !can_be_fitted(points) {
        return None;
    }
    least_squares_weighted(points, &vec![1.0; points.len()])
}

fn least_squares_weighted(points: &[Point], weights: &[f64]) -> Option<Line> {
    let (mut weight, mut amount, mut time_s) = (0.0, 0.0, 0.0);
    for (point, each) in points.iter().zip(weights) {
        weight += each;
        amount += each * point.amount;
        time_s += each * point.time_s;
    }
    let (amount, time_s) = (amount / weight, time_s / weight);
    let (mut square, mut product) = (0.0, 0.0);
    for (point, each) in points.iter().zip(weights) {
        let distance = point.amount - amount;
        square += each * distance * distance;
        product += each * distance * (point.time_s - time_s);
    }
    let time_s_per_unit = product / square;
    let latency_s = time_s - time_s_per_unit * amount;
    latency_s.is_finite().then_some(Line { time_s_per_unit, latency_s })
}

/// Fits the line with the least sum of absolute errors.
///
/// For each slope the best latency is a median. The remaining sum has one minimum along the slopes,
/// which a ternary search finds.
pub fn least_absolute(points: &[Point]) -> Option<Line> {
    if !can_be_fitted(points) {
        return None;
    }
    let mut scratch = Vec::with_capacity(points.len());
    let mut at = |time_s_per_unit: f64| -> Option<(f64, f64)> {
        let rests = points.iter().map(|point| point.time_s - time_s_per_unit * point.amount);
        scratch.clear();
        scratch.extend(rests.clone());
        let latency_s = median_within(&mut scratch)?;
        Some((rests.map(|rest| (rest - latency_s).abs()).sum(), latency_s))
    };
    let (mut low, mut high) = slopes_of_neighbours(points)?;
    for _ in 0..SECTIONS_MAX {
        let third = (high - low) / 3.0;
        let (left, right) = (low + third, high - third);
        if left <= low || right >= high {
            break;
        }
        if at(left)?.0 <= at(right)?.0 {
            high = right;
        } else {
            low = left;
        }
    }
    let time_s_per_unit = low + (high - low) / 2.0;
    Some(Line { time_s_per_unit, latency_s: at(time_s_per_unit)?.1 })
}

/// Returns the least and the greatest slope between points whose amounts are next to each other.
/// No pair of points has a slope outside this range, so the best line has none either.
fn slopes_of_neighbours(points: &[Point]) -> Option<(f64, f64)> {
    let mut sorted = points.to_vec();
    sorted.sort_unstable_by(|a, b| a.amount.total_cmp(&b.amount));
    let groups: Vec<(f64, f64, f64)> = sorted
        .chunk_by(|a, b| a.amount == b.amount)
        .map(|group| {
            let times = group.iter().map(|point| point.time_s);
            let max = times.clone().fold(f64::MIN, f64::max);
            (group[0].amount, times.fold(f64::MAX, f64::min), max)
        })
        .collect();
    let slopes = groups.windows(2).map(|pair| {
        let step = pair[1].0 - pair[0].0;
        ((pair[1].1 - pair[0].2) / step, (pair[1].2 - pair[0].1) / step)
    });
    slopes.reduce(|all, next| (all.0.min(next.0), all.1.max(next.1)))
}

/// Returns whether all points are valid and have at least two amounts.
fn can_be_fitted(points: &[Point]) -> bool {
    let spread = points.iter().any(|point| point.amount != points[0].amount);
    spread && points.iter().all(Point::is_sound)
}
