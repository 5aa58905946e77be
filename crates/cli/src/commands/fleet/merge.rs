//! `steadfast fleet merge`: parts → one result, rendered as a check is.

use std::path::Path;
use std::sync::Arc;

use anyhow::ensure;
use steadfast::ExitStatus;
use steadfast::Options;
use steadfast_fleet::{Error, Job, MergeOptions, merge};

use super::super::{RunPlace, render_as, report};
use crate::args::FleetMergeArgs;

pub(super) fn run(args: &FleetMergeArgs) -> anyhow::Result<ExitStatus> {
    for other in [&args.output.report, &args.output.trace].into_iter().flatten() {
        ensure!(
            !is_same(&args.out, other),
            "--out and another file are both `{}`",
            other.display()
        );
    }
    let job = Job::open(&args.job)?;
    let mut failed: Option<Error> = None;
    let place = RunPlace { root: None, reads_only: false, require_tags: args.require_tags };
    let status =
        render_as(Options::default(), &args.output, place, report(&[]), |options, console| {
            let how = MergeOptions {
                partial: args.partial,
                require_tags: args.require_tags,
                allow_empty: args.empty.allow_empty,
                catalogue: !args.no_catalogue,
                now: options.now,
                stop: Arc::clone(&options.controls.stop),
            };
            match merge(&job, &args.out, &how, console) {
                Ok(merged) => Ok(merged.summary),
                Err(error) => {
                    failed = Some(error);
                    Err(steadfast::Error::usage("the job failed"))
                }
            }
        });
    failed.map_or(status, |error| Err(error.into()))
}

/// Returns whether two paths lead to one file, existing or not.
fn is_same(one: &Path, other: &Path) -> bool {
    let place = |path: &Path| {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new(".")).canonicalize().ok()?;
        Some((folder, path.file_name()?.to_owned()))
    };
    one == other || place(one).is_some_and(|one| place(other) == Some(one))
}
