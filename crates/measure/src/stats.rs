//! Statistics of samples: figures with their uncertainty. Pure.
//!
//! Knows no clock, no file and no record; the same samples and seed give the same figures. No
//! sample is deleted: disturbed samples get less weight, and outliers are marked.
//!
//! Functions return `None` if there are too few samples, and for numbers that are not finite.

mod amdahl;
mod bootstrap;
mod cause;
mod changes;
mod describe;
mod drift;
mod fit;
mod histogram;
mod normal;
mod outliers;
mod populations;
mod ranks;
mod ratio;
mod rounds;
mod several;

pub use amdahl::{Amdahl, gain_of_task};
pub use bootstrap::{Bootstrap, Estimate, Method, ROUNDS_MIN};
pub use cause::{Cause, Direction, Evidence, cause};
pub use changes::{Change, Segment, Segments, change_points, segments};
pub use describe::{
    Description, Percentile, describe, deviation, mean, median, percentiles, quantile, trimmed_mean,
};
pub use drift::{Drift, Drifts, drift, drifts};
pub use fit::{
    Fits, Line, Point, fit, least_absolute, least_squares, rate_overall, robust, theil_sen,
};
pub use histogram::{Histogram, histogram};
pub use outliers::{Marks, OutlierMark, outliers};
pub use populations::{Populations, populations};
pub use ranks::{Ratios, ratio_apart, ratio_in_turn};
pub use ratio::{Finding, RatesApart, enough, finding, rates_apart, rounds_needed};
pub use rounds::{BAND_LEN, Banded, Intervals, fit_rounds, theil_sen_rate};
pub use several::{level_of_each, level_of_found, rounds_in_turn_min};
