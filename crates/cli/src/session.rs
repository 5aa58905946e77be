//! The QoS level of this process, and a session of its own where a level has little effect without
//! one.
//!
//! In: a level. Out: nothing, with this process at that level, or the status of a child that did
//! the work in a session of its own. Linux can share processors by session (`autogroup`): the
//! lowest thread of one terminal then gets half of a processor, even against the busiest thread of
//! another. A process that leads a process group, as every command of a shell does, cannot start a
//! session. So this program starts itself again and passes on the signals that it receives.

use std::env;
use std::ffi::OsString;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _, parent_id};
use std::process::{Child, Command, ExitStatus};
use std::thread;

use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT, SIGQUIT, SIGSTOP, SIGTERM, SIGTSTP};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;
use steadfast::Level;
use steadfast::process::HeldSignals;
use steadfast::qos::{self, SignalledChild, Step};

use crate::args::LevelOf;
use crate::exit::complain;

/// Tells a child to start a session, by the process number of its parent.
const MARK: &str = "STEADFAST_SESSION_OF";

/// Tells a command the level that `qos run` was asked for.
const LEVEL: &str = "STEADFAST_QOS";

/// Status of a process that a signal ended: this plus the number of the signal, as in shells.
const SIGNALLED: i32 = 128;

/// Sets the level of this process. Returns the status if a child did the work instead.
///
/// # Errors
/// If waiting for the child fails.
pub(crate) fn settle(level: LevelOf) -> anyhow::Result<Option<u8>> {
    let (level, tells) = match level {
        LevelOf::Run(level) => (level, true),
        LevelOf::Work(level) => (level, false),
    };
    if let Some(status) = own(level)? {
        return Ok(Some(status));
    }
    let steps = qos::enter(level);
    if !tells {
        complain_of(level, &steps);
    }
    Ok(None)
}

/// Puts this process into a session of its own if the level needs one. Returns the status if a
/// child did the work instead. Without a child the work is done here, with a session or without.
///
/// # Errors
/// If waiting for the child fails.
pub(crate) fn own(level: Level) -> anyhow::Result<Option<u8>> {
    if is_marked() {
        complain_of(level, &qos::lead_session(level));
        return Ok(None);
    }
    // A child would get `/dev/null` for a closed stdout, and not notice that its output is lost.
    if !qos::wants_own_session(level) || steadfast::process::stdout_was_closed() {
        return Ok(None);
    }
    match start_again() {
        Ok((child, ward)) => Ok(Some(stand_by(child, &ward)?)),
        Err(error) => {
            complain(&format!("QoS {level}: no session of its own: {error}"));
            Ok(None)
        }
    }
}

/// Tells a command, which `qos run` starts, the level that was asked for.
pub(crate) fn with_level(command: &mut Command, level: Level) -> &mut Command {
    command.env(LEVEL, level.name())
}

/// Returns the level that this command was run at by `qos run`, if it was.
pub(crate) fn level_of_environment() -> Option<Level> {
    env::var(LEVEL).ok()?.parse().ok()
}

/// Reports the refused steps.
pub(crate) fn complain_of(level: Level, steps: &[Step]) {
    for step in steps {
        if let Err(error) = &step.result {
            complain(&format!("QoS {level}: {} refused: {error}", step.what));
        }
    }
}

/// Whether this process is a child that is to start a session for its parent.
fn is_marked() -> bool {
    let parent = parent_id();
    let marked = env::var_os(MARK).is_some_and(|mark| mark == OsString::from(parent.to_string()));
    marked && qos::end_with_parent(parent)
}

/// Starts this program again with the same arguments.
fn start_again() -> std::io::Result<(Child, SignalledChild)> {
    let mut arguments = env::args_os();
    let name = arguments.next().unwrap_or_default();
    let mut command = Command::new(env::current_exe()?);
    command.arg0(name).args(arguments).env(MARK, std::process::id().to_string());
    let mut child = command.spawn()?;
    match SignalledChild::of(&child) {
        Ok(ward) => Ok((child, ward)),
        Err(error) => {
            // It would receive no signals. It has not begun to work yet.
            child.kill()?;
            child.wait()?;
            Err(error)
        }
    }
}

/// Passes on signals until the child ends, and returns its status.
fn stand_by(mut child: Child, ward: &SignalledChild) -> anyhow::Result<u8> {
    let held = HeldSignals::begin();
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP])?;
    drop(held);
    let handle = signals.handle();
    let ended = thread::spawn(move || {
        let status = child.wait();
        handle.close();
        status
    });
    for signal in signals.forever() {
        // A child that has ended needs no signal.
        if signal == SIGTSTP {
            let _ = ward.send(SIGSTOP);
            let _ = emulate_default_handler(signal);
            let _ = ward.send(SIGCONT);
        } else {
            let _ = ward.send(signal);
        }
    }
    let status = ended.join().expect("waiting panics nowhere")?;
    Ok(status_of(status))
}

fn status_of(status: ExitStatus) -> u8 {
    let code = status.code().or_else(|| status.signal().map(|signal| SIGNALLED + signal));
    code.and_then(|code| u8::try_from(code).ok()).unwrap_or(u8::MAX)
}
