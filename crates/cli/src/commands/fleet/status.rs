//! `steadfast fleet status`: a job → how far it is.

use steadfast_fleet::{Error, Job, JobStatus, status};
use steadfast_report::{Units, fleet};

use super::TRY_AGAIN;
use crate::args::FleetStatusArgs;
use crate::exit;
use crate::output::answer;

pub(super) fn run(args: &FleetStatusArgs) -> anyhow::Result<Result<u8, Error>> {
    let found = Job::open(&args.job).and_then(|job| Ok((status(&job)?, job)));
    let (status, job) = match found {
        Ok(found) => found,
        Err(error) => return Ok(Err(error)),
    };
    let exit_status = status_of(&status);
    let mut document = Vec::new();
    match args.json {
        true => fleet::write_status_json(&job, &status, exit_status, &mut document),
        false => fleet::write_status_text(&status, Units::Si, &mut document),
    }
    answer(&document)?;
    Ok(Ok(exit_status))
}

/// Corruption outranks all; then that the job is not done, which may pass or not.
fn status_of(status: &JobStatus) -> u8 {
    match status.checked_status {
        3 => 3,
        _ if status.is_stuck() => exit::COULD_NOT_TELL,
        _ if !status.is_complete() => TRY_AGAIN,
        checked => checked,
    }
}
