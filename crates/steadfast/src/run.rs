//! One execution of a verb: options in, events between, summary out.
//!
//! The verbs are in `run/`, each an arrangement of the same stages; read those first. Only here do
//! all stages meet.

mod check;
mod compare;
mod due;
mod hash;
mod import;
mod judge;
mod kept;
mod listed;
mod options;
mod read;
mod retag;
mod show;
mod source;
mod survey;
mod tag;
mod untag;
mod update;

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use steadfast_digest::Lanes;
use steadfast_sys::file::{Status, Timestamp, raise_open_files_limit, reserve_open_files};
use steadfast_sys::storage::{self, Medium};

use due::DueList;
pub use hash::{digest_of, fastest_lanes};
use judge::Tools;
use kept::{Kept, Opened};
pub use options::{CatalogueUse, DueChoice, Options, ReadFrom, Selection, Verb};
pub use read::read_without_hashing;
use source::{ListSource, Source, WalkSource, Walked};
use survey::Survey;

use crate::catalogue::{Catalogue, Records, Scope, Writer};
use crate::cost::{JobFacts, Role, Stage, StageClock};
use crate::error::Error;
use crate::hash::{Pipeline, Settings, Task};
use crate::monitor::{Event, FileEvent, Monitor, Notice, Progress, Summary};
use crate::read::Engine;
use crate::read::buffered::Buffered;
use crate::read::direct::Direct;
use crate::read::limited::Limited;
use crate::reference::Reference;
use crate::store::Store;
use crate::store::pages::PageKeeper;
use crate::store::xattr::Xattr;
use crate::walk::{Excludes, Listed};

fn task_of(verb: Verb, tools: Tools) -> Arc<dyn Task> {
    match verb {
        Verb::Tag => Arc::new(tag::TagTask { tools }),
        Verb::Check => Arc::new(check::CheckTask { tools }),
        Verb::Update => Arc::new(update::UpdateTask { tools }),
        Verb::Retag { accept } => Arc::new(retag::RetagTask { tools, accept }),
        Verb::Untag => Arc::new(untag::UntagTask { tools }),
        Verb::Show => Arc::new(show::ShowTask { tools }),
        Verb::Hash => Arc::new(hash::HashTask { tools }),
        Verb::Import => Arc::new(import::ImportTask { tools, trust: false }),
        Verb::Export(kind) => Arc::new(import::ExportTask { tools, kind }),
    }
}

/// Executes a verb.
///
/// Trouble with single files is in the events and in the summary's exit status.
///
/// # Errors
/// If an option makes no sense, or the system does not give what the whole run needs.
pub fn run(
    verb: Verb,
    selection: &Selection,
    options: &Options,
    monitor: &mut dyn Monitor,
) -> Result<Summary, Error> {
    let engine = engine_of(options);
    run_with(verb, selection, options, engine, Arc::new(Xattr), monitor)
}

/// Returns the way of reading that was asked for.
fn engine_of(options: &Options) -> Arc<dyn Engine> {
    let engine: Arc<dyn Engine> = match options.read_from {
        ReadFrom::Cache => Arc::new(Buffered),
        ReadFrom::Media => Arc::new(Direct),
    };
    match options.rate_limit_bytes_per_s {
        Some(bytes_per_s) => Arc::new(Limited::new(engine, bytes_per_s)),
        None => engine,
    }
}

