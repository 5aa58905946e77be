//! One execution of a verb: options in, events between, summary out.
//!
//! The verbs are in `run/`, each an arrangement of the same stages; read those first. Only here do
//! all stages meet.

mod check;
mod hash;
mod judge;
mod retag;
mod show;
mod survey;
mod tag;
mod untag;
mod update;

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use steadfast_digest::{Algorithm, Backend, Lanes};
use steadfast_sys::file::{Status, Timestamp, raise_open_files_limit, reserve_open_files};
use steadfast_sys::qos::Level;
use steadfast_sys::storage::{self, Medium};
use steadfast_sys::{clock, machine};

pub use hash::digest_of;
use judge::Tools;
use survey::Survey;

use crate::cost::{JobFacts, SpanSink, Stage, StageClock};
use crate::error::Error;
use crate::hash::{Pipeline, Settings, Task, fastest_lanes};
use crate::monitor::{Event, FileEvent, Monitor, Notice, Progress, Skipped, Summary};
use crate::read::Engine;
use crate::read::buffered::Buffered;
use crate::read::direct::Direct;
use crate::store::Store;
use crate::store::xattr::Xattr;
use crate::walk::{Excludes, walk};

/// What a run is to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    /// Hash every file without a tag and tag it.
    Tag,
    /// Hash every tagged file and judge it. Writes nothing.
    Check,
    /// Tag new files, retag modified ones, report corrupt ones and leave them alone.
    Update,
    /// Make tags fit the present contents.
    Retag {
        /// Whether also of files that look corrupt, or whose tag is damaged.
        accept: bool,
    },
    /// Remove tags and nothing else.
    Untag,
    /// Report tags without reading contents.
    Show,
    /// Hash every file, tagged or not.
    Hash,
}

impl Verb {
    /// Returns the name as the command has it.
    pub fn name(self) -> &'static str {
        match self {
            Verb::Tag => "tag",
            Verb::Check => "check",
            Verb::Update => "update",
            Verb::Retag { .. } => "retag",
            Verb::Untag => "untag",
            Verb::Show => "show",
            Verb::Hash => "hash",
        }
    }

    fn task(self, tools: Tools) -> Arc<dyn Task> {
        match self {
            Verb::Tag => Arc::new(tag::TagTask { tools }),
            Verb::Check => Arc::new(check::CheckTask { tools }),
            Verb::Update => Arc::new(update::UpdateTask { tools }),
            Verb::Retag { accept } => Arc::new(retag::RetagTask { tools, accept }),
            Verb::Untag => Arc::new(untag::UntagTask { tools }),
            Verb::Show => Arc::new(show::ShowTask { tools }),
            Verb::Hash => Arc::new(hash::HashTask { tools }),
        }
    }
}

/// Where the bytes are to come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReadFrom {
    /// Through the page cache: fastest, and proves what the system would hand to any program.
    #[default]
    Cache,
    /// Past the page cache, from the medium, wherever the file system can.
    Media,
}

/// What files a run is about.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// Files and directories, as the user wrote them. Links among these are followed.
    pub roots: Vec<PathBuf>,
    /// Further paths from a list; links among these are skipped like links in a tree.
    pub listed: Vec<PathBuf>,
    /// Whether every path is one file: exactly one event each, in order, even if named twice;
    /// links are followed, directories not entered.
    pub exact: bool,
    /// Patterns of what to leave out, in the syntax of `.gitignore`, relative to each root.
    pub excludes: Vec<String>,
    /// Whether to stay on the file system of each root.
    pub one_file_system: bool,
}

