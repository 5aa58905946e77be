//! Makes a document of a history: the present state, then each run. Text uses the same rows.

use std::path::Path;

use steadfast::catalogue::{
    FileHistoryEvent, FileState, Happened, History, HistoryRun, KnownFile, RepairSource,
};
use steadfast::{Tag, Timestamp};

use super::{HistoryOf, HistoryView, RunOver, tags_after, verdict_of};
use crate::catalogue::{ago, ending, runs_table, short_digest, source, style_of, verb_of};
use crate::document::{Cell, Document, Section, Table, labelled};
use crate::escape;
use crate::text::painted;
use crate::units::{self, Units};
use crate::view::algorithm_title;

/// Makes the document.
pub fn document(view: &HistoryView<'_>, units: Units) -> Document {
    match view.of {
        HistoryOf::File(history) => of_file(view, history),
        HistoryOf::Directory { path, runs } => of_directory(view, path, runs, units),
    }
}

fn of_file(view: &HistoryView<'_>, history: &History) -> Document {
    let sentence = match history.runs.len() as u64 {
        0 => "No run has judged it yet.".to_owned(),
        runs => format!("{} processed it.", units::counted(runs, "run", "runs")),
    };
    let facts = file_facts(view, history, false);
    Document {
        title: format!("History of {}", escape::path(&history.path)),
        facts: labelled(facts),
        sections: vec![Section {
            title: "Run by run".to_owned(),
            sentences: vec![sentence],
            tables: vec![file_runs(history)],
            ..Section::default()
        }],
        ..Document::default()
    }
}

fn of_directory(view: &HistoryView<'_>, path: &Path, runs: &[RunOver], units: Units) -> Document {
    let sentence = match runs.len() as u64 {
        0 => "There are no runs.".to_owned(),
        runs => format!("{}, the latest first.", units::counted(runs, "run", "runs")),
    };
    let latest_first: Vec<_> = runs.iter().rev().map(|over| &over.run).collect();
    let section = Section {
        title: "Runs".to_owned(),
        sentences: vec![sentence],
        tables: vec![runs_table("Runs", &latest_first, units)],
        notes: directory_note(path, runs).into_iter().collect(),
        ..Section::default()
    };
    let title = directory_title(view, path);
    Document { title, sections: vec![section], ..Document::default() }
}

pub(super) fn directory_title(view: &HistoryView<'_>, path: &Path) -> String {
    let root = escape::path(view.root);
    match path.as_os_str().is_empty() {
        true => format!("Runs over {root}"),
        false => format!("Runs over all of {} in {root}", escape::path(path)),
    }
}

/// Says which runs the list includes, and what their counts cover.
pub(super) fn directory_note(path: &Path, runs: &[RunOver]) -> Option<String> {
    if !path.as_os_str().is_empty() {
        let note = "Counts are of whole runs. Runs over a part of it are not listed.";
        return Some(note.to_owned());
    }
    let parts = runs.iter().filter(|over| !over.whole).count() as u64;
    let counted = units::counted(parts, "run", "runs");
    (parts > 0).then(|| format!("{counted} of these judged a part of it, or nothing."))
}

/// The present state of a file, in colour if `color` is set.
pub(super) fn file_facts(
    view: &HistoryView<'_>,
    history: &History,
    color: bool,
) -> Vec<(&'static str, String)> {
    let mut facts = vec![("in", escape::path(view.root))];
    match &history.now {
        Some(look) => facts.extend(known_facts(view, history, look, color)),
        None => facts.push(("now", "known no more".to_owned())),
    }
    facts
}

/// The runs that judged a file.
pub(super) fn file_runs(history: &History) -> Table {
    let columns = [">run", "began", "verb", "version", "from", "verdict", "what happened"];
    let mut table = Table::new("runs", "Runs that judged it", &columns);
    for row in history.runs.iter().flat_map(run_rows) {
        table.push(row.into_iter().map(Cell::words).collect());
    }
    table
}

fn known_facts(
    view: &HistoryView<'_>,
    history: &History,
    look: &KnownFile,
    color: bool,
) -> Vec<(&'static str, String)> {
    let name = match look.standing {
        FileState::Fine => FileState::Fine.verdict(look.tag.is_some()).name(),
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
            let algorithm = algorithm_title(tag.algorithm);
            ("tag", format!("{algorithm} {}", tag.digest))
        }
        None => ("tag", "none".to_owned()),
    });
    rows.extend(look.tag.map(|tag| ("tagged", units::moment(tag.tagged))));
    rows.push(("length", units::counted(look.facts.length, "byte", "bytes")));
    rows.push(("modified", units::moment_exact(look.facts.mtime)));
    rows
}

/// Returns when a run began, if it judged the file or was the first to see it.
fn started(view: &HistoryView<'_>, history: &History, run: i64) -> Option<Timestamp> {
    let mut runs = history.runs.iter().map(|of| &of.run).chain(view.first);
    runs.find(|other| other.id == run).map(|other| other.started)
}

/// The row of a run. Each further event of that run has a row of its own below it.
fn run_rows(of: &HistoryRun) -> Vec<Vec<String>> {
    let verdict = verdict_of(of);
    let repeated = verdict.and_then(FileHistoryEvent::of_verdict);
    let tags = tags_after(of);
    // An event that repeats the verdict is left out.
    let happened = of.happened.iter().zip(&tags).filter(|(happened, _)| {
        Some(happened.what) != repeated || happened.other.is_some() || happened.what.changes_tag()
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
        verb_of(&of.run),
        escape::text(&of.run.version),
        source(&of.run).to_owned(),
        verdict.map_or("–", |verdict| verdict.name()).to_owned(),
        notes.next().unwrap_or_default(),
    ]];
    rows.extend(notes.map(|note| {
        let mut row = vec![String::new(); 6];
        row.push(note);
        row
    }));
    rows
}

/// Says what of a repaired file came from where.
fn sources(happened: &Happened) -> String {
    let source = |source: &RepairSource| {
        let amount = match source.pages {
            0 => "whole".to_owned(),
            pages => units::counted(pages, "page", "pages"),
        };
        format!("{amount} from {}", escape::path(&source.path))
    };
    happened.sources.iter().map(source).collect::<Vec<_>>().join(", ")
}

/// Describes an event, with the digests before and after.
fn note(happened: &Happened, after: Option<&Tag>) -> String {
    let what = happened.what.name();
    if let Some(other) = &happened.other {
        return format!("{what} {}", escape::path(other));
    }
    if !happened.sources.is_empty() {
        return format!("{what}: {}", sources(happened));
    }
    if !happened.what.changes_tag() {
        return what.to_owned();
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
        (None, None) => what.to_owned(),
    }
}