/// Executes a verb with a given engine and store, as tests and measurements do.
///
/// # Errors
/// As [`run`].
pub fn run_with(
    verb: Verb,
    selection: &Selection,
    options: &Options,
    engine: Arc<dyn Engine>,
    store: Arc<dyn Store>,
    monitor: &mut dyn Monitor,
) -> Result<Summary, Error> {
    if engine.invents() && verb != Verb::Hash {
        return Err(Error::usage(format!("the engine {} is for measuring alone", engine.name())));
    }
    let opened = Opened::find(verb, selection, options)?;
    let opened = match (opened, options.due) {
        (None, Some(_)) => return Err(Error::usage(NOT_CATALOGUED)),
        (Some(opened), Some(choice)) if opened.has_due(choice)? => {
            return check_due(opened, choice, selection, options, engine, store, monitor);
        }
        (opened, _) => opened,
    };
    let excludes = Arc::new(Excludes::new(&selection.excludes)?);
    let scope = opened.as_ref().map(|opened| Scope::of(opened.catalogue.root(), selection));
    let records = opened.as_ref().zip(scope.as_ref());
    let records = records.map(|(opened, scope)| opened.records(scope)).transpose()?;
    let backend = lanes_of(options)?.to_string();
    let accepts = options.accept_missing && !options.dry_run;
    let begin = kept::begin(verb.name(), &backend, accepts, options);
    let catalogue = opened.as_ref().map(|opened| opened.file.as_path());
    let pages = pages_of(verb, catalogue, options)?;
    let kept = opened.zip(scope);
    let kept = kept.map(|(opened, scope)| opened.keep(scope, selection, &begin)).transpose()?;
    let counted = || Survey::start(selection, &excludes, options.qos);
    let survey = options.survey.then(counted).flatten();
    let work = Work {
        verb: verb.name(),
        task: task_of(verb, Tools { pages, ..tools(store, records, options) }),
        engine,
        source: Box::new(WalkSource { selection: selection.clone(), excludes }),
        queue_depth: options.queue_depth.unwrap_or_else(|| queue_depth_of(selection)),
        kept,
        if_empty: NO_FILE,
    };
    execute(work, options, survey.as_ref(), monitor)
}

/// Makes the catalogue of a tree, in the tree or in `file`, and enters what its tags say. Nothing
/// is read but tags, so nothing is proved yet.
///
/// # Errors
/// If there is one already, or it cannot be written.
pub fn init(
    root: &Path,
    file: Option<&Path>,
    options: &Options,
    monitor: &mut dyn Monitor,
) -> Result<Summary, Error> {
    let writer = Writer { verb: "init", now: (options.now)(), wait: None };
    let catalogue = Catalogue::create(root, file, &writer)?;
    let selection = Selection { roots: vec![root.to_owned()], ..Selection::default() };
    let scope = Scope::of(catalogue.root(), &selection);
    let opened = Opened::new(catalogue);
    let begin = kept::begin("init", "", false, options);
    let work = Work {
        verb: "init",
        task: task_of(Verb::Show, tools(Arc::new(Xattr), None, options)),
        engine: Arc::new(Buffered),
        queue_depth: queue_depth_of(&selection),
        kept: Some(opened.keep(scope, &selection, &begin)?),
        source: Box::new(WalkSource { selection, excludes: Arc::new(Excludes::new(&[])?) }),
        if_empty: NO_FILE,
    };
    execute(work, options, None, monitor)
}

/// A list of files and of what it says of each: a path beneath a root, with a reference or
/// without; or why a line of it, in the document named, cannot be understood.
pub type List = Box<dyn Iterator<Item = Result<(PathBuf, Option<Reference>), Unlisted>> + Send>;

/// A line of a list that cannot be understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unlisted {
    /// The list.
    pub document: PathBuf,
    /// Where in it, and why.
    pub reason: String,
}

/// Compares files beneath a root with what a list says of each. What is not there is missing.
///
/// # Errors
/// As [`run`].
pub fn compare(
    root: &Path,
    list: List,
    options: &Options,
    monitor: &mut dyn Monitor,
) -> Result<Summary, Error> {
    let tools = tools(Arc::new(Xattr), None, options);
    let task = Arc::new(compare::CompareTask { tools });
    run_listed(Verb::Check, task, (root, list), None, options, monitor)
}

