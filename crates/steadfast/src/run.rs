//! One execution of a verb: takes options, sends events, returns a summary.
//!
//! The verbs are in `run/`, each an arrangement of the same stages; read those first. `run/work.rs`
//! has the part that all verbs share.

mod changes;
mod check;
mod collector;
mod compare;
mod due;
mod file_judge;
mod first_tag;
mod hash;
mod import;
mod init;
mod judge;
mod tag_context;
mod leaves;
mod listed;
mod open_catalogue;
mod options;
mod quick;
mod read;
mod recording;
mod renamed;
mod settings;
mod show;
mod source;
mod survey;
mod tag;
mod untag;
mod update;
mod verify_pages;
mod work;

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use steadfast_sys::file::Timestamp;

pub use changes::{TreeChanges, changes};
pub(crate) use changes::{are_alarming, are_many, ensure_consent, to_be_accepted};
pub(crate) use check::ProvedFile;
use due::{DueList, TimeLimit};
pub(crate) use file_judge::{FileJudge, FileTrial};
pub use hash::digest_of;
pub(crate) use leaves::leaves_folder;
pub(crate) use open_catalogue::advised;
pub use options::{
    CatalogueOptions, CatalogueUse, CheckOptions, Controls, DatalessUse, DueChoice, HashOptions,
    InitOptions, Options, ReadFrom, ReadingOptions, RetagOptions, SuspectUse, TagOptions,
    UpdateOptions, Verb,
};
pub use quick::quick;
pub use read::read_without_hashing;
use recording::RunRecording;
pub use renamed::RenamedFile;
use settings::RunSettings;
pub use settings::prepare_open_files;
pub(crate) use settings::{engine_of, lanes_of, queue_depth_of, workers_of};
use source::{ListSource, WalkSource};
use survey::Survey;
use tag_context::TagContext;
pub use verify_pages::{PagesOptions, Verified, verify_pages};
use work::{Work, execute};

use crate::advice::Advice;
use crate::catalogue::{CatalogueReader, CatalogueSession, Finding, Repairs};
use crate::error::Error;
use crate::event::Notice;
use crate::exit_status::ExitStatus;
use crate::monitor::{Event, FindingEvent, Monitor, Summary};
use crate::pages::PagesUse;
use crate::pipeline::Task;
use crate::read::Engine;
use crate::reference::Reference;
use crate::selection::Selection;
use crate::store::pages::PageKeeper;
use crate::store::xattr::Xattr;
use crate::store::{Store, has_tag};
use crate::verb_kind::VerbKind;
use crate::walk::{Excludes, Listed, WalkItem, walk};

fn task_of(verb: Verb, context: TagContext) -> Arc<dyn Task> {
    match verb {
        Verb::Tag(_) => Arc::new(tag::TagTask { context }),
        Verb::Init(InitOptions { tags_only: true, .. }) => Arc::new(show::ShowTask { context }),
        Verb::Init(_) => Arc::new(init::InitTask { check: check::CheckTask { context } }),
        Verb::Check(_) => Arc::new(check::CheckTask { context }),
        Verb::Update(options) => Arc::new(update::UpdateTask::update(context, options)),
        Verb::Retag(options) => Arc::new(update::UpdateTask::retag(context, options)),
        Verb::Untag => Arc::new(untag::UntagTask { context }),
        Verb::Show => Arc::new(show::ShowTask { context }),
        Verb::Hash(hash) => Arc::new(hash::HashTask { context, judges: hash.judge }),
        Verb::Import => Arc::new(import::ImportTask { context, trust: false }),
        Verb::Export(kind) => Arc::new(import::ExportTask { context, kind }),
    }
}

/// Files that a repair or a copy wrote, and read back, just before the run.
#[derive(Default)]
pub(crate) struct ProvedFiles {
    /// Those whose contents were proved.
    pub(crate) files: Vec<ProvedFile>,
    /// Where the contents of each repaired file came from.
    pub(crate) repairs: Repairs,
    /// Whether the catalogue accepts tags that differ from its own.
    pub(crate) accepts: bool,
}

