//! Levels of several intervals that stand on one page, so that the page can be believed.

/// How often a page may claim a difference where there is none.
const WRONG_SHARE: f64 = 0.05;

/// Returns the level of each of several intervals that all hold at once in 95 of 100 cases
/// (Bonferroni).
pub fn level_of_each(count: usize) -> f64 {
    1.0 - WRONG_SHARE / count.max(1) as f64
}

/// Returns how many rounds in turn an interval of a level needs.
pub fn rounds_in_turn_min(level: f64) -> usize {
    (2.0 / (1.0 - level)).log2().ceil() as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_are_as_many_as_the_sign_test_needs() {
        let needed = [1, 7, 18, 96].map(|count| rounds_in_turn_min(level_of_each(count)));
        assert_eq!(needed, [6, 9, 10, 12]);
    }
}
