//! `steadfast qos run`: replaces this process by a command at a level.

use std::io;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use steadfast::qos;
use steadfast_report::escape;

use crate::args::QosRunArgs;
use crate::exit::complain;
use crate::session;

/// Status if the command was not found, as in shells.
const NOT_FOUND: u8 = 127;

/// Status if the command cannot be run.
const NOT_RUN: u8 = 126;

pub(super) fn run(args: &QosRunArgs) -> anyhow::Result<u8> {
    let level = args.level;
    if args.session {
        if let Some(status) = session::own(level)? {
            return Ok(status);
        }
    } else if qos::wants_own_session(level) {
        complain(&format!(
            "QoS {level} has an effect only within this session, because the system shares \
             processors by session; --session runs the command in a session of its own"
        ));
    }
    session::complain_of(level, &qos::enter_for_exec(level));
    let (name, arguments) = args.command.split_first().expect("one word at least is required");
    // `exec` returns only if it failed.
    let error = match qos::launcher(level) {
        [] => session::with_level(Command::new(name).args(arguments), level).exec(),
        [launcher, own @ ..] => {
            let mut command = Command::new(launcher);
            session::with_level(command.args(own).args(&args.command), level).exec()
        }
    };
    let shown = escape::path(name.as_ref());
    complain(&format!("cannot run `{shown}`: {error}"));
    Ok(if error.kind() == io::ErrorKind::NotFound { NOT_FOUND } else { NOT_RUN })
}
