//! `steadfast update`: arguments → a run that judges and tags → the report.

use steadfast::ExitStatus;
use steadfast::{RetagOptions, SuspectUse, UpdateOptions, Verb};

use crate::args::UpdateArgs;

use super::{execute_accepting, report};

pub(super) fn run(args: &UpdateArgs) -> anyhow::Result<ExitStatus> {
    let selection = match args.accept {
        true => args.write.paths.explicit_selection("update --accept")?,
        false => args.write.paths.selection()?,
    };
    let (options, output) = (args.write.options(), &args.write.output);
    execute_accepting(verb(args), &selection, options, output, report(&selection.roots))
}

fn verb(args: &UpdateArgs) -> Verb {
    let algorithm = args.write.algorithm.algorithm;
    // Both replace tags, and tag no new file.
    if args.accept || args.convert {
        let UpdateArgs { accept, accept_many, .. } = *args;
        return Verb::Retag(RetagOptions { algorithm, accept, accept_many });
    }
    Verb::Update(UpdateOptions {
        algorithm,
        accept_missing: args.accept_missing,
        accept_suspect: match (args.accept_suspect, args.only_suspect) {
            (_, true) => SuspectUse::AcceptAlone,
            (true, false) => SuspectUse::Accept,
            (false, false) => SuspectUse::Leave,
        },
        accept_many: args.accept_many,
        restore_tags: args.restore_tags,
    })
}
