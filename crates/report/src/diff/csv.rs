//! Writes a comparison as CSV: a header, then one row for each path.

use steadfast::Notice;
use steadfast::diff::{DiffSummary, PathPair};

use super::json::pair_object;
use super::{DiffRenderer, finds};
use crate::csv::{write_header, write_row};
use crate::output::Output;

/// The columns, always these and in this order: of the path, of side A, of side B.
const COLUMNS: [&str; 23] = [
    "path",
    "path_b64",
    "kind",
    "difference",
    "moved_to",
    "moved_to_b64",
    "doubt",
    "a_length",
    "a_mtime_ns",
    "a_algorithm",
    "a_digest",
    "a_stored_algorithm",
    "a_stored_digest",
    "a_verdict",
    "a_error",
    "b_length",
    "b_mtime_ns",
    "b_algorithm",
    "b_digest",
    "b_stored_algorithm",
    "b_stored_digest",
    "b_verdict",
    "b_error",
];

/// Renders CSV.
#[derive(Clone, Copy, Debug, Default)]
pub struct DiffCsv {
    quiet: bool,
    begun: bool,
}

impl DiffCsv {
    /// Starts a document; `quiet` leaves out pairs that are not findings.
    pub fn new(quiet: bool) -> DiffCsv {
        DiffCsv { quiet, begun: false }
    }

    fn begin(&mut self, output: &mut Output) {
        if !std::mem::replace(&mut self.begun, true) {
            write_header(&COLUMNS, &mut output.answer);
        }
    }
}

impl DiffRenderer for DiffCsv {
    fn pair(&mut self, pair: &PathPair, output: &mut Output) {
        self.begin(output);
        if !self.quiet || finds(pair) {
            write_row(&COLUMNS, &pair_object(pair), &mut output.answer);
        }
    }

    fn notice(&mut self, notice: &Notice, output: &mut Output) {
        output.write_notice(notice);
    }

    fn end(&mut self, _summary: &DiffSummary, output: &mut Output) {
        self.begin(output);
    }
}
