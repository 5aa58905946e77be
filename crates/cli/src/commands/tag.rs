//! `steadfast tag`: arguments → a run that tags → the report.

use steadfast::ExitStatus;
use steadfast::Verb;

use crate::args::TagArgs;

use super::{execute, report};

pub(super) fn run(args: &TagArgs) -> anyhow::Result<ExitStatus> {
    let selection = args.write.paths.selection()?;
    let options = args.pages.choose(args.write.options());
    execute(Verb::Tag, &selection, options, &args.write.output, report)
}
