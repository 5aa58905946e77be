//! Figures that are derived from a record on reading: rates with intervals, and ratios.
//!
//! Plain numbers in base units, one structure per workload; empty if the record has no series of
//! it. [`hosts`] and [`compare`] take several records. Pure: the same record gives the same
//! figures.

pub mod cipher;
pub mod compare;
pub mod cpu;
pub mod hash;
pub mod hosts;
pub mod pair;
pub mod queue;
pub mod storage;

/// A difference in rate that is irrelevant, as a share: up to this, sides count as alike.
pub const MARGIN: f64 = 0.02;
