//! Writes a history as CSV: a header, then one row for each verdict and each event.

use steadfast::catalogue::{FileHistoryEvent, FileState, History, HistoryRun};
use steadfast::json::{PathText, TagText};
use steadfast::{Tag, Timestamp};

use super::{HistoryOf, HistoryView, RunOver, tags_after, verdict_of};
use crate::catalogue::{run_object, standing_key};
use crate::csv::{write_header, write_row};
use crate::json::JsonObject;

/// The columns, always these and in this order. A field that does not apply is empty.
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
                let row = JsonObject::at(path).fields(run_object(run)).field("whole", *whole);
                write_row(&COLUMNS, &row, out);
            }
        }
    }
}

fn write_run(history: &History, of: &HistoryRun, out: &mut Vec<u8>) {
    let row = |what: &str, at: Timestamp, standing: FileState, tag: Option<Tag>| {
        JsonObject::at(&history.path)
            .fields(run_object(&of.run))
            .field("what", what.to_owned())
            .field("at_s", at.seconds)
            .field("standing", standing_key(standing))
            .optional("algorithm", tag.map(|tag| tag.algorithm.name()))
            .optional("digest", tag.map(|tag| tag.digest.to_string()))
    };
    for (happened, after) in of.happened.iter().zip(tags_after(of)) {
        let before = happened.before.as_ref().filter(|_| happened.what.changes_tag());
        let event = row(happened.what.name(), happened.at, happened.standing, after)
            .optional("before", before.map(TagText::of))
            .optional("other", happened.other.as_deref().map(PathText::of));
        write_row(&COLUMNS, &event, out);
    }
    let said = |verdict| {
        let said = FileHistoryEvent::of_verdict(verdict);
        of.happened.iter().any(|happened| Some(happened.what) == said)
    };
    let verdict = verdict_of(of).filter(|verdict| !said(*verdict));
    // A run without events for the file has a row, too.
    if verdict.is_some() || of.happened.is_empty() {
        let what = verdict.map(|verdict| verdict.name()).unwrap_or_default();
        write_row(&COLUMNS, &row(what, of.run.started, of.standing, of.tag), out);
    }
}
