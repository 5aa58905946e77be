//! `steadfast known`: arguments → one search → text or JSON.

use std::sync::Arc;

use steadfast::ExitStatus;
use steadfast::known::known;
use steadfast_report::known::KnownDocument;

use crate::args::KnownArgs;
use crate::console::Console;
use crate::exit;
use crate::state_folder;

pub(super) fn run(args: &KnownArgs) -> anyhow::Result<ExitStatus> {
    let stop = exit::stop_on_signals()?;
    let options = args.paths.walk.empty.choose(args.engine.options()).with(|options| {
        options.controls.stop = Arc::clone(&stop);
        options.catalogue.trees = state_folder::trees();
    });
    let selection = args.paths.selection()?;
    let output = args.answer.output();
    let (json, quiet, units) = (output.json, output.quiet, output.units);
    let mut document = KnownDocument { json, quiet, units };
    let mut console = Console::new(&mut document, &output, Some(stop));
    let result = known(&selection, &args.archives, &options, &mut console);
    console.finish_results(result)
}
