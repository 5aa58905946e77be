//! From a verb's arguments to its exit status.
//!
//! In: parsed arguments. Out: a status. There is one file per verb: arguments → one library call →
//! one renderer. Code that all verbs share is here.

mod alert;
mod answer;
mod audit;
mod check;
#[cfg(feature = "companions")]
mod code;
mod copy;
mod diff;
mod documents;
mod export;
mod hash;
mod help;
mod history;
mod import;
mod init;
mod known;
mod manual;
#[cfg(feature = "companions")]
mod measure;
mod merge;
mod pages;
mod par2;
mod parity;
mod premis;
mod qos;
mod repair;
mod safe;
mod schedule;
#[cfg(feature = "serve")]
mod serve;
mod show;
mod status;
mod tag;
mod tree_catalogue;
mod untag;
mod update;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use steadfast::ExitStatus;
use steadfast::catalogue::Audit;
use steadfast::cost::SpanSink;
use steadfast::process::{DownloadScope, allow_downloads};
use steadfast::{CatalogueUse, ErrorKind, Options, Run, Selection, Summary, Verb};
use steadfast_report::{FindingRule, Renderer, RunLines, Text, TextOptions, advice};

use crate::args::{Cli, Command, OutputArgs};
use crate::console::Console;
use crate::exit;
use crate::run_page::{Collecting, RunPage};
use crate::session;
use crate::trace::TraceFile;

/// Ages in days by which a report groups what was verified.
const COVERAGE_DAYS: [u32; 7] = [1, 7, 30, 90, 180, 365, 730];

/// Runs a command and returns its exit status.
///
/// # Errors
/// If the verb could not run at all.
pub(crate) fn dispatch(Cli { command, level }: &Cli) -> anyhow::Result<u8> {
    // What lies in a cloud is fetched only where a run is asked to, in its own threads: otherwise
    // opening a folder could wait for a network. If the system refuses, a flag still tells of
    // files. Programs inherit it, so verbs that start one of the user's do not set it.
    let starts_programs = match command {
        Command::Qos(_) => true,
        #[cfg(feature = "serve")]
        Command::Serve(args) => args.open,
        _ => false,
    };
    if !starts_programs {
        let _ = allow_downloads(DownloadScope::Process, false);
    }
    if let Some(level) = level
        && let Some(status) = session::settle(*level)?
    {
        return Ok(status);
    }
    match command {
        Command::Init(args) => init::run(args),
        Command::Export(args) => export::run(args),
        Command::Import(args) => import::run(args),
        Command::Tag(args) => tag::run(args),
        Command::Check(args) => match args.shard.shard {
            Some(shard) => return check::shard::run(args, shard),
            None => check::run(args),
        },
        Command::Merge(args) => merge::run(args),
        Command::Update(args) => update::run(args),
        Command::Untag(args) => untag::run(args),
        Command::Show(args) => show::run(args),
        Command::Hash(args) => hash::run(args),
        Command::Diff(args) => diff::run(args),
        Command::Copy(args) => copy::run(&args.copy, false),
        Command::Move(args) => copy::run(&args.copy, true),
        Command::Safe(args) => safe::run(args),
        Command::Known(args) => known::run(args),
        Command::Status(args) => status::run(args),
        Command::Schedule(args) => schedule::run(args),
        Command::Alert(args) => alert::run(args),
        #[cfg(feature = "companions")]
        Command::Code(args) => code::run(args),
        Command::Parity(args) => parity::run(args),
        Command::Repair(args) => repair::run(args),
        #[cfg(feature = "companions")]
        Command::Measure(args) => measure::run(args),
        Command::Qos(args) => return qos::run(args),
        Command::Help(args) => help::run(args),
        #[cfg(feature = "serve")]
        Command::Serve(args) => serve::run(args),
    }
    .map(ExitStatus::code)
}

/// Runs a verb and renders it as the arguments ask: JSON, CSV, or else what `text` makes.
fn execute(
    verb: Verb,
    selection: &Selection,
    options: Options,
    output: &OutputArgs,
    text: impl FnOnce(TextOptions) -> Box<dyn Renderer>,
) -> anyhow::Result<ExitStatus> {
    let reads_only = options.dry_run || matches!(verb, Verb::Check(_) | Verb::Show | Verb::Hash(_));
    let root = selection.roots.first().map(PathBuf::as_path);
    let place = RunPlace { root, reads_only, require_tags: verb.requires_tags() };
    render_as(options, output, place, text, |options, console| {
        Run::of(verb, selection.clone(), options.clone()).run(console)
    })
}

/// Runs a verb that accepts changed contents. If too many changed at once, it says which option
/// accepts them.
fn execute_accepting(
    verb: Verb,
    selection: &Selection,
    options: Options,
    output: &OutputArgs,
    text: impl FnOnce(TextOptions) -> Box<dyn Renderer>,
) -> anyhow::Result<ExitStatus> {
    let done = execute(verb, selection, options, output, text);
    let too_many = |error: &anyhow::Error| {
        let error = error.downcast_ref::<steadfast::Error>();
        error.is_some_and(|error| error.kind() == ErrorKind::TooManyChanges)
    };
    match done {
        Err(error) if too_many(&error) => {
            let advice = "`update --accept-many` accepts the changes";
            exit::complain(&format!("{} {advice}", exit::words(&error)));
            Ok(ExitStatus::Changed)
        }
        done => done,
    }
}

