//! Progress on stderr: one line redrawn on a terminal, otherwise a plain line from time to time.
//!
//! In: the progress of a run, about ten times a second. Out: text on stderr. The report crate words
//! it; this module decides when and where it appears.

use std::io::{self, IsTerminal as _, Write as _};
use std::time::Instant;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use steadfast::Progress;
use steadfast_report::{Units, progress};

use crate::args::When;

/// Most redraws per second.
const DRAW_HZ: u8 = 10;

/// Time between plain lines, often enough to show activity and rarely enough for a log.
const PLAIN_INTERVAL_NS: u64 = 10_000_000_000;

/// Shows progress, or nothing.
pub(crate) struct ProgressLine {
    units: Units,
    place: ProgressPlace,
    begun: Instant,
}

enum ProgressPlace {
    Nowhere,
    Terminal(ProgressBar),
    Plain { next_ns: u64 },
}

impl ProgressLine {
    /// Chooses the place. `machine_read` says that a program reads the answer.
    pub(crate) fn new(when: When, machine_read: bool, quiet: bool, units: Units) -> ProgressLine {
        let terminal = io::stderr().is_terminal();
        let place = match when {
            When::Never => ProgressPlace::Nowhere,
            When::Auto if quiet || (machine_read && !terminal) => ProgressPlace::Nowhere,
            _ if terminal => ProgressPlace::Terminal(bar()),
            _ => ProgressPlace::Plain { next_ns: PLAIN_INTERVAL_NS },
        };
        ProgressLine { units, place, begun: Instant::now() }
    }

    /// Whether anything is shown, so that counting the tree beforehand is worthwhile.
    pub(crate) fn is_shown(&self) -> bool {
        !matches!(self.place, ProgressPlace::Nowhere)
    }

    /// Says how much is going to be read.
    pub(crate) fn foretell(&self, progress: &Progress) {
        let line = progress::forecast(progress, self.units).filter(|_| self.is_shown());
        if let Some(line) = line {
            self.aside(|| {
                // A lost line of progress must not end the run.
                let _ = writeln!(io::stderr(), "{line}");
            });
        }
    }

    /// Shows the progress of the run, if it is time.
    pub(crate) fn show(&mut self, progress: &Progress) {
        match &mut self.place {
            ProgressPlace::Nowhere => {}
            ProgressPlace::Terminal(bar) => bar.set_message(progress::line(progress, self.units)),
            ProgressPlace::Plain { next_ns } if progress.elapsed_ns >= *next_ns => {
                *next_ns = progress.elapsed_ns + PLAIN_INTERVAL_NS;
                let line = progress::line(progress, self.units);
                // A lost line of progress must not end the run.
                let _ = writeln!(io::stderr(), "{line}");
            }
            ProgressPlace::Plain { .. } => {}
        }
    }

    /// Shows a line of text, if it is time.
    pub(crate) fn print(&mut self, line: &str) {
        match &mut self.place {
            ProgressPlace::Nowhere => {}
            ProgressPlace::Terminal(bar) => bar.set_message(line.to_owned()),
            ProgressPlace::Plain { next_ns } => {
                let now_ns = u64::try_from(self.begun.elapsed().as_nanos()).unwrap_or(u64::MAX);
                // The first line appears at once, because nothing else shows activity.
                if now_ns + PLAIN_INTERVAL_NS >= *next_ns {
                    *next_ns = now_ns + 2 * PLAIN_INTERVAL_NS;
                    let _ = writeln!(io::stderr(), "{line}");
                }
            }
        }
    }

    /// Runs something that writes, with the line cleared.
    pub(crate) fn aside<T>(&self, write: impl FnOnce() -> T) -> T {
        match &self.place {
            ProgressPlace::Terminal(bar) => bar.suspend(write),
            _ => write(),
        }
    }

    /// Removes the line.
    pub(crate) fn clear(&mut self) {
        if let ProgressPlace::Terminal(bar) = &self.place {
            bar.finish_and_clear();
        }
    }
}

fn bar() -> ProgressBar {
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(DRAW_HZ));
    let style = ProgressStyle::with_template("{wide_msg}").expect("the template is constant");
    bar.set_style(style);
    bar
}
