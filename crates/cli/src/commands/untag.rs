//! `steadfast untag`: arguments → a run that removes tags → the report.

use steadfast::ExitStatus;
use steadfast::{Options, Verb};

use crate::args::UntagArgs;

use super::{execute, report};

pub(super) fn run(args: &UntagArgs) -> anyhow::Result<ExitStatus> {
    let selection = args.paths.explicit_selection("untag")?;
    let options = Options::default().with(|options| {
        options.dry_run = args.dry_run.dry_run;
        options.qos = args.level.level();
    });
    let options = args.catalogue.choose(args.paths.walk.empty.choose(options));
    execute(Verb::Untag, &selection, options, &args.output, report(&[]))
}
