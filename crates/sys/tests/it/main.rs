//! The crate against the running system: real files in, what the system made of them out.

#![allow(clippy::unwrap_used, reason = "a failed assertion is what a test is for")]

mod attributes;
mod cached;
mod core_types;
#[cfg(feature = "crypto")]
mod crypto;
mod flight;
mod levels;
mod listing;
#[cfg(target_os = "linux")]
mod lowering;
mod opening;
mod reading;
mod system;
mod tree;
