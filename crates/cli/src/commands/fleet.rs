//! `steadfast fleet`: arguments → a job planned, a shard run, a job looked at, parts put together.
//!
//! Statuses are those of a check, but for a job that is not done: 75, by which engines know that to
//! try again may help. See `docs/fleet.md`.

mod merge;
mod plan;
mod run;
mod status;

use steadfast_fleet::{Error, ErrorKind};

use crate::args::{FleetArgs, FleetCommand};
use crate::exit;

/// Status of what may succeed if it is tried again: `EX_TEMPFAIL` of sysexits.h.
const TRY_AGAIN: u8 = 75;

pub(super) fn run(args: &FleetArgs) -> anyhow::Result<u8> {
    let done = match &args.command {
        FleetCommand::Plan(args) => plan::run(args),
        FleetCommand::Run(args) => run::run(args),
        FleetCommand::Status(args) => status::run(args),
        FleetCommand::Merge(args) => merge::run(args),
    };
    done.or_else(|error| {
        let error = error.downcast::<Error>()?;
        exit::complain(&error.to_string());
        Ok(status_of(&error))
    })
}

fn status_of(error: &Error) -> u8 {
    match error.kind() {
        ErrorKind::Temporary => TRY_AGAIN,
        ErrorKind::Interrupted => exit::INTERRUPTED as u8,
        _ => exit::COULD_NOT_TELL,
    }
}
