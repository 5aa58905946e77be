//! `steadfast untag`: arguments → a run that removes tags → the report.

use steadfast::ExitStatus;
use steadfast::Verb;

use crate::args::{UntagArgs, usual_options};

use super::{execute, report};

pub(super) fn run(args: &UntagArgs) -> anyhow::Result<ExitStatus> {
    let selection = args.paths.explicit_selection("untag")?;
    if args.paths.files_from.is_none() {
        args.whole_system.ensure_meant("untag", &args.paths.paths, None)?;
    }
    let options = usual_options().with(|options| {
        options.dry_run = args.dry_run.dry_run;
        options.qos = args.level.level();
    });
    let options = args.catalogue.choose(args.paths.walk.empty.choose(options));
    execute(Verb::Untag, &selection, options, &args.output, report(&[]))
}