/// Executes a verb over files that were just proved. Those that did not change since are not read
/// again, and the catalogue records that they were.
///
/// # Errors
/// As [`crate::Run::run`].
pub(crate) fn run_proved(
    verb: Verb,
    proved: ProvedFiles,
    selection: &Selection,
    options: &Options,
    monitor: &mut dyn Monitor,
) -> Result<Summary, Error> {
    let engine = engine_of(options);
    run_as(verb, Some(proved), selection, options, engine, Arc::new(Xattr), monitor)
}

/// Executes a verb with a given engine and store.
pub(crate) fn run_as(
    verb: Verb,
    proved: Option<ProvedFiles>,
    selection: &Selection,
    options: &Options,
    engine: Arc<dyn Engine>,
    store: Arc<dyn Store>,
    monitor: &mut dyn Monitor,
) -> Result<Summary, Error> {
    if engine.invents() && !matches!(verb, Verb::Hash(_)) {
        return Err(Error::usage(format!("the engine {} is for measuring alone", engine.name())));
    }
    let options = &Options { dataless: options.dataless_of(verb), ..options.clone() };
    let session = open_catalogue::open(verb, selection, options)?;
    let session = match (session, verb) {
        (None, Verb::Check(CheckOptions { due: Some(_), .. })) => return Err(not_catalogued()),
        (Some(session), Verb::Check(check @ CheckOptions { due: Some(choice), .. }))
            if open_catalogue::has_due(&session, choice)? =>
        {
            let due = (session, choice, check.require_tags);
            return check_due(due, selection, options, engine, store, monitor);
        }
        (session, _) => session,
    };
    let mut notices = open_catalogue::notices(verb, selection, options, session.is_some());
    let excludes = Arc::new(Excludes::new(&selection.excludes)?);
    let session = session.map(|session| session.covering(selection)).transpose()?;
    let records = match &session {
        Some(session) => Some(Arc::new(session.reader()?)),
        None => open_catalogue::records(verb, selection, options, &mut notices)?,
    };
    let settings = RunSettings::of(options, selection)?;
    let backend = settings.lanes.to_string();
    let accepts = verb.accepts_missing() || proved.as_ref().is_some_and(|it| it.accepts);
    let accepts = accepts && !options.dry_run;
    let recorded_as = options.catalogue.recorded_as.unwrap_or(verb.kind());
    let catalogue = session.as_ref().map(|session| session.catalogue().file());
    let known_proofs = known_proofs(verb, session.as_ref(), options)?;
    let pages = pages_of(verb, catalogue, options)?;
    let context = TagContext { pages, ..context_of(verb, store, records, options) };
    let walked = session.as_ref().map_or_else(|| selection.clone(), |it| it.walked(selection));
    let start = (recorded_as, &*backend, accepts);
    let recording = session.map(|session| RunRecording::start(session, selection, start, options));
    let mut recording = recording.transpose()?;
    let mut task = task_of(verb, context.clone());
    if let Some(proved) = proved {
        task = Arc::new(check::ProvedTask::new(task, context, proved.files));
        if let Some(recording) = &mut recording {
            recording.set_repairs(proved.repairs);
        }
    }
    let counted = || Survey::new(walked.clone(), Arc::clone(&excludes), options.qos);
    let survey = options.survey.then(counted);
    if let (Verb::Init(InitOptions { tags_only: false, .. }), Some(survey)) = (verb, &survey) {
        monitor.progress(&survey.forecast(known_proofs));
    }
    let work = Work {
        verb: verb.kind(),
        task,
        engine,
        settings,
        source: Box::new(WalkSource {
            selection: walked,
            excludes,
            reads_leaves: matches!(verb, Verb::Check(_)),
        }),
        require_tags: verb.requires_tags(),
        time_limit: None,
        recording,
        notices,
        if_empty: if_empty(verb),
    };
    execute(work, survey.as_ref(), monitor)
}

/// Returns the files and bytes that `init` need not read, because the catalogue has proofs of them.
fn known_proofs(
    verb: Verb,
    session: Option<&CatalogueSession>,
    options: &Options,
) -> Result<(u64, u64), Error> {
    let (Verb::Init(_), Some(session)) = (verb, session) else { return Ok((0, 0)) };
    let audit = session.catalogue().audit(&[], (options.now)())?;
    let proofs = audit.proofs.iter().map(|of| (of.entries, of.bytes));
    Ok(proofs.fold((0, 0), |sum, of| (sum.0 + of.0, sum.1 + of.1)))
}

