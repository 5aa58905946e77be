//! A history, as a person reads it: what is known now, then run by run.

use std::path::Path;

use steadfast::catalogue::{Happened, History, HistoryRun, Look, Standing};
use steadfast::{Tag, Timestamp};

use super::{HistoryOf, HistoryView, RunOver, changes_tag, tags_after, verdict_of};
use crate::catalogue::{ago, ending, short_digest, source, style_of, write_runs};
use crate::document::Align;
use crate::text::{painted, write_table};
use crate::units::{self, Units};
use crate::{escape, view};

/// Appends the text. `color` says whether colours may carry meaning.
pub fn write_text(view: &HistoryView<'_>, units: Units, color: bool, out: &mut Vec<u8>) {
    let mut text = String::new();
    match view.of {
        HistoryOf::File(history) => write_file(view, history, color, &mut text),
        HistoryOf::Directory { path, runs } => write_directory(view, path, runs, units, &mut text),
    }
    out.extend_from_slice(text.as_bytes());
}

fn write_file(view: &HistoryView<'_>, history: &History, color: bool, text: &mut String) {
    text.push_str(&format!("{}\n", escape::path(&history.path)));
    let mut rows = vec![("in", escape::path(view.root))];
    match &history.now {
        Some(look) => rows.extend(known_rows(view, history, look, color)),
        None => rows.push(("now", "known no more".to_owned())),
    }
    let rows: Vec<Vec<String>> =
        rows.into_iter().map(|(name, value)| vec![name.to_owned(), value]).collect();
    write_table(&rows, &[], text);
    text.push('\n');
    if history.runs.is_empty() {
        text.push_str("No run ever judged it.\n");
        return;
    }
    let head = ["run", "began", "verb", "version", "from", "verdict", "what happened"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    rows.extend(history.runs.iter().flat_map(run_rows));
    write_table(&rows, &[Align::Right], text);
}

pub(super) fn known_rows(
    view: &HistoryView<'_>,
    history: &History,
    look: &Look,
    color: bool,
) -> Vec<(&'static str, String)> {
    let name = match look.standing {
        Standing::Fine => Standing::Fine.verdict(look.tag.is_some()).name(),
        other => other.name(),
    };
    let style = style_of(look.standing);
    let name = painted(name, style, color);
    let mut rows = vec![("now", name)];
    let by = |run: i64| match (run, started(view, history, run)) {
        (0, _) => "never".to_owned(),
        (run, None) => format!("by run {run}"),
        (run, Some(moment)) => {
            format!("{}, {}, by run {run}", units::moment(moment), ago(view.now, moment))
        }
    };
    if look.tag.is_some() {
        rows.push(("last proved", by(look.last_proved_run)));
    }
    rows.push(("last judged", by(look.last_checked_run)));
    rows.push(("first seen", by(look.first_run)));
    rows.push(match &look.tag {
        Some(tag) => {
            let algorithm = view::algorithm_title(tag.algorithm);
            ("tag", format!("{algorithm} {}", tag.digest))
        }
        None => ("tag", "none".to_owned()),
    });
    rows.extend(look.tag.map(|tag| ("tagged", units::moment(tag.tagged))));
    rows.push(("length", units::counted(look.facts.length, "byte", "bytes")));
    rows.push(("modified", units::moment_exact(look.facts.mtime)));
    rows
}

/// When a run began that had to do with the file, or first saw it.
fn started(view: &HistoryView<'_>, history: &History, run: i64) -> Option<Timestamp> {
    let mut runs = history.runs.iter().map(|of| &of.run).chain(view.first);
    runs.find(|other| other.id == run).map(|other| other.started)
}

/// A run's row, and below it one for each further thing that happened in it.
pub(super) fn run_rows(of: &HistoryRun) -> Vec<Vec<String>> {
    let verdict = verdict_of(of).map_or("–", |verdict| verdict.name());
    let tags = tags_after(of);
    // What the verdict says already need not be said again.
    let happened = of.happened.iter().zip(&tags).filter(|(happened, _)| {
        happened.what != verdict || happened.other.is_some() || changes_tag(happened)
    });
    let mut notes: Vec<String> =
        happened.map(|(happened, after)| note(happened, after.as_ref())).collect();
    let ending = ending(&of.run);
    if !ending.is_empty() {
        notes.push(format!("run {ending}"));
    }
    let mut notes = notes.into_iter();
    let mut rows = vec![vec![
        of.run.id.to_string(),
        units::moment(of.run.started),
        escape::text(&of.run.verb),
        escape::text(&of.run.version),
        escape::text(source(&of.run)),
        verdict.to_owned(),
        notes.next().unwrap_or_default(),
    ]];
    rows.extend(notes.map(|note| {
        let mut row = vec![String::new(); 6];
        row.push(note);
        row
    }));
    rows
}

/// Says what happened, with the digests before and after.
fn note(happened: &Happened, after: Option<&Tag>) -> String {
    let what = escape::text(&happened.what);
    if let Some(other) = &happened.other {
        return format!("{what} {}", escape::path(other));
    }
    if !changes_tag(happened) {
        return what;
    }
    match (happened.before.as_ref(), after) {
        (Some(before), Some(after)) if before.same_contents(after) => {
            format!("{what}, the same contents")
        }
        (Some(before), Some(after)) => {
            format!("{what}: {} -> {}", short_digest(before), short_digest(after))
        }
        (None, Some(after)) => format!("{what}: {}", short_digest(after)),
        (Some(before), None) => format!("{what}; it was {}", short_digest(before)),
        (None, None) => what,
    }
}

fn write_directory(
    view: &HistoryView<'_>,
    path: &Path,
    runs: &[RunOver],
    units: Units,
    text: &mut String,
) {
    let all = path.as_os_str().is_empty();
    if all {
        text.push_str(&format!("Runs over {}\n", escape::path(view.root)));
    } else {
        let (path, root) = (escape::path(path), escape::path(view.root));
        text.push_str(&format!("Runs over all of {path} in {root}\n"));
    }
    if runs.is_empty() {
        text.push_str("  none\n");
        return;
    }
    let records: Vec<_> = runs.iter().map(|over| &over.run).collect();
    write_runs(&records, units, text);
    let parts = runs.iter().filter(|over| !over.whole).count() as u64;
    if all && parts > 0 {
        let parts = units::counted(parts, "run", "runs");
        text.push_str(&format!("  {parts} of these judged a part of it, or nothing.\n"));
    }
    if !all {
        text.push_str("  Counts are of whole runs. Runs over a part of it are not listed.\n");
    }
}
