//! Tests of the library on real files: one binary, a module for each part of the path.

#![allow(clippy::unwrap_used)]

mod account;
mod anomaly;
mod check;
mod damage;
mod formats;
mod image;
mod media;
mod schedule;
mod seals;
mod tree;
mod walk;
