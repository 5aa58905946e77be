//! Tests of the library on real files: one binary, a module for each part of the path.

#![allow(clippy::unwrap_used)]

mod anomaly;
mod check;
mod formats;
mod tree;
mod walk;
