//! Medians. They assume no distribution, and a few stalled samples do not move them.

/// Returns the median. For an even number of samples, this is the mean of the middle two.
pub fn median(values: &[f64]) -> Option<f64> {
    median_within(&mut values.to_vec())
}

/// As [`median`], reordering the numbers.
pub(super) fn median_within(values: &mut [f64]) -> Option<f64> {
    if values.is_empty() || values.iter().any(|value| !value.is_finite()) {
        return None;
    }
    let middle = values.len() / 2;
    let upper = *values.select_nth_unstable_by(middle, f64::total_cmp).1;
    if values.len() % 2 == 1 {
        return Some(upper);
    }
    let lower = values[..middle].iter().copied().max_by(f64::total_cmp)?;
    Some(lower + (upper - lower) / 2.0)
}

/// Returns the numbers in rising order, if there are any and all are finite.
pub(super) fn sorted(values: &[f64]) -> Option<Vec<f64>> {
    if values.is_empty() || values.iter().any(|value| !value.is_finite()) {
        return None;
    }
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    Some(sorted)
}