/// Checks files beneath a root by what a list says of each, and where it says nothing, by their own
/// tags. What is not there is missing.
///
/// # Errors
/// As [`run`].
pub fn check_listed(
    root: &Path,
    list: List,
    options: &Options,
    monitor: &mut dyn Monitor,
) -> Result<Summary, Error> {
    let tools = || tools(Arc::new(Xattr), None, options);
    let by_list = compare::CompareTask { tools: tools() };
    let task = listed::ListedTask { by_tag: check::CheckTask { tools: tools() }, by_list };
    run_listed(Verb::Check, Arc::new(task), (root, list), None, options, monitor)
}

/// Gives files beneath a root, where they lack our tag, one of what a list says of each.
///
/// With `trust`, digests are believed although the list does not say what time they are of: the
/// tag then has the file's present modification time. Otherwise such files are read and compared.
///
/// # Errors
/// As [`run`].
pub fn import(
    root: &Path,
    list: List,
    trust: bool,
    options: &Options,
    monitor: &mut dyn Monitor,
) -> Result<Summary, Error> {
    let selection = Selection { roots: vec![root.to_owned()], ..Selection::default() };
    let opened = Opened::find(Verb::Import, &selection, options)?;
    // Where the tree's root is above or elsewhere, a walk's scope without its walks.
    let scope = opened.as_ref().map(|opened| {
        let whole = Scope::of(opened.catalogue.root(), &selection);
        whole.without_walks()
    });
    let records = opened.as_ref().zip(scope.as_ref());
    let records = records.map(|(opened, scope)| opened.records(scope)).transpose()?;
    let begin = kept::begin(Verb::Import.name(), "", false, options);
    let kept = opened.zip(scope);
    let kept = kept.map(|(opened, scope)| opened.keep(scope, &selection, &begin)).transpose()?;
    let tools = tools(Arc::new(Xattr), records, options);
    let task = Arc::new(import::ImportTask { tools, trust });
    run_listed(Verb::Import, task, (root, list), kept, options, monitor)
}

fn run_listed(
    verb: Verb,
    task: Arc<dyn Task>,
    (root, list): (&Path, List),
    kept: Option<Kept>,
    options: &Options,
    monitor: &mut dyn Monitor,
) -> Result<Summary, Error> {
    let selection = Selection { roots: vec![root.to_owned()], ..Selection::default() };
    let list = list.map(|line| match line {
        Ok((path, reference)) => Listed::File { path, reference: reference.map(Box::new) },
        Err(Unlisted { document, reason }) => Listed::Fault(document, reason),
    });
    let work = Work {
        verb: verb.name(),
        task,
        engine: engine_of(options),
        queue_depth: options.queue_depth.unwrap_or_else(|| queue_depth_of(&selection)),
        kept,
        source: Box::new(ListSource { root: root.to_owned(), list: Box::new(list) }),
        if_empty: "the list names no file",
    };
    let mut summary = execute(work, options, None, monitor)?;
    if summary.files == 0 {
        summary.raise_status(2);
    }
    Ok(summary)
}

/// Checks what is due, the longest-unchecked first.
fn check_due(
    opened: Opened,
    choice: DueChoice,
    selection: &Selection,
    options: &Options,
    engine: Arc<dyn Engine>,
    store: Arc<dyn Store>,
    monitor: &mut dyn Monitor,
) -> Result<Summary, Error> {
    let root = opened.catalogue.root().to_owned();
    let scope = Scope::files_beneath(&root);
    let records = Some(opened.records(&scope)?);
    let beneath = beneath(&root, selection)?;
    let (list, outcome) = DueList::begin(&opened, choice, beneath, (options.now)())?;
    let selection = Selection { roots: vec![root.clone()], ..Selection::default() };
    let backend = lanes_of(options)?.to_string();
    let begin = kept::begin(Verb::Check.name(), &backend, false, options);
    let pages = pages_of(Verb::Check, Some(&opened.file), options)?;
    let work = Work {
        verb: Verb::Check.name(),
        task: task_of(Verb::Check, Tools { pages, ..tools(store, records, options) }),
        engine,
        queue_depth: options.queue_depth.unwrap_or_else(|| queue_depth_of(&selection)),
        kept: Some(opened.keep(scope, &Selection::default(), &begin)?),
        source: Box::new(ListSource { root, list: Box::new(list) }),
        if_empty: "nothing is due",
    };
    let summary = execute(work, options, None, monitor);
    outcome.ensure_whole()?;
    summary
}

