//! `steadfast fleet`: plans a job, runs a shard, shows the status of a job, or merges parts.
//!
//! Statuses are those of a check, and 75 for a job that is not complete, which tells engines that a
//! retry may help. See `docs/reference/fleet.md`.

mod merge;
mod plan;
mod run;
mod status;

use steadfast::ExitStatus;
use steadfast_fleet::{Error, ErrorKind};

use crate::args::{FleetArgs, FleetCommand};
use crate::exit;

/// Status of a failure that a retry may fix: `EX_TEMPFAIL` of sysexits.h.
const TRY_AGAIN: u8 = 75;

pub(super) fn run(args: &FleetArgs) -> anyhow::Result<u8> {
    let done = match &args.command {
        FleetCommand::Plan(args) => plan::run(args).map(u8::from),
        FleetCommand::Run(args) => run::run(args).map(u8::from),
        FleetCommand::Status(args) => status::run(args),
        FleetCommand::Merge(args) => merge::run(args).map(u8::from),
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
        ErrorKind::Interrupted => ExitStatus::Interrupted.code(),
        _ => ExitStatus::Undetermined.code(),
    }
}
