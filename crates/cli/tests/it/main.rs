//! The command from outside: a tree, arguments, and what came out.

#![allow(clippy::unwrap_used, reason = "in a test, a panic is the report")]

mod audit;
mod catalogue;
mod diff;
mod exchange;
mod history;
mod kill;
mod lists;
mod names;
mod output;
mod probe;
mod rings;
mod statuses;
mod sums;
mod trace;
mod tree;
mod verbs;
