//! The monitor between a run and the outside: renders events, writes the output, shows progress.
//!
//! In: events and progress. Out: bytes on stdout and stderr. Rendered text is written every tenth
//! of a second or when 64 KiB are pending, so a person who watches a pipe sees findings soon, and
//! 100,000 lines cost few writes. Knows nothing of verbs.

use std::io;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use steadfast::ExitStatus;
use steadfast::Wakefulness;
use steadfast::diff::{DiffMonitor, DiffSummary, PathPair};
use steadfast::monitor::{NoticeMonitor, ResultMonitor};
use steadfast::{Event, Monitor, Notice, Progress, Summary};
use steadfast_report::diff::DiffRenderer;
use steadfast_report::{Output, Renderer, ResultDocument};

use crate::args::OutputArgs;
use crate::exit;
use crate::outlet::Outlet;
use crate::progress::ProgressLine;

/// A shorter run ends before a machine that nobody uses goes to sleep: macOS waits for a minute at
/// least.
const AWAKE_FROM_NS: u64 = 30_000_000_000;

/// Renders and writes the events of a run (`R` is a [`Renderer`]) or of a comparison (`R` is a
/// [`DiffRenderer`]).
pub(crate) struct Console<'a, R: ?Sized> {
    renderer: &'a mut R,
    outlet: Outlet,
    progress: ProgressLine,
    /// Keeps the machine awake, once that was tried.
    awake: Option<io::Result<Wakefulness>>,
    /// Ends the run when nobody reads the answer any more. A run that writes tags continues.
    stop: Option<Arc<AtomicBool>>,
}

impl<'a, R: ?Sized> Console<'a, R> {
    pub(crate) fn new(
        renderer: &'a mut R,
        output: &OutputArgs,
        stop: Option<Arc<AtomicBool>>,
    ) -> Console<'a, R> {
        let machine_read = output.json || output.csv;
        let progress = ProgressLine::new(output.progress, machine_read, output.quiet, output.units);
        Console { renderer, outlet: Outlet::new(output.csv), progress, awake: None, stop }
    }

    /// Whether to count the tree beforehand.
    pub(crate) fn shows_progress(&self) -> bool {
        self.progress.is_shown()
    }

    /// Renders something, and writes if much is pending.
    fn render(&mut self, render: impl FnOnce(&mut R, &mut Output)) {
        render(self.renderer, &mut self.outlet.pending);
        if self.outlet.is_full() {
            self.pour();
        }
    }

    /// Writes what is pending, and shows the progress of the run.
    fn show(&mut self, progress: &Progress) {
        self.pour();
        // Only the forecast of a run has no time yet.
        if progress.elapsed_ns == 0 {
            self.progress.foretell(progress);
        }
        self.progress.show(progress);
        if progress.elapsed_ns > AWAKE_FROM_NS && self.awake.is_none() {
            self.stay_awake();
        }
    }

    /// Keeps the machine from sleeping for want of a user, and says so.
    fn stay_awake(&mut self) {
        let awake = self.awake.insert(Wakefulness::hold());
        let text = match awake {
            Ok(_) => {
                "this machine is kept awake until the run ends; it still sleeps when its lid is \
                 closed"
            }
            Err(error) if error.kind() == io::ErrorKind::Unsupported => return,
            Err(_) => "this machine may fall asleep before the run ends",
        };
        self.progress.aside(|| exit::complain(text));
    }

    /// Writes what is pending.
    fn pour(&mut self) {
        let Console { outlet, progress, .. } = self;
        if outlet.pending.answer.is_empty() && outlet.pending.trouble.is_empty() {
            return;
        }
        progress.aside(|| outlet.pour());
        if let Some(stop) = &self.stop
            && self.outlet.is_closed()
        {
            stop.store(true, Ordering::Relaxed);
        }
    }

    /// Renders the end of a run, writes what is pending, and returns the result of the run.
    fn end<T>(
        &mut self,
        result: Result<T, steadfast::Error>,
        render: impl FnOnce(&mut R, &T, &mut Output),
    ) -> anyhow::Result<T> {
        self.progress.clear();
        if let Ok(summary) = &result {
            render(self.renderer, summary, &mut self.outlet.pending);
        }
        self.pour();
        Ok(result?)
    }

    /// Returns whether a stopped run counts as interrupted. It does not if it was stopped only
    /// because nobody reads the answer.
    fn counts_as_interrupted(&self) -> bool {
        !self.outlet.is_closed() || exit::was_signalled()
    }
}

impl Console<'_, dyn Renderer + '_> {
    /// Writes the end and returns the exit status.
    ///
    /// # Errors
    /// If the run failed.
    pub(crate) fn finish(
        mut self,
        result: Result<Summary, steadfast::Error>,
    ) -> anyhow::Result<ExitStatus> {
        let mut summary = self.end(result, |renderer, summary, output| {
            renderer.end(summary, output);
        })?;
        summary.interrupted &= self.counts_as_interrupted();
        if let Err(error) = self.outlet.finish() {
            // The findings stand even if the answer could not be written.
            exit::complain(&exit::words(&error));
            return Ok(summary.exit_status().max(ExitStatus::Undetermined));
        }
        Ok(summary.exit_status())
    }
}

impl Monitor for Console<'_, dyn Renderer + '_> {
    fn event(&mut self, event: &Event) -> ControlFlow<()> {
        self.render(|renderer, output| renderer.event(event, output));
        ControlFlow::Continue(())
    }

    fn progress(&mut self, progress: &Progress) {
        self.show(progress);
    }
}

impl Console<'_, dyn DiffRenderer + '_> {
    /// Writes the end and returns the exit status.
    ///
    /// # Errors
    /// If the comparison failed, or the answer could not be written.
    pub(crate) fn finish(
        mut self,
        result: Result<DiffSummary, steadfast::Error>,
    ) -> anyhow::Result<ExitStatus> {
        let mut summary =
            self.end(result, |renderer, summary, output| renderer.end(summary, output))?;
        summary.interrupted &= self.counts_as_interrupted();
        self.outlet.finish()?;
        Ok(summary.exit_status())
    }
}

impl DiffMonitor for Console<'_, dyn DiffRenderer + '_> {
    fn pair(&mut self, pair: &PathPair) {
        self.render(|renderer, output| renderer.pair(pair, output));
    }

    fn notice(&mut self, notice: &Notice) {
        self.render(|renderer, output| renderer.notice(notice, output));
    }

    fn progress(&mut self, progress: &Progress) {
        self.show(progress);
    }
}

impl<D: ResultDocument> Console<'_, D> {
    /// Writes the end and returns the exit status.
    ///
    /// # Errors
    /// If it could not begin, or the answer could not be written.
    pub(crate) fn finish_results(
        mut self,
        result: Result<D::Summary, steadfast::Error>,
    ) -> anyhow::Result<ExitStatus> {
        let mut status = ExitStatus::Fine;
        self.end(result, |document, summary, output| status = document.end(summary, output))?;
        self.outlet.finish()?;
        Ok(status)
    }
}

impl<D: ResultDocument> ResultMonitor<D::Result> for Console<'_, D> {
    fn result(&mut self, result: &D::Result) {
        self.render(|document, output| document.result(result, output));
    }
}

impl<D: ResultDocument> NoticeMonitor for Console<'_, D> {
    fn notice(&mut self, notice: &Notice) {
        self.render(|document, output| document.notice(notice, output));
    }

    fn progress(&mut self, progress: &Progress) {
        self.show(progress);
    }
}