/// Returns what part of a catalogued tree one selected path is, as a path from the tree's root.
fn beneath(root: &Path, selection: &Selection) -> Result<PathBuf, Error> {
    let [path] = &selection.roots[..] else {
        return Err(Error::usage("what is due is of one PATH at a time"));
    };
    let real = path.canonicalize().map_err(|error| Error::system("open", error).at(path))?;
    match (real.strip_prefix(root), root.strip_prefix(&real)) {
        (Ok(down), _) => Ok(down.to_owned()),
        (_, Ok(_)) => Ok(PathBuf::new()),
        _ => Err(Error::usage("it is not in the catalogued tree").at(path)),
    }
}

/// Looks at files without opening them and compares what the file system says with the catalogue:
/// length, times and inode. It proves nothing about bytes, and leaves no record.
///
/// # Errors
/// If there is no catalogue, or it cannot be read.
pub fn quick(
    selection: &Selection,
    options: &Options,
    monitor: &mut dyn Monitor,
) -> Result<Summary, Error> {
    let start = Instant::now();
    let reading = Options { dry_run: true, ..options.clone() };
    let opened = Opened::find(Verb::Check, selection, &reading)?;
    let opened = opened.ok_or_else(|| Error::usage(NOT_CATALOGUED))?;
    let mut summary = Summary { verb: "check", engine: "quick", workers: 1, ..Summary::default() };
    summary.catalogued = true;
    kept::look_quickly(opened, selection, options, &mut summary, monitor)?;
    summary.elapsed_ns = start.elapsed().as_nanos() as u64;
    Ok(summary)
}

/// Why a run that needs a catalogue cannot begin.
const NOT_CATALOGUED: &str =
    "there is no catalogue at or above these paths: `steadfast init DIR` makes one";

fn tools(store: Arc<dyn Store>, records: Option<Arc<Records>>, options: &Options) -> Tools {
    Tools {
        store,
        records,
        restore_tags: options.restore_tags,
        judges: options.judge,
        accept_missing: options.accept_missing,
        algorithm: options.algorithm,
        pages: None,
        stop: Arc::clone(&options.stop),
        dry_run: options.dry_run,
        now: options.now,
    }
}

/// Returns where leaves of pages are kept, for verbs that tag or check.
fn pages_of(
    verb: Verb,
    catalogue: Option<&Path>,
    options: &Options,
) -> Result<Option<Arc<PageKeeper>>, Error> {
    match verb {
        Verb::Tag | Verb::Check | Verb::Update | Verb::Retag { .. } => {
            let keeper = PageKeeper::new(&options.pages, catalogue, fastest_lanes())?;
            Ok(Some(Arc::new(keeper)))
        }
        _ => Ok(None),
    }
}

/// What a run consists of, once it is known what is asked for.
struct Work {
    verb: &'static str,
    task: Arc<dyn Task>,
    engine: Arc<dyn Engine>,
    source: Box<dyn Source>,
    queue_depth: usize,
    kept: Option<Kept>,
    /// What to say if there was no file at all.
    if_empty: &'static str,
}

/// What to say of a walk that found nothing.
const NO_FILE: &str = "no file was found: is this the right place, and is it mounted?";

