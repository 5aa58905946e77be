//! An audit, as a spreadsheet reads it: a header, then one row for each fact.

use serde::Serialize;
use steadfast::catalogue::{Duplicates, FailedCheck, Overdue};
use steadfast_events::PathText;

use super::json::{AuditLine, FailureObject, OverdueObject};
use super::{AuditRenderer, AuditView};
use crate::catalogue::RunObject;
use crate::csv::{write_header, write_row};
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

/// How many files there are of a kind, at the moment of the audit.
#[derive(Serialize)]
struct AmountRow {
    at_s: i64,
    days: Option<u32>,
    files: u64,
    bytes: Option<u64>,
}

/// One of several files with the same contents.
#[derive(Serialize)]
struct DuplicateRow {
    #[serde(flatten)]
    path: PathText,
    length: u64,
    algorithm: &'static str,
    digest: String,
}

fn write_line(about: &'static str, rest: impl Serialize, output: &mut Output) {
    write_row(&COLUMNS, &AuditLine { about, rest }, &mut output.answer);
}

/// Renders CSV.
#[derive(Clone, Copy, Debug, Default)]
pub struct AuditCsv;

impl AuditRenderer for AuditCsv {
    fn begin(&mut self, view: &AuditView<'_>, output: &mut Output) {
        write_header(&COLUMNS, &mut output.answer);
        let audit = view.audit;
        let mut write = |about, days, files, bytes| {
            let row = AmountRow { at_s: audit.at.seconds, days, files, bytes };
            write_line(about, row, output);
        };
        write("tagged", None, audit.tagged, Some(audit.bytes));
        write("untagged", None, audit.entries.saturating_sub(audit.tagged), None);
        for window in &audit.windows {
            write("proved", Some(window.days), window.entries, Some(window.bytes));
        }
        write("never_proved", None, audit.never.0, Some(audit.never.1));
        for run in &audit.runs {
            write_line("run", RunObject::of(run), output);
        }
    }

    fn overdue(&mut self, overdue: &Overdue, output: &mut Output) {
        write_line("overdue", OverdueObject::of(overdue), output);
    }

    fn failure(&mut self, failure: &FailedCheck, output: &mut Output) {
        write_line("failure", FailureObject::of(failure), output);
    }

    fn duplicates(&mut self, duplicates: &Duplicates, output: &mut Output) {
        let Duplicates { tag, paths } = duplicates;
        for path in paths {
            let row = DuplicateRow {
                path: PathText::of(path),
                length: tag.length,
                algorithm: tag.algorithm.name(),
                digest: tag.digest.to_string(),
            };
            write_line("duplicate", row, output);
        }
    }
}