/// Returns what a run says that found no file. `init` made the catalogue all the same, and files
/// may be added later.
fn if_empty(verb: Verb) -> Notice {
    match verb {
        Verb::Init(_) => Notice { status: ExitStatus::Fine, ..no_file() },
        _ => no_file(),
    }
}

/// The lines of a list: a path beneath a root with its reference, if it has one, or why a line
/// cannot be read.
pub type List = Box<dyn Iterator<Item = Result<(PathBuf, Option<Reference>), Unlisted>> + Send>;

/// A line of a list that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unlisted {
    /// The list.
    pub document: PathBuf,
    /// The place in the list, and the reason.
    pub reason: String,
}

/// The files beside a list that are reported because it does not name them.
#[derive(Clone, Debug)]
pub enum Unnamed {
    /// These, which it should name.
    Known(Vec<PathBuf>),
    /// All beneath the root, except the file of the list itself, as device and inode.
    All {
        /// The file of the list.
        list: Option<(u64, u64)>,
    },
}

/// Compares files beneath a root with the entries of a list. A listed file that does not exist is
/// missing. Files that it does not name are reported as `unnamed` asks for.
///
/// # Errors
/// As [`crate::Run::run`].
pub fn compare(
    root: &Path,
    list: List,
    unnamed: Unnamed,
    require_tags: bool,
    options: &Options,
    monitor: &mut dyn Monitor,
) -> Result<Summary, Error> {
    let check = Verb::Check(CheckOptions { require_tags, ..CheckOptions::default() });
    let context = context_of(check, Arc::new(Xattr), records_of(root, options), options);
    let task = Arc::new(compare::CompareTask { context });
    let named = Arc::new(Mutex::new(HashSet::new()));
    let list: List = match unnamed {
        Unnamed::Known(_) => list,
        Unnamed::All { .. } => {
            let named = Arc::clone(&named);
            Box::new(list.inspect(move |line| {
                let mut named = named.lock().unwrap_or_else(PoisonError::into_inner);
                named.extend(line.as_ref().ok().map(|(path, _)| path.clone()));
            }))
        }
    };
    let mut summary = run_listed(check, task, (root, list), None, options, monitor)?;
    let extra = match unnamed {
        Unnamed::Known(extra) => extra,
        Unnamed::All { .. } if summary.interrupted => Vec::new(),
        Unnamed::All { list } => {
            let named = named.lock().unwrap_or_else(PoisonError::into_inner);
            unnamed_beneath(root, list, &named, options, &mut summary, monitor)?
        }
    };
    report_extra(root, extra, &mut summary, monitor);
    Ok(summary)
}

/// Returns the files beneath a root that a list does not name. A folder that cannot be walked may
/// have more, so the run is then no success.
fn unnamed_beneath(
    root: &Path,
    output: Option<(u64, u64)>,
    named: &HashSet<PathBuf>,
    options: &Options,
    summary: &mut Summary,
    monitor: &mut dyn Monitor,
) -> Result<Vec<PathBuf>, Error> {
    let selection = Selection { output, with_sidecars: true, ..Selection::of([root]) };
    let mut extra = Vec::new();
    let mut failures = Vec::new();
    let (excludes, stop) = (Excludes::new(&[])?, &options.controls.stop);
    let (_, whole) = walk(&selection, &excludes, has_tag, stop, &mut |found| {
        match found {
            WalkItem::File(entry) => {
                let path = entry.path.to_path();
                let path = path.strip_prefix(root).unwrap_or(&path);
                extra.extend((!named.contains(path)).then(|| path.to_owned()));
            }
            WalkItem::Failed(event) => {
                let why = event.trouble.as_ref().map(ToString::to_string).unwrap_or_default();
                failures.push(Notice::failure(why).at(&event.path.to_path()));
            }
            WalkItem::Notice(notice) => failures.push(notice),
            WalkItem::Leaves(_) | WalkItem::EmptyFolder(_) | WalkItem::Ours(..) => {}
        }
        ControlFlow::Continue(())
    });
    summary.interrupted |= !whole;
    for notice in failures {
        summary.raise_status(notice.status);
        monitor.notice(notice);
    }
    Ok(extra)
}