/// Runs the pipeline to its end.
fn execute(
    work: Work,
    options: &Options,
    survey: Option<&Survey>,
    monitor: &mut dyn Monitor,
) -> Result<Summary, Error> {
    let start = Instant::now();
    let Work { verb, task, engine, source, queue_depth, kept, if_empty } = work;
    let lanes = lanes_of(options)?;
    let settings = settings_of(queue_depth, options, lanes)?;
    let (engine_name, engine_after) = (engine.name(), Arc::clone(&engine));
    let pipeline = Pipeline::start(task, engine, lanes, settings, options.trace.clone())?;
    let walked = spawn(&pipeline, source)?;
    let mut collector = Collector {
        summary: Summary {
            verb,
            dry_run: options.dry_run,
            workers: settings.workers,
            backend: lanes.to_string(),
            engine: engine_name,
            catalogued: kept.is_some(),
            ..Summary::default()
        },
        require_tags: options.require_tags,
        seen: HashSet::new(),
        monitor,
        kept,
        now: options.now,
        clock: pipeline.report_clock(),
        held: Duration::ZERO,
    };
    let stopped = collector.follow(&pipeline, options, survey, start);
    ensure_whole(&pipeline, stopped)?;
    let mut notices = pipeline.notices();
    notices.extend(notice_of_origin(options, &collector.summary));
    notices.extend(notice_of_hold(collector.held));
    notices.extend(engine_after.notice().map(|text| Notice { path: None, text }));
    let walked = *walked.lock().unwrap_or_else(PoisonError::into_inner);
    collector.summary.skipped = walked.skipped;
    collector.summary.interrupted |= stopped && !walked.whole;
    collector.finish(walked.whole && !collector.summary.interrupted);
    if collector.summary.files == 0 && walked.whole {
        notices.push(Notice { path: None, text: if_empty.to_owned() });
        if options.require_tags && options.due.is_none() {
            collector.summary.raise_status(2);
        }
    }
    for notice in notices {
        collector.monitor.event(&Event::Notice(notice));
    }
    collector.clock.lap(Stage::Report);
    let Collector { mut summary, clock, .. } = collector;
    clock.close();
    summary.elapsed_ns = start.elapsed().as_nanos() as u64;
    summary.account = pipeline.account(summary.elapsed_ns);
    Ok(summary)
}

/// Makes an end without every file's event an error: never look as if all were well.
fn ensure_whole(pipeline: &Pipeline, stopped: bool) -> Result<(), Error> {
    if pipeline.has_failed() || !(stopped || pipeline.has_told_all()) {
        let reason = "a thread failed, or a file was lost on the way: this is a defect";
        return Err(Error::system("finish the run", std::io::Error::other(reason)));
    }
    Ok(())
}

fn settings_of(queue_depth: usize, options: &Options, lanes: Lanes) -> Result<Settings, Error> {
    let workers = options.workers.unwrap_or_else(|| crate::qos::workers(options.qos));
    if !(1..=WORKERS_MAX).contains(&workers) {
        return Err(Error::usage(format!("a run has 1 to {WORKERS_MAX} workers, not {workers}")));
    }
    if queue_depth == 0 {
        return Err(Error::usage("a queue has a depth of at least 1"));
    }
    let open_files = raise_open_files_limit().unwrap_or(OPEN_FILES_MIN);
    // Without it the run is only slower.
    let _ = reserve_open_files(open_files.min(OPEN_FILES_RESERVED));
    Ok(Settings::new(workers, lanes, open_files, options.qos).with_queue_depth(queue_depth))
}

/// One reader to a disk that rotates, in the order of the disk; no limit elsewhere.
fn queue_depth_of(selection: &Selection) -> usize {
    let mut paths = selection.roots.iter().chain(&selection.listed).take(ROOTS_LOOKED_AT);
    let rotates = paths.any(|path| {
        let device = Status::of(path).map(|status| status.device);
        device.is_ok_and(|device| storage::medium(device) == Medium::Rotating)
    });
    if rotates { 1 } else { usize::MAX }
}

fn lanes_of(options: &Options) -> Result<Lanes, Error> {
    match (options.backend, options.lanes) {
        (None, None) => Ok(fastest_lanes()),
        (Some(backend), None) => Ok(Lanes::best(backend)),
        (backend, Some(count)) => Lanes::new(backend.unwrap_or_default(), count)
            .map_err(|error| Error::usage(error.to_string())),
    }
}

