//! From a verb's arguments to its exit status.
//!
//! In: parsed arguments. Out: a status. One file for each verb: arguments → one library call → one
//! renderer. What all verbs do alike is here.

mod audit;
mod check;
mod diff;
mod documents;
mod export;
mod hash;
mod history;
mod import;
mod init;
mod probe;
mod retag;
mod show;
mod tag;
mod untag;
mod update;

use std::sync::Arc;

use steadfast::cost::SpanSink;
use steadfast::verdict::worse_status;
use steadfast::{Options, Selection, Summary, Verb};
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
        Command::Init(args) => init::run(args),
        Command::Export(args) => export::run(args),
        Command::Import(args) => import::run(args),
        Command::Tag(args) => tag::run(args),
        Command::Check(args) => check::run(args),
        Command::Update(args) => update::run(args),
        Command::Retag(args) => retag::run(args),
        Command::Untag(args) => untag::run(args),
        Command::Show(args) => show::run(args),
        Command::Hash(args) => hash::run(args),
        Command::Diff(args) => diff::run(args),
        Command::Probe(args) => probe::run(args),
        Command::History(args) => history::run(args),
        Command::Audit(args) => audit::run(args),
    }
}

/// Runs a verb and renders it as the arguments ask: JSON, CSV, or else what `text` makes.
fn execute(
    verb: Verb,
    selection: &Selection,
    options: Options,
    output: &OutputArgs,
    text: impl FnOnce(TextOptions) -> Box<dyn Renderer>,
) -> anyhow::Result<u8> {
    let reads_only = options.dry_run || matches!(verb, Verb::Check | Verb::Show | Verb::Hash);
    render_as(options, output, reads_only, text, |options, console| {
        steadfast::run::run(verb, selection, options, console)
    })
}

/// Does what is no verb of the library, and renders it likewise.
fn execute_with(
    options: Options,
    output: &OutputArgs,
    text: impl FnOnce(TextOptions) -> Box<dyn Renderer>,
    work: impl FnOnce(&Options, &mut Console<'_>) -> Result<Summary, steadfast::Error>,
) -> anyhow::Result<u8> {
    render_as(options, output, true, text, work)
}

fn render_as(
    mut options: Options,
    output: &OutputArgs,
    reads_only: bool,
    text: impl FnOnce(TextOptions) -> Box<dyn Renderer>,
    work: impl FnOnce(&Options, &mut Console<'_>) -> Result<Summary, steadfast::Error>,
) -> anyhow::Result<u8> {
    let rule = FindingRule { require_tags: options.require_tags, dry_run: options.dry_run };
    let mut renderer: Box<dyn Renderer> = match (output.json, output.csv) {
        (true, _) => Box::new(Json { quiet: output.quiet, rule }),
        (_, true) => Box::new(Csv::new(output.quiet, rule)),
        _ => text(output.text(rule)),
    };
    options.stop = exit::stop_on_signals()?;
    render(options, output, reads_only, &mut *renderer, work)
}

/// Does the work into a renderer. `options.stop` is whoever may end the run.
fn render(
    mut options: Options,
    output: &OutputArgs,
    reads_only: bool,
    renderer: &mut dyn Renderer,
    work: impl FnOnce(&Options, &mut Console<'_>) -> Result<Summary, steadfast::Error>,
) -> anyhow::Result<u8> {
    let stop = reads_only.then(|| Arc::clone(&options.stop));
    let mut console = Console::new(renderer, output, stop);
    options.survey = console.shows_progress();
    let trace = output.trace.as_deref().map(TraceFile::create).transpose()?.map(Arc::new);
    options.trace = trace.clone().map(|trace| trace as Arc<dyn SpanSink>);
    let summary = work(&options, &mut console);
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
