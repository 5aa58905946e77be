//! Tests of the server over real connections: one binary, a module for each promise.

#![allow(clippy::unwrap_used)]

mod added;
mod automation;
mod browser;
mod claims;
mod copied;
mod crowd;
mod door;
mod dropped;
mod files;
mod fuzz;
mod limits;
mod measured;
mod runs;
mod sealed;
mod tls;
mod tree;
mod year;
