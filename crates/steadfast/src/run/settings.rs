//! How a run is carried out: its options, resolved once.
//!
//! Takes [`Options`] and the files. Returns the settings for each stage.

use std::path::Path;
use std::sync::{Arc, Once};

use steadfast_digest::Lanes;
use steadfast_sys::file::{Status, Timestamp, raise_open_files_limit, reserve_open_files};
use steadfast_sys::machine;
use steadfast_sys::storage::{self, Medium};

use super::options::{Controls, DatalessUse, Options, ReadFrom};
use crate::calibration::LaneChoice;
use crate::cost::SpanSink;
use crate::error::Error;
use crate::pipeline::Settings;
use crate::read::Engine;
use crate::read::buffered::Buffered;
use crate::read::direct::Direct;
use crate::read::limited::Limited;
use crate::selection::Selection;

/// The most workers: no machine needs more, and it bounds memory.
const WORKERS_MAX: usize = 256;

/// Files that any process may have open, if the system does not report its limit.
const OPEN_FILES_MIN: u64 = 256;

/// The most files that a run has open at a time on machines of ordinary size.
const OPEN_FILES_RESERVED: u64 = 1024;

/// Paths whose disks are looked up. A longer list is assumed to be on the same disks.
const ROOTS_LOOKED_AT: usize = 64;

/// How one run is carried out.
pub(super) struct RunSettings {
    /// Sizes of the pipeline.
    pub(super) pipeline: Settings,
    pub(super) lanes: LaneChoice,
    pub(super) trace: Option<Arc<dyn SpanSink>>,
    pub(super) controls: Controls,
    /// The time of day.
    pub(super) now: fn() -> Timestamp,
    pub(super) dry_run: bool,
    pub(super) allow_empty: bool,
    /// Whether reads from the medium were requested.
    pub(super) from_media: bool,
    /// Whether contents that are not on this machine are failures.
    pub(super) require_local: bool,
}

impl RunSettings {
    /// Resolves the options for a run over `selection`.
    ///
    /// # Errors
    /// If an option is invalid.
    pub(super) fn of(options: &Options, selection: &Selection) -> Result<RunSettings, Error> {
        let lanes = lanes_of(options)?;
        let processors = machine::logical_cpus();
        let workers = workers_of(options, processors, "a run")?;
        let roots = selection.roots.iter().chain(&selection.listed);
        let queue_depth = queue_depth_of(options.reading.queue_depth, roots)?;
        let open_files = prepare_open_files();
        let pipeline = Settings {
            downloads: options.dataless == DatalessUse::Download,
            ..Settings::new(processors, workers, lanes.now(), open_files, options.qos)
        };
        Ok(RunSettings {
            pipeline: pipeline.with_queue_depth(queue_depth),
            lanes,
            trace: options.trace.clone(),
            controls: options.controls.clone(),
            now: options.now,
            dry_run: options.dry_run,
            allow_empty: options.allow_empty,
            from_media: options.reading.from == ReadFrom::Media,
            require_local: options.dataless == DatalessUse::Fail,
        })
    }
}

/// Returns the requested engine.
pub(crate) fn engine_of(options: &Options) -> Arc<dyn Engine> {
    let engine: Arc<dyn Engine> = match options.reading.from {
        ReadFrom::Cache => Arc::new(Buffered),
        ReadFrom::Media => Arc::new(Direct),
    };
    match options.reading.rate_limit_bytes_per_s {
        Some(bytes_per_s) => {
            Arc::new(Limited::new(engine, bytes_per_s, Arc::clone(&options.controls.stop)))
        }
        None => engine,
    }
}

/// Returns the requested SHA-256 lanes, or the choice of the fastest on this machine.
///
/// # Errors
/// If the backend does not have that many.
pub(crate) fn lanes_of(options: &Options) -> Result<LaneChoice, Error> {
    match (options.reading.backend, options.reading.lanes) {
        (None, None) => Ok(LaneChoice::Fastest),
        (Some(backend), None) => Ok(LaneChoice::Fixed(Lanes::best(backend))),
        (backend, Some(count)) => Lanes::new(backend.unwrap_or_default(), count)
            .map(LaneChoice::Fixed)
            .map_err(|error| Error::usage(error.to_string())),
    }
}

/// Returns the number of threads that hash, in a process that may use this many `processors`.
/// `what` names the task in the message.
///
/// # Errors
/// If there are none, or too many.
pub(crate) fn workers_of(options: &Options, processors: usize, what: &str) -> Result<usize, Error> {
    let default = || crate::qos::workers_among(options.qos, processors);
    let workers = options.reading.workers.unwrap_or_else(default);
    if !(1..=WORKERS_MAX).contains(&workers) {
        return Err(Error::usage(format!("{what} has 1 to {WORKERS_MAX} workers, not {workers}")));
    }
    Ok(workers)
}

/// Returns how many reads may be in flight: one for a rotating disk, so that it is read in its own
/// order, and any number for others.
///
/// # Errors
/// If the requested queue depth is not possible.
pub(crate) fn queue_depth_of(
    asked: Option<usize>,
    paths: impl IntoIterator<Item: AsRef<Path>>,
) -> Result<usize, Error> {
    match asked {
        Some(0) => return Err(Error::usage("a queue has a depth of at least 1")),
        Some(depth) => return Ok(depth),
        None => {}
    }
    let rotates = paths.into_iter().take(ROOTS_LOOKED_AT).any(|path| {
        let device = Status::of(path.as_ref()).map(|status| status.device);
        device.is_ok_and(|device| storage::medium(device) == Medium::Rotating)
    });
    Ok(if rotates { 1 } else { usize::MAX })
}

/// Raises the limit of open files as far as the system allows, reserves room for the open files of
/// a run, and returns the limit.
///
/// A run does this itself. A program that has threads before its first run should call this before
/// it starts the first of them: afterwards the reservation may take tens of milliseconds on Linux.
pub fn prepare_open_files() -> u64 {
    static RESERVED: Once = Once::new();
    let open_files = raise_open_files_limit().unwrap_or(OPEN_FILES_MIN);
    RESERVED.call_once(|| {
        // Without the reservation the run is only slower.
        let _ = reserve_open_files(open_files.min(OPEN_FILES_RESERVED));
    });
    open_files
}
