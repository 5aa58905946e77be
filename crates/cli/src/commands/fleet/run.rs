//! `steadfast fleet run`: one shard → its part.

use std::env;
use std::fs;

use steadfast_fleet::{Error, Job, ShardWorker, existing, run as run_shard};
use steadfast_report::fleet;

use super::super::{RunPlace, render_as, report};
use crate::args::FleetRunArgs;
use crate::exit;
use crate::output::answer;
use steadfast::ExitStatus;

pub(super) fn run(args: &FleetRunArgs) -> anyhow::Result<ExitStatus> {
    let job = Job::open(&args.job)?;
    if let Some(outcome) = existing(&job, args.shard)? {
        let mut line = Vec::new();
        fleet::write_existing(args.shard, &outcome, args.output.json, &mut line);
        if !args.output.quiet {
            answer(&line)?;
        }
        for file in [&args.output.report, &args.output.trace].into_iter().flatten() {
            let file = steadfast_report::escape::path(file);
            exit::complain(&format!("`{file}` is not written: nothing was run"));
        }
        return Ok(status_of(outcome.exit_status));
    }
    let (root, accept_missing) = (args.root.clone(), args.accept_missing);
    let worker = ShardWorker { host: host(), root, accept_missing };
    let options = args.engine.options().with(|options| options.survey = false);
    let mut ended: Option<Result<ExitStatus, Error>> = None;
    // The part is wanted even if nobody reads the output.
    let place = RunPlace { reads_only: false, ..RunPlace::READ };
    let told = render_as(options, &args.output, place, report(&[]), |options, console| {
        let ran = run_shard(&job, args.shard, &worker, options, console);
        let said = match &ran {
            Ok(ran) => Ok(ran.summary.clone()),
            Err(_) => Err(steadfast::Error::usage("the shard was not run")),
        };
        ended = Some(ran.map(|ran| status_of(ran.outcome.exit_status)));
        said
    });
    match (ended, told) {
        (None, told) => told,
        (Some(Ok(status)), Err(error)) => {
            exit::complain(&exit::words(&error));
            Ok(status)
        }
        (Some(ended), _) => Ok(ended?),
    }
}

/// The part has all findings. Any other status would make an engine run the shard again.
fn status_of(checked: ExitStatus) -> ExitStatus {
    checked.only_if(checked == ExitStatus::Corrupt)
}

/// The machine's name, for readers of a part.
fn host() -> String {
    let told = env::var("HOSTNAME").or_else(|_| env::var("SLURMD_NODENAME"));
    let read = || fs::read_to_string("/proc/sys/kernel/hostname");
    let host = told.ok().or_else(|| read().ok()).unwrap_or_default();
    host.trim().to_owned()
}
