//! Rates of rounds, and what a ratio of two sides means.

use strum::IntoStaticStr;

use super::fit::{Point, robust, robust_from};
use super::interval::Estimate;
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

/// Returns the rate of a side, and that of each round. `None` if the side has no rate.
///
/// If its rounds have several amounts, rates are those of fitted lines: stalled samples have no
/// weight, and other amounts do not change them. Otherwise they are medians.
pub fn rates_of_rounds(rounds: &[Vec<Point>]) -> Option<(f64, Vec<Option<f64>>)> {
    let several = |round: &Vec<Point>| round.iter().any(|point| point.amount != round[0].amount);
    let all = rounds.concat();
    let line = rounds.iter().any(several).then(|| robust(&all)).flatten();
    match line.and_then(|line| Some((line, line.rate_per_s()?))) {
        Some((line, rate)) => {
            let of_round = |round: &Vec<Point>| robust_from(round, line)?.rate_per_s();
            Some((rate, rounds.iter().map(of_round).collect()))
        }
        None => Some((median_rate(&all)?, rounds.iter().map(|round| median_rate(round)).collect())),
    }
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
