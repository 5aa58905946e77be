//! `steadfast copy` and `move`: arguments → one library call → text or JSON.

use anyhow::ensure;
use steadfast::copy::{CopyRequest, ListKind, copy};
use steadfast::safe::SafeRule;
use steadfast::{ExitStatus, Options};
use steadfast_report::copy::CopyDocument;

use crate::args::{AnswerArgs, CopyPathArgs};
use crate::console::Console;
use crate::exit;
use crate::state_folder;

/// Copies, or moves.
pub(super) fn run(args: &CopyPathArgs, moves: bool) -> anyhow::Result<ExitStatus> {
    let (mut sources, mut destinations) = (args.paths.clone(), args.to.clone());
    if destinations.is_empty() {
        destinations.extend(sources.pop());
        ensure!(!sources.is_empty(), "name a destination: after the source, or with --to");
    }
    let selection = args.walk.selection()?.with(|selection| selection.roots = sources);
    let request = CopyRequest::to(destinations).with(|request| {
        request.rule = args.safe.rule();
        request.moves = moves;
        request.reads_once = args.once;
        request.anyway = args.anyway;
        request.algorithm = args.algorithm.algorithm;
        request.unknown_in.clone_from(&args.archives);
        request.list = match (args.mhl, args.bag) {
            (Some(algorithm), _) => ListKind::Mhl(algorithm),
            (None, true) => ListKind::Bag,
            (None, false) => ListKind::None,
        };
    });
    let options = stoppable(args.walk.empty.choose(args.engine.options()))?;
    let output = args.answer.output();
    let mut document = document(if moves { "move" } else { "copy" }, args.answer, request.rule);
    let mut console = Console::new(&mut document, &output, None);
    let result = copy(&selection, &request, &options, &mut console);
    console.finish_results(result)
}

/// Returns options of a run that a signal stops.
pub(super) fn stoppable(options: Options) -> anyhow::Result<Options> {
    let stop = exit::stop_on_signals()?;
    Ok(options.with(|options| {
        options.controls.stop = stop;
        options.catalogue.trees = state_folder::trees();
    }))
}

/// Makes what writes the answer.
pub(super) fn document(
    verb: &'static str,
    AnswerArgs { json, quiet, units, .. }: AnswerArgs,
    rule: SafeRule,
) -> CopyDocument {
    CopyDocument { verb, json, quiet, units, rule }
}
