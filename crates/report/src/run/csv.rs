//! Writes a run as CSV: a header, then one row for each file.
//!
//! In: events. Out: CSV of RFC 4180 with LF, with the fields of the JSON form in base units.
//! Notices go to standard error. The summary has no row because it has other columns.

use steadfast::{Event, Summary};

use super::Renderer;
use super::json::{file_object, finding_object};
use crate::csv::{write_header, write_row};
use crate::output::Output;
use crate::view::FindingRule;

/// The columns, always these and in this order. An unknown value is an empty field.
pub const COLUMNS: [&str; 23] = [
    "path",
    "path_b64",
    "kind",
    "verdict",
    "action",
    "algorithm",
    "digest",
    "length",
    "mtime_ns",
    "stored_algorithm",
    "stored_digest",
    "stored_length",
    "stored_mtime_ns",
    "stored_tagged_s",
    "bytes_read",
    "elapsed_ns",
    "from",
    "error",
    "finding",
    "moved_to",
    "reference",
    "reason",
    "changed_ns",
];

/// Renders CSV.
#[derive(Clone, Copy, Debug, Default)]
pub struct Csv {
    quiet: bool,
    rule: FindingRule,
    begun: bool,
}

impl Csv {
    /// Starts a document; `quiet` leaves out files that are not findings.
    pub fn new(quiet: bool, rule: FindingRule) -> Csv {
        Csv { quiet, rule, begun: false }
    }

    fn begin(&mut self, output: &mut Output) {
        if !std::mem::replace(&mut self.begun, true) {
            write_header(&COLUMNS, &mut output.answer);
        }
    }
}

impl Renderer for Csv {
    fn event(&mut self, event: &Event, output: &mut Output) {
        self.begin(output);
        match event {
            Event::File(event) if self.quiet && !self.rule.finds(event) => {}
            Event::File(event) => write_row(&COLUMNS, &file_object(event), &mut output.answer),
            Event::Finding(noted) => {
                write_row(&COLUMNS, &finding_object(noted), &mut output.answer);
            }
            Event::Notice(notice) => output.write_notice(notice),
            _ => {}
        }
    }

    fn end(&mut self, _run: &Summary, output: &mut Output) {
        self.begin(output);
    }
}
