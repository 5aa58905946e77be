//! The renderers from outside: exact documents, and names that attack.

#![allow(clippy::unwrap_used, reason = "in a test, a panic is the report")]

mod audit;
mod code;
mod exact;
mod facts;
mod golden;
mod history;
mod ledger;
mod names;
mod pages;
mod premis;
mod records;
mod seals;
mod strangers;
mod sums;
mod trace;