/// Returns the records of the catalogue of a root, which say more of files that differ from a list.
/// A catalogue that cannot be used says nothing.
fn records_of(root: &Path, options: &Options) -> Option<Arc<CatalogueReader>> {
    let selection = Selection { roots: vec![root.to_owned()], ..Selection::default() };
    let reading = Options { dry_run: true, ..options.clone() };
    let session = open_catalogue::open(Verb::check(), &selection, &reading).ok()??;
    session.covering_list(&selection).reader().ok().map(Arc::new)
}

/// Checks files beneath a root by the references of a list, and by their own tags where the list
/// has none. A listed file that does not exist is missing.
///
/// # Errors
/// As [`crate::Run::run`].
pub fn check_listed(
    root: &Path,
    list: List,
    require_tags: bool,
    options: &Options,
    monitor: &mut dyn Monitor,
) -> Result<Summary, Error> {
    let check = Verb::Check(CheckOptions { require_tags, ..CheckOptions::default() });
    let records = records_of(root, options);
    let context = || context_of(check, Arc::new(Xattr), records.clone(), options);
    let by_list = compare::CompareTask { context: context() };
    let task = listed::ListedTask { by_tag: check::CheckTask { context: context() }, by_list };
    run_listed(check, Arc::new(task), (root, list), None, options, monitor)
}

/// Writes tags from the references of a list, as [`crate::import`] does.
///
/// # Errors
/// As [`crate::Run::run`].
pub(crate) fn import(
    root: &Path,
    list: List,
    extra: Vec<PathBuf>,
    trust: bool,
    options: &Options,
    monitor: &mut dyn Monitor,
) -> Result<Summary, Error> {
    let selection = Selection { roots: vec![root.to_owned()], ..Selection::default() };
    let session = open_catalogue::open(Verb::Import, &selection, options)?;
    let session = session.map(|session| session.covering_list(&selection));
    let records = session.as_ref().map(CatalogueSession::reader).transpose()?.map(Arc::new);
    let start = (VerbKind::Import, "", false);
    let recording = session.map(|session| RunRecording::start(session, &selection, start, options));
    let recording = recording.transpose()?;
    let context = context_of(Verb::Import, Arc::new(Xattr), records, options);
    let task = Arc::new(import::ImportTask { context, trust });
    let mut summary = run_listed(Verb::Import, task, (root, list), recording, options, monitor)?;
    report_extra(root, extra, &mut summary, monitor);
    Ok(summary)
}

/// Reports the files that a list should name but does not.
fn report_extra(
    root: &Path,
    extra: Vec<PathBuf>,
    summary: &mut Summary,
    monitor: &mut dyn Monitor,
) {
    let shown = if root == Path::new(".") { Path::new("") } else { root };
    for path in extra {
        let path = shown.join(path);
        let noted = FindingEvent { finding: Finding::Extra { path: path.clone() }, path };
        summary.note(&noted.finding);
        let _ = monitor.event(&Event::Finding(Box::new(noted)));
    }
}

fn run_listed(
    verb: Verb,
    task: Arc<dyn Task>,
    (root, list): (&Path, List),
    recording: Option<RunRecording>,
    options: &Options,
    monitor: &mut dyn Monitor,
) -> Result<Summary, Error> {
    let selection = Selection { roots: vec![root.to_owned()], ..Selection::default() };
    let list = list.map(|line| match line {
        Ok((path, reference)) => Listed::File { path, reference: reference.map(Box::new) },
        Err(Unlisted { document, reason }) => Listed::Fault(document, reason),
    });
    let work = Work {
        verb: verb.kind(),
        task,
        engine: engine_of(options),
        settings: RunSettings::of(options, &selection)?,
        require_tags: verb.requires_tags(),
        time_limit: None,
        recording,
        source: Box::new(ListSource {
            root: root.to_owned(),
            is_real: false,
            list: Box::new(list),
        }),
        notices: Vec::new(),
        if_empty: Notice::failure("the list names no file"),
    };
    execute(work, None, monitor)
}