/// How a run is carried out; every field has a default that needs no thought.
#[derive(Clone, Debug)]
pub struct Options {
    /// The algorithm of new tags and of `hash`; `None` for SHA-256, and for tags that are there
    /// already their own.
    pub algorithm: Option<Algorithm>,
    /// Threads that hash; `None` for one per processor.
    pub workers: Option<usize>,
    /// The SHA-256 backend; `None` for the best that this machine has.
    pub backend: Option<Backend>,
    /// Lanes of that backend; `None` for its best.
    pub lanes: Option<usize>,
    /// Where bytes come from.
    pub read_from: ReadFrom,
    /// Reading jobs at a time; `None` for one where a disk rotates, and otherwise as many as pay.
    pub queue_depth: Option<usize>,
    /// The level of the run's threads.
    pub qos: Level,
    /// Whether to say what would be written and write nothing.
    pub dry_run: bool,
    /// Whether a file without a tag fails a check.
    pub require_tags: bool,
    /// Who hears what every thread does, job by job; `None` for nobody, which costs nothing.
    pub trace: Option<Arc<dyn SpanSink>>,
    /// Whether to count the tree beside the run, so that progress knows the end.
    pub survey: bool,
    /// Set from outside to end the run early; the summary then says so.
    pub stop: Arc<AtomicBool>,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            algorithm: None,
            workers: None,
            backend: None,
            lanes: None,
            read_from: ReadFrom::Cache,
            queue_depth: None,
            qos: Level::Default,
            dry_run: false,
            require_tags: false,
            trace: None,
            survey: false,
            stop: Arc::new(AtomicBool::new(false)),
        }
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
    let engine: Arc<dyn Engine> = match options.read_from {
        ReadFrom::Cache => Arc::new(Buffered),
        ReadFrom::Media => Arc::new(Direct),
    };
    run_with(verb, selection, options, engine, Arc::new(Xattr), monitor)
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
    let start = Instant::now();
    if engine.invents() && verb != Verb::Hash {
        return Err(Error::usage(format!("the engine {} is for measuring alone", engine.name())));
    }
    let excludes = Arc::new(Excludes::new(&selection.excludes)?);
    let lanes = lanes_of(options)?;
    let settings = settings_of(selection, options, lanes)?;
    let tools = Tools {
        store,
        algorithm: options.algorithm,
        dry_run: options.dry_run,
        now: clock::utc_now,
    };
    let (engine_name, engine_after) = (engine.name(), Arc::clone(&engine));
    let trace = options.trace.clone();
    let pipeline = Pipeline::start(verb.task(tools), engine, lanes, settings, trace)?;
    let walked = spawn_walk(&pipeline, selection, &excludes)?;
    let survey = if options.survey { Survey::start(selection, &excludes) } else { None };
    let mut collector = Collector {
        summary: Summary {
            verb: verb.name(),
            dry_run: options.dry_run,
            workers: settings.workers,
            backend: lanes.to_string(),
            engine: engine_name,
            ..Summary::default()
        },
        require_tags: options.require_tags,
        seen: HashSet::new(),
        monitor,
        clock: pipeline.report_clock(),
    };
    let stopped = collector.follow(&pipeline, options, survey.as_ref(), start);
    ensure_whole(&pipeline, stopped)?;
    let mut notices = pipeline.notices();
    notices.extend(notice_of_origin(options, &collector.summary));
    notices.extend(engine_after.notice().map(|text| Notice { path: None, text }));
    let walked = *walked.lock().unwrap_or_else(PoisonError::into_inner);
    collector.summary.skipped = walked.skipped;
    collector.summary.interrupted |= stopped && !walked.whole;
    if collector.summary.files == 0 && walked.whole {
        let text = "no file was found: is this the right place, and is it mounted?".to_owned();
        notices.push(Notice { path: None, text });
        if options.require_tags {
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

fn settings_of(selection: &Selection, options: &Options, lanes: Lanes) -> Result<Settings, Error> {
    let workers = options.workers.unwrap_or_else(machine::logical_cpus);
    if !(1..=WORKERS_MAX).contains(&workers) {
        return Err(Error::usage(format!("a run has 1 to {WORKERS_MAX} workers, not {workers}")));
    }
    let queue_depth = options.queue_depth.unwrap_or_else(|| queue_depth_of(selection));
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

/// How a walk ended.
#[derive(Clone, Copy, Default)]
struct Walked {
    skipped: Skipped,
    /// Whether it came to the end of every root.
    whole: bool,
}

/// Starts the walk's thread; how it ended is filled in then.
fn spawn_walk(
    pipeline: &Pipeline,
    selection: &Selection,
    excludes: &Arc<Excludes>,
) -> Result<Arc<Mutex<Walked>>, Error> {
    let mut feeder = pipeline.feeder();
    let walked = Arc::new(Mutex::new(Walked::default()));
    let (selection, excludes) = (selection.clone(), Arc::clone(excludes));
    let (result, stop) = (Arc::clone(&walked), feeder.stop_flag());
    thread::Builder::new()
        .name("walk".to_owned())
        .spawn(move || {
            feeder.begin();
            let (skipped, whole) = walk(&selection, &excludes, &stop, &mut |found| {
                if feeder.feed(found) { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            });
            *result.lock().unwrap_or_else(PoisonError::into_inner) = Walked { skipped, whole };
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
    clock: StageClock,
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
            if told.elapsed() >= PROGRESS_EVERY {
                told = Instant::now();
                let (bytes, bytes_passed) = pipeline.bytes();
                let elapsed_ns = start.elapsed().as_nanos() as u64;
                self.monitor.progress(&Progress {
                    files: self.summary.files,
                    bytes,
                    bytes_passed,
                    total: survey.and_then(Survey::total),
                    elapsed_ns,
                    bound: pipeline.account(elapsed_ns).bounds().map(|bounds| bounds.limit.bound),
                });
                self.clock.lap(Stage::Report);
            }
        }
        self.tell(pipeline.leftovers().into_iter());
        self.summary.interrupted = stopped.is_some() && !pipeline.is_complete();
        stopped.is_some()
    }

    /// Tells the monitor of events, after waiting for them.
    fn tell(&mut self, events: impl ExactSizeIterator<Item = Box<FileEvent>>) {
        self.clock.lap(Stage::Wait);
        self.clock.begin_job();
        let files = events.len() as u64;
        for event in events {
            self.take(event);
        }
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
        self.monitor.event(&Event::File(event));
    }
}

/// Returns the moment of a tag: whole seconds.
fn whole_seconds(now: Timestamp) -> Timestamp {
    Timestamp { seconds: now.seconds, nanoseconds: 0 }
}
