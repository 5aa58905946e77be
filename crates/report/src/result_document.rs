//! What renders the results of the verbs that have results of their own.

use steadfast::{ExitStatus, Notice};

use crate::json::write_notice;
use crate::output::Output;

/// Renders the results of `copy`, `move`, `safe` or `known`.
pub trait ResultDocument {
    /// A result.
    type Result;
    /// The result of the run.
    type Summary;

    /// Appends one result.
    fn result(&mut self, result: &Self::Result, output: &mut Output);

    /// Returns whether it is JSON.
    fn is_json(&self) -> bool;

    /// Appends a notice.
    fn notice(&mut self, notice: &Notice, output: &mut Output) {
        match self.is_json() {
            true => write_notice(notice, &mut output.answer),
            false => output.write_notice(notice),
        }
    }

    /// Appends the end, and returns the exit status.
    fn end(&mut self, summary: &Self::Summary, output: &mut Output) -> ExitStatus;
}
