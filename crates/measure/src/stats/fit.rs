//! Fits a line of time against amount: time = latency + amount ÷ rate.
//!
//! With a tenth of the times stalled, the line finds the rate within half a percent, where least
//! squares are off by a sixth. Each round gives a line of its own, from which the intervals are.

use super::figure::Figure;
use super::median::median_within;

/// The most pairs of points whose slopes are used: all pairs of 2,000 points.
const PAIRS_MAX: usize = 2_000_000;

/// From this many robust standard deviations on, a point has no weight: the usual tuning of the
/// bisquare, which loses a twentieth of the precision if nothing stalls.
///
/// Source: A. E. Beaton and J. W. Tukey, "The fitting of power series", Technometrics 16 (1974).
const BISQUARE_REACH: f64 = 4.685;

/// The most rounds of reweighting; most fits converge in ten.
const REWEIGHTINGS_MAX: usize = 30;

/// A fit has converged if the line changes by at most this share.
const STILL: f64 = 1e-11;

/// Factor from the median absolute deviation to the standard deviation: 1 ÷ Φ⁻¹(¾).
const DEVIATION_SCALE: f64 = 1.4826;

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

    /// Returns whether another line has another rate, or the latency is clearly negative.
    fn is_doubtful(&self, check: Line, amount_min: f64) -> bool {
        let near = |rate: f64| {
            check.rate_per_s().is_some_and(|other| (other - rate).abs() <= DISAGREEMENT_MAX * rate)
        };
        !self.rate_per_s().is_some_and(near)
            || self.latency_s < -LATENCY_BELOW_MAX * amount_min * self.time_s_per_unit
    }

    /// Returns how much longer a point took than the line predicts, as a share of the prediction.
    pub fn excess(&self, point: Point) -> f64 {
        let expected_s = self.time_s(point.amount).max(TIME_S_MIN);
        (point.time_s - expected_s) / expected_s
    }
}

/// The least time that a line predicts, in seconds. Avoids divisions by 0.
const TIME_S_MIN: f64 = 1e-12;

/// The line of all points, with intervals if there are enough rounds.
#[derive(Clone, Debug, PartialEq)]
pub struct LineFit {
    /// The line, by [`robust`].
    pub line: Line,
    /// Its rate, in the amount's unit per second; `None` if the slope is not positive.
    pub rate_per_s: Option<Figure>,
    /// Its latency, in seconds.
    pub latency_s: Figure,
    /// The rate of the line of each round, `None` where it has none.
    pub rates_of_rounds: Vec<Option<f64>>,
    /// The time of rising amounts by the line, in seconds, with intervals; empty without them.
    pub band: Vec<(f64, Figure)>,
    /// All amounts ÷ all times, including latency and stalls, as a user experiences it.
    pub rate_overall_per_s: f64,
    /// Whether the rate needs a warning: there is none, the slope from which the fit starts gives
    /// another one, by 2 % or more, or the latency is clearly negative. No straight line fits then,
    /// for instance if small files finish before another process runs.
    pub is_doubtful: bool,
}

/// How many amounts a band has.
const BAND_LEN: usize = 7;

impl LineFit {
    /// Fits a line to the points of all rounds, and one to each round for the intervals.
    ///
    /// `None` if there are fewer than two amounts, or a point is not finite, has a negative amount
    /// or took no time. A round that has no line is left out of the intervals.
    pub fn of_rounds(rounds: &[Vec<Point>]) -> Option<LineFit> {
        let points = rounds.concat();
        let check = theil_sen(&points)?;
        let line = robust_from(&points, check)?;
        let of_rounds = rounds.iter().map(|round| robust_from(round, line));
        let of_rounds: Vec<Option<Line>> = of_rounds.collect();
        let rates_of_rounds = of_rounds.iter().map(|of| of.as_ref()?.rate_per_s()).collect();
        let sloped = |of: &Line| of.rate_per_s().is_some();
        let lines: Vec<Line> = of_rounds.into_iter().flatten().filter(sloped).collect();
        let figure = |of: &dyn Fn(&Line) -> f64| {
            Figure::from_rounds(of(&line), &lines.iter().map(of).collect::<Vec<f64>>())
        };
        let amounts = || points.iter().map(|point| point.amount);
        let (least, most) = (amounts().fold(f64::MAX, f64::min), amounts().fold(0.0, f64::max));
        let steps = (0..BAND_LEN).map(|step| {
            let amount = least * (most / least).powf(step as f64 / (BAND_LEN - 1) as f64);
            (amount, figure(&|line| line.time_s(amount)))
        });
        Some(LineFit {
            line,
            rate_per_s: line.rate_per_s().map(|_| figure(&|line| 1.0 / line.time_s_per_unit)),
            latency_s: figure(&|line| line.latency_s),
            rates_of_rounds,
            band: steps.filter(|(_, time_s)| time_s.interval.is_some()).collect(),
            rate_overall_per_s: rate_overall(&points)?,
            is_doubtful: line.is_doubtful(check, least),
        })
    }
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

/// As [`robust`], from a given line: that of all rounds, for one of them.
fn robust_from(points: &[Point], start: Line) -> Option<Line> {
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
/// Of many points, each is paired with as many of those that follow it as there is room for.
///
/// Source: P. K. Sen, "Estimates of the regression coefficient based on Kendall's tau", Journal of
/// the American Statistical Association 63 (1968), number 324.
fn theil_sen(points: &[Point]) -> Option<Line> {
    if !can_be_fitted(points) {
        return None;
    }
    let slope = |a: &Point, b: &Point| {
        (a.amount != b.amount).then(|| (b.time_s - a.time_s) / (b.amount - a.amount))
    };
    let apart_max = (PAIRS_MAX / points.len()).max(1);
    let pairs = |at: usize| points[at + 1..].iter().take(apart_max).map(move |b| (&points[at], b));
    let slopes = (0..points.len()).flat_map(pairs).filter_map(|(a, b)| slope(a, b));
    let mut slopes: Vec<f64> = slopes.collect();
    let time_s_per_unit = median_within(&mut slopes)?;
    let rest = points.iter().map(|point| point.time_s - time_s_per_unit * point.amount);
    let latency_s = median_within(&mut rest.collect::<Vec<f64>>())?;
    Some(Line { time_s_per_unit, latency_s })
}

/// Fits the line with the least squared errors.
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

/// Returns whether all points are valid and have at least two amounts.
fn can_be_fitted(points: &[Point]) -> bool {
    let spread = points.iter().any(|point| point.amount != points[0].amount);
    spread && points.iter().all(Point::is_sound)
}
