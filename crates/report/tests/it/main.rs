//! The renderers from outside: exact documents, and names that attack.

#![allow(clippy::unwrap_used, reason = "in a test, a panic is the report")]

mod facts;
mod golden;
mod names;
mod sums;
mod trace;
