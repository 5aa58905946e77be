//! An audit, as a spreadsheet reads it: a header, then one row for each fact.

use steadfast::catalogue::{Duplicates, Failure, Overdue, RunRecord};

use super::{AuditRenderer, AuditView, Part, Tally};
use crate::catalogue::standing_key;
use crate::json::PathText;
use crate::output::Output;

/// The columns, always these and in this order. What does not belong to a row is an empty field.
const COLUMNS: [&str; 16] = [
    "about",
    "path",
    "path_b64",
    "standing",
    "now",
    "settled",
    "at_s",
    "run",
    "verb",
    "read_from",
    "state",
    "days",
    "files",
    "bytes",
    "algorithm",
    "digest",
];

/// One row, by name.
#[derive(Default)]
struct Row {
    about: &'static str,
    path: Option<PathText>,
    standing: &'static str,
    now: &'static str,
    settled: &'static str,
    at_s: Option<i64>,
    run: Option<i64>,
    verb: String,
    read_from: String,
    state: &'static str,
    days: Option<u32>,
    files: Option<u64>,
    bytes: Option<u64>,
    algorithm: &'static str,
    digest: String,
}

impl Row {
    fn write(self, output: &mut Output) {
        fn text<T: ToString>(number: Option<T>) -> String {
            number.map(|number| number.to_string()).unwrap_or_default()
        }
        let (path, path_b64) = match self.path {
            Some(path) => (path.path, path.path_b64.unwrap_or_default()),
            None => Default::default(),
        };
        write_row(
            [
                self.about.to_owned(),
                path,
                path_b64,
                self.standing.to_owned(),
                self.now.to_owned(),
                self.settled.to_owned(),
                text(self.at_s),
                text(self.run),
                self.verb,
                self.read_from,
                self.state.to_owned(),
                text(self.days),
                text(self.files),
                text(self.bytes),
                self.algorithm.to_owned(),
                self.digest,
            ],
            output,
        );
    }

    fn of_run(run: &RunRecord) -> Row {
        Row {
            about: "run",
            at_s: Some(run.started.seconds),
            run: Some(run.id),
            verb: run.verb.clone(),
            read_from: run.read_from.clone(),
            state: run.state.name(),
            files: Some(run.files),
            bytes: Some(run.bytes),
            ..Row::default()
        }
    }
}

/// Renders CSV.
#[derive(Clone, Copy, Debug, Default)]
pub struct AuditCsv;

impl AuditRenderer for AuditCsv {
    fn begin(&mut self, view: &AuditView<'_>, output: &mut Output) {
        write_row(COLUMNS.map(str::to_owned), output);
        let audit = view.audit;
        let amount = |about, days, files, bytes| Row {
            about,
            days,
            files: Some(files),
            bytes: Some(bytes),
            at_s: Some(audit.at.seconds),
            ..Row::default()
        };
        amount("tagged", None, audit.tagged, audit.bytes).write(output);
        let untagged = audit.entries.saturating_sub(audit.tagged);
        Row { bytes: None, ..amount("untagged", None, untagged, 0) }.write(output);
        for window in &audit.windows {
            amount("proved", Some(window.days), window.entries, window.bytes).write(output);
        }
        amount("never_proved", None, audit.never.0, audit.never.1).write(output);
        for run in &audit.runs {
            Row::of_run(run).write(output);
        }
    }

    fn begin_part(&mut self, _part: Part, _pages: &mut Output) {}

    fn overdue(&mut self, overdue: &Overdue, output: &mut Output) {
        let row = Row {
            about: "overdue",
            path: Some(PathText::of(&overdue.path)),
            standing: standing_key(overdue.standing),
            at_s: overdue.last_proof.map(|proof| proof.seconds),
            bytes: Some(overdue.length),
            ..Row::default()
        };
        row.write(output);
    }

    fn failure(&mut self, failure: &Failure, output: &mut Output) {
        let row = Row {
            about: "failure",
            path: Some(PathText::of(&failure.path)),
            standing: standing_key(failure.standing),
            now: failure.now.map(standing_key).unwrap_or_default(),
            settled: if failure.settled { "true" } else { "false" },
            at_s: Some(failure.at.seconds),
            run: Some(failure.run),
            ..Row::default()
        };
        row.write(output);
    }

    fn duplicates(&mut self, duplicates: &Duplicates, output: &mut Output) {
        for path in &duplicates.paths {
            let row = Row {
                about: "duplicate",
                path: Some(PathText::of(path)),
                bytes: Some(duplicates.tag.length),
                algorithm: duplicates.tag.algorithm.name(),
                digest: duplicates.tag.digest.to_string(),
                ..Row::default()
            };
            row.write(output);
        }
    }

    fn end_part(&mut self, _part: Part, _tally: &Tally, _pages: &mut Output) {}

    fn end(&mut self, _view: &AuditView<'_>, _tally: &Tally, _pages: &mut Output) {}
}

fn write_row(fields: [String; COLUMNS.len()], output: &mut Output) {
    let mut writer = ::csv::Writer::from_writer(&mut output.answer);
    writer.write_record(fields).expect("a row of fixed width goes into memory");
    writer.flush().expect("memory takes all bytes");
}
