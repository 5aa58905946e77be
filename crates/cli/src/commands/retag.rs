//! `steadfast retag`: arguments → a run that replaces tags → the report.

use steadfast::Verb;

use crate::args::RetagArgs;

use super::{execute, report};

pub(super) fn run(args: &RetagArgs) -> anyhow::Result<u8> {
    let selection = match args.accept {
        true => args.paths.explicit_selection("retag --accept")?,
        false => args.paths.selection()?,
    };
    let options = args.engine.options().with(|options| options.dry_run = args.dry_run.dry_run);
    let options = args.catalogue.choose(args.algorithm.choose(args.paths.empty.choose(options)));
    execute(Verb::Retag { accept: args.accept }, &selection, options, &args.output, report)
}