/// Checks the files that are due, the longest unchecked first.
fn check_due(
    (session, choice, require_tags): (CatalogueSession, DueChoice, bool),
    selection: &Selection,
    options: &Options,
    engine: Arc<dyn Engine>,
    store: Arc<dyn Store>,
    monitor: &mut dyn Monitor,
) -> Result<Summary, Error> {
    let deadline = choice.max_time.and_then(|time| Instant::now().checked_add(time));
    let root = session.catalogue().root().to_owned();
    let beneath = beneath(&root, selection)?;
    let (session, unmounted) = session.reporting_unmounted(&beneath)?;
    let records = Some(Arc::new(session.reader()?));
    let within = (beneath, unmounted);
    let (list, outcome) = DueList::begin(session.catalogue(), choice, within, (options.now)())?;
    let if_empty = list.if_empty();
    let selection = Selection { roots: vec![root.clone()], ..Selection::default() };
    let settings = RunSettings::of(options, &selection)?;
    let backend = settings.lanes.to_string();
    let pages = pages_of(Verb::check(), Some(session.catalogue().file()), options)?;
    let mut context = TagContext { pages, ..context_of(Verb::check(), store, records, options) };
    let time_limit = deadline.map(|deadline| {
        context.stop = Arc::default();
        TimeLimit { deadline, files_due: list.files(), stop: Arc::clone(&context.stop) }
    });
    let start = (VerbKind::Check, &*backend, false);
    let recording = RunRecording::start(session, &Selection::default(), start, options)?;
    let work = Work {
        verb: VerbKind::Check,
        task: task_of(Verb::check(), context),
        engine,
        settings,
        require_tags,
        time_limit,
        recording: Some(recording.recording_missing(!choice.leaves_missing)),
        source: Box::new(ListSource { root, is_real: true, list: Box::new(list) }),
        notices: Vec::new(),
        if_empty,
    };
    let summary = execute(work, None, monitor);
    outcome.ensure_whole()?;
    summary
}

/// Returns the part of a catalogued tree that one selected path names, as a path from the tree's
/// root.
fn beneath(root: &Path, selection: &Selection) -> Result<PathBuf, Error> {
    let mut paths = selection.roots.iter().chain(&selection.listed);
    let (Some(path), None) = (paths.next(), paths.next()) else {
        return Err(Error::usage("what is due is of one PATH at a time"));
    };
    let real = path.canonicalize().map_err(|error| Error::system("open", error).at(path))?;
    match (real.strip_prefix(root), root.strip_prefix(&real)) {
        (Ok(down), _) => Ok(down.to_owned()),
        (_, Ok(_)) => Ok(PathBuf::new()),
        _ => Err(Error::usage(open_catalogue::NOT_IN_TREE).at(path)),
    }
}

/// Returns the notice for a walk that found nothing.
pub(crate) fn no_file() -> Notice {
    Notice::failure("no file was found: is this the right place, and is it mounted?")
}

/// Makes the error of a run that needs a catalogue.
fn not_catalogued() -> Error {
    let text = "there is no catalogue at or above these paths";
    Error::usage(text).advise(Advice::MakeCatalogue)
}

fn context_of(
    verb: Verb,
    store: Arc<dyn Store>,
    records: Option<Arc<CatalogueReader>>,
    options: &Options,
) -> TagContext {
    TagContext {
        store,
        records,
        algorithm: verb.algorithm(),
        accept_missing: verb.accepts_missing(),
        pages: None,
        stop: Arc::clone(&options.controls.stop),
        dry_run: options.dry_run,
        ignore_change_times: options.ignore_change_times,
        now: options.now,
    }
}

/// Returns where the leaves of pages are kept, for verbs that tag or check.
fn pages_of(
    verb: Verb,
    catalogue: Option<&Path>,
    options: &Options,
) -> Result<Option<Arc<PageKeeper>>, Error> {
    let pages = match verb {
        Verb::Tag(tag) => tag.pages,
        Verb::Init(InitOptions { tags_only: false, .. })
        | Verb::Check(_)
        | Verb::Update(_)
        | Verb::Retag(_) => PagesUse::Kept,
        _ => return Ok(None),
    };
    let folder = catalogue.map(leaves_folder).transpose()?.flatten();
    let keeper = PageKeeper::new(pages, folder, Arc::clone(&options.controls.stop))?;
    Ok(Some(Arc::new(keeper)))
}

/// Returns the time of a tag, in whole seconds.
pub(crate) fn whole_seconds(now: Timestamp) -> Timestamp {
    Timestamp { seconds: now.seconds, nanoseconds: 0 }
}
