//! Writing and reading files with a clock beside: what the workloads `write` and `read` share.
//!
//! In: a folder, and a plan of files. Out: timed files, each of which was read back and compared
//! with what was written, and with every one the evidence for what may have disturbed it: hashing
//! in memory at the same time, what other processes took, what the cache held.

pub mod plan;

pub(super) mod bench;
pub(super) mod beside;
pub(super) mod timed;
