//! `steadfast tag`: arguments → a run that tags → the report.

use steadfast::ExitStatus;
use steadfast::{TagOptions, Verb};

use crate::args::TagArgs;

use super::{execute, report};

pub(super) fn run(args: &TagArgs) -> anyhow::Result<ExitStatus> {
    args.write.ensure_meant("tag")?;
    let selection = args.write.paths.selection()?;
    let algorithm = args.write.algorithm.algorithm;
    let verb = Verb::Tag(TagOptions { algorithm, pages: args.pages.choice() });
    execute(verb, &selection, args.write.options(), &args.write.output, report(&selection.roots))
}
