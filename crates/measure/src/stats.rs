//! Statistics of samples: figures with their uncertainty. Pure.
//!
//! Knows no clock, no file and no record; the same samples give the same figures. No sample is
//! deleted: disturbed samples get less weight.
//!
//! Functions return `None` if there are too few samples, and for numbers that are not finite.

mod median;
mod interval;
mod fit;
mod amdahl;
mod ratio;
mod several;

pub use amdahl::Amdahl;
pub use fit::{BAND_LEN, Banded, Line, LineFit, Point, rate_overall, robust};
pub use interval::{Estimate, ROUNDS_MIN, Ratios};
pub use median::median;
pub use ratio::{Finding, finding, rates_of_rounds};
pub use several::{level_of_each, rounds_in_turn_min};
