//! `steadfast update`: arguments → a run that judges and tags → the report.

use steadfast::ExitStatus;
use steadfast::{RetagOptions, SuspectUse, UpdateOptions, Verb};

use crate::args::UpdateArgs;

use super::{execute_accepting, report};

pub(super) fn run(args: &UpdateArgs) -> anyhow::Result<ExitStatus> {
    if args.accept || args.convert {
        return retag(args);
    }
    let selection = args.write.paths.selection()?;
    let verb = Verb::Update(UpdateOptions {
        algorithm: args.write.algorithm.algorithm,
        accept_missing: args.accept_missing,
        accept_suspect: match (args.accept_suspect, args.only_suspect) {
            (_, true) => SuspectUse::AcceptAlone,
            (true, false) => SuspectUse::Accept,
            (false, false) => SuspectUse::Leave,
        },
        accept_many: args.accept_many,
        restore_tags: args.restore_tags,
    });
    execute_accepting(
        verb,
        &selection,
        args.write.options(),
        &args.write.output,
        report(&selection.roots),
    )
}

/// Replaces tags, and tags no new file.
fn retag(args: &UpdateArgs) -> anyhow::Result<ExitStatus> {
    let selection = match args.accept {
        true => args.write.paths.explicit_selection("update --accept")?,
        false => args.write.paths.selection()?,
    };
    let verb = Verb::Retag(RetagOptions {
        algorithm: args.write.algorithm.algorithm,
        accept: args.accept,
        accept_many: args.accept_many,
    });
    execute_accepting(
        verb,
        &selection,
        args.write.options(),
        &args.write.output,
        report(&selection.roots),
    )
}
