//! The normal distribution and Student's: shares ↔ distances from the middle.
//!
//! In: a share or a distance in standard deviations. Out: the other. Exact to twelve digits,
//! and slow: an interval asks a handful of times.

use std::f64::consts::{FRAC_2_PI, TAU};

/// Distance beyond which the share below, by its series, would be a difference of near equals.
const SERIES_MAX: f64 = 3.0;

/// Terms of the continued fraction: at 3 deviations, more change no digit.
const FRACTION_TERMS: u32 = 200;

/// Distance beyond which no share is told from 0.
const FAR: f64 = 38.0;

/// Degrees of freedom from which on Student's distribution is taken to be normal; the distances
/// of 95 % then differ by less than one part in 200.
const FREEDOM_MAX: usize = 300;

/// Returns the share below a distance.
///
/// Source: M. Abramowitz and I. A. Stegun, "Handbook of mathematical functions" (1964), 26.2.11
/// and 26.2.14.
pub(super) fn share_below(distance: f64) -> f64 {
    if distance > 0.0 {
        return 1.0 - share_below(-distance);
    }
    let distance = -distance;
    let density = (-distance * distance / 2.0).exp() / TAU.sqrt();
    if distance < SERIES_MAX {
        let (mut sum, mut term, mut odd) = (0.0, distance, 1.0);
        while sum + term != sum {
            sum += term;
            odd += 2.0;
            term *= distance * distance / odd;
        }
        return 0.5 - density * sum;
    }
    let fraction = (1..=FRACTION_TERMS).rev();
    density / fraction.fold(distance, |below, term| distance + f64::from(term) / below)
}

/// Returns the distance that a share, more than 0 and less than 1, lies below.
pub(super) fn distance_of(share: f64) -> f64 {
    if share > 0.5 {
        return -distance_of(1.0 - share);
    }
    bisect(-FAR, 0.0, |distance| share_below(distance) < share)
}

/// Returns the distance from the middle of Student's distribution that a share lies below, 0.5 to
/// less than 1, with at least one degree of freedom.
pub(super) fn distance_of_student(share: f64, freedom: usize) -> f64 {
    if freedom > FREEDOM_MAX {
        return distance_of(share);
    }
    bisect(0.0, 1e6, |distance| 0.5 + share_within(distance, freedom) / 2.0 < share)
}

/// Returns the share of Student's distribution that lies nearer to the middle.
///
/// Source: Abramowitz and Stegun, 26.7.3 and 26.7.4.
fn share_within(distance: f64, freedom: usize) -> f64 {
    let angle = (distance / (freedom as f64).sqrt()).atan();
    let (sine, cosine) = angle.sin_cos();
    let odd = freedom % 2 == 1;
    // The powers that follow: cosine², cosine⁴, … or cosine³, cosine⁵, …
    let (mut sum, mut term) = (0.0, if odd { cosine } else { 1.0 });
    for power in (if odd { 3 } else { 2 }..=freedom).step_by(2) {
        sum += term;
        let power = power as f64;
        term *= cosine * cosine * (power - 1.0) / power;
    }
    if odd { FRAC_2_PI * (angle + sine * sum) } else { sine * sum }
}

/// Returns where something that holds at `low` and not at `high` ceases to hold.
fn bisect(mut low: f64, mut high: f64, holds: impl Fn(f64) -> bool) -> f64 {
    loop {
        let middle = low + (high - low) / 2.0;
        if middle <= low || middle >= high {
            return middle;
        }
        if holds(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_near(got: f64, wanted: f64) {
        assert!((got - wanted).abs() <= 1e-12 * wanted.abs() + 1e-15, "{got} is not {wanted}");
    }

    // Wanted values here: SciPy 1.17.1, `norm.cdf`, `norm.ppf` and `t.ppf`.

    #[test]
    fn shares_of_the_normal_distribution() {
        let wanted = [
            (-8.0, 6.220_960_574_271_74e-16),
            (-5.0, 2.866_515_718_791_933e-7),
            (-3.5, 2.326_290_790_355_250_2e-4),
            (-3.0, 0.001_349_898_031_630_093_3),
            (-1.96, 0.024_997_895_148_220_435),
            (-0.5, 0.308_537_538_725_986_9),
            (0.0, 0.5),
            (0.3, 0.617_911_422_188_952_6),
            (1.2, 0.884_930_329_778_291_8),
            (3.1, 0.999_032_396_786_781_7),
        ];
        for (distance, share) in wanted {
            assert_near(share_below(distance), share);
        }
        assert!(share_below(-8.0) > 6.22e-16 && share_below(-8.0) < 6.23e-16);
        assert_eq!((share_below(f64::NEG_INFINITY), share_below(60.0)), (0.0, 1.0));
    }

    #[test]
    fn distances_of_the_normal_distribution() {
        let wanted = [
            (1e-9, -5.997_807_015_007_686_5),
            (0.001, -3.090_232_306_167_813),
            (0.025, -1.959_963_984_540_054_5),
            (0.3, -0.524_400_512_708_041),
            (0.5, 0.0),
            (0.9, 1.281_551_565_544_600_4),
            (0.975, 1.959_963_984_540_054),
        ];
        for (share, distance) in wanted {
            assert_near(distance_of(share), distance);
        }
    }

    #[test]
    fn distances_of_student() {
        let wanted = [
            (0.975, 4, 2.776_445_105_197_793_4),
            (0.975, 5, 2.570_581_835_636_314_6),
            (0.975, 9, 2.262_157_162_798_205),
            (0.975, 29, 2.045_229_642_132_703),
            (0.995, 6, 3.707_428_021_324_806_5),
            (0.9, 1, 3.077_683_537_175_254_4),
            (0.975, 300, 1.967_903_011_261_086_5),
        ];
        for (share, freedom, distance) in wanted {
            assert_near(distance_of_student(share, freedom), distance);
        }
        assert_eq!(distance_of_student(0.975, 301), distance_of(0.975));
    }
}
