//! `steadfast tag`: arguments → a run that tags → the report.

use steadfast::Verb;

use crate::args::TagArgs;

use super::{execute, report};

pub(super) fn run(args: &TagArgs) -> anyhow::Result<u8> {
    let selection = args.paths.selection()?;
    let options = args.engine.options().with(|options| options.dry_run = args.dry_run.dry_run);
    let options = args.catalogue.choose(args.algorithm.choose(args.pages.choose(options)));
    let options = args.paths.empty.choose(options);
    execute(Verb::Tag, &selection, options, &args.output, report)
}
