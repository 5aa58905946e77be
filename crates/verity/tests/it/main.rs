//! Tests of fs-verity trees: one binary.

#![allow(clippy::unwrap_used)]

mod digests;
