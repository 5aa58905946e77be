//! Descriptive statistics: median, spread, extremes, percentiles.
//!
//! They assume no distribution. Rates are described this way and never averaged: the rate of the
//! whole is [`super::rate_overall`].

/// Share of the samples that a trimmed mean omits at each end, as is usual for timings.
const TRIMMED_SHARE: f64 = 0.2;

/// Percentiles that are shown if there are enough samples, in thousandths.
const PERCENTILES_PER_MILLE: [usize; 8] = [10, 50, 250, 500, 750, 950, 990, 999];

/// The least number of samples beyond a percentile. With fewer, it depends on chance.
const SAMPLES_BEYOND_MIN: usize = 10;

/// The description of a set of numbers, each in the unit of the numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Description {
    /// Their number.
    pub count: usize,
    /// The least.
    pub min: f64,
    /// A quarter of them are below.
    pub quartile_low: f64,
    /// Half of them are below.
    pub median: f64,
    /// A quarter of them are above.
    pub quartile_high: f64,
    /// The greatest.
    pub max: f64,
    /// Their mean. One stalled sample moves it.
    pub mean: f64,
    /// Mean without the lowest fifth and the highest fifth.
    pub trimmed_mean: f64,
    /// Median of the distances from the median, unscaled, as [`deviation`] returns it.
    pub deviation: f64,
    /// Percentiles, without those that have too few samples beyond them.
    pub percentiles: Vec<Percentile>,
}

/// The number below which a share of the samples is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Percentile {
    /// The share, in percent.
    pub percent: f64,
    /// The number.
    pub value: f64,
}

/// Describes numbers. `None` if there are none, or one is not finite.
pub fn describe(values: &[f64]) -> Option<Description> {
    let sorted = sorted(values)?;
    Some(Description {
        count: sorted.len(),
        min: sorted[0],
        quartile_low: at_share(&sorted, 0.25),
        median: at_share(&sorted, 0.5),
        quartile_high: at_share(&sorted, 0.75),
        max: sorted[sorted.len() - 1],
        mean: mean(values)?,
        trimmed_mean: trimmed_of(&sorted, TRIMMED_SHARE),
        deviation: deviation(values)?,
        percentiles: percentiles(values),
    })
}

/// Returns the mean.
pub fn mean(values: &[f64]) -> Option<f64> {
    let finite = values.iter().all(|value| value.is_finite());
    (finite && !values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

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

/// Returns the median of the distances from the median.
///
/// Multiplied by 1.4826, it estimates the standard deviation of normal samples, and a few outliers
/// hardly change it.
pub fn deviation(values: &[f64]) -> Option<f64> {
    let middle = median(values)?;
    median_within(&mut values.iter().map(|value| (value - middle).abs()).collect::<Vec<f64>>())
}

/// Returns the number below which a share of the samples, 0 to 1, is; between two samples, by
/// linear interpolation.
///
/// Source: R. J. Hyndman and Y. Fan, "Sample quantiles in statistical packages", The American
/// Statistician 50 (1996), number 4, definition 7.
pub fn quantile(values: &[f64], share: f64) -> Option<f64> {
    Some(at_share(&sorted(values)?, share))
}

/// Returns the mean without a share of the samples at each end, rounded down to whole samples. The
/// share is at least 0 and less than 0.5.
pub fn trimmed_mean(values: &[f64], share: f64) -> Option<f64> {
    let sorted = sorted(values)?;
    (0.0..0.5).contains(&share).then(|| trimmed_of(&sorted, share))
}

/// Returns percentiles 1, 5, 25, 50, 75, 95, 99 and 99.9, without those that have fewer than ten
/// samples beyond them.
pub fn percentiles(values: &[f64]) -> Vec<Percentile> {
    let Some(sorted) = sorted(values) else { return Vec::new() };
    let suffices = |per_mille: &usize| {
        sorted.len() * (*per_mille).min(1000 - per_mille) >= SAMPLES_BEYOND_MIN * 1000
    };
    let percentile = |per_mille: usize| Percentile {
        percent: per_mille as f64 / 10.0,
        value: at_share(&sorted, per_mille as f64 / 1000.0),
    };
    PERCENTILES_PER_MILLE.into_iter().filter(suffices).map(percentile).collect()
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

/// As [`quantile`], for at least one number in rising order.
pub(super) fn at_share(sorted: &[f64], share: f64) -> f64 {
    at_place(sorted, share * (sorted.len() - 1) as f64)
}

/// Returns the value at a place, counted from 0, among numbers in rising order, of which there is
/// at least one; between two places, by linear interpolation.
pub(super) fn at_place(sorted: &[f64], place: f64) -> f64 {
    let place = place.clamp(0.0, (sorted.len() - 1) as f64);
    let below = place as usize;
    let above = (below + 1).min(sorted.len() - 1);
    sorted[below] + (place - below as f64) * (sorted[above] - sorted[below])
}

fn trimmed_of(sorted: &[f64], share: f64) -> f64 {
    let cut = (share * sorted.len() as f64) as usize;
    let kept = &sorted[cut..sorted.len() - cut];
    kept.iter().sum::<f64>() / kept.len() as f64
}