/// Starts the thread that finds files; how that ended is filled in then.
fn spawn(pipeline: &Pipeline, source: Box<dyn Source>) -> Result<Arc<Mutex<Walked>>, Error> {
    let mut feeder = pipeline.feeder();
    let walked = Arc::new(Mutex::new(Walked::default()));
    let (result, stop) = (Arc::clone(&walked), feeder.stop_flag());
    thread::Builder::new()
        .name("walk".to_owned())
        .spawn(move || {
            feeder.begin();
            let ended = source.find(&stop, &mut |found| {
                if feeder.feed(found) { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            });
            *result.lock().unwrap_or_else(PoisonError::into_inner) = ended;
            feeder.end();
        })
        .map_err(|error| Error::system("start a thread", error))?;
    Ok(walked)
}

/// Says so when the medium was asked for and the page cache answered.
fn notice_of_origin(options: &Options, summary: &Summary) -> Option<Notice> {
    let cached = summary.bytes - summary.bytes_from_media;
    (options.read_from == ReadFrom::Media && cached > 0).then(|| Notice {
        path: None,
        text: format!(
            "{cached} of {} bytes cannot be said to come from the medium: the file system reads \
             them through the page cache, or does not tell",
            summary.bytes
        ),
    })
}

/// Says so when the run was held, since its seconds and its rate include that.
fn notice_of_hold(held: Duration) -> Option<Notice> {
    (!held.is_zero()).then(|| Notice {
        path: None,
        text: format!(
            "the run was held for {:.1} s in all, as asked: its time and its rate include them",
            held.as_secs_f64()
        ),
    })
}

/// More workers than any machine has use for; memory is bounded for no more.
const WORKERS_MAX: usize = 256;

/// Files that any process may open, where the system does not say more.
const OPEN_FILES_MIN: u64 = 256;

/// Files that a run has open at a time, at most, on machines of ordinary size.
const OPEN_FILES_RESERVED: u64 = 1024;

/// Paths that are asked for their disk; a long list is taken to be on the disks of its beginning.
const ROOTS_LOOKED_AT: usize = 64;

/// Linked files that are known again by another name.
const LINKED_FILES_MAX: usize = 100_000;

/// How long the threads of an interrupted run may finish what they are doing.
const GRACE: Duration = Duration::from_millis(600);

/// How often progress is told.
const PROGRESS_EVERY: Duration = Duration::from_millis(100);

/// Takes finished events to the monitor and into the summary.
struct Collector<'a> {
    summary: Summary,
    require_tags: bool,
    /// Files with several names that came by.
    seen: HashSet<(u64, u64)>,
    monitor: &'a mut dyn Monitor,
    kept: Option<Kept>,
    now: fn() -> Timestamp,
    clock: StageClock,
    /// For how long the run was held.
    held: Duration,
}

/// Whether a run is held, and for how long it was.
#[derive(Default)]
struct Held {
    since: Option<Instant>,
    before: Duration,
}

impl Held {
    /// Holds the run or lets it go on, if that was asked for.
    fn heed(&mut self, asked: bool, pipeline: &Pipeline) {
        match (self.since, asked) {
            (None, true) => self.since = Some(Instant::now()),
            (Some(since), false) => {
                self.before += since.elapsed();
                self.since = None;
            }
            _ => return,
        }
        pipeline.hold(asked);
    }

    /// Returns the time since `start`, without that in which the run was held.
    fn without(&self, start: Instant) -> Duration {
        let until = self.since.unwrap_or_else(Instant::now);
        until.saturating_duration_since(start).saturating_sub(self.before)
    }

    /// Returns how long the run was held until now.
    fn time(&self) -> Duration {
        self.before + self.since.map_or(Duration::ZERO, |since| since.elapsed())
    }
}

