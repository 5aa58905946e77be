//! Documents that stream out of a catalogue: output goes to stdout as it fills.

use std::io;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Context as _;
use steadfast_report::Output;

use crate::output::write_answer;

/// Bytes that are written at a time.
const WAITING_LEN_MAX: usize = 64 << 10;

/// Where a document goes.
pub(crate) struct DocumentOutlet {
    /// What was rendered and not yet written.
    pub(crate) pending: Output,
    /// Set when somebody asks for the end.
    stop: Arc<AtomicBool>,
    failed: Option<io::Error>,
    is_csv: bool,
}

impl DocumentOutlet {
    /// Starts one; `is_csv` says what will be written.
    pub(crate) fn new(stop: Arc<AtomicBool>, is_csv: bool) -> DocumentOutlet {
        DocumentOutlet { pending: Output::default(), stop, failed: None, is_csv }
    }

    /// Writes if there is much to write, and says whether more is wanted.
    pub(crate) fn flow(&mut self) -> ControlFlow<()> {
        if self.pending.answer.len() >= WAITING_LEN_MAX {
            self.pour();
        }
        match self.failed.is_some() || self.stop.load(Ordering::Relaxed) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }

    /// Writes the rest.
    ///
    /// # Errors
    /// If not everything could be written. That the reader went away, as `head` does, is its right.
    pub(crate) fn finish(mut self) -> anyhow::Result<()> {
        self.pour();
        match self.failed {
            Some(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                Err(error).context("cannot write to stdout")
            }
            _ => Ok(()),
        }
    }

    fn pour(&mut self) {
        if self.failed.is_none() {
            self.failed = write_answer(&self.pending.answer, self.is_csv).err();
        }
        self.pending.answer.clear();
    }
}
