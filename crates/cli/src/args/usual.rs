//! The options that every run of the command has.

use steadfast::Options;

/// Whether change times are ignored, as only the program of the tests does.
pub(crate) fn ignores_change_times() -> bool {
    crate::test_settings().ignores_change_times
}

/// Returns the options that every run of the command has.
pub(crate) fn usual_options() -> Options {
    Options::default().with(|options| options.ignore_change_times = ignores_change_times())
}
