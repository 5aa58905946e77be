//! The thread of a run: events in, states and at last the document out.
//!
//! It hears every file and keeps few: counts, the gravest findings, the latest rows, what the
//! report needs. What it tells is told at most four times a second, whoever listens.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use steadfast::catalogue::Catalogue;
use steadfast::cost::{Span, SpanSink};
use steadfast::{
    Action, Event, FileEvent, Monitor, Options, Progress, Selection, Summary, Verdict,
};
use steadfast_report::run::RunReport;
use steadfast_report::timeline::Timeline;
use steadfast_report::{FindingRule, RunView};

use super::cores::CoreWatch;
use super::ended::Collected;
use super::{CoreHistory, Ended, Finding, Row, Run, Stand, State, Verb, Wanted, options_of};

/// How often the state is told.
const TELL_EVERY: Duration = Duration::from_millis(250);

/// Findings that pages show while the run goes on.
const WORST_MAX: usize = 50;

/// Files in the table of the latest ones.
const ROWS_MAX: usize = 24;

/// Hears a run.
pub(super) struct Listener<'a> {
    run: &'a Run,
    report: RunReport,
    summary: Summary,
    rows: VecDeque<Row>,
    found: u64,
    /// Whether there are findings that `worst` does not know.
    found_more: bool,
    worst: Arc<Vec<Finding>>,
    watch: CoreWatch,
    cores: Arc<CoreHistory>,
    progress: Progress,
    told: Option<Instant>,
}

impl<'a> Listener<'a> {
    pub(super) fn new(run: &'a Run) -> Listener<'a> {
        Listener {
            run,
            report: RunReport::new(FindingRule::default()),
            summary: Summary::default(),
            rows: VecDeque::with_capacity(ROWS_MAX),
            found: 0,
            found_more: false,
            worst: Arc::default(),
            watch: CoreWatch::new(),
            cores: Arc::default(),
            progress: Progress::default(),
            told: None,
        }
    }

    /// Carries the run out to its end. Whatever happens, the run is over afterwards.
    pub(super) fn carry_out(mut self, selection: &Selection, root: &Path) {
        let run = self.run;
        // If anything below panics, pages are told rather than left waiting.
        let _last_words = LastWords(run);
        let spans = Arc::new(Spans::default());
        let options =
            Options { trace: Some(Arc::clone(&spans) as Arc<dyn SpanSink>), ..options_of(run) };
        let outcome = match run.ask.verb {
            Verb::Init => steadfast::run::init(root, None, &options, &mut self),
            verb => steadfast::run::run(library_verb(verb), selection, &options, &mut self),
        };
        let ended = match outcome {
            Err(error) => Ended::Failed(error.to_string()),
            Ok(summary) => {
                let timeline = spans.0.lock().unwrap_or_else(PoisonError::into_inner);
                let collected = Collected {
                    report: std::mem::take(&mut self.report),
                    view: RunView::of(&summary),
                    timeline: &timeline,
                    begun: run.begun,
                    command: command_of(run),
                };
                let catalogue = match run.ask.verb {
                    Verb::Init => Catalogue::find_beneath(root, root),
                    _ => run.catalogue.clone(),
                };
                collected.end(catalogue.as_deref(), (options.now)())
            }
        };
        self.tell(Some(Arc::new(ended)));
    }

    fn file(&mut self, event: &FileEvent) {
        self.summary.count(event, 0);
        if self.findings().file(event) {
            self.found += 1;
            self.found_more = true;
        }
        if self.rows.len() >= ROWS_MAX {
            self.rows.pop_back();
        }
        self.rows.push_front(Row { event: Arc::new(event.clone()) });
    }

    fn findings(&self) -> std::sync::MutexGuard<'_, super::Findings> {
        self.run.findings.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tell(&mut self, ended: Option<Arc<Ended>>) {
        if let Some(cores) = self.watch.look() {
            self.cores = Arc::new(cores);
        }
        if self.found_more {
            let (worst, _) = self.findings().page(&Wanted::default(), 0, WORST_MAX);
            self.worst = Arc::new(worst);
            self.found_more = false;
        }
        let verdicts = Verdict::ALL.map(|one| (one.name(), self.summary.verdicts(one)));
        let actions = Action::ALL.map(|one| (one.name(), self.summary.actions(one)));
        let counts = verdicts.into_iter().chain(actions).filter(|(_, count)| *count > 0);
        let stand = if ended.is_some() { Stand::Over } else { self.run.stand() };
        self.run.tell(State {
            base: Arc::clone(&self.run.shown),
            stand,
            progress: self.progress,
            counts: counts.collect(),
            worst: Arc::clone(&self.worst),
            found: self.found,
            rows: self.rows.iter().cloned().collect(),
            cores: Arc::clone(&self.cores),
            ended,
            ..State::default()
        });
    }
}

impl Monitor for Listener<'_> {
    fn event(&mut self, event: &Event) {
        self.report.event(event);
        match event {
            Event::File(event) => self.file(event),
            Event::Finding(noted) => {
                if self.findings().noted(noted) {
                    self.found += 1;
                    self.found_more = true;
                }
            }
            Event::Notice(_) => {}
        }
    }

    fn progress(&mut self, progress: &Progress) {
        self.progress = *progress;
        if self.told.is_none_or(|told| told.elapsed() >= TELL_EVERY) {
            self.told = Some(Instant::now());
            self.tell(None);
        }
    }
}

/// Says that a run is over if nobody else did.
struct LastWords<'a>(&'a Run);

impl Drop for LastWords<'_> {
    fn drop(&mut self) {
        if !self.0.is_over() {
            let reason = "the run ended without saying how: this is a defect";
            let ended = Some(Arc::new(Ended::Failed(reason.to_owned())));
            self.0.tell(State { stand: Stand::Over, ended, ..State::default() });
        }
    }
}

/// A timeline that all threads tell.
#[derive(Debug, Default)]
struct Spans(Mutex<Timeline>);

impl SpanSink for Spans {
    fn thread(&self, thread: usize, name: &str) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).thread(thread, name);
    }

    fn spans(&self, thread: usize, spans: &[Span]) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).spans(thread, spans);
    }
}

fn library_verb(verb: Verb) -> steadfast::Verb {
    match verb {
        Verb::Tag => steadfast::Verb::Tag,
        Verb::Update => steadfast::Verb::Update,
        Verb::Check | Verb::Init => steadfast::Verb::Check,
    }
}

/// Writes what one would type for the same.
fn command_of(run: &Run) -> String {
    let mut words = vec!["steadfast".to_owned(), run.ask.verb.name().to_owned()];
    if run.ask.pace != steadfast::qos::Pace::Bicycle {
        words.push(format!("--pace {}", run.ask.pace));
    }
    if run.ask.from_media {
        words.push("--read-from media".to_owned());
    }
    words.push(run.shown.to_string());
    words.join(" ")
}
