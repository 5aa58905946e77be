//! `steadfast safe`: arguments → one library call → text or JSON.

use std::sync::Arc;

use steadfast::ExitStatus;
use steadfast::safe::{SafeRequest, safe};
use steadfast_report::safe::SafeDocument;

use super::copy::{document, stoppable};
use crate::args::SafeVerbArgs;
use crate::console::Console;

/// Judges copies that exist.
pub(super) fn run(args: &SafeVerbArgs) -> anyhow::Result<ExitStatus> {
    let options = stoppable(args.paths.walk.empty.choose(args.engine.options()))?;
    let request = SafeRequest::new(&args.archives, args.safe.rule());
    let output = args.answer.output();
    let mut document = SafeDocument::new(document("safe", args.answer, request.rule));
    let stop = Arc::clone(&options.controls.stop);
    let mut console = Console::new(&mut document, &output, Some(stop));
    let result = safe(&args.paths.selection()?, &request, &options, &mut console);
    console.finish_results(result)
}
