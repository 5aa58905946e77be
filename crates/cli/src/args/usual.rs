//! The options that every run of the command has, from the environment.

use steadfast::Options;

/// Whether the environment asks to ignore change times.
pub(crate) fn ignores_change_times() -> bool {
    std::env::var_os("STEADFAST_IGNORE_CTIME").is_some()
}

/// Returns the options that every run of the command has.
pub(crate) fn usual_options() -> Options {
    Options::default().with(|options| options.ignore_change_times = ignores_change_times())
}
