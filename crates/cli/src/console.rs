//! The monitor between a run and the outside: renders events, writes the output, shows progress.
//!
//! In: events and progress. Out: bytes on stdout and stderr. What is rendered waits for the next
//! tick of progress, a tenth of a second away, or for 64 KiB; so a person who watches a pipe sees
//! findings as they come, and 100,000 lines cost few writes. Knows nothing of verbs.

use std::io::{self, Write as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use steadfast::verdict::worse_status;
use steadfast::{Event, Monitor, Progress, Summary};
use steadfast_report::{Output, Renderer, RunView};

use crate::args::OutputArgs;
use crate::exit;
use crate::output::write_answer;
use crate::progress::ProgressLine;

/// Bytes of output that wait for a tick.
const WAITING_LEN_MAX: usize = 64 << 10;

/// Renders and writes what a run says.
pub(crate) struct Console<'a> {
    renderer: &'a mut dyn Renderer,
    pending: Output,
    progress: ProgressLine,
    /// Ends the run when nobody reads the answer any more; a run that writes tags goes on.
    stop: Option<Arc<AtomicBool>>,
    outlet: StdoutState,
    is_csv: bool,
}

/// What became of stdout.
enum StdoutState {
    Open,
    /// The reader went away, as `head` does. That is its right.
    Closed,
    Failed(io::Error),
}

impl<'a> Console<'a> {
    pub(crate) fn new(
        renderer: &'a mut dyn Renderer,
        output: &OutputArgs,
        stop: Option<Arc<AtomicBool>>,
    ) -> Console<'a> {
        let machine_read = output.json || output.csv;
        let progress =
            ProgressLine::new(output.progress, machine_read, output.quiet, output.units());
        let (pending, outlet, is_csv) = (Output::default(), StdoutState::Open, output.csv);
        Console { renderer, pending, progress, stop, outlet, is_csv }
    }

    /// Whether it is worth counting the tree beforehand.
    pub(crate) fn shows_progress(&self) -> bool {
        self.progress.is_shown()
    }

    /// Writes the end and returns the exit status.
    ///
    /// # Errors
    /// If the run could not go on.
    pub(crate) fn finish(
        mut self,
        result: Result<Summary, steadfast::Error>,
    ) -> anyhow::Result<u8> {
        self.progress.clear();
        if let Ok(summary) = &result {
            self.renderer.end(&RunView::of(summary), &mut self.pending);
        }
        self.pour();
        // The library's message names its source already; a chain would say it twice.
        let mut summary = result.map_err(|error| anyhow::anyhow!("{error}"))?;
        if !matches!(self.outlet, StdoutState::Open) {
            summary.interrupted &= exit::was_signalled();
        }
        if let StdoutState::Failed(error) = self.outlet {
            // What was found stands, whatever became of the answer.
            exit::complain(&format!("cannot write to stdout: {error}"));
            return Ok(worse_status(summary.exit_status(), exit::COULD_NOT_TELL));
        }
        Ok(summary.exit_status())
    }

    /// Writes what waits.
    fn pour(&mut self) {
        let Console { pending, progress, outlet, is_csv, .. } = self;
        if pending.answer.is_empty() && pending.trouble.is_empty() {
            return;
        }
        progress.aside(|| {
            if matches!(outlet, StdoutState::Open)
                && let Err(error) = write_answer(&pending.answer, *is_csv)
            {
                *outlet = match error.kind() {
                    io::ErrorKind::BrokenPipe => StdoutState::Closed,
                    _ => StdoutState::Failed(error),
                };
            }
            // There is no place left to say that stderr is gone.
            let _ = io::stderr().lock().write_all(&pending.trouble);
        });
        pending.answer.clear();
        pending.trouble.clear();
        if let Some(stop) = &self.stop
            && !matches!(self.outlet, StdoutState::Open)
        {
            stop.store(true, Ordering::Relaxed);
        }
    }
}

impl Monitor for Console<'_> {
    fn event(&mut self, event: &Event) {
        self.renderer.event(event, &mut self.pending);
        if self.pending.answer.len() + self.pending.trouble.len() >= WAITING_LEN_MAX {
            self.pour();
        }
    }

    fn progress(&mut self, progress: &Progress) {
        self.pour();
        self.progress.show(progress);
    }
}