impl Collector<'_> {
    /// Follows a run to its end; says whether it was told to stop.
    fn follow(
        &mut self,
        pipeline: &Pipeline,
        options: &Options,
        survey: Option<&Survey>,
        start: Instant,
    ) -> bool {
        let mut told = start;
        let mut held = Held::default();
        let mut stopped: Option<Instant> = None;
        let mut patience = Duration::from_millis(1);
        loop {
            let over = pipeline.is_over();
            let events = pipeline.finished(if over { Duration::ZERO } else { patience });
            self.tell(events.into_iter());
            let late = stopped.is_some_and(|since| since.elapsed() > GRACE);
            if over || late || pipeline.has_failed() {
                break;
            }
            patience = (patience * 2).min(Duration::from_millis(25));
            if stopped.is_none() && options.stop.load(Ordering::Relaxed) {
                stopped = Some(Instant::now());
                pipeline.stop();
            }
            held.heed(options.hold.load(Ordering::Relaxed), pipeline);
            if told.elapsed() >= PROGRESS_EVERY {
                told = Instant::now();
                let elapsed = held.without(start);
                self.progress(pipeline, survey, elapsed);
            }
        }
        self.held = held.time();
        self.tell(pipeline.leftovers().into_iter());
        self.summary.interrupted = stopped.is_some() && !pipeline.is_complete();
        stopped.is_some()
    }

    /// Tells the monitor how far the run is.
    fn progress(&mut self, pipeline: &Pipeline, survey: Option<&Survey>, elapsed: Duration) {
        let (bytes, bytes_passed) = pipeline.bytes();
        let elapsed_ns = elapsed.as_nanos() as u64;
        let account = pipeline.account(elapsed_ns);
        self.monitor.progress(&Progress {
            files: self.summary.files,
            bytes,
            bytes_passed,
            total: survey.and_then(Survey::total),
            elapsed_ns,
            bound: account.bounds().map(|bounds| bounds.limit.bound),
            cost: account.cost_of(|role| role == Role::Worker),
        });
        self.clock.lap(Stage::Report);
    }

    /// Tells the monitor of events, after waiting for them.
    fn tell(&mut self, events: impl ExactSizeIterator<Item = Box<FileEvent>>) {
        self.clock.lap(Stage::Wait);
        self.clock.begin_job();
        let files = events.len() as u64;
        for event in events {
            self.take(event);
        }
        self.keep(|kept, now, tell| kept.tick(now, tell));
        self.clock.lap(Stage::Report);
        self.clock.end_job();
        self.clock.hand_in(JobFacts { files, ..JobFacts::default() });
    }

    fn take(&mut self, mut event: Box<FileEvent>) {
        // Whichever name was opened first, the first in walk order stands for the reading.
        if let Some(identity) = event.identity {
            if self.seen.len() >= LINKED_FILES_MAX {
                self.seen.clear();
            }
            if !self.seen.insert(identity) {
                event.linked = true;
                (event.bytes_read, event.elapsed_ns) = (0, 0);
            }
        }
        let status = judge::exit_status(&event, self.require_tags, self.summary.dry_run);
        self.summary.count(&event, status);
        let event = Event::File(event);
        self.monitor.event(&event);
        if let Event::File(event) = event {
            self.keep(|kept, _, tell| kept.take(&event, tell));
        }
    }

    /// Ends the record of the run in the catalogue.
    fn finish(&mut self, whole: bool) {
        self.keep(|kept, now, tell| kept.finish(whole, now, tell));
    }

    /// Has the catalogue do something, and tells what it finds.
    fn keep(&mut self, work: impl FnOnce(&mut Kept, Timestamp, &mut kept::Tell<'_>)) {
        let Collector { kept, summary, monitor, require_tags, now, .. } = self;
        let Some(kept) = kept else { return };
        work(kept, now(), &mut |event| {
            match &event {
                Event::File(event) => {
                    summary.count(event, judge::exit_status(event, *require_tags, false));
                }
                Event::Finding(noted) => summary.note(&noted.finding),
                Event::Notice(_) => {}
            }
            monitor.event(&event);
        });
        if kept.has_failed() {
            summary.raise_status(2);
        }
    }
}

/// Returns the moment of a tag: whole seconds.
fn whole_seconds(now: Timestamp) -> Timestamp {
    Timestamp { seconds: now.seconds, nanoseconds: 0 }
}
