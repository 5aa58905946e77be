//! Numbers → which of them lie far out.
//!
//! In: samples of one kind, or how far times are from their line. Out: a mark for each, in the
//! same order. Marks are shown; no figure leaves a marked sample out, because whoever waits for a
//! file waits for its stall as well.

use super::describe::{at_share, deviation, median, sorted};

/// Distances between the quartiles beyond which a sample is far out, and very far out.
///
/// Source: J. W. Tukey, "Exploratory data analysis" (1977).
const FENCES: (f64, f64) = (1.5, 3.0);

/// Robust standard deviations beyond which a sample is apart.
///
/// Source: B. Iglewicz and D. C. Hoaglin, "How to detect and handle outliers" (1993).
const APART_DEVIATIONS: f64 = 3.5;

/// Makes a standard deviation of the median distance from the median: 1 ÷ Φ⁻¹(¾).
pub(super) const DEVIATION_SCALE: f64 = 1.4826;

/// Where a sample lies among the others, by Tukey's fences.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Mark {
    /// More than 3 quartile distances below the lower quartile.
    VeryLow,
    /// More than 1.5 of them below it.
    Low,
    /// With the others.
    Inside,
    /// More than 1.5 quartile distances above the upper quartile.
    High,
    /// More than 3 of them above it.
    VeryHigh,
}

impl Mark {
    /// Every mark, in rising order.
    pub const ALL: [Mark; 5] = [Mark::VeryLow, Mark::Low, Mark::Inside, Mark::High, Mark::VeryHigh];

    /// Returns the name as documents show it.
    pub const fn name(self) -> &'static str {
        match self {
            Mark::VeryLow => "very low",
            Mark::Low => "low",
            Mark::Inside => "inside",
            Mark::High => "high",
            Mark::VeryHigh => "very high",
        }
    }
}

/// The marks of a set of samples.
#[derive(Clone, Debug, PartialEq)]
pub struct Marks {
    /// `marks[i]` is of `values[i]`.
    pub marks: Vec<Mark>,
    /// Whether a sample is farther from the median than 3.5 robust standard deviations, likewise
    /// in the order of the samples.
    pub apart: Vec<bool>,
}

impl Marks {
    /// Returns how many samples have a mark.
    pub fn count(&self, mark: Mark) -> usize {
        self.marks.iter().filter(|&&other| other == mark).count()
    }

    /// Returns how many samples are not inside.
    pub fn count_outside(&self) -> usize {
        self.marks.len() - self.count(Mark::Inside)
    }
}

/// Marks samples. `None` if there are none, or one is not finite.
///
/// If more than half of the samples are one number, whatever differs from it is far out.
pub fn outliers(values: &[f64]) -> Option<Marks> {
    let sorted = sorted(values)?;
    let (low, high) = (at_share(&sorted, 0.25), at_share(&sorted, 0.75));
    let (near, far) = (FENCES.0 * (high - low), FENCES.1 * (high - low));
    let mark = |&value: &f64| {
        if value < low - far {
            Mark::VeryLow
        } else if value < low - near {
            Mark::Low
        } else if value > high + far {
            Mark::VeryHigh
        } else if value > high + near {
            Mark::High
        } else {
            Mark::Inside
        }
    };
    let middle = median(values)?;
    let reach = APART_DEVIATIONS * DEVIATION_SCALE * deviation(values)?;
    Some(Marks {
        marks: values.iter().map(mark).collect(),
        apart: values.iter().map(|value| (value - middle).abs() > reach).collect(),
    })
}
