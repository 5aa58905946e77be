//! The end of the command: exit statuses, and signals that ask it to stop.
//!
//! Runs end with an [`ExitStatus`]. A shard of a check also ends with 75, for work that may succeed
//! if it is retried, and `qos run` ends as the program that it started.

use std::error::Error as _;
use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::AsFd as _;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};
use std::thread;
use std::time::{Duration, Instant};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use steadfast::beneath;
use steadfast::catalogue::CatalogueError;
use steadfast::process::HeldSignals;
use steadfast::{ExitStatus, with_advice};
use steadfast_report::{advice, escape};

use crate::output::{self, stdout_has_color};

/// Turns the result of a command into its exit status, and reports errors. An answer that could not
/// be written is a failure whatever the command returned.
pub(crate) fn code(result: anyhow::Result<u8>) -> ExitCode {
    let code = result.unwrap_or_else(|error| {
        complain(&words(&error));
        ExitStatus::Undetermined.code()
    });
    let written = ExitStatus::Undetermined.only_if(output::has_failed());
    ExitStatus::try_from(code).map_or(code, |status| status.max(written).code()).into()
}

/// Prints the requested help or version, or the error in the arguments, and returns the status.
///
/// # Errors
/// If the help or the version cannot be written.
pub(crate) fn explain(error: &clap::Error) -> anyhow::Result<ExitStatus> {
    if error.use_stderr() {
        // If stderr is closed, the error cannot be reported anywhere.
        let _ = error.print();
        return Ok(ExitStatus::Undetermined);
    }
    let page = error.render();
    let page = match stdout_has_color() {
        true => page.ansi().to_string(),
        false => page.to_string(),
    };
    output::answer(page.as_bytes()).map(|()| ExitStatus::Fine)
}

/// Returns what an error and its causes say, and what to type next. An error of the library already
/// says its causes.
pub(crate) fn words(error: &anyhow::Error) -> String {
    let said = |cause: &(dyn std::error::Error + 'static)| {
        let known = cause.downcast_ref::<steadfast::Error>();
        let known = known.map(|error| (error.message(), error.advice()));
        // An error of the schedules repeats that of the catalogue in the words of the library.
        let within = cause.downcast_ref::<steadfast_watch::Error>().and_then(|it| it.source());
        let of_catalogue = within.unwrap_or(cause).downcast_ref::<CatalogueError>();
        let of_catalogue = of_catalogue.map(|error| (error.message(), error.advice()));
        match known.or(of_catalogue) {
            Some((message, next)) => with_advice(&message, next.map(advice::typed)),
            None => cause.to_string(),
        }
    };
    error.chain().fold(String::new(), |text, cause| match said(cause) {
        cause if text.is_empty() => cause,
        cause if text.contains(&cause) => text,
        cause => format!("{text}: {cause}"),
    })
}

/// Prints a message on stderr.
pub(crate) fn complain(message: &str) {
    let _ = writeln!(io::stderr(), "steadfast: {}", escape::text(message));
}

/// Returns the device and inode of the regular file that stdout is written to, if it is one.
pub(crate) fn stdout_file() -> Option<(u64, u64)> {
    let file = File::from(io::stdout().as_fd().try_clone_to_owned().ok()?);
    let status = beneath::File::of(&file).ok()?.status().ok()?;
    (status.kind == beneath::FileKind::Regular).then_some((status.device, status.inode))
}

/// Set by the first signal only.
static SIGNALLED: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);

/// Whether a signal asked the command to stop.
pub(crate) fn was_signalled() -> bool {
    SIGNALLED.load(Ordering::Relaxed)
}

/// Signals within this time count as one: `timeout` sends one to the process and one to its group.
const ONE_WISH: Duration = Duration::from_secs(1);

/// Makes a flag that the first signal sets. A signal one second later or more ends the process at
/// once.
pub(crate) fn stop_on_signals() -> io::Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    set_on_signals(&stop)?;
    Ok(stop)
}

/// Lets the first signal set a flag, as [`stop_on_signals`] does.
pub(crate) fn set_on_signals(stop: &Arc<AtomicBool>) -> io::Result<()> {
    // The thread below is the first one, and room for open files is made before that.
    steadfast::process::prepare_open_files();
    let all = [SIGINT, SIGTERM, SIGHUP];
    let held = HeldSignals::begin();
    for signal in all {
        signal_hook::flag::register(signal, Arc::clone(stop))?;
        signal_hook::flag::register(signal, Arc::clone(&SIGNALLED))?;
    }
    let mut signals = Signals::new(all)?;
    drop(held);
    thread::Builder::new().name("signals".to_owned()).spawn(move || {
        let mut first = None;
        for _ in signals.forever() {
            if first.get_or_insert_with(Instant::now).elapsed() >= ONE_WISH {
                signal_hook::low_level::exit(ExitStatus::Interrupted.code().into());
            }
        }
    })?;
    Ok(())
}
