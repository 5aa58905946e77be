//! Timed writing and reading of files, for the workloads `write` and `read`.
//!
//! Each file is read back and compared. Each sample has the evidence of what may have disturbed it:
//! hashing in memory at the same time, the processor time of other processes, and what the cache
//! held.

pub mod plan;

pub(super) mod beside;
pub(super) mod way;
pub(super) mod folder;
pub(super) mod bench;
