//! `steadfast copy`, `move` and `safe`: arguments → one library call → text or JSON.

use std::sync::Arc;

use anyhow::ensure;
use steadfast::copy::{CopyRequest, copy};
use steadfast::safe::{SafeRequest, safe};
use steadfast::{ExitStatus, Options};
use steadfast_report::copy::CopyDocument;

use crate::args::{AnswerArgs, CopyPathArgs, SafeVerbArgs};
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
        request.with_corrupt = args.with_corrupt;
        request.reads_once = args.once;
        request.anyway = args.anyway;
        request.algorithm = args.algorithm.algorithm;
        request.unknown_in.clone_from(&args.archives);
    });
    let options = stoppable(args.walk.empty.choose(args.engine.options()))?;
    let output = args.answer.output();
    let mut document = document(if moves { "move" } else { "copy" }, args.answer, request.rule);
    let mut console = Console::new(&mut document, &output, None);
    let result = copy(&selection, &request, &options, &mut console);
    console.finish(result, CopyDocument::end_of_copy, |summary| summary.exit_status())
}

/// Judges copies that exist.
pub(super) fn judge(args: &SafeVerbArgs) -> anyhow::Result<ExitStatus> {
    let options = stoppable(args.paths.walk.empty.choose(args.engine.options()))?;
    let request = SafeRequest::new(&args.archives, args.safe.rule());
    let output = args.answer.output();
    let mut document = document("safe", args.answer, request.rule);
    let stop = Arc::clone(&options.controls.stop);
    let mut console = Console::new(&mut document, &output, Some(stop));
    let result = safe(&args.paths.selection()?, &request, &options, &mut console);
    console.finish(result, CopyDocument::end_of_judgement, |summary| summary.exit_status())
}

fn stoppable(options: Options) -> anyhow::Result<Options> {
    let stop = exit::stop_on_signals()?;
    Ok(options.with(|options| {
        options.controls.stop = stop;
        options.catalogue.trees = state_folder::trees();
    }))
}

fn document(
    verb: &'static str,
    AnswerArgs { json, quiet, units, .. }: AnswerArgs,
    rule: steadfast::safe::SafeRule,
) -> CopyDocument {
    CopyDocument { verb, json, quiet, units, rule }
}
