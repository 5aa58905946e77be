//! `steadfast update`: arguments → a run that judges and tags → the report.

use steadfast::ExitStatus;
use steadfast::Verb;
use steadfast::run::SuspectUse;

use crate::args::UpdateArgs;

use super::{execute_accepting, report};

pub(super) fn run(args: &UpdateArgs) -> anyhow::Result<ExitStatus> {
    let selection = args.write.paths.selection()?;
    let options = args.write.options().with(|options| {
        options.restore_tags = args.restore_tags;
        options.accept_missing = args.accept_missing;
        options.accept_suspect = match (args.accept_suspect, args.only_suspect) {
            (_, true) => SuspectUse::AcceptAlone,
            (true, false) => SuspectUse::Accept,
            (false, false) => SuspectUse::Leave,
        };
        options.accept_many = args.accept_many;
    });
    execute_accepting(Verb::Update, &selection, options, &args.write.output, report)
}
