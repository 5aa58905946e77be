//! Writes an audit as CSV: a header, then one row for each fact.

use steadfast::catalogue::{Duplicates, FailedCheck, Overdue};

use super::json::{failure_object, line_object, overdue_object};
use super::{AuditRenderer, AuditView};
use crate::catalogue::run_object;
use crate::csv::{write_header, write_row};
use crate::json::JsonObject;
use crate::output::Output;

/// The columns, always these and in this order. A field that does not apply is empty.
const COLUMNS: [&str; 16] = [
    "about",
    "path",
    "path_b64",
    "standing",
    "now",
    "settled",
    "at_s|started_s|last_proof_s",
    "run",
    "verb",
    "read_from",
    "state",
    "days",
    "files",
    "bytes|length",
    "algorithm",
    "digest",
];

fn write_line(about: &'static str, rest: JsonObject<'_>, output: &mut Output) {
    write_row(&COLUMNS, &line_object(about, rest), &mut output.answer);
}

/// Renders CSV.
#[derive(Clone, Copy, Debug, Default)]
pub struct AuditCsv;

impl AuditRenderer for AuditCsv {
    fn begin(&mut self, view: &AuditView<'_>, output: &mut Output) {
        write_header(&COLUMNS, &mut output.answer);
        let audit = view.audit;
        let mut write = |about, days: Option<u32>, files: u64, bytes: Option<u64>| {
            let row = JsonObject::default()
                .field("at_s", audit.at.seconds)
                .field("days", days)
                .field("files", files)
                .field("bytes", bytes);
            write_line(about, row, output);
        };
        write("tagged", None, audit.tagged, Some(audit.bytes));
        write("untagged", None, audit.entries.saturating_sub(audit.tagged), None);
        for window in &audit.windows {
            write("proved", Some(window.days), window.entries, Some(window.bytes));
        }
        write("never_proved", None, audit.never.0, Some(audit.never.1));
        for run in &audit.runs {
            write_line("run", run_object(run), output);
        }
    }

    fn overdue(&mut self, overdue: &Overdue, output: &mut Output) {
        write_line("overdue", overdue_object(overdue), output);
    }

    fn failure(&mut self, failure: &FailedCheck, output: &mut Output) {
        write_line("failure", failure_object(failure), output);
    }

    fn duplicates(&mut self, duplicates: &Duplicates, output: &mut Output) {
        let Duplicates { tag, paths } = duplicates;
        for path in paths {
            let row = JsonObject::at(path)
                .field("length", tag.length)
                .field("algorithm", tag.algorithm.name())
                .field("digest", tag.digest.to_string());
            write_line("duplicate", row, output);
        }
    }
}
