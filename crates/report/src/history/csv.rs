//! A history, as a spreadsheet reads it: a header, then one row for each verdict and each event.

use steadfast::Tag;
use steadfast::catalogue::{Happened, History, HistoryRun, RunRecord};

use super::{HistoryOf, HistoryView, RunOver, changes_tag, tags_after, verdict_of};
use crate::catalogue::standing_key;
use crate::json::PathText;

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

/// Columns that are the same in all rows of a run.
const OF_RUN: usize = 10;

/// Appends the rows.
pub fn write_csv(view: &HistoryView<'_>, out: &mut Vec<u8>) {
    write_row(COLUMNS.map(str::to_owned), out);
    match view.of {
        HistoryOf::File(history) => {
            for run in &history.runs {
                write_run(history, run, out);
            }
        }
        HistoryOf::Directory { path, runs } => {
            for RunOver { run, whole } in runs {
                let mut rest = [const { String::new() }; COLUMNS.len() - OF_RUN];
                rest[0] = whole.to_string();
                write_row(joined(of_run(&PathText::of(path), run), rest), out);
            }
        }
    }
}

fn write_run(history: &History, run: &HistoryRun, out: &mut Vec<u8>) {
    let path = PathText::of(&history.path);
    for (happened, after) in run.happened.iter().zip(tags_after(run)) {
        write_row(joined(of_run(&path, &run.run), of_event(happened, after)), out);
    }
    let said = |name: &str| run.happened.iter().any(|happened| happened.what == name);
    let verdict = verdict_of(run).filter(|verdict| !said(verdict.name()));
    // A run of which there is nothing to say still was one.
    if verdict.is_some() || run.happened.is_empty() {
        let name = verdict.map(|verdict| verdict.name()).unwrap_or_default();
        let [algorithm, digest] = contents(run.tag.as_ref());
        let mut rest = [const { String::new() }; COLUMNS.len() - OF_RUN];
        rest[1] = name.to_owned();
        rest[2] = run.run.started.seconds.to_string();
        rest[3] = standing_key(run.standing).to_owned();
        (rest[4], rest[5]) = (algorithm, digest);
        write_row(joined(of_run(&path, &run.run), rest), out);
    }
}

fn of_run(path: &PathText, run: &RunRecord) -> [String; OF_RUN] {
    [
        path.path.clone(),
        path.path_b64.clone().unwrap_or_default(),
        run.id.to_string(),
        run.verb.clone(),
        run.version.clone(),
        run.read_from.clone(),
        run.started.seconds.to_string(),
        run.state.name().to_owned(),
        run.files.to_string(),
        run.bytes.to_string(),
    ]
}

fn of_event(happened: &Happened, after: Option<Tag>) -> [String; COLUMNS.len() - OF_RUN] {
    let before = happened.before.as_ref().filter(|_| changes_tag(happened));
    let [algorithm, digest] = contents(after.as_ref());
    let [before_algorithm, before_digest] = contents(before);
    let other = happened.other.as_deref().map(PathText::of);
    let (other, other_b64) = match other {
        Some(other) => (other.path, other.path_b64.unwrap_or_default()),
        None => Default::default(),
    };
    [
        String::new(),
        happened.what.clone(),
        happened.at.seconds.to_string(),
        standing_key(happened.standing).to_owned(),
        algorithm,
        digest,
        before_algorithm,
        before_digest,
        other,
        other_b64,
    ]
}

fn contents(tag: Option<&Tag>) -> [String; 2] {
    let Some(tag) = tag else { return Default::default() };
    [tag.algorithm.name().to_owned(), tag.digest.to_string()]
}

fn joined(
    run: [String; OF_RUN],
    rest: [String; COLUMNS.len() - OF_RUN],
) -> [String; COLUMNS.len()] {
    let mut fields = run.into_iter().chain(rest);
    std::array::from_fn(|_| fields.next().unwrap_or_default())
}

fn write_row(fields: [String; COLUMNS.len()], out: &mut Vec<u8>) {
    let mut writer = ::csv::Writer::from_writer(out);
    writer.write_record(fields).expect("a row of fixed width goes into memory");
    writer.flush().expect("memory takes all bytes");
}
