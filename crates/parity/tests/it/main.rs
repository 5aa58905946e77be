//! Tests of parity: one binary.

#![allow(clippy::unwrap_used)]

mod code;
mod file;
mod guarantee;
mod oracle;
mod planning;
mod sample;
