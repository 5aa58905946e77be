//! Starts the pipeline of a run, follows it to its end, and sums it up.
//!
//! Takes a task, a source and an engine. Returns the summary. Must not know verbs.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use steadfast_sys::cores::Cores;
use steadfast_sys::energy::EnergyReading;

use super::collector::{Collector, Halt};
use super::due::TimeLimit;
use super::recording::RunRecording;
use super::settings::RunSettings;
use super::source::{EntrySource, WalkEnd};
use super::survey::Survey;
use crate::advice::{Advice, counted};
use crate::cost::Stage;
use crate::error::Error;
use crate::event::{Notice, Skipped};
use crate::monitor::{HashingMeans, Monitor, Summary};
use crate::pipeline::{AttributesOf, Pipeline, Settings, Task};
use crate::read::Engine;
use crate::verb_kind::VerbKind;

/// Core types are looked up for runs that took at least this much processor time: the system keeps
/// them in several files for each processor.
const CORE_TYPES_FROM_NS: u64 = 1_000_000_000;

/// The parts of a run.
pub(super) struct Work {
    pub(super) verb: VerbKind,
    pub(super) task: Arc<dyn Task>,
    pub(super) engine: Arc<dyn Engine>,
    pub(super) source: Box<dyn EntrySource>,
    pub(super) settings: RunSettings,
    /// Whether a file without a tag is a failure.
    pub(super) require_tags: bool,
    pub(super) time_limit: Option<TimeLimit>,
    /// The recording of the run in its catalogue, if it has one.
    pub(super) recording: Option<RunRecording>,
    /// Notices known before the run, sent at its end.
    pub(super) notices: Vec<Notice>,
    /// The notice for a run without any file.
    pub(super) if_empty: Notice,
}

/// Runs the pipeline to its end.
pub(super) fn execute(
    work: Work,
    survey: Option<&Survey>,
    monitor: &mut dyn Monitor,
) -> Result<Summary, Error> {
    let start = Instant::now();
    let energy = EnergyReading::now();
    let Work { verb, task, engine, source, settings, require_tags, time_limit, .. } = work;
    let Work { recording, mut notices, if_empty, .. } = work;
    let RunSettings { lanes, trace, dry_run, from_media, allow_empty, .. } = settings;
    let deadline = time_limit.as_ref().map(|limit| limit.deadline);
    let attributes = recording.as_ref().map_or(AttributesOf::None, RunRecording::attributes_of);
    let sizes = Settings { deadline, attributes, ..settings.pipeline };
    let (engine_name, engine_after) = (engine.name(), Arc::clone(&engine));
    let pipeline = Pipeline::start(task, engine, lanes, sizes, trace)?;
    let walked = spawn(&pipeline, source)?;
    let summary = Summary {
        verb,
        dry_run,
        means: HashingMeans { workers: sizes.workers, backend: String::new(), engine: engine_name },
        catalogued: recording.is_some(),
        ..Summary::default()
    };
    let now = settings.now;
    let (clock, stop) = (pipeline.report_clock(), Arc::clone(&settings.controls.stop));
    let mut collector = Collector::new(summary, require_tags, now, recording, monitor, clock, stop);
    collector.require_local = settings.require_local;
    let halt = collector.follow(&pipeline, &settings.controls, time_limit.as_ref(), survey, start);
    ensure_whole(&pipeline, halt.is_some())?;
    notices.extend(pipeline.notices());
    notices.extend(notice_of_origin(from_media, &collector.summary));
    notices.extend(notice_of_hold(collector.held));
    notices.extend(engine_after.notice().map(Notice::new));
    let walked = *walked.lock().unwrap_or_else(PoisonError::into_inner);
    collector.summary.skipped = walked.skipped.with_files_of(collector.summary.skipped);
    notices.extend(notice_of_dataless(&collector.summary.skipped));
    notices.extend(notice_of_refused(collector.summary.counts.catalogue_only));
    collector.summary.means.backend = lanes.to_string();
    let cut_short = halt.filter(|_| !(walked.whole && pipeline.is_complete()));
    collector.summary.interrupted |= cut_short == Some(Halt::Asked);
    let time_up = cut_short == Some(Halt::TimeUp);
    if let Some(limit) = time_limit.filter(|_| time_up) {
        notices.extend(collector.note_time_up(limit.files_due));
    }
    collector.finish((walked.whole || time_up) && !collector.summary.interrupted);
    notices.into_iter().for_each(|notice| collector.notice(notice));
    let unproved = collector.summary.unproved(if_empty, allow_empty);
    if let Some(notice) = unproved.or_else(|| collector.summary.lost_tags()) {
        collector.notice(notice);
    }
    collector.clock.lap(Stage::Report);
    let Collector { mut summary, clock, .. } = collector;
    clock.close();
    summary.elapsed_ns = start.elapsed().as_nanos() as u64;
    summary.account = pipeline.account(summary.elapsed_ns);
    let energy = EnergyReading::now().since(&energy);
    summary.account.energy = with_core_types(energy, &pipeline.on_processors(), Cores::of_machine);
    Ok(summary)
}

