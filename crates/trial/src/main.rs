//! The `steadfast` command for tests and trials. No package has it, and no command of README builds
//! it: by two variables of the environment it gets another clock, or ignores change times, so that
//! a test can play decay and next year.
//!
//! - `STEADFAST_AHEAD_S`: seconds to add to the clock.
//! - `STEADFAST_IGNORE_CTIME`: if it is set, whatever moves change times is not taken for a write.

#![forbid(unsafe_code)]

use std::env;
use std::ffi::OsString;
use std::process::ExitCode;

use steadfast_cli::TestSettings;

#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: dlmalloc::GlobalDlmalloc = dlmalloc::GlobalDlmalloc;

fn main() -> ExitCode {
    let ahead = env::var("STEADFAST_AHEAD_S").ok();
    if let Some(seconds) = ahead.and_then(|seconds| seconds.parse().ok()) {
        steadfast::process::set_clock_ahead(seconds);
    }
    let settings =
        TestSettings { ignores_change_times: env::var_os("STEADFAST_IGNORE_CTIME").is_some() };
    // Help and messages name the command that users have.
    let words = [OsString::from("steadfast")].into_iter().chain(env::args_os().skip(1));
    steadfast_cli::run(&words.collect::<Vec<_>>(), settings)
}
