//! Measures the stages of the program on a machine, and finds what limits them.
//!
//! ```text
//! workload ──▶ sweep ──▶ runner ──▶ record ──▶ figures ──▶ report
//! parameters   rounds    Session    Record     Curve       document
//! ```
//!
//! A workload makes what it measures: the stages of a check, or the work around them. One sweep
//! lets everything have its turn in every round, and adds the samples to a [`runner::Session`]. The
//! session makes a [`record::Record`], which keeps every raw sample and no figure. [`figures`]
//! derives a curve of each series, with its one rate, when a record is read. The crate never
//! prints, exits or reads the environment.

#![forbid(unsafe_code)]

mod error;
pub mod random;
pub mod record;
pub mod calibrate;
pub mod runner;
mod contents;
pub mod latencies;
pub mod stats;
pub mod place;
pub mod scratch;
pub mod workload;
pub mod figures;
pub mod published;

pub use crate::error::{Error, ErrorKind};
