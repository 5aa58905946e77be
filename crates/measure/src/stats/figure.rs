//! Figures with their intervals, by the signs of rounds, and what a ratio of two sides means.
//!
//! Samples of one round share the state of the machine, so each round gives one number. An interval
//! contains what the sign test of those numbers does not reject. Signs ignore how long a sample
//! stalled, and hold for any distribution. Nothing is drawn: the same rounds give the same
//! interval.
//!
//! Source: M. Hollander, D. Wolfe, E. Chicken, "Nonparametric statistical methods", 3rd edition
//! (2014), section 3.6.

use statrs::distribution::{Binomial, DiscreteCDF as _};
use strum::IntoStaticStr;

use super::median::{median, sorted};

/// The least number of rounds for an interval: the median of all rounds is between the least and
/// the greatest of five in 15 of 16 cases, of four in 7 of 8.
pub const ROUNDS_MIN: usize = 5;

/// How often an interval, or one of all intervals of a page, may exclude the truth.
const WRONG_SHARE: f64 = 0.05;

/// A figure, with its interval if there were enough rounds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figure {
    /// The figure itself.
    pub value: f64,
    /// The ends of the interval.
    pub interval: Option<(f64, f64)>,
}

impl Figure {
    /// Returns the median of what each round gives. `None` if there is no round, or a number is not
    /// finite.
    pub fn of_rounds(rounds: &[f64]) -> Option<Figure> {
        Some(Figure::from_rounds(median(rounds)?, rounds))
    }

    /// Returns a figure from all rounds, with the interval of what each round gives for it alone:
    /// in 95 of 100 cases, or as often as five rounds allow.
    pub fn from_rounds(value: f64, rounds: &[f64]) -> Figure {
        let few =
            if rounds.len() == ROUNDS_MIN { 2.0_f64.powi(1 - ROUNDS_MIN as i32) } else { 0.0 };
        Figure::at_level(value, rounds, 1.0 - few.max(WRONG_SHARE))
    }

    /// As [`Figure::from_rounds`], at a level.
    pub fn at_level(value: f64, rounds: &[f64], level: f64) -> Figure {
        let between = |sorted: Vec<f64>| {
            let left_out = left_out(sorted.len(), level)?;
            // The figure of all rounds can lie just outside.
            let (low, high) = (sorted[left_out], sorted[sorted.len() - 1 - left_out]);
            Some((low.min(value), high.max(value)))
        };
        Figure { value, interval: sorted(rounds).and_then(between) }
    }

    /// Returns the ends of the interval.
    pub fn bounds(&self) -> Option<(f64, f64)> {
        self.interval
    }

    /// Returns the figure in another unit, which is `factor` times the number, and not negative.
    #[must_use]
    pub fn scaled(self, factor: f64) -> Figure {
        let interval = self.interval.map(|(low, high)| (low * factor, high * factor));
        Figure { value: self.value * factor, interval }
    }

    /// Classifies a ratio of rates. `margin` is the irrelevant difference, as a share: 0.02.
    pub fn finding(&self, margin: f64) -> Finding {
        match self.interval {
            Some((low, high)) if low >= 1.0 - margin && high <= 1.0 + margin => {
                Finding::NoDifference
            }
            Some((_, high)) if high < 1.0 => Finding::Slower,
            Some((low, _)) if low > 1.0 => Finding::Faster,
            _ => Finding::NotEnoughData,
        }
    }
}

/// Returns the fastest of some rates, and the slowest of the [`ROUNDS_MIN`] fastest, if that lies
/// within this share.
///
/// For work that the processor does, by its time: another program in the other half of a core
/// takes up to a third of the rate of some rounds, and nothing makes a round faster. So the fastest
/// rounds were not disturbed, if they agree.
pub fn fastest(rates: &[f64], within: f64) -> Option<(f64, f64)> {
    let sorted = sorted(rates)?;
    let (last, fastest) = (sorted[sorted.len().checked_sub(ROUNDS_MIN)?], *sorted.last()?);
    (last >= fastest * (1.0 - within)).then_some((last, fastest))
}

/// Returns how many rounds at each end lie outside of an interval of a level, by the sign test;
/// `None` if there are too few rounds for it.
fn left_out(rounds: usize, level: f64) -> Option<usize> {
    let sides = Binomial::new(0.5, rounds as u64).expect("a half is a share");
    // 1 − 0.95 is a bit less than 0.05.
    let chance = (1.0 - level) * (1.0 + 1e-9);
    let rare = |count: &usize| 2.0 * sides.cdf(*count as u64) <= chance;
    (0..rounds.div_ceil(2)).take_while(rare).last()
}

/// Returns the level of each of several intervals that all hold at once in 95 of 100 cases
/// (Bonferroni).
pub fn level_of_each(count: usize) -> f64 {
    1.0 - WRONG_SHARE / count.max(1) as f64
}

/// Returns how many rounds an interval of a level needs.
pub fn rounds_min(level: f64) -> usize {
    (2.0 / (1.0 - level)).log2().ceil() as usize
}

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
    /// Returns the words in documents. Those for no difference are followed by the margin.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Wanted: the tables of the sign test, two-sided, 5 % and 1 %.
    #[test]
    fn signs_leave_out_what_the_tables_have() {
        let of = |rounds| [0.95, 0.99].map(|level| left_out(rounds, level));
        assert_eq!(of(5), [None, None]);
        assert_eq!(of(6), [Some(0), None]);
        assert_eq!(of(9), [Some(1), Some(0)]);
        assert_eq!(of(10), [Some(1), Some(0)]);
        assert_eq!(of(20), [Some(5), Some(3)]);
        assert_eq!(of(40), [Some(13), Some(11)]);
        assert_eq!(of(2000), [Some(955), Some(941)]);
    }

    #[test]
    fn rounds_are_as_many_as_the_sign_test_needs() {
        let needed = [1, 7, 18, 96].map(|count| rounds_min(level_of_each(count)));
        assert_eq!(needed, [6, 9, 10, 12]);
    }
}
