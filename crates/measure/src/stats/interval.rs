//! Intervals of figures and of ratios, from ranks or signs of rounds.
//!
//! Samples of one round share the state of the machine, so each round gives one number. An interval
//! contains what a test of those numbers does not reject: the sign test for numbers of one side, or
//! of two sides in turn; the test of Mann and Whitney for two sides apart. Ranks and signs ignore
//! how long a sample stalled, and hold for any distribution. Nothing is drawn: the same rounds give
//! the same interval.

use std::f64::consts::SQRT_2;

use statrs::distribution::{Binomial, DiscreteCDF as _};

use super::median::{median, sorted};

/// The least number of rounds for an interval: the median of all rounds is between the least and
/// the greatest of five in 15 of 16 cases, of four in 7 of 8.
pub const ROUNDS_MIN: usize = 5;

/// The level of an interval that stands alone.
const LEVEL: f64 = 0.95;

/// The most rounds of both sides together whose ranks are counted. 128-bit integers have room for
/// the orders of so many.
const COUNTED_MAX: usize = 120;

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
    /// Rounds from which it is made; of two sides, of the side that has fewer.
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

    /// Returns half of the interval's width as a share of the figure; infinite for a figure of 0.
    pub fn half_width(&self) -> f64 {
        match self.point {
            0.0 => f64::INFINITY,
            point => (self.high - self.low) / 2.0 / point.abs(),
        }
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

/// The ratio of two sides, for intervals at any level.
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
    /// Returns the median of the first side ÷ that of the second. Each number is of one round.
    ///
    /// An interval contains the ratios that the test of Mann and Whitney does not reject: ratios of
    /// every round of one side to every round of the other, without the least and the greatest.
    /// `None` if a side has fewer than [`ROUNDS_MIN`] rounds, or a number is not positive.
    ///
    /// Source: M. Hollander, D. Wolfe, E. Chicken, "Nonparametric statistical methods", 3rd edition
    /// (2014), section 4.3.
    pub fn apart(ours: &[f64], theirs: &[f64]) -> Option<Ratios> {
        let rounds = ours.len().min(theirs.len());
        if rounds < ROUNDS_MIN || !ours.iter().chain(theirs).all(is_positive) {
            return None;
        }
        let pairs = ours.iter().flat_map(|one| theirs.iter().map(move |other| one / other));
        Some(Ratios {
            point: median(ours)? / median(theirs)?,
            sorted: sorted(&pairs.collect::<Vec<f64>>())?,
            chances: chances_of_ranks(ours.len(), theirs.len()),
            rounds,
        })
    }

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

    /// Returns how likely equal sides are to differ as much.
    pub fn chance(&self) -> f64 {
        let upto = self.sorted.partition_point(|&ratio| ratio <= 1.0);
        let from = self.sorted.len() - self.sorted.partition_point(|&ratio| ratio < 1.0);
        self.chances.get(upto.min(from)).map_or(1.0, |chance| chance.min(1.0))
    }

    /// Returns the ratio with its interval, which excludes 1 if [`Ratios::chance`] is at most what
    /// the level leaves. `None` if there are too few rounds for the level.
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

/// Returns the chances of the test of Mann and Whitney: that at most so many of the pairs are on
/// one side.
fn chances_of_ranks(ours: usize, theirs: usize) -> Vec<f64> {
    let half = ours * theirs / 2;
    if ours + theirs > COUNTED_MAX {
        let pairs = (ours * theirs) as f64;
        let deviation = (pairs * (ours + theirs + 1) as f64 / 12.0).sqrt();
        let chance = |count: usize| (count as f64 + 0.5 - pairs / 2.0) / deviation;
        // Twice the share of a normal distribution below a distance.
        return (0..half).map(|count| libm::erfc(-chance(count) / SQRT_2)).collect();
    }
    // How many orders of all rounds have so many pairs on one side: the coefficients of the product
    // of (1 − x^(theirs + i)) ÷ (1 − x^i).
    let mut orders = vec![0_i128; half + 1];
    orders[0] = 1;
    let mut all = 1.0;
    for one in 1..=ours {
        all *= (theirs + one) as f64 / one as f64;
        for count in (theirs + one..=half).rev() {
            orders[count] -= orders[count - theirs - one];
        }
        for count in one..=half {
            orders[count] += orders[count - one];
        }
    }
    let mut below = 0;
    let chance = |orders: i128| {
        below += orders;
        2.0 * below as f64 / all
    };
    orders.into_iter().map(chance).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn left_out(chances: &[f64], chance: f64) -> Option<usize> {
        chances.partition_point(|&of| of <= chance).checked_sub(1)
    }

    /// Wanted: the tables of critical values of U, two-sided, 5 % and 1 %.
    #[test]
    fn as_many_are_left_out_as_the_tables_have() {
        let of = |ours, theirs| {
            let chances = chances_of_ranks(ours, theirs);
            [0.05, 0.01].map(|chance| left_out(&chances, chance))
        };
        assert_eq!(of(3, 3), [None, None]);
        assert_eq!(of(5, 5), [Some(2), Some(0)]);
        assert_eq!(of(6, 6), [Some(5), Some(2)]);
        assert_eq!(of(5, 10), [Some(8), Some(4)]);
        assert_eq!(of(8, 8), [Some(13), Some(7)]);
        assert_eq!(of(10, 10), [Some(23), Some(16)]);
        assert_eq!(of(20, 20), [Some(127), Some(105)]);
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

    #[test]
    fn many_ranks_are_as_the_counted_ones() {
        let (counted, many) = (chances_of_ranks(60, 60), chances_of_ranks(60, 61));
        let places = [0.05, 0.001].map(|chance| {
            let place = |chances, all: f64| left_out(chances, chance).unwrap() as f64 / all;
            (place(&counted, 3600.0), place(&many, 3660.0))
        });
        assert!(places.iter().all(|(one, other)| (one - other).abs() < 0.002), "{places:?}");
    }

    #[test]
    fn an_interval_excludes_equality_where_the_chance_is_small() {
        for shift in [0.98, 1.0, 1.01, 1.03, 1.06] {
            let ours: Vec<f64> = (0..7).map(|at| shift * (1.0 + 0.01 * f64::from(at))).collect();
            let theirs: Vec<f64> = (0..9).map(|at| 1.0 + 0.009 * f64::from(at)).collect();
            let found = Ratios::apart(&ours, &theirs).unwrap();
            for level in [0.9, 0.95, 0.99, 0.999] {
                let found_level = found.interval(level).unwrap();
                let excluded = found_level.low > 1.0 || found_level.high < 1.0;
                assert_eq!(excluded, found.chance() <= 1.0 - level, "{shift} at {level}");
            }
        }
    }
}
