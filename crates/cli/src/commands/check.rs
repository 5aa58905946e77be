//! `steadfast check`: arguments → a run that judges → the report.

use steadfast::{Options, Verb};

use crate::args::CheckArgs;

use super::{execute, report};

pub(super) fn run(args: &CheckArgs) -> anyhow::Result<u8> {
    let selection = args.paths.selection()?;
    let options = Options { require_tags: args.require_tags, ..args.engine.options() };
    execute(Verb::Check, &selection, options, &args.output, report)
}
