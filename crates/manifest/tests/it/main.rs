//! Tests of the formats on bytes: one binary, a module for each part.

#![allow(clippy::print_stderr, clippy::unwrap_used)]

mod details;
mod documents;
mod fixtures;
mod foreign_mutations;
mod foreign_samples;
mod fuzz;
mod objects;
mod tags;
