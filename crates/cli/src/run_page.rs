//! The report of a run that `--report` writes, collected while the run is shown.
//!
//! In: the events and spans of a run. Out: one document, in the format of its file extension.
//! Memory is bounded for trees of any size.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context as _, ensure};
use steadfast::catalogue::Audit;
use steadfast::cost::{Span, SpanSink};
use steadfast::{Event, Summary, Timestamp};
use steadfast_report::run::{RunFacts, RunReport};
use steadfast_report::timeline::Timeline;
use steadfast_report::{FindingRule, Output, Renderer, Units};

use crate::document_file::{DocumentFile, is_report};
use crate::document_form::DocumentForm;

/// A report to be written.
#[derive(Debug)]
pub(crate) struct RunPage {
    file: DocumentFile,
    form: DocumentForm,
    units: Units,
    begun: Timestamp,
    timeline: Arc<Timelines>,
}

impl RunPage {
    /// Reserves the place of the report.
    ///
    /// # Errors
    /// If there is another file, or the extension is not one for a whole report.
    pub(crate) fn begin(path: &Path, units: Units, begun: Timestamp) -> anyhow::Result<RunPage> {
        let form = DocumentForm::of(path)?;
        // A run has several charts, and an hour of checking should not end in the question which
        // one.
        ensure!(
            form != DocumentForm::Svg,
            "`{}`: a report of a run is .html, .csv, .md or .json; no single chart holds it",
            path.display()
        );
        Ok(RunPage {
            form,
            file: DocumentFile::claim(path, is_report)?,
            units,
            begun,
            timeline: Arc::default(),
        })
    }

    /// Returns the receiver of spans, which also passes them to `other`.
    pub(crate) fn spans(&self, other: Option<Arc<dyn SpanSink>>) -> Arc<dyn SpanSink> {
        match other {
            None => Arc::clone(&self.timeline) as Arc<dyn SpanSink>,
            Some(other) => Arc::new(Both { timeline: Arc::clone(&self.timeline), other }),
        }
    }

    /// Writes the report.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(crate) fn finish(
        self,
        report: RunReport,
        run: &Summary,
        audit: Option<&Audit>,
    ) -> anyhow::Result<()> {
        let words = std::env::args_os().skip(1);
        let words = words.map(|word| word.to_string_lossy().into_owned());
        let command: Vec<String> = std::iter::once("steadfast".to_owned()).chain(words).collect();
        let facts = RunFacts {
            command: command.join(" "),
            made_by: format!("steadfast {}", env!("CARGO_PKG_VERSION")),
            begun: self.begun,
            units: self.units,
        };
        let timeline = self.timeline.0.lock().unwrap_or_else(PoisonError::into_inner);
        let document = report.document(&facts, run, audit, &timeline);
        let page = self.form.render(&[document], self.units, None)?;
        self.file.write(&page).context("the report of the run was not kept")
    }
}

/// Shows a run as requested, and collects it.
pub(crate) struct Collecting<'a> {
    shown: &'a mut dyn Renderer,
    /// What was collected.
    pub(crate) report: RunReport,
    /// The end of the run, once it has ended.
    pub(crate) view: Option<Summary>,
}

impl<'a> Collecting<'a> {
    pub(crate) fn new(shown: &'a mut dyn Renderer, rule: FindingRule) -> Collecting<'a> {
        Collecting { shown, report: RunReport::new(rule), view: None }
    }
}

impl Renderer for Collecting<'_> {
    fn event(&mut self, event: &Event, output: &mut Output) {
        self.report.event(event);
        self.shown.event(event, output);
    }

    fn end(&mut self, run: &Summary, output: &mut Output) {
        self.view = Some(run.clone());
        self.shown.end(run, output);
    }
}

/// A timeline to which all threads add.
#[derive(Debug, Default)]
struct Timelines(Mutex<Timeline>);

impl SpanSink for Timelines {
    fn thread(&self, thread: usize, name: &str) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).thread(thread, name);
    }

    fn spans(&self, thread: usize, spans: &[Span]) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).spans(thread, spans);
    }
}

#[derive(Debug)]
struct Both {
    timeline: Arc<Timelines>,
    other: Arc<dyn SpanSink>,
}

impl SpanSink for Both {
    fn thread(&self, thread: usize, name: &str) {
        self.timeline.thread(thread, name);
        self.other.thread(thread, name);
    }

    fn spans(&self, thread: usize, spans: &[Span]) {
        self.timeline.spans(thread, spans);
        self.other.spans(thread, spans);
    }
}
