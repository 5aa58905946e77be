//! `steadfast update`: arguments → a run that judges and tags → the report.

use steadfast::Verb;

use crate::args::UpdateArgs;

use super::{execute, report};

pub(super) fn run(args: &UpdateArgs) -> anyhow::Result<u8> {
    let selection = args.write.paths.selection()?;
    let options = args.write.options().with(|options| {
        options.restore_tags = args.restore_tags;
        options.accept_missing = args.accept_missing;
    });
    execute(Verb::Update, &selection, options, &args.write.output, report)
}
