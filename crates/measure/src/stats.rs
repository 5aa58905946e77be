//! Statistics of samples: figures with their uncertainty. Pure.
//!
//! Knows no clock, no file and no record; the same samples give the same figures. No sample is
//! deleted: disturbed samples get less weight.
//!
//! Functions return `None` if there are too few samples, and for numbers that are not finite.

mod median;
mod figure;
mod fit;
mod amdahl;

pub use amdahl::Amdahl;
pub use figure::{Figure, Finding, ROUNDS_MIN, fastest, level_of_each, rounds_min};
pub use fit::{Line, LineFit, Point, rate_overall, robust};
pub use median::median;
