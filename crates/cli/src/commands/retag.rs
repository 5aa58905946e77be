//! `steadfast retag`: arguments → a run that replaces tags → the report.

use steadfast::ExitStatus;
use steadfast::{RetagOptions, Verb};

use crate::args::RetagArgs;

use super::{execute_accepting, report};

pub(super) fn run(args: &RetagArgs) -> anyhow::Result<ExitStatus> {
    let selection = match args.accept {
        true => args.write.paths.explicit_selection("retag --accept")?,
        false => args.write.paths.selection()?,
    };
    let verb = Verb::Retag(RetagOptions {
        algorithm: args.write.algorithm.algorithm,
        accept: args.accept,
        accept_many: args.accept_many,
    });
    execute_accepting(verb, &selection, args.write.options(), &args.write.output, report)
}
