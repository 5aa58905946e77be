//! The ratio of two sides that were measured apart, with an interval from ranks.
//!
//! A bootstrap of medians needs many rounds, and a stalled sample widens its interval. Ranks ignore
//! how long a sample stalled, and their interval holds for any distribution of the samples.

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
    Some(Estimate {
        point,
        // The ratio of the medians can lie just outside if there are very many rounds.
        low: ratios[left_out].min(point),
        high: ratios[ratios.len() - 1 - left_out].max(point),
        level: LEVEL,
        method: Method::Ranks,
        rounds,
        resamples: 0,
        seed: 0,
    })
}

/// Returns how many ratios the interval leaves out at each end: the greatest number that the test
/// of Mann and Whitney rejects, by the normal distribution. From five rounds on this is the number
/// of the exact tables or one less.
fn left_out(ours: f64, theirs: f64) -> usize {
    let deviation = (ours * theirs * (ours + theirs + 1.0) / 12.0).sqrt();
    let rejected = ours * theirs / 2.0 - 0.5 - distance_of((1.0 + LEVEL) / 2.0) * deviation;
    rejected.max(0.0) as usize
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
}
