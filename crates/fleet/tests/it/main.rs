//! Jobs from outside: planned, run in any way, put together.

#![allow(clippy::unwrap_used, reason = "in a test, a panic is the report")]

mod catalogue;
mod damage;
mod folder;
mod formats;
mod plan;
mod whole;
