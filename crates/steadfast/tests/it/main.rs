//! Tests of the library on real files: one binary, a module for each part of the path.

#![allow(clippy::unwrap_used)]

mod account;
mod anomaly;
mod catalogue;
mod catalogue_damage;
mod catalogue_due;
mod catalogue_format;
mod catalogue_kill;
mod catalogue_moved;
mod catalogue_trouble;
mod check;
mod damage;
mod diff;
mod foreign;
mod foreign_mutations;
mod foreign_peers;
mod foreign_samples;
mod formats;
mod hold;
mod image;
mod limits;
mod manifest;
mod manifest_bag;
mod manifest_details;
mod manifest_fuzz;
mod manifest_peers;
mod media;
mod pages;
mod probe;
mod schedule;
mod seals;
mod tree;
mod walk;
