//! How the command ends: a status out of a result, and signals that ask for the end.
//!
//! Statuses: 0 nothing wrong, 1 modified or missing, 2 could not tell, 3 corrupt, 130 interrupted;
//! and of a fleet's job, 75 for what may succeed if it is tried again.

use std::io::{self, Write as _};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use steadfast_report::escape;

/// Status of a run that could not tell.
pub(crate) const COULD_NOT_TELL: u8 = 2;

/// Status of an interrupted run: 128 and the number of SIGINT, as shells have it.
pub(crate) const INTERRUPTED: i32 = 130;

/// Turns the result of a command into its exit status, telling what went wrong.
pub(crate) fn code(result: anyhow::Result<u8>) -> ExitCode {
    match result {
        Ok(status) => status.into(),
        Err(error) => {
            complain(&format!("{error:#}"));
            COULD_NOT_TELL.into()
        }
    }
}

/// Says something on stderr, if anyone listens there.
pub(crate) fn complain(message: &str) {
    let _ = writeln!(io::stderr(), "steadfast: {}", escape::text(message));
}

/// Set by the first signal, and by nothing else.
static SIGNALLED: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);

/// Whether a signal asked for the end.
pub(crate) fn was_signalled() -> bool {
    SIGNALLED.load(Ordering::Relaxed)
}

/// Makes a flag that the first signal sets; the second ends the process at once.
pub(crate) fn stop_on_signals() -> io::Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        // The order matters: the shutdown looks at the flag before the same signal sets it.
        signal_hook::flag::register_conditional_shutdown(
            signal,
            INTERRUPTED,
            Arc::clone(&SIGNALLED),
        )?;
        signal_hook::flag::register(signal, Arc::clone(&SIGNALLED))?;
        signal_hook::flag::register(signal, Arc::clone(&stop))?;
    }
    Ok(stop)
}
