//! From a verb's arguments to its exit status.
//!
//! In: parsed arguments. Out: a status. One file for each verb: arguments → one library call → one
//! renderer. What all verbs do alike is here.

mod check;
mod hash;
mod retag;
mod show;
mod tag;
mod untag;
mod update;

use std::sync::Arc;

use steadfast::cost::SpanSink;
use steadfast::verdict::worse_status;
use steadfast::{Options, Selection, Verb};
use steadfast_report::{Csv, FindingRule, Json, Renderer, Text, TextOptions};

use crate::args::{Command, OutputArgs};
use crate::console::Console;
use crate::exit;
use crate::trace::TraceFile;

/// Does what the command line says and returns the exit status.
///
/// # Errors
/// If it cannot be done at all.
pub(crate) fn dispatch(command: &Command) -> anyhow::Result<u8> {
    match command {
        Command::Tag(args) => tag::run(args),
        Command::Check(args) => check::run(args),
        Command::Update(args) => update::run(args),
        Command::Retag(args) => retag::run(args),
        Command::Untag(args) => untag::run(args),
        Command::Show(args) => show::run(args),
        Command::Hash(args) => hash::run(args),
    }
}

/// Runs a verb and renders it as the arguments ask: JSON, CSV, or else what `text` makes.
fn execute(
    verb: Verb,
    selection: &Selection,
    mut options: Options,
    output: &OutputArgs,
    text: impl FnOnce(TextOptions) -> Box<dyn Renderer>,
) -> anyhow::Result<u8> {
    let rule = FindingRule { require_tags: options.require_tags, dry_run: options.dry_run };
    let mut renderer: Box<dyn Renderer> = match (output.json, output.csv) {
        (true, _) => Box::new(Json { quiet: output.quiet, rule }),
        (_, true) => Box::new(Csv::new(output.quiet, rule)),
        _ => text(output.text(rule)),
    };
    options.stop = exit::stop_on_signals()?;
    render(verb, selection, options, output, &mut *renderer)
}

/// Runs a verb into a renderer. `options.stop` is whoever may end the run.
fn render(
    verb: Verb,
    selection: &Selection,
    mut options: Options,
    output: &OutputArgs,
    renderer: &mut dyn Renderer,
) -> anyhow::Result<u8> {
    let reads_only = options.dry_run || matches!(verb, Verb::Check | Verb::Show | Verb::Hash);
    let stop = reads_only.then(|| Arc::clone(&options.stop));
    let mut console = Console::new(renderer, output, stop);
    options.survey = console.shows_progress();
    let trace = output.trace.as_deref().map(TraceFile::create).transpose()?.map(Arc::new);
    options.trace = trace.clone().map(|trace| trace as Arc<dyn SpanSink>);
    let summary = steadfast::run::run(verb, selection, &options, &mut console);
    let status = console.finish(summary)?;
    match trace.map(|trace| trace.finish()) {
        Some(Err(error)) => {
            exit::complain(&format!("{error:#}"));
            Ok(worse_status(status, exit::COULD_NOT_TELL))
        }
        _ => Ok(status),
    }
}

/// The document of every verb but `show` and `hash`.
fn report(options: TextOptions) -> Box<dyn Renderer> {
    Box::new(Text::new(options))
}
