//! Compares the rates of two sides, and tells whether more rounds are needed.
//!
//! Two sides that are measured in turn have the same disturbances, so their ratio is more precise
//! than either rate.

use strum::IntoStaticStr;

use super::bootstrap::{Bootstrap, Estimate};
use super::describe::median;

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

/// Returns the median over the rounds of the first rate ÷ the second, with its interval.
///
/// Each pair is from one round, with a random order of the two. `None` if there are too few rounds,
/// or a rate is not positive.
pub fn ratio(rounds: &[(f64, f64)], bootstrap: &Bootstrap) -> Option<Estimate> {
    let positive = |rate: f64| rate > 0.0 && rate.is_finite();
    if !rounds.iter().all(|&(one, other)| positive(one) && positive(other)) {
        return None;
    }
    let ratios: Vec<Vec<f64>> = rounds.iter().map(|(one, other)| vec![one / other]).collect();
    bootstrap.of_rounds(&ratios, median)
}

/// Returns the median of rates as a percentage of the median of reference rates, with an interval
/// that allows for the spread of both. Each rate is of one round.
pub fn percent_of(ours: &[f64], reference: &[f64], bootstrap: &Bootstrap) -> Option<Estimate> {
    let percent =
        |ours: &[f64], reference: &[f64]| Some(100.0 * median(ours)? / median(reference)?);
    bootstrap.of_sides([ours, reference], percent)
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

/// Returns the total number of rounds until [`enough`] holds, if further rounds are like those so
/// far: the width of an interval falls with the square root of the rounds.
pub fn rounds_needed(estimate: &Estimate, half_width: f64) -> Option<usize> {
    let times = (estimate.half_width() / half_width).powi(2);
    let needed = (estimate.rounds as f64 * times).ceil();
    (needed < 1e9).then(|| (needed as usize).max(estimate.rounds))
}
