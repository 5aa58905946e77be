//! The thread of a run: takes events, publishes snapshots and at the end the document.
//!
//! Keeps counts, the most severe findings, the latest files and the data of the report. Publishes
//! a few snapshots a second, however many pages follow.

use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::{Arc, Mutex};

use steadfast::ExitStatus;
use steadfast::catalogue::{Catalogue, FILE, FOLDER};
use steadfast::cost::{Span, SpanSink};
use steadfast::{
    Action, CatalogueUse, CheckOptions, DueChoice, ErrorKind, Event, FileEvent, InitOptions,
    Monitor, Options, Progress, Run, Selection, Summary, SuspectUse, UpdateOptions, Verb, Verdict,
};
use steadfast_report::FindingRule;
use steadfast_report::run::RunReport;
use steadfast_report::timeline::Timeline;

use super::cores::CoreWatch;
use super::end::Collected;
use super::speed::SpeedWatch;
use super::{
    CoreHistory, FileFinding, MassChange, RunEnd, RunRequest, RunSnapshot, RunVerb, ServedRun,
    options_of,
};
use crate::live::LiveStatus;
use crate::lock::lock;

/// Findings that pages show while the run goes on.
const WORST_MAX: usize = 50;

/// Files in the table of the latest files.
const FILES_MAX: usize = 24;

/// Monitors a run for pages.
pub(super) struct RunMonitor<'a> {
    run: &'a ServedRun,
    report: RunReport,
    summary: Summary,
    files: VecDeque<Arc<FileEvent>>,
    /// Whether there are findings that are not in `worst` yet.
    found_more: bool,
    worst: Arc<Vec<FileFinding>>,
    watch: CoreWatch,
    cores: Arc<CoreHistory>,
    speed: SpeedWatch,
    progress: Progress,
    /// Files and bytes that the catalogue knows: the total until the survey has counted.
    known: Option<(u64, u64)>,
}

impl<'a> RunMonitor<'a> {
    pub(super) fn new(run: &'a ServedRun) -> RunMonitor<'a> {
        RunMonitor {
            run,
            report: RunReport::new(FindingRule::default()),
            summary: Summary::default(),
            files: VecDeque::with_capacity(FILES_MAX),
            found_more: false,
            worst: Arc::default(),
            watch: CoreWatch::new(),
            cores: Arc::default(),
            speed: SpeedWatch::new(),
            progress: Progress::default(),
            known: known_of(run),
        }
    }

    /// Executes the run to its end.
    pub(super) fn execute(mut self, selection: &Selection, path: &Path, root: &Path) {
        let run = self.run;
        let spans = Arc::new(Spans::default());
        let verb = library_verb(run);
        let options = options_of(run, run.catalogue.clone()).with(|options| {
            options.trace = Some(Arc::clone(&spans) as Arc<dyn SpanSink>);
            if let Verb::Init(_) = verb {
                options.catalogue.choice = CatalogueUse::At(path.join(FOLDER).join(FILE));
            }
        });
        let outcome = Run::of(verb, selection.clone(), options.clone()).run(&mut self);
        let bytes = outcome.as_ref().map_or(self.progress.bytes, |summary| summary.bytes);
        self.speed.sample(run.pace(), bytes, true);
        let end = match outcome {
            Err(error) if error.kind() == ErrorKind::TooManyChanges => {
                match steadfast::changes(selection, &options) {
                    Ok(Some(found)) => RunEnd::TooMany(MassChange::of(found, root)),
                    _ => RunEnd::Failed(error.to_string()),
                }
            }
            Err(error) => RunEnd::Failed(error.to_string()),
            Ok(summary) => {
                let timeline = lock(&spans.0);
                let collected = Collected {
                    report: std::mem::take(&mut self.report),
                    view: summary,
                    timeline: &timeline,
                    paces: &self.speed.history,
                    begun: run.begun,
                    command: command_of(run),
                };
                let catalogue = match run.request.verb {
                    RunVerb::Init | RunVerb::Protect => Catalogue::find_beneath(path, path),
                    _ => run.catalogue.clone(),
                };
                collected.end(catalogue.as_deref(), (options.now)())
            }
        };
        self.publish(Some(Arc::new(end)));
    }

    fn file(&mut self, event: &FileEvent) {
        self.summary.count(event, ExitStatus::Fine);
        self.found_more |= self.run.findings().add_file(event);
        if event.reading.bytes > 0 {
            self.speed.history.file(event.reading.bytes, event.reading.elapsed_ns);
        }
        self.files.truncate(FILES_MAX - 1);
        self.files.push_front(Arc::new(event.clone()));
    }

    fn publish(&mut self, end: Option<Arc<RunEnd>>) {
        if let Some(cores) = self.watch.sample() {
            self.cores = Arc::new(cores);
        }
        if self.found_more {
            self.worst = Arc::new(self.run.findings().worst(WORST_MAX));
            self.found_more = false;
        }
        let verdicts = Verdict::ALL.map(|one| (one.name(), self.summary.verdicts(one)));
        let actions = Action::ALL.map(|one| (one.name(), self.summary.actions(one)));
        let counts = verdicts.into_iter().chain(actions).filter(|(_, count)| *count > 0);
        let status = if end.is_some() { LiveStatus::Ended } else { self.run.control.status() };
        self.run.control.publish(RunSnapshot {
            base: Arc::clone(&self.run.shown),
            status,
            progress: self.progress,
            counts: counts.collect(),
            worst: Arc::clone(&self.worst),
            found: self.run.findings().counts(),
            files: self.files.iter().cloned().collect(),
            cores: Arc::clone(&self.cores),
            end,
            ..RunSnapshot::default()
        });
    }
}

impl Monitor for RunMonitor<'_> {
    fn event(&mut self, event: &Event) -> ControlFlow<()> {
        self.report.event(event);
        match event {
            Event::File(event) => self.file(event),
            Event::Finding(noted) => self.found_more |= self.run.findings().add_noted(noted),
            _ => {}
        }
        ControlFlow::Continue(())
    }

