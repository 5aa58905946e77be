//! `steadfast update`: arguments → a run that judges and tags → the report.

use steadfast::Verb;

use crate::args::UpdateArgs;

use super::{execute, report};

pub(super) fn run(args: &UpdateArgs) -> anyhow::Result<u8> {
    let selection = args.paths.selection()?;
    let options = args.engine.options().with(|options| {
        options.dry_run = args.dry_run.dry_run;
        options.restore_tags = args.restore_tags;
        options.accept_missing = args.accept_missing;
    });
    let options = args.catalogue.choose(args.algorithm.choose(args.paths.empty.choose(options)));
    execute(Verb::Update, &selection, options, &args.output, report)
}
