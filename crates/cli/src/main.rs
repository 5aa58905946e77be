//! The `steadfast` command: arguments → one library call → one renderer.
//!
//! In: arguments. Out: an exit status; the answer on stdout, progress and trouble on stderr. The
//! only crate that prints, exits or reads the environment; it has no facts of its own.

#![forbid(unsafe_code)]
#![cfg_attr(
    not(all(feature = "companions", feature = "companions", feature = "serve")),
    allow(dead_code, reason = "some functions are called only by verbs that are left out")
)]

mod output;
mod outlet;
mod exit;
mod state_folder;
mod local_time;
mod args;
mod progress;
mod console;
mod document_form;
mod document_file;
mod run_page;
mod session;
mod trace;
mod commands;

use std::process::ExitCode;

/// The allocator of the static programs. Musl's own never returns what many threads left behind:
/// a server took 75 kB more with every run.
#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: dlmalloc::GlobalDlmalloc = dlmalloc::GlobalDlmalloc;

fn main() -> ExitCode {
    let ahead = std::env::var("STEADFAST_AHEAD_S").ok();
    if let Some(seconds) = ahead.and_then(|seconds| seconds.parse().ok()) {
        steadfast::process::set_clock_ahead(seconds);
    }
    let words: Vec<_> = std::env::args_os().collect();
    exit::code(match args::Cli::of_words(&words) {
        Ok(cli) => commands::dispatch(&cli),
        Err(error) => exit::explain(&error).map(u8::from),
    })
}
