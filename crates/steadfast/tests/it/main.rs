//! Tests of the library on real files: one binary, a module for each part of the path.

#![allow(clippy::print_stdout, clippy::unwrap_used)]

mod account;
mod anomaly;
mod catalogue;
mod catalogue_choice;
mod catalogue_converted;
mod catalogue_damage;
mod catalogue_due;
mod catalogue_format;
mod catalogue_held;
mod catalogue_kill;
mod catalogue_moved;
mod catalogue_opened;
mod catalogue_renamed;
mod catalogue_slices;
mod catalogue_trouble;
mod check;
mod cloud;
mod copy_swapped;
mod damage;
mod diff;
#[allow(dead_code, reason = "the tests of the formats use the rest")]
#[path = "../../../manifest/tests/it/fixtures.rs"]
mod fixtures;
mod foreign;
mod foreign_peers;
mod formats;
mod hold;
mod holes;
mod image;
mod init;
mod limits;
mod listed;
mod live;
mod manifest_bag;
mod manifest_bitrot;
mod manifest_peers;
mod media;
mod mend;
mod mhl_history;
mod pages;
mod parity_matrix;
mod planted;
mod schedule;
mod seals;
mod tag_verbs;
mod tree;
mod verity;
mod walk;
