//! Tests of signed code, made and real: one binary, a module for each subject.

#![allow(clippy::too_many_lines, clippy::unwrap_used)]

mod app;
mod archives;
mod around;
mod builder;
mod bundles;
mod conditions;
mod containers;
mod cover;
mod damage;
mod decay;
mod fixtures;
mod forged;
mod forgery;
mod forms;
mod fuzz;
mod images;
mod malformed;
mod packages;
mod readers;
mod requirement;
mod sample;
mod signer;
mod signing;
mod unsealed;
mod xar;

use std::alloc::System;

/// No test holds more memory than this at any time, nor reserves it.
const MEMORY_LEN_MAX: usize = 1 << 30;

#[global_allocator]
static ALLOCATOR: cap::Cap<System> = cap::Cap::new(System, MEMORY_LEN_MAX);
