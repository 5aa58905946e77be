//! Passes finished events to the monitor, the summary and the catalogue, in order, and acts on
//! requests to stop, hold, continue or end by a deadline.
//!
//! Takes the pipeline's events and calls the monitor. Must not know how files are read.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use steadfast_sys::file::Timestamp;

use super::Controls;
use super::due::TimeLimit;
use super::judge;
use super::recording::{RunRecording, Tell};
use super::survey::Survey;
use crate::advice::Advice;
use crate::cost::{JobFacts, Role, Stage, StageClock};
use crate::event::{FileEvent, Notice};
use crate::monitor::{Event, Monitor, Progress, Summary};
use crate::pipeline::Pipeline;
use crate::store::xattr::NO_ATTRIBUTES;

/// Linked files that are remembered, so that each is counted once.
const LINKED_FILES_MAX: usize = 100_000;

/// How long the threads of an interrupted run have to finish their jobs.
const GRACE: Duration = Duration::from_millis(600);

/// Time between two progress reports.
const PROGRESS_EVERY: Duration = Duration::from_millis(100);

/// Passes finished events to the monitor and adds them to the summary.
pub(super) struct Collector<'a> {
    pub(super) summary: Summary,
    require_tags: bool,
    /// Whether contents that are not on this machine are failures.
    pub(super) require_local: bool,
    /// Files with several names seen so far.
    seen: HashSet<(u64, u64)>,
    /// Devices already reported as having no place for tags.
    volumes: HashSet<Option<u64>>,
    pub(super) monitor: &'a mut dyn Monitor,
    recording: Option<RunRecording>,
    now: fn() -> Timestamp,
    pub(super) clock: StageClock,
    /// How long the run was held.
    pub(super) held: Duration,
    /// Set by the monitor's answer to end the run.
    stop: Arc<AtomicBool>,
}

/// Why the threads of a run were stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Halt {
    /// The caller set the stop flag, or the monitor answered so.
    Asked,
    /// The run's time was up.
    TimeUp,
}

impl Halt {
    /// Returns why a run should stop now, if it should.
    fn of(control: &Controls, time_limit: Option<&TimeLimit>) -> Option<Halt> {
        if control.stop.load(Ordering::Relaxed) {
            return Some(Halt::Asked);
        }
        let time_up = time_limit.is_some_and(|limit| Instant::now() >= limit.deadline);
        time_up.then_some(Halt::TimeUp)
    }
}

/// Whether a run is held, and how long it has been held so far.
#[derive(Default)]
struct Held {
    since: Option<Instant>,
    before: Duration,
}

impl Held {
    /// Holds the run or lets it continue, as requested.
    fn hold_if(&mut self, asked: bool, pipeline: &Pipeline) {
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

    /// Returns the time since `start`, without the time for which the run was held.
    fn without(&self, start: Instant) -> Duration {
        let until = self.since.unwrap_or_else(Instant::now);
        until.saturating_duration_since(start).saturating_sub(self.before)
    }

    /// Returns how long the run has been held so far.
    fn time(&self) -> Duration {
        self.before + self.since.map_or(Duration::ZERO, |since| since.elapsed())
    }
}

impl<'a> Collector<'a> {
    pub(super) fn new(
        summary: Summary,
        require_tags: bool,
        now: fn() -> Timestamp,
        recording: Option<RunRecording>,
        monitor: &'a mut dyn Monitor,
        clock: StageClock,
        stop: Arc<AtomicBool>,
    ) -> Collector<'a> {
        Collector {
            summary,
            require_tags,
            require_local: false,
            seen: HashSet::new(),
            volumes: HashSet::new(),
            monitor,
            recording,
            now,
            clock,
            held: Duration::ZERO,
            stop,
        }
    }

    /// Follows a run to its end, and returns why it was stopped, if it was.
    pub(super) fn follow(
        &mut self,
        pipeline: &Pipeline,
        control: &Controls,
        time_limit: Option<&TimeLimit>,
        survey: Option<&Survey>,
        start: Instant,
    ) -> Option<Halt> {
        let mut told = start;
        let mut held = Held::default();
        let mut stopped: Option<(Instant, Halt)> = None;
        let mut patience = Duration::from_millis(1);
        loop {
            pipeline.renew();
            let over = pipeline.is_over();
            let events = pipeline.finished(if over { Duration::ZERO } else { patience });
            self.report_events(events.into_iter());
            let late = stopped.is_some_and(|(since, _)| since.elapsed() > GRACE);
            if over || late || pipeline.has_failed() {
                break;
            }
            patience = (patience * 2).min(Duration::from_millis(25));
            if stopped.is_none()
                && let Some(halt) = Halt::of(control, time_limit)
            {
                stopped = Some((Instant::now(), halt));
                pipeline.stop();
                if let Some(limit) = time_limit {
                    limit.stop.store(true, Ordering::Relaxed);
                }
            }
            held.hold_if(control.hold.load(Ordering::Relaxed), pipeline);
            if let Some(level) = control.dial.chosen() {
                pipeline.set_level(level);
            }
            if told.elapsed() >= PROGRESS_EVERY {
                told = Instant::now();
                self.report_early_failures(pipeline);
                let elapsed = held.without(start);
                self.progress(pipeline, survey, elapsed);
            }
        }
        self.held = held.time();
        self.report_events(pipeline.leftovers().into_iter());
        stopped.map(|(_, halt)| halt)
    }

