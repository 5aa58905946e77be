//! The program `steadfast`. Everything is in the library of this crate, which the program of the
//! tests (`crates/trial`) has as well.

#![forbid(unsafe_code)]

use std::process::ExitCode;

use steadfast_cli::TestSettings;

/// The allocator of the static programs. Musl's own never returns what many threads left behind:
/// a server took 75 kB more with every run.
#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: dlmalloc::GlobalDlmalloc = dlmalloc::GlobalDlmalloc;

fn main() -> ExitCode {
    let words: Vec<_> = std::env::args_os().collect();
    steadfast_cli::run(&words, TestSettings::default())
}
