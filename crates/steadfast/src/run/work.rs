//! A run once it is known what is asked for: the pipeline is started, followed to its end, and
//! summed up.
//!
//! In come a task, a source and an engine; out comes the summary. Must not know verbs.

use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use steadfast_digest::Lanes;
use steadfast_sys::file::{Status, raise_open_files_limit, reserve_open_files};
use steadfast_sys::storage::{self, Medium};

use super::collector::{Collector, Halt};
use super::due::TimeLimit;
use super::kept::Kept;
use super::options::{Options, ReadFrom};
use super::source::{Source, WalkEnd};
use super::survey::Survey;
use crate::calibration::fastest_lanes;
use crate::cost::Stage;
use crate::error::Error;
use crate::event::Notice;
use crate::monitor::{Monitor, Summary};
use crate::pipeline::{Pipeline, Settings, Task};
use crate::read::Engine;
use crate::selection::Selection;

/// More workers than any machine has use for; memory is bounded for no more.
const WORKERS_MAX: usize = 256;

/// Files that any process may open, where the system does not say more.
const OPEN_FILES_MIN: u64 = 256;

/// Files that a run has open at a time, at most, on machines of ordinary size.
const OPEN_FILES_RESERVED: u64 = 1024;

/// Paths that are asked for their disk; a long list is taken to be on the disks of its beginning.
const ROOTS_LOOKED_AT: usize = 64;

/// What a run consists of, once it is known what is asked for.
pub(super) struct Work {
    pub(super) verb: &'static str,
    pub(super) task: Arc<dyn Task>,
    pub(super) engine: Arc<dyn Engine>,
    pub(super) source: Box<dyn Source>,
    pub(super) queue_depth: usize,
    pub(super) time_limit: Option<TimeLimit>,
    pub(super) kept: Option<Kept>,
    /// What is known beforehand and to be told at the end.
    pub(super) notices: Vec<Notice>,
    /// What to say if there was no file at all.
    pub(super) if_empty: Notice,
}

/// Runs the pipeline to its end.
pub(super) fn execute(
    work: Work,
    options: &Options,
    survey: Option<&Survey>,
    monitor: &mut dyn Monitor,
) -> Result<Summary, Error> {
    let start = Instant::now();
    let Work { verb, task, engine, source, queue_depth, time_limit, kept, mut notices, if_empty } =
        work;
    let lanes = lanes_of(options)?;
    let deadline = time_limit.as_ref().map(|limit| limit.deadline);
    let settings = Settings { deadline, ..settings_of(queue_depth, options, lanes)? };
    let (engine_name, engine_after) = (engine.name(), Arc::clone(&engine));
    let pipeline = Pipeline::start(task, engine, lanes, settings, options.trace.clone())?;
    let walked = spawn(&pipeline, source)?;
    let summary = Summary {
        verb,
        dry_run: options.dry_run,
        workers: settings.workers,
        backend: lanes.to_string(),
        engine: engine_name,
        catalogued: kept.is_some(),
        ..Summary::default()
    };
    let mut collector = Collector::new(summary, options, kept, monitor, pipeline.report_clock());
    let halt = collector.follow(&pipeline, options, time_limit.as_ref(), survey, start);
    ensure_whole(&pipeline, halt.is_some())?;
    notices.extend(pipeline.notices());
    notices.extend(notice_of_origin(options, &collector.summary));
    notices.extend(notice_of_hold(collector.held));
    notices.extend(engine_after.notice().map(Notice::new));
    let walked = *walked.lock().unwrap_or_else(PoisonError::into_inner);
    collector.summary.skipped = walked.skipped;
    let cut_short = halt.filter(|_| !(walked.whole && pipeline.is_complete()));
    collector.summary.interrupted |= cut_short == Some(Halt::Asked);
    let time_up = cut_short == Some(Halt::TimeUp);
    if let Some(limit) = time_limit.filter(|_| time_up) {
        notices.extend(collector.note_time_up(limit.files_due));
    }
    collector.finish((walked.whole || time_up) && !collector.summary.interrupted);
    notices.into_iter().for_each(|notice| collector.notice(notice));
    if let Some(notice) = collector.summary.unproved(if_empty, options.allow_empty) {
        collector.notice(notice);
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
pub(super) fn queue_depth_of(selection: &Selection) -> usize {
    let mut paths = selection.roots.iter().chain(&selection.listed).take(ROOTS_LOOKED_AT);
    let rotates = paths.any(|path| {
        let device = Status::of(path).map(|status| status.device);
        device.is_ok_and(|device| storage::medium(device) == Medium::Rotating)
    });
    if rotates { 1 } else { usize::MAX }
}

pub(super) fn lanes_of(options: &Options) -> Result<Lanes, Error> {
    match (options.backend, options.lanes) {
        (None, None) => Ok(fastest_lanes()),
        (Some(backend), None) => Ok(Lanes::best(backend)),
        (backend, Some(count)) => Lanes::new(backend.unwrap_or_default(), count)
            .map_err(|error| Error::usage(error.to_string())),
    }
}

/// Starts the thread that finds files; how that ended is filled in then.
fn spawn(pipeline: &Pipeline, source: Box<dyn Source>) -> Result<Arc<Mutex<WalkEnd>>, Error> {
    let mut feeder = pipeline.feeder();
    let walked = Arc::new(Mutex::new(WalkEnd::default()));
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
    (options.read_from == ReadFrom::Media && cached > 0).then(|| {
        Notice::new(format!(
            "{cached} of {} bytes cannot be said to come from the medium: the file system reads \
             them through the page cache, or does not tell",
            summary.bytes
        ))
    })
}

/// Says so when the run was held, since its seconds and its rate include that.
fn notice_of_hold(held: Duration) -> Option<Notice> {
    (!held.is_zero()).then(|| {
        Notice::new(format!(
            "the run was held for {:.1} s in all, as asked: its time and its rate include them",
            held.as_secs_f64()
        ))
    })
}