/// Adds the processor time on performance cores where the system does not count it, as on Linux,
/// but the jobs noted on which processor they ended.
///
/// `spent_ns` is that of all jobs by processor; the other threads are taken to run as these do.
fn with_core_types(
    energy: EnergyReading,
    spent_ns: &BTreeMap<usize, u64>,
    cores: impl FnOnce() -> Cores,
) -> EnergyReading {
    if energy.performance_cpu_ns.is_some() || energy.cpu_ns < CORE_TYPES_FROM_NS {
        return energy;
    }
    let share = cores().performance_share(spent_ns);
    let performance_cpu_ns = share.map(|share| (share * energy.cpu_ns as f64) as u64);
    EnergyReading { performance_cpu_ns, ..energy }
}

/// Returns an error if a run ended without an event for every file, so that it does not look like a
/// success.
fn ensure_whole(pipeline: &Pipeline, stopped: bool) -> Result<(), Error> {
    if pipeline.has_failed() || !(stopped || pipeline.finished_every_entry()) {
        let reason = "a thread failed, or a file was lost on the way: this is a defect";
        return Err(Error::system("finish the run", std::io::Error::other(reason)));
    }
    Ok(())
}

/// Starts the thread that finds files. It fills in how the search ended.
fn spawn(pipeline: &Pipeline, source: Box<dyn EntrySource>) -> Result<Arc<Mutex<WalkEnd>>, Error> {
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

/// Returns a notice if reads from the medium were requested and the page cache was used.
fn notice_of_origin(from_media: bool, summary: &Summary) -> Option<Notice> {
    let cached = summary.bytes - summary.bytes_from_media;
    (from_media && cached > 0).then(|| {
        Notice::new(format!(
            "{cached} of {} bytes cannot be said to come from the medium: the file system reads \
             them through the page cache, or does not tell",
            summary.bytes
        ))
    })
}

/// Returns a notice if files did not take their tags.
fn notice_of_refused(files: u64) -> Option<Notice> {
    let files = (files > 0).then(|| counted(files, "file", "files"))?;
    let text = format!("only the catalogue has the tag of {files}, which cannot take one");
    Some(Notice::new(text))
}

/// Returns a notice if contents were not on this machine, because they were not verified.
fn notice_of_dataless(skipped: &Skipped) -> Option<Notice> {
    let Skipped { dataless, dataless_directories, .. } = *skipped;
    (dataless + dataless_directories > 0).then(|| {
        let files = counted(dataless, "file", "files");
        let and = match dataless_directories {
            0 => String::new(),
            some => format!(" and {}", counted(some, "directory", "directories")),
        };
        Notice::new(format!("{files}{and} in a cloud, not on this machine: nothing was proved"))
            .advise(Advice::Download)
    })
}

/// Returns a notice if the run was held, because its time and rate include that.
fn notice_of_hold(held: Duration) -> Option<Notice> {
    (!held.is_zero()).then(|| {
        Notice::new(format!(
            "the run was held for {:.1} s in all, as asked: its time and its rate include them",
            held.as_secs_f64()
        ))
    })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn only_bytes_that_a_cache_gave_are_told() {
        let told = |from_media, bytes, bytes_from_media| {
            let summary = Summary { bytes, bytes_from_media, ..Summary::default() };
            notice_of_origin(from_media, &summary).map(|notice| notice.text)
        };
        assert_eq!(told(true, 5, 5), None);
        assert_eq!(told(false, 5, 0), None);
        assert!(told(true, 5, 3).is_some_and(|text| text.starts_with("2 of 5 bytes")));
    }

    #[test]
    fn jobs_tell_the_type_of_core_where_the_system_does_not() {
        let machine = |system| {
            let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/cores");
            move || Cores::beneath(&Path::new(root).join(system))
        };
        let used = |cpu_ns, performance_cpu_ns| EnergyReading {
            cpu_ns,
            performance_cpu_ns,
            ..EnergyReading::default()
        };
        // Processors 0 to 7 are the fastest there.
        let spent_ns = BTreeMap::from([(0, 100), (7, 200), (8, 700), (99, 5_000)]);
        let told = |energy, cores: &dyn Fn() -> Cores| {
            with_core_types(energy, &spent_ns, cores).performance_cpu_ns
        };
        let long = 10 * CORE_TYPES_FROM_NS;
        assert_eq!(told(used(long, None), &machine("intel-two")), Some(3_000_000_000));
        assert_eq!(told(used(long, None), &machine("one")), None);
        assert_eq!(told(used(long, None), &machine("virtual")), None);
        let never = || unreachable!("a short run, and one of which the system tells, asks nothing");
        assert_eq!(told(used(CORE_TYPES_FROM_NS - 1, None), &never), None);
        assert_eq!(told(used(long, Some(4)), &never), Some(4));
        let none = with_core_types(used(long, None), &BTreeMap::new(), machine("intel-two"));
        assert_eq!(none.performance_cpu_ns, None);
    }

    #[test]
    fn only_a_run_that_was_held_is_told_of() {
        assert_eq!(notice_of_hold(Duration::ZERO), None);
        let notice = notice_of_hold(Duration::from_millis(1_300)).unwrap();
        assert!(notice.text.starts_with("the run was held for 1.3 s"), "{}", notice.text);
    }
}
