//! What a machine can do with the stages that the program ships, and what holds it back.
//!
//! ```text
//! workload ──▶ runner ──▶ record ──▶ figures ──▶ report
//! samples      Session    Record     Figures     document
//! ```
//!
//! A workload times the stages of a check, or what surrounds them, and puts samples into a
//! [`runner::Session`]; that makes a [`record::Record`], which keeps every raw sample and no
//! figure. [`figures`] derives rates with their intervals when a record is read. The crate never
//! prints, exits or reads the environment.

#![forbid(unsafe_code)]

pub mod calibrate;
pub mod figures;
pub mod latencies;
pub mod place;
pub mod published;
pub mod random;
pub mod record;
pub mod runner;
pub mod scratch;
pub mod stats;
pub mod workload;

mod contents;
mod error;

pub use crate::error::{Error, ErrorKind};
