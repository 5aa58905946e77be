//! The ratio of two sides, with an interval from ranks or signs.
//!
//! A bootstrap of medians needs many rounds, and a stalled sample widens its interval. Ranks and
//! signs ignore how long a sample stalled, and their intervals hold for any distribution of the
//! samples.

use super::bootstrap::{Estimate, Method, ROUNDS_MIN};
use super::describe::{median, sorted};
use super::normal::distance_of;

/// The level of the intervals.
const LEVEL: f64 = 0.95;

/// Returns the median of the first side ÷ that of the second. Each number is of one round.
///
/// The interval contains the ratios that the test of Mann and Whitney does not reject: ratios of
/// every round of one side to every round of the other, without the least and the greatest. `None`
/// if a side has fewer than [`ROUNDS_MIN`] rounds, or a number is not positive.
///
/// Source: M. Hollander, D. Wolfe, E. Chicken, "Nonparametric statistical methods", 3rd edition
/// (2014), section 4.3.
pub fn ratio_apart(ours: &[f64], theirs: &[f64]) -> Option<Estimate> {
    let rounds = ours.len().min(theirs.len());
    let positive = |number: &f64| *number > 0.0 && number.is_finite();
    if rounds < ROUNDS_MIN || !ours.iter().chain(theirs).all(positive) {
        return None;
    }
    let point = median(ours)? / median(theirs)?;
    let pairs = ours.iter().flat_map(|one| theirs.iter().map(move |other| one / other));
    let ratios = sorted(&pairs.collect::<Vec<f64>>())?;
    let left_out = left_out(ours.len() as f64, theirs.len() as f64);
    Some(estimate(point, &ratios, left_out, (Method::Ranks, rounds)))
}

/// Returns the median over the rounds of the first rate ÷ the second.
///
/// Each pair is from one round, with a random order of the two. The interval contains the medians
/// that the sign test does not reject: from the ratios of the rounds in order, it leaves out as
/// many at each end as that test rejects. `None` if there are fewer than six rounds, with which
/// that test rejects nothing, or a rate is not positive.
///
/// Source: M. Hollander, D. Wolfe, E. Chicken, "Nonparametric statistical methods", 3rd edition
/// (2014), section 3.6.
pub fn ratio_in_turn(rounds: &[(f64, f64)]) -> Option<Estimate> {
    let positive = |rate: f64| rate > 0.0 && rate.is_finite();
    if !rounds.iter().all(|&(one, other)| positive(one) && positive(other)) {
        return None;
    }
    let ratios = sorted(&rounds.iter().map(|(one, other)| one / other).collect::<Vec<f64>>())?;
    let left_out = left_out_by_signs(rounds.len() as f64)?;
    Some(estimate(median(&ratios)?, &ratios, left_out, (Method::Signs, rounds.len())))
}

fn estimate(
    point: f64,
    ratios: &[f64],
    left_out: usize,
    (method, rounds): (Method, usize),
) -> Estimate {
    Estimate {
        point,
        // The ratio of the medians can lie just outside if there are very many rounds.
        low: ratios[left_out].min(point),
        high: ratios[ratios.len() - 1 - left_out].max(point),
        level: LEVEL,
        method,
        rounds,
        resamples: 0,
        seed: 0,
    }
}

/// Returns how many ratios the interval leaves out at each end: the greatest number that the test
/// of Mann and Whitney rejects, by the normal distribution. From five rounds on this is the number
/// of the exact tables or one less.
fn left_out(ours: f64, theirs: f64) -> usize {
    let deviation = (ours * theirs * (ours + theirs + 1.0) / 12.0).sqrt();
    rejected(ours * theirs / 2.0, deviation).max(0.0) as usize
}

/// Returns the same for the sign test; `None` if it rejects nothing.
fn left_out_by_signs(rounds: f64) -> Option<usize> {
    let rejected = rejected(rounds / 2.0, rounds.sqrt() / 2.0);
    (rejected >= 0.0).then_some(rejected as usize)
}

/// Returns the greatest value that a two-sided test rejects, from the mean and the deviation of
/// what it counts.
fn rejected(mean: f64, deviation: f64) -> f64 {
    mean - 0.5 - distance_of((1.0 + LEVEL) / 2.0) * deviation
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Wanted: the tables of critical values of U, two-sided, 5 %.
    #[test]
    fn as_many_are_left_out_as_the_tables_have() {
        for (ours, theirs, wanted) in
            [(5.0, 5.0, 2), (6.0, 6.0, 5), (5.0, 10.0, 8), (9.0, 9.0, 17), (10.0, 10.0, 23)]
        {
            assert_eq!(left_out(ours, theirs), wanted, "{ours} and {theirs} rounds");
        }
        // The tables have 13.
        assert_eq!(left_out(8.0, 8.0), 12);
    }

    /// Wanted: the greatest number of heads among so many throws that the exact test rejects, or
    /// one less.
    #[test]
    fn signs_leave_out_what_the_exact_test_rejects() {
        let exact = |rounds: u32| {
            let mut below = 0.0;
            let mut share = 0.5_f64.powi(rounds as i32);
            let rejected = (0..rounds).take_while(|&heads| {
                below += share;
                share *= f64::from(rounds - heads) / f64::from(heads + 1);
                2.0 * below <= 1.0 - LEVEL
            });
            rejected.last()
        };
        for rounds in 1..300 {
            let found = left_out_by_signs(f64::from(rounds)).map(|found| found as u32);
            let wanted = exact(rounds);
            let less = wanted.and_then(|wanted| wanted.checked_sub(1));
            assert!(found == wanted || found.is_some() && found == less, "{rounds}: {found:?}");
        }
        assert_eq!([5, 6, 9, 10, 40].map(exact), [None, Some(0), Some(1), Some(1), Some(13)]);
    }
}
