//! `steadfast fleet status`: a job → its progress.

use steadfast::ExitStatus;
use steadfast_fleet::{Job, JobStatus, status};
use steadfast_report::{Units, fleet};

use super::TRY_AGAIN;
use crate::args::FleetStatusArgs;
use crate::output::answer;

pub(super) fn run(args: &FleetStatusArgs) -> anyhow::Result<u8> {
    let job = Job::open(&args.job)?;
    let status = status(&job)?;
    let exit_status = status_of(&status);
    let mut document = Vec::new();
    match args.json {
        true => fleet::write_status_json(&job, &status, exit_status, &mut document),
        false => fleet::write_status_text(&status, Units::Si, &mut document),
    }
    answer(&document)?;
    Ok(exit_status)
}

/// Corruption outranks everything, then an incomplete job, whether a retry can help or not.
fn status_of(status: &JobStatus) -> u8 {
    match status.checked_status {
        ExitStatus::Corrupt => ExitStatus::Corrupt.code(),
        _ if status.is_stuck() => ExitStatus::Undetermined.code(),
        _ if !status.is_complete() => TRY_AGAIN,
        checked => checked.code(),
    }
}