/// Does work that is not a verb of the library, and renders it in the same way.
fn execute_with(
    options: Options,
    output: &OutputArgs,
    text: impl FnOnce(TextOptions) -> Box<dyn Renderer>,
    work: impl FnOnce(
        &Options,
        &mut Console<'_, dyn Renderer + '_>,
    ) -> Result<Summary, steadfast::Error>,
) -> anyhow::Result<ExitStatus> {
    render_as(options, output, RunPlace::READ, text, work)
}

/// Where a run works.
#[derive(Clone, Copy)]
struct RunPlace<'a> {
    /// The first root, whose catalogue a report reads.
    root: Option<&'a Path>,
    /// Whether the run only reads there.
    reads_only: bool,
    /// Whether a file without a tag is a failure.
    require_tags: bool,
}

impl RunPlace<'_> {
    /// A place that is only read, without a catalogue.
    const READ: Self = RunPlace { root: None, reads_only: true, require_tags: false };
}

fn render_as(
    options: Options,
    output: &OutputArgs,
    place: RunPlace<'_>,
    text: impl FnOnce(TextOptions) -> Box<dyn Renderer>,
    work: impl FnOnce(
        &Options,
        &mut Console<'_, dyn Renderer + '_>,
    ) -> Result<Summary, steadfast::Error>,
) -> anyhow::Result<ExitStatus> {
    let rule = FindingRule { require_tags: place.require_tags, dry_run: options.dry_run };
    let mut renderer: Box<dyn Renderer> = match (output.json, output.csv) {
        (true, _) => Box::new(RunLines::json(output.quiet, rule)),
        (_, true) => Box::new(RunLines::csv(output.quiet, rule)),
        _ => text(output.text(rule)),
    };
    exit::set_on_signals(&options.controls.stop)?;
    render(options, output, place, &mut *renderer, work)
}

/// Does the work with a renderer. `options.controls.stop` ends the run when it is set.
fn render(
    mut options: Options,
    output: &OutputArgs,
    place: RunPlace<'_>,
    renderer: &mut dyn Renderer,
    work: impl FnOnce(
        &Options,
        &mut Console<'_, dyn Renderer + '_>,
    ) -> Result<Summary, steadfast::Error>,
) -> anyhow::Result<ExitStatus> {
    let rule = FindingRule { require_tags: place.require_tags, dry_run: options.dry_run };
    let page = output.report.as_deref().map(|file| {
        let begun = (options.now)();
        RunPage::begin(file, output.units, begun)
    });
    let page = page.transpose()?;
    let trace = output.trace.as_deref().map(TraceFile::create).transpose()?.map(Arc::new);
    options.trace = trace.clone().map(|trace| trace as Arc<dyn SpanSink>);
    let Some(page) = page else {
        let status = watch(options, output, place, renderer, work)?;
        return Ok(status.max(finish_trace(trace)));
    };
    options.trace = Some(page.spans(options.trace.take()));
    let catalogue = options.catalogue.choice.clone();
    let mut collecting = Collecting::new(renderer, rule);
    let status = watch(options, output, place, &mut collecting, work)?;
    let status = status.max(finish_trace(trace));
    let Collecting { report, view: Some(view), .. } = collecting else { return Ok(status) };
    let audit = place.root.filter(|_| view.catalogued).and_then(|root| coverage(root, &catalogue));
    let kept = page.finish(report, &view, audit.as_ref());
    Ok(status.max(status_of_kept(kept)))
}

/// Does the work, and shows its progress.
fn watch(
    mut options: Options,
    output: &OutputArgs,
    place: RunPlace<'_>,
    renderer: &mut dyn Renderer,
    work: impl FnOnce(
        &Options,
        &mut Console<'_, dyn Renderer + '_>,
    ) -> Result<Summary, steadfast::Error>,
) -> anyhow::Result<ExitStatus> {
    let stop = place.reads_only.then(|| Arc::clone(&options.controls.stop));
    let mut console = Console::new(renderer, output, stop);
    options.survey = console.shows_progress();
    let summary = work(&options, &mut console);
    console.finish(summary)
}

/// Ends a trace and returns its status.
fn finish_trace(trace: Option<Arc<TraceFile>>) -> ExitStatus {
    trace.map_or(ExitStatus::Fine, |trace| status_of_kept(trace.finish()))
}

/// Reports that a file beside the answer could not be written, and returns the status. The findings
/// of the run stand either way.
fn status_of_kept(kept: anyhow::Result<()>) -> ExitStatus {
    let Err(error) = kept else { return ExitStatus::Fine };
    exit::complain(&exit::words(&error));
    ExitStatus::Undetermined
}

/// Returns what the catalogue of a run can prove, if it can be read.
fn coverage(root: &Path, catalogue: &CatalogueUse) -> Option<Audit> {
    let file = match catalogue {
        CatalogueUse::At(file) => Some(file.as_path()),
        _ => None,
    };
    let (catalogue, _) = tree_catalogue::open(root, file).ok()?;
    catalogue.audit(&COVERAGE_DAYS, (Options::default().now)()).ok()
}

/// Returns what makes the text renderer of every verb except `show` and `hash`.
fn report(paths: &[PathBuf]) -> impl FnOnce(TextOptions) -> Box<dyn Renderer> + use<> {
    // What is typed later, maybe elsewhere, must not mean another folder.
    let whole = |path: &PathBuf| match path == Path::new(".") {
        true => std::env::current_dir().unwrap_or_else(|_| path.clone()),
        false => path.clone(),
    };
    let paths = advice::typed_paths(&paths.iter().map(whole).collect::<Vec<_>>());
    |options| Box::new(Text::new(options).naming(paths))
}
