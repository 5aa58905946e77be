//! Two sides → how one compares with the other, and whether that is known well enough.
//!
//! In: rates of both sides, round by round or apart. Out: a ratio with its interval, one of four
//! findings, and whether further rounds are worth their time. Measured in turn, both sides share
//! what disturbs, so a ratio is known far better than the rates that it is made of.

use super::bootstrap::{Bootstrap, Estimate};
use super::describe::median;

/// What a comparison found of the first side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Finding {
    /// Its rate is lower.
    Slower,
    /// Its rate is higher.
    Faster,
    /// The rates differ by no more than the margin, whichever is higher.
    NoDifference,
    /// The interval allows for more than one of these, or there is none.
    NotEnoughData,
}

impl Finding {
    /// Every finding.
    pub const ALL: [Finding; 4] =
        [Finding::Slower, Finding::Faster, Finding::NoDifference, Finding::NotEnoughData];

    /// Returns the words that documents show; those for no difference go on with the margin.
    pub const fn name(self) -> &'static str {
        match self {
            Finding::Slower => "slower",
            Finding::Faster => "faster",
            Finding::NoDifference => "no difference",
            Finding::NotEnoughData => "not enough data",
        }
    }
}

/// Returns the median over the rounds of the first rate ÷ the second, with its interval.
///
/// Each pair is of one round, in which the order of the two was drawn. `None` if there are too few
/// rounds, or a rate is not positive.
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

/// Judges a ratio of rates. `margin` is the difference that does not matter, as a share: 0.02.
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

/// Returns whether a figure is known well enough: half of its interval's width is less than a
/// share of it.
///
/// Whoever stops measuring as soon as this holds stops a little too soon now and then, since an
/// interval may be narrow by accident.
pub fn enough(estimate: &Estimate, half_width: f64) -> bool {
    estimate.half_width() < half_width
}

/// Returns how many rounds it will take in all until [`enough`] holds, if further ones are like
/// those so far: intervals narrow as the square root of the rounds.
pub fn rounds_needed(estimate: &Estimate, half_width: f64) -> Option<usize> {
    let times = (estimate.half_width() / half_width).powi(2);
    let needed = (estimate.rounds as f64 * times).ceil();
    (needed < 1e9).then(|| (needed as usize).max(estimate.rounds))
}
