//! The command from outside: a tree, arguments, and what came out.

#![allow(clippy::print_stdout, reason = "how often a race was met is shown")]
#![allow(clippy::unwrap_used, reason = "in a test, a panic is the report")]

mod audit;
mod carried;
mod catalogue;
mod change_time;
mod cipher;
mod copy;
mod code;
mod diff;
mod empty;
mod evidence;
mod exchange;
mod fleet;
mod flushed;
mod folders;
mod given_back;
mod history;
mod init;
mod kept;
mod kill;
mod known;
mod limits;
mod lists;
mod manual;
#[cfg(feature = "serve")]
mod matrix;
mod measure;
mod names;
mod objects;
mod outlets;
mod output;
mod pages;
mod par2;
mod parity;
mod parity_histories;
mod parity_kept;
mod parity_kill;
mod parity_needed;
mod parity_place;
mod planted;
mod probe;
mod qos;
mod repair;
mod repair_cut_off;
mod repair_harm;
mod repair_in_place;
mod repair_record;
mod repair_renamed;
mod rings;
mod schedule;
mod serve;
mod statuses;
mod sums;
mod systemd;
mod trace;
mod tree;
mod trees;
mod verbs;
