//! The normal distribution and Student's: the share below a distance, and the distance of a share.
//!
//! Distances are in standard deviations. Every value is exact to twelve digits.

use std::f64::consts::SQRT_2;

use statrs::distribution::{ContinuousCDF as _, Normal, StudentsT};

/// Degrees of freedom above which Student's distribution is replaced by the normal one. The 95 %
/// distances then differ by less than one part in 200. `statrs` loses its precision for millions
/// of degrees.
const FREEDOM_MAX: usize = 300;

/// Returns the share below a distance.
pub(super) fn share_below(distance: f64) -> f64 {
    // `Normal::cdf` of `statrs` is exact to ten digits only.
    libm::erfc(-distance / SQRT_2) / 2.0
}

/// Returns the distance below which a share lies. The share is more than 0 and less than 1.
pub(super) fn distance_of(share: f64) -> f64 {
    Normal::standard().inverse_cdf(share)
}

/// Returns the distance below which a share of Student's distribution lies. The share is at least
/// 0.5 and less than 1; there is at least one degree of freedom.
pub(super) fn distance_of_student(share: f64, freedom: usize) -> f64 {
    if freedom > FREEDOM_MAX {
        return distance_of(share);
    }
    let student = StudentsT::new(0.0, 1.0, freedom as f64);
    student.expect("at least one degree of freedom").inverse_cdf(share)
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
