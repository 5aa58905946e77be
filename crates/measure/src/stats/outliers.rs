//! Marks outliers among samples.
//!
//! Marks are shown, but no figure leaves a marked sample out: a user who waits for a file also
//! waits for its stall.

use strum::IntoStaticStr;

use super::describe::{at_share, deviation, median, sorted};

/// Interquartile ranges beyond which a sample is far out, and very far out.
///
/// Source: J. W. Tukey, "Exploratory data analysis" (1977).
const FENCES: (f64, f64) = (1.5, 3.0);

/// Robust standard deviations beyond which a sample is an outlier.
///
/// Source: B. Iglewicz and D. C. Hoaglin, "How to detect and handle outliers" (1993).
const APART_DEVIATIONS: f64 = 3.5;

/// Factor from the median absolute deviation to the standard deviation: 1 ÷ Φ⁻¹(¾).
pub(super) const DEVIATION_SCALE: f64 = 1.4826;

/// The position of a sample by Tukey's fences.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum OutlierMark {
    /// More than 3 interquartile ranges below the lower quartile.
    #[strum(serialize = "very low")]
    VeryLow,
    /// More than 1.5 interquartile ranges below it.
    Low,
    /// Within the fences.
    Inside,
    /// More than 1.5 interquartile ranges above the upper quartile.
    High,
    /// More than 3 interquartile ranges above it.
    #[strum(serialize = "very high")]
    VeryHigh,
}

impl OutlierMark {
    /// Every mark, in rising order.
    pub const ALL: [OutlierMark; 5] = [
        OutlierMark::VeryLow,
        OutlierMark::Low,
        OutlierMark::Inside,
        OutlierMark::High,
        OutlierMark::VeryHigh,
    ];

    /// Returns the name as documents show it.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// The marks of a set of samples.
#[derive(Clone, Debug, PartialEq)]
pub struct Marks {
    /// `marks[i]` is of `values[i]`.
    pub marks: Vec<OutlierMark>,
    /// Whether `values[i]` is farther from the median than 3.5 robust standard deviations.
    pub apart: Vec<bool>,
}

impl Marks {
    /// Returns how many samples have a mark.
    pub fn count(&self, mark: OutlierMark) -> usize {
        self.marks.iter().filter(|&&other| other == mark).count()
    }

    /// Returns how many samples are not inside.
    pub fn count_outside(&self) -> usize {
        self.marks.len() - self.count(OutlierMark::Inside)
    }
}

/// Marks samples. `None` if there are none, or one is not finite.
///
/// If more than half of the samples are one number, every other number is far out.
pub fn outliers(values: &[f64]) -> Option<Marks> {
    let sorted = sorted(values)?;
    let (low, high) = (at_share(&sorted, 0.25), at_share(&sorted, 0.75));
    let (near, far) = (FENCES.0 * (high - low), FENCES.1 * (high - low));
    let mark = |&value: &f64| {
        if value < low - far {
            OutlierMark::VeryLow
        } else if value < low - near {
            OutlierMark::Low
        } else if value > high + far {
            OutlierMark::VeryHigh
        } else if value > high + near {
            OutlierMark::High
        } else {
            OutlierMark::Inside
        }
    };
    let middle = median(values)?;
    let reach = APART_DEVIATIONS * DEVIATION_SCALE * deviation(values)?;
    Some(Marks {
        marks: values.iter().map(mark).collect(),
        apart: values.iter().map(|value| (value - middle).abs() > reach).collect(),
    })
}
