//! Progress on stderr: one line redrawn on a terminal, a plain line now and then elsewhere.
//!
//! In: how far the run is, about ten times a second. Out: what stderr shows. The words are the
//! report's; only when and where they appear is decided here.

use std::io::{self, IsTerminal as _, Write as _};
use std::time::Instant;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use steadfast::Progress;
use steadfast_report::{Units, progress};

use crate::args::When;

/// Draws a second at most.
const DRAW_HZ: u8 = 10;

/// Time between plain lines: often enough to see life, seldom enough for a log.
const PLAIN_INTERVAL_NS: u64 = 10_000_000_000;

/// Shows progress, or does not.
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
    /// Chooses the place. `machine_read` says that the answer is for a program.
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

    /// Whether anything is shown, so that it is worth counting the tree beforehand.
    pub(crate) fn is_shown(&self) -> bool {
        !matches!(self.place, ProgressPlace::Nowhere)
    }

    /// Shows how far the run is, if it is time.
    pub(crate) fn show(&mut self, progress: &Progress) {
        match &mut self.place {
            ProgressPlace::Nowhere => {}
            ProgressPlace::Terminal(bar) => bar.set_message(progress::line(progress, self.units)),
            ProgressPlace::Plain { next_ns } if progress.elapsed_ns >= *next_ns => {
                *next_ns = progress.elapsed_ns + PLAIN_INTERVAL_NS;
                let line = progress::line(progress, self.units);
                // Losing a line of progress is no reason to lose the run.
                let _ = writeln!(io::stderr(), "{line}");
            }
            ProgressPlace::Plain { .. } => {}
        }
    }

    /// Shows a line of its own, if it is time.
    pub(crate) fn say(&mut self, line: &str) {
        match &mut self.place {
            ProgressPlace::Nowhere => {}
            ProgressPlace::Terminal(bar) => bar.set_message(line.to_owned()),
            ProgressPlace::Plain { next_ns } => {
                let now_ns = u64::try_from(self.begun.elapsed().as_nanos()).unwrap_or(u64::MAX);
                // The first at once: there is no other sign of life.
                if now_ns + PLAIN_INTERVAL_NS >= *next_ns {
                    *next_ns = now_ns + 2 * PLAIN_INTERVAL_NS;
                    let _ = writeln!(io::stderr(), "{line}");
                }
            }
        }
    }

    /// Does something that writes, with the line out of its way.
    pub(crate) fn aside<T>(&self, write: impl FnOnce() -> T) -> T {
        match &self.place {
            ProgressPlace::Terminal(bar) => bar.suspend(write),
            _ => write(),
        }
    }

    /// Takes the line away for good.
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
