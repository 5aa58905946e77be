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

use std::ffi::OsString;
use std::process::ExitCode;
use std::sync::OnceLock;

/// What the program of the tests may change. Nothing that users have may: see `crates/trial`.
#[derive(Clone, Copy, Debug, Default)]
pub struct TestSettings {
    /// Whether change times are not taken for writes, because a test plays decay by writing.
    pub ignores_change_times: bool,
}

static TEST_SETTINGS: OnceLock<TestSettings> = OnceLock::new();

/// Does what a command line says, the program's name first, and returns its status. Called once.
pub fn run(words: &[OsString], settings: TestSettings) -> ExitCode {
    TEST_SETTINGS.get_or_init(|| settings);
    exit::code(match args::Cli::of_words(words) {
        Ok(cli) => commands::dispatch(&cli),
        Err(error) => exit::explain(&error).map(u8::from),
    })
}

/// Returns what the program of the tests changes: nothing in any other.
fn test_settings() -> TestSettings {
    TEST_SETTINGS.get().copied().unwrap_or_default()
}
