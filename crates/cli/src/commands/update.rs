//! `steadfast update`: arguments → a run that judges and tags → the report.

use steadfast::{Options, Verb};

use crate::args::UpdateArgs;

use super::{execute, report};

pub(super) fn run(args: &UpdateArgs) -> anyhow::Result<u8> {
    let selection = args.paths.selection()?;
    let options = Options {
        dry_run: args.dry_run.dry_run,
        restore_tags: args.restore_tags,
        accept_missing: args.accept_missing,
        ..args.engine.options()
    };
    let options = args.catalogue.choose(args.algorithm.choose(args.paths.empty.choose(options)));
    execute(Verb::Update, &selection, options, &args.output, report)
}
