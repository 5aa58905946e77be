//! Whether points lie on two lines.
//!
//! A medium that often switches between two rates has too many steps to find in its series, but its
//! times against lengths form two straight lines.

use super::describe::{median, quantile};
use super::fit::{Line, Point, robust_from, theil_sen_of};

/// Fewest points of a population, as a number and as a share of all.
const MEMBERS_MIN: usize = 8;
const SHARE_MIN: f64 = 0.1;

/// Least ratio of the two rates.
const RATIO_MIN: f64 = 1.25;

/// The least distance of the two, in spreads of the wider one. Stalls of all lengths form a slow
/// population that is nearly as wide as it is distant; with 4, they are too often taken for one.
const GAP_MIN: f64 = 7.0;

/// The spread is that of the nearest nine tenths, which in a normal population lie within 1.6449
/// deviations. With the nearest half, a few stalls would look like a narrow population.
const NEAR_SHARE: f64 = 0.9;
const NEAR_DEVIATIONS: f64 = 1.6449;

/// The most pairs for the first fit of a line.
const PAIRS_MAX: usize = 45_000;

/// Initial shares of slow points that are tried.
const BEGINNINGS: [f64; 5] = [0.15, 0.3, 0.5, 0.7, 0.85];

/// The most rounds of assigning each point to the nearer line.
const ROUNDS_MAX: usize = 20;

/// Two populations of points.
#[derive(Clone, Debug, PartialEq)]
pub struct Populations {
    /// Line of the fast ones.
    pub fast: Line,
    /// Line of the slow ones.
    pub slow: Line,
    /// Whether a point is one of the slow, in the order of the points.
    pub is_slow: Vec<bool>,
}

impl Populations {
    /// Returns the share of the points that are slow.
    pub fn slow_share(&self) -> f64 {
        let slow = self.is_slow.iter().filter(|&&slow| slow).count();
        slow as f64 / self.is_slow.len() as f64
    }
}

/// Divides points into two populations. `None` unless they are clearly separate, each has at least
/// a tenth of the points and eight points, and their rates differ by a quarter or more.
pub fn populations(points: &[Point]) -> Option<Populations> {
    let rates: Vec<f64> = points.iter().map(|point| point.rate_per_s()).collect();
    let found = BEGINNINGS.into_iter().filter_map(|share| {
        let bound = quantile(&rates, share)?;
        let found = part(points, rates.iter().map(|&rate| rate < bound).collect())?;
        let apart = separation(points, &found)?;
        Some((apart, found))
    });
    let (apart, found) = found.max_by(|a, b| a.0.total_cmp(&b.0))?;
    (apart >= GAP_MIN).then_some(found)
}

/// Fits a line to each side and moves points to the nearer one until none moves.
fn part(points: &[Point], mut is_slow: Vec<bool>) -> Option<Populations> {
    for _ in 0..ROUNDS_MAX {
        let (fast, slow) = lines(points, &is_slow)?;
        let nearer = points
            .iter()
            .map(|&point| distance(slow, point).abs() < distance(fast, point).abs())
            .collect();
        if is_slow == nearer {
            return Some(Populations { fast, slow, is_slow });
        }
        is_slow = nearer;
    }
    None
}

/// Fits the line of the larger side, and that of the other with the same latency: a slow transfer
/// does not slow down opening a file. With its own latency, a few stalled points would form a
/// narrow population.
fn lines(points: &[Point], is_slow: &[bool]) -> Option<(Line, Line)> {
    let slow_is_larger = is_slow.iter().filter(|&&slow| slow).count() * 2 > is_slow.len();
    let larger: Vec<Point> = side(points, is_slow, slow_is_larger).collect();
    let larger = robust_from(&larger, theil_sen_of(&larger, PAIRS_MAX)?)?;
    let latency_s = larger.latency_s;
    let others = side(points, is_slow, !slow_is_larger);
    let slopes = others.map(|point| (point.time_s - latency_s) / point.amount);
    let time_s_per_unit = median(&slopes.collect::<Vec<f64>>())?;
    let other = Line { time_s_per_unit, latency_s };
    Some(if slow_is_larger { (other, larger) } else { (larger, other) })
}

/// Returns the distance of the populations in spreads of the wider one, if both are large enough.
fn separation(points: &[Point], found: &Populations) -> Option<f64> {
    let ratio = found.fast.rate_per_s()? / found.slow.rate_per_s()?;
    let share = found.slow_share();
    let fewest = share.min(1.0 - share);
    let few = fewest < SHARE_MIN || fewest * (points.len() as f64) < MEMBERS_MIN as f64;
    if few || ratio < RATIO_MIN {
        return None;
    }
    let spread = |line: Line, slow: bool| {
        let distances = side(points, &found.is_slow, slow).map(|point| distance(line, point).abs());
        quantile(&distances.collect::<Vec<f64>>(), NEAR_SHARE)
    };
    let widest = spread(found.fast, false)?.max(spread(found.slow, true)?);
    Some(ratio.ln() / (widest / NEAR_DEVIATIONS + 1e-9))
}

/// Returns the logarithm of the time of a point ÷ the prediction of the line.
fn distance(line: Line, point: Point) -> f64 {
    line.excess(point).ln_1p()
}

fn side<'a>(
    points: &'a [Point],
    is_slow: &'a [bool],
    slow: bool,
) -> impl Iterator<Item = Point> + 'a {
    points.iter().zip(is_slow).filter(move |&(_, &is)| is == slow).map(|(&point, _)| point)
}
