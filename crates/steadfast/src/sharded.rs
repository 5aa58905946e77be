//! A check of many files in shards, on any number of machines.
//!
//! [`check`] checks the files of one shard and writes a result file. [`merge`] reads the results of
//! all shards, and reports them as one check. What starts the shards, and repeats those that
//! failed, is a scheduler: `docs/reference/fleet.md`.

mod row;
mod document;
mod check;
mod enter;
mod merge;

pub use check::{ShardCheck, check};
pub use document::ShardFiles;
pub use merge::merge;