    /// Notes that the time ran out before all due files were checked.
    pub(super) fn note_time_up(&mut self, files_due: u64) -> Option<Notice> {
        self.summary.still_due = Some(files_due.saturating_sub(self.summary.files));
        if self.summary.files > 0 {
            return None;
        }
        // Otherwise a limit that is too short for any file would look like a successful check.
        let text = "the time was up before any file could be checked";
        Some(Notice::failure(text).advise(Advice::MoreTime))
    }

    /// Reports the progress of the run to the monitor.
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

    /// Waits for events and passes them to the monitor.
    fn report_events(&mut self, events: impl ExactSizeIterator<Item = Box<FileEvent>>) {
        self.clock.lap(Stage::Wait);
        self.clock.begin_job();
        let files = events.len() as u64;
        for event in events {
            self.report_event(event);
        }
        self.record(|recording, now, tell| recording.tick(now, tell));
        self.clock.end_job();
        self.clock.hand_in(JobFacts { files, ..JobFacts::default() });
    }

    /// Tells the monitor of failures that wait for their turn.
    fn report_early_failures(&mut self, pipeline: &Pipeline) {
        let (require_tags, dry_run) = (self.require_tags, self.summary.dry_run);
        let fails = |event: &FileEvent| !judge::exit_status(event, require_tags, dry_run).is_fine();
        for event in pipeline.early(fails) {
            self.monitor.found_early(&event);
        }
    }

    fn report_event(&mut self, mut event: Box<FileEvent>) {
        // The reading belongs to the first name in walk order, although another name may have been
        // opened first.
        if let Some(identity) = event.visit.identity.as_deref().copied() {
            if self.seen.len() >= LINKED_FILES_MAX {
                self.seen.clear();
            }
            if !self.seen.insert(identity) {
                event.reading.linked = true;
                (event.reading.bytes, event.reading.elapsed_ns) = (0, 0);
            }
        }
        event.apply_dataless(self.require_local);
        if event.visit.has_no_place {
            self.report_volume_once(&mut event);
        }
        let status = judge::exit_status(&event, self.require_tags, self.summary.dry_run);
        self.summary.count(&event, status);
        let event = Event::File(event);
        self.stop.fetch_or(self.monitor.event(&event).is_break(), Ordering::Relaxed);
        if let Event::File(event) = event {
            self.record(|recording, _, tell| recording.record(&event, tell));
        }
    }

    /// Sends a notice.
    pub(super) fn notice(&mut self, notice: Notice) {
        self.summary.raise_status(notice.status);
        self.monitor.notice(notice);
    }

    /// Reports once for each file system that it has no place for tags, and what to do.
    fn report_volume_once(&mut self, event: &mut FileEvent) {
        let device = event.visit.status.map(|status| status.device);
        event.visit.repeats_trouble = !self.volumes.insert(device);
        if event.visit.repeats_trouble {
            return;
        }
        let parent = event.path.to_path().parent().map(Path::to_owned).unwrap_or_default();
        let path = if parent.as_os_str().is_empty() { PathBuf::from(".") } else { parent };
        self.notice(Notice::new(NO_ATTRIBUTES).advise(Advice::TagInCatalogue).at(&path));
    }

    /// Ends the recording of the run.
    pub(super) fn finish(&mut self, whole: bool) {
        let mut cut_short = false;
        let backend = self.summary.means.backend.clone();
        self.record(|recording, now, tell| {
            cut_short = recording.finish(whole, &backend, now, tell);
        });
        self.summary.interrupted |= cut_short;
    }

    /// Calls the catalogue's recorder, and reports its findings.
    fn record(&mut self, work: impl FnOnce(&mut RunRecording, Timestamp, &mut Tell<'_>)) {
        self.clock.lap(Stage::Report);
        let Collector { recording, summary, monitor, require_tags, now, stop, .. } = self;
        let Some(recording) = recording else { return };
        work(recording, now(), &mut |event| {
            match &event {
                Event::File(event) => {
                    summary.count(event, judge::exit_status(event, *require_tags, false));
                }
                Event::Finding(noted) => summary.note(&noted.finding),
                Event::Notice(notice) => summary.raise_status(notice.status),
            }
            stop.fetch_or(monitor.event(&event).is_break(), Ordering::Relaxed);
        });
        self.clock.lap(Stage::Store);
    }
}
