//! Levels of several intervals that stand on one page, so that the page can be believed.

/// How often a page may claim a difference where there is none.
const WRONG_SHARE: f64 = 0.05;

/// Returns the level of each of several intervals that all hold at once in 95 of 100 cases
/// (Bonferroni).
pub fn level_of_each(count: usize) -> f64 {
    1.0 - WRONG_SHARE / count.max(1) as f64
}

/// Returns the level at which the intervals of ratios exclude 1 where there is a difference. The
/// argument has the chances of equal sides to differ as much.
///
/// Of the differences that are found, one in twenty is none; if all sides are equal, one is found
/// in 5 of 100 cases.
///
/// Source: Y. Benjamini, Y. Hochberg, "Controlling the false discovery rate", Journal of the Royal
/// Statistical Society B 57 (1995), number 1.
pub fn level_of_found(chances: &[f64]) -> f64 {
    let mut chances = chances.to_vec();
    chances.sort_by(f64::total_cmp);
    let chance = |found: usize| WRONG_SHARE * found as f64 / chances.len().max(1) as f64;
    let found = (1..=chances.len()).rfind(|&found| chances[found - 1] <= chance(found));
    1.0 - chance(found.unwrap_or(1).min(chances.len().max(1)))
}

/// Returns how many rounds in turn an interval of a level needs.
pub fn rounds_in_turn_min(level: f64) -> usize {
    (2.0 / (1.0 - level)).log2().ceil() as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Wanted: the example of section 3.2 of the source, with its four discoveries.
    #[test]
    fn as_many_are_found_as_in_the_source() {
        let chances = [
            0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262,
            0.5719, 0.6528, 0.7590, 1.0,
        ];
        assert!((level_of_found(&chances) - (1.0 - 0.05 * 4.0 / 15.0)).abs() < 1e-12);
        assert_eq!(level_of_found(&[0.5, 0.04]), 1.0 - 0.025);
        assert_eq!(level_of_found(&[0.04, 0.05]), 0.95);
        assert_eq!(level_of_found(&[]), 0.95);
    }

    #[test]
    fn rounds_are_as_many_as_the_sign_test_needs() {
        let needed = [1, 7, 18, 96].map(|count| rounds_in_turn_min(level_of_each(count)));
        assert_eq!(needed, [6, 9, 10, 12]);
    }
}
