//! Compares the rates of two sides, and tells whether more rounds are needed.
//!
//! Two sides that are measured in turn have the same disturbances, so their ratio is more precise
//! than either rate: see [`super::Ratios::in_turn`].

use strum::IntoStaticStr;

use super::fit::{Line, Point, robust, robust_from};
use super::interval::{Estimate, Ratios};
use super::median::median;

/// The result of a comparison, for the first side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum Finding {
    /// Its rate is lower.
    Slower,
    /// Its rate is higher.
    Faster,
    /// The rates differ by no more than the margin, whichever is higher.
    #[strum(serialize = "no difference")]
    NoDifference,
    /// The interval permits more than one of these, or there is no interval.
    #[strum(serialize = "not enough data")]
    NotEnoughData,
}

impl Finding {
    /// Every finding.
    pub const ALL: [Finding; 4] =
        [Finding::Slower, Finding::Faster, Finding::NoDifference, Finding::NotEnoughData];

    /// Returns the words in documents. Those for no difference are followed by the margin.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// The rates of two sides that were measured apart.
#[derive(Clone, Debug, PartialEq)]
pub struct RatesApart {
    /// Rate of the first, in units per second.
    pub one_per_s: f64,
    /// Rate of the second.
    pub other_per_s: f64,
    /// First ÷ second, for intervals if both sides have enough rounds.
    pub ratios: Option<Ratios>,
}

/// Returns the rates of two sides that were measured apart. `None` if a side has no rate.
///
/// If rounds of both have several amounts, each rate is that of the fitted line, also of each
/// round: stalled samples have no weight, and other amounts do not change it. Rounds without a line
/// are left out. Otherwise each rate is the median of the samples.
pub fn rates_apart(sides: [&[Vec<Point>]; 2]) -> Option<RatesApart> {
    let of_rounds = |side: usize, rate: &dyn Fn(&[Point]) -> Option<f64>| -> Vec<f64> {
        sides[side].iter().filter_map(|round| rate(round)).collect()
    };
    let (rates, by_round) = match sides.map(fitted) {
        [Some(one), Some(other)] => {
            let along = |line: Line| move |round: &[Point]| robust_from(round, line)?.rate_per_s();
            let by_round = [of_rounds(0, &along(one)), of_rounds(1, &along(other))];
            ([one.rate_per_s(), other.rate_per_s()], by_round)
        }
        _ => {
            let rates = sides.map(|rounds| median_rate(&rounds.concat()));
            (rates, [0, 1].map(|side| of_rounds(side, &median_rate)))
        }
    };
    let ([Some(one_per_s), Some(other_per_s)], [ours, theirs]) = (rates, by_round) else {
        return None;
    };
    let ratios = Ratios::apart(&ours, &theirs);
    let ratios = ratios.map(|ratios| ratios.reporting(one_per_s / other_per_s));
    Some(RatesApart { one_per_s, other_per_s, ratios })
}

/// Returns the line of a side whose rounds have several amounts, if it has a rate.
fn fitted(rounds: &[Vec<Point>]) -> Option<Line> {
    let several = |round: &Vec<Point>| round.iter().any(|point| point.amount != round[0].amount);
    let line = rounds.iter().any(several).then(|| robust(&rounds.concat()))??;
    line.rate_per_s().map(|_| line)
}

fn median_rate(points: &[Point]) -> Option<f64> {
    median(&points.iter().map(|point| point.rate_per_s()).collect::<Vec<f64>>())
}

/// Classifies a ratio of rates. `margin` is the irrelevant difference, as a share: 0.02.
pub fn finding(ratio: Option<&Estimate>, margin: f64) -> Finding {
    let Some(ratio) = ratio else { return Finding::NotEnoughData };
    if ratio.low >= 1.0 - margin && ratio.high <= 1.0 + margin {
        Finding::NoDifference
    } else if ratio.high < 1.0 {
        Finding::Slower
    } else if ratio.low > 1.0 {
        Finding::Faster
    } else {
        Finding::NotEnoughData
    }
}

/// Returns whether a figure is precise enough: half the width of its interval is less than a share
/// of it.
///
/// An interval may be narrow by chance, so a measurement that stops at the first such interval
/// sometimes stops too early.
pub fn enough(estimate: &Estimate, half_width: f64) -> bool {
    estimate.half_width() < half_width
}
