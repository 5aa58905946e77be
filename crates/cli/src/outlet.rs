//! Stdout for an answer that is written piece by piece.
//!
//! In: rendered bytes. Out: bytes on stdout and stderr. After a write has failed, nothing more goes
//! to stdout.

use std::io::{self, Write as _};

use anyhow::Context as _;
use steadfast_report::Output;

use crate::output::write_answer;

/// Rendered bytes that are collected before they are written.
const WAITING_LEN_MAX: usize = 64 << 10;

/// An answer on its way to stdout.
pub(crate) struct Outlet {
    /// Rendered, but not yet written.
    pub(crate) pending: Output,
    is_csv: bool,
    failed: Option<io::Error>,
}

impl Outlet {
    /// Makes an outlet. `is_csv` says that the answer is CSV.
    pub(crate) fn new(is_csv: bool) -> Outlet {
        Outlet { pending: Output::default(), is_csv, failed: None }
    }

    /// Returns whether enough is pending to write it.
    pub(crate) fn is_full(&self) -> bool {
        self.pending.answer.len() + self.pending.trouble.len() >= WAITING_LEN_MAX
    }

    /// Returns whether a write to stdout failed, so that nobody reads the rest of the answer.
    pub(crate) fn is_closed(&self) -> bool {
        self.failed.is_some()
    }

    /// Writes what is pending.
    pub(crate) fn pour(&mut self) {
        if self.failed.is_none() && !self.pending.answer.is_empty() {
            self.failed = write_answer(&self.pending.answer, self.is_csv).err();
        }
        // If stderr is gone, there is no other place to report it.
        let _ = io::stderr().lock().write_all(&self.pending.trouble);
        self.pending.answer.clear();
        self.pending.trouble.clear();
    }

    /// Writes the rest.
    ///
    /// # Errors
    /// If a write failed, except because the reader went away, as `head` does.
    pub(crate) fn finish(mut self) -> anyhow::Result<()> {
        self.pour();
        match self.failed {
            Some(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                Err(error).context("cannot write to stdout")
            }
            _ => Ok(()),
        }
    }
}
