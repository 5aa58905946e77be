//! Objects from outside: a small store on loopback, and what is said of what it holds.

#![allow(clippy::unwrap_used, reason = "in a test, a panic is the report")]

mod asking;
mod check;
mod import;
mod server;
mod tree;
