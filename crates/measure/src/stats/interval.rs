//! Intervals of figures, and of ratios of two sides in turn, by the signs of rounds.
//!
//! Samples of one round share the state of the machine, so each round gives one number. An interval
//! contains what the sign test of those numbers does not reject. Signs ignore how long a sample
//! stalled, and hold for any distribution. Nothing is drawn: the same rounds give the same
//! interval.

use statrs::distribution::{Binomial, DiscreteCDF as _};

use super::median::{median, sorted};

/// The least number of rounds for an interval: the median of all rounds is between the least and
/// the greatest of five in 15 of 16 cases, of four in 7 of 8.
pub const ROUNDS_MIN: usize = 5;

/// The level of an interval that stands alone.
const LEVEL: f64 = 0.95;

/// A figure with its interval, in the unit of the figure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The figure from all rounds.
    pub point: f64,
    /// The lower end of the interval.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
    /// Share of the cases in which the interval should contain the true value: the requested level,
    /// or the highest that so few rounds allow, which is 15 of 16 for five.
    pub level: f64,
    /// Rounds from which it is made.
    pub rounds: usize,
}

impl Estimate {
    /// Makes a figure's interval from what each round gives for it alone. `None` if there are fewer
    /// than [`ROUNDS_MIN`] rounds, or a number is not finite.
    ///
    /// Source: M. Hollander, D. Wolfe, E. Chicken, "Nonparametric statistical methods", 3rd edition
    /// (2014), section 3.6.
    pub fn of_rounds(point: f64, rounds: &[f64]) -> Option<Estimate> {
        let sorted = sorted(rounds).filter(|sorted| sorted.len() >= ROUNDS_MIN)?;
        let chances = chances_of_signs(sorted.len());
        let level = LEVEL.min(1.0 - chances[0]);
        between(point, &sorted, &chances, (level, sorted.len()))
    }

    /// Returns the estimate in another unit, which is `factor` times the number.
    pub fn scaled(self, factor: f64) -> Estimate {
        let (low, high) = (self.low * factor, self.high * factor);
        let (low, high) = (low.min(high), low.max(high));
        Estimate { point: self.point * factor, low, high, ..self }
    }
}

/// Returns the interval between the numbers that a test does not reject; `None` if there are too
/// few rounds for the level.
fn between(
    point: f64,
    sorted: &[f64],
    chances: &[f64],
    (level, rounds): (f64, usize),
) -> Option<Estimate> {
    // 1 − 0.95 is a bit less than 0.05.
    let chance = (1.0 - level) * (1.0 + 1e-9);
    let left_out = chances.partition_point(|&of| of <= chance).checked_sub(1)?;
    // The figure of all rounds can lie just outside.
    let (low, high) = (sorted[left_out], sorted[sorted.len() - 1 - left_out]);
    Some(Estimate { point, low: low.min(point), high: high.max(point), level, rounds })
}

/// The ratio of two sides in turn, for intervals at any level.
#[derive(Clone, Debug, PartialEq)]
pub struct Ratios {
    /// The reported ratio.
    point: f64,
    /// The ratios of rounds, rising.
    sorted: Vec<f64>,
    /// `chances[count]`: how likely the true ratio is outside all but `count` ratios at each end.
    chances: Vec<f64>,
    rounds: usize,
}

impl Ratios {
    /// Returns the median of ratios, each of one round in which both sides took turns.
    ///
    /// An interval contains the medians that the sign test does not reject. `None` if there are no
    /// rounds, or a ratio is not positive.
    ///
    /// Source: M. Hollander, D. Wolfe, E. Chicken, "Nonparametric statistical methods", 3rd edition
    /// (2014), section 3.6.
    pub fn in_turn(ratios: &[f64]) -> Option<Ratios> {
        let sorted = sorted(ratios).filter(|_| ratios.iter().all(is_positive))?;
        Some(Ratios {
            point: median(&sorted)?,
            chances: chances_of_signs(ratios.len()),
            sorted,
            rounds: ratios.len(),
        })
    }

    /// Returns these ratios with another reported one.
    #[must_use]
    pub fn reporting(self, point: f64) -> Ratios {
        Ratios { point, ..self }
    }

    /// Returns the reported ratio.
    pub fn point(&self) -> f64 {
        self.point
    }

    /// Returns the ratio with its interval. `None` if there are too few rounds for the level.
    pub fn interval(&self, level: f64) -> Option<Estimate> {
        between(self.point, &self.sorted, &self.chances, (level, self.rounds))
    }
}

fn is_positive(number: &f64) -> bool {
    *number > 0.0 && number.is_finite()
}

/// Returns the chances of the sign test: that at most so many of the rounds are on one side.
fn chances_of_signs(rounds: usize) -> Vec<f64> {
    let sides = Binomial::new(0.5, rounds as u64).expect("a half is a share");
    (0..rounds.div_ceil(2)).map(|count| 2.0 * sides.cdf(count as u64)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn left_out(chances: &[f64], chance: f64) -> Option<usize> {
        chances.partition_point(|&of| of <= chance).checked_sub(1)
    }

    /// Wanted: the tables of the sign test, two-sided, 5 % and 1 %.
    #[test]
    fn signs_leave_out_what_the_tables_have() {
        let of = |rounds| {
            let chances = chances_of_signs(rounds);
            [0.05, 0.01].map(|chance| left_out(&chances, chance))
        };
        assert_eq!(of(5), [None, None]);
        assert_eq!(of(6), [Some(0), None]);
        assert_eq!(of(9), [Some(1), Some(0)]);
        assert_eq!(of(10), [Some(1), Some(0)]);
        assert_eq!(of(20), [Some(5), Some(3)]);
        assert_eq!(of(40), [Some(13), Some(11)]);
        assert_eq!(of(2000), [Some(955), Some(941)]);
    }
}
