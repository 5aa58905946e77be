//! Measuring: statistics against known truths, and small sessions of every workload.

#![allow(clippy::unwrap_used, reason = "in a test, a panic is the report")]

mod cipher;
mod comparing;
mod coverage;
mod cpu;
mod errors;
mod fitting;
mod frozen;
mod hash;
mod intervals;
mod pair;
mod queue;
mod random;
mod record;
mod storage;
mod storage_figures;
mod storage_folder;
mod storage_image;
mod synthetic;
