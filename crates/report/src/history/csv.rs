//! A history, as a spreadsheet reads it: a header, then one row for each verdict and each event.

use std::path::Path;

use serde::Serialize;
use steadfast::catalogue::{History, HistoryRun, RunRecord};
use steadfast_events::{PathText, TagText};

use super::{HistoryOf, HistoryView, RunOver, changes_tag, tags_after, verdict_of};
use crate::catalogue::{RunObject, standing_key};
use crate::csv::{write_header, write_row};

/// The columns, always these and in this order. What does not belong to a row is an empty field.
const COLUMNS: [&str; 20] = [
    "path",
    "path_b64",
    "run",
    "verb",
    "version",
    "read_from",
    "started_s",
    "state",
    "files",
    "bytes",
    "whole",
    "what",
    "at_s",
    "standing",
    "algorithm",
    "digest",
    "before_algorithm",
    "before_digest",
    "other",
    "other_b64",
];

/// One row. Fields that do not apply are empty.
#[derive(Serialize)]
struct HistoryRow<'a> {
    #[serde(flatten)]
    path: PathText,
    #[serde(flatten)]
    run: RunObject<'a>,
    whole: Option<bool>,
    what: &'a str,
    at_s: Option<i64>,
    standing: &'static str,
    #[serde(flatten)]
    tag: Option<TagText>,
    before: Option<TagText>,
    other: Option<PathText>,
}

impl HistoryRow<'_> {
    fn of<'a>(path: &Path, run: &'a RunRecord) -> HistoryRow<'a> {
        HistoryRow {
            path: PathText::of(path),
            run: RunObject::of(run),
            whole: None,
            what: "",
            at_s: None,
            standing: "",
            tag: None,
            before: None,
            other: None,
        }
    }
}

/// Appends the rows.
pub fn write_csv(view: &HistoryView<'_>, out: &mut Vec<u8>) {
    write_header(&COLUMNS, out);
    match view.of {
        HistoryOf::File(history) => {
            for run in &history.runs {
                write_run(history, run, out);
            }
        }
        HistoryOf::Directory { path, runs } => {
            for RunOver { run, whole } in runs {
                let row = HistoryRow { whole: Some(*whole), ..HistoryRow::of(path, run) };
                write_row(&COLUMNS, &row, out);
            }
        }
    }
}

fn write_run(history: &History, of: &HistoryRun, out: &mut Vec<u8>) {
    let row = || HistoryRow::of(&history.path, &of.run);
    for (happened, after) in of.happened.iter().zip(tags_after(of)) {
        let before = happened.before.as_ref().filter(|_| changes_tag(happened));
        let event = HistoryRow {
            what: &happened.what,
            at_s: Some(happened.at.seconds),
            standing: standing_key(happened.standing),
            tag: after.as_ref().map(TagText::of),
            before: before.map(TagText::of),
            other: happened.other.as_deref().map(PathText::of),
            ..row()
        };
        write_row(&COLUMNS, &event, out);
    }
    let said = |name: &str| of.happened.iter().any(|happened| happened.what == name);
    let verdict = verdict_of(of).filter(|verdict| !said(verdict.name()));
    // A run without events for the file has a row, too.
    if verdict.is_some() || of.happened.is_empty() {
        let judged = HistoryRow {
            what: verdict.map(|verdict| verdict.name()).unwrap_or_default(),
            at_s: Some(of.run.started.seconds),
            standing: standing_key(of.standing),
            tag: of.tag.as_ref().map(TagText::of),
            ..row()
        };
        write_row(&COLUMNS, &judged, out);
    }
}