    fn found_early(&mut self, event: &FileEvent) {
        self.run.findings().add_early(event);
        self.found_more = true;
    }

    fn progress(&mut self, progress: &Progress) {
        self.progress = *progress;
        self.progress.total = progress.total.or(self.known);
        self.speed.sample(self.run.pace(), progress.bytes, false);
        if self.run.control.is_due() {
            self.publish(None);
        }
    }
}

/// Returns how many files and bytes the catalogue knows of a run over a whole root.
fn known_of(run: &ServedRun) -> Option<(u64, u64)> {
    let RunRequest { verb, place, listed, .. } = &run.request;
    let reads_all = *verb == RunVerb::Check && place.is_root() && listed.is_none();
    let file = run.catalogue.as_deref().filter(|_| reads_all)?;
    let audit = Catalogue::open_reader(file).ok()?.audit(&[], (Options::default().now)()).ok()?;
    Some((audit.entries, audit.bytes))
}

/// A timeline that all threads of a run write.
#[derive(Debug, Default)]
struct Spans(Mutex<Timeline>);

impl SpanSink for Spans {
    fn thread(&self, thread: usize, name: &str) {
        lock(&self.0).thread(thread, name);
    }

    fn spans(&self, thread: usize, spans: &[Span]) {
        lock(&self.0).spans(thread, spans);
    }
}

fn library_verb(run: &ServedRun) -> Verb {
    let accept_many = run.request.accepts_many;
    let update = UpdateOptions { accept_many, ..UpdateOptions::default() };
    match run.request.verb {
        RunVerb::Init => Verb::Init(InitOptions { tags_only: true, ..InitOptions::default() }),
        RunVerb::Protect if run.catalogue.is_none() => Verb::init(),
        RunVerb::Tag | RunVerb::Protect => Verb::tag(),
        RunVerb::Update | RunVerb::Accept => Verb::Update(update),
        RunVerb::Keep => {
            Verb::Update(UpdateOptions { accept_suspect: SuspectUse::AcceptAlone, ..update })
        }
        RunVerb::Removed => Verb::Update(UpdateOptions { accept_missing: true, ..update }),
        RunVerb::Check => Verb::check(),
        RunVerb::Resume => {
            let rest = DueChoice::default().with(|due| due.resume = true);
            Verb::Check(CheckOptions { due: Some(rest), ..CheckOptions::default() })
        }
    }
}

/// Writes the command line of the same run.
fn command_of(run: &ServedRun) -> String {
    let verb = match run.request.verb {
        RunVerb::Init => "init --tags-only",
        RunVerb::Protect if run.catalogue.is_none() => "init",
        RunVerb::Protect => "tag",
        RunVerb::Accept => "update",
        RunVerb::Keep => "update --only-suspect",
        RunVerb::Removed => "update --accept-missing",
        RunVerb::Resume => "check --resume",
        verb => verb.name(),
    };
    let mut words = vec!["steadfast".to_owned(), verb.to_owned()];
    if run.request.accepts_many {
        words.push("--accept-many".to_owned());
    }
    if run.pace() != steadfast::qos::Pace::Bicycle {
        words.push(format!("--pace {}", run.pace()));
    }
    if run.request.from_media {
        words.push("--read-from media".to_owned());
    }
    words.push(run.shown.to_string());
    words.join(" ")
}
