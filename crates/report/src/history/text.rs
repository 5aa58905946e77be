//! Writes a history as text: the present state, then each run.

use std::path::Path;

use steadfast::catalogue::History;

use super::document::{directory_note, directory_title, file_facts, file_runs};
use super::{HistoryOf, HistoryView, RunOver};
use crate::catalogue::runs_table;
use crate::escape;
use crate::text::{write_table, write_titled};
use crate::units::Units;

/// Appends the text, in colour if `color` is set.
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
    let facts = file_facts(view, history, color);
    let facts: Vec<Vec<String>> =
        facts.into_iter().map(|(name, value)| vec![name.to_owned(), value]).collect();
    write_table(&facts, &[], text);
    text.push('\n');
    match history.runs.is_empty() {
        true => text.push_str("No run has judged it yet.\n"),
        false => write_titled(&file_runs(history), Units::default(), text),
    }
}

fn write_directory(
    view: &HistoryView<'_>,
    path: &Path,
    runs: &[RunOver],
    units: Units,
    text: &mut String,
) {
    text.push_str(&format!("{}\n", directory_title(view, path)));
    if runs.is_empty() {
        text.push_str("  none\n");
        return;
    }
    let in_order: Vec<_> = runs.iter().map(|over| &over.run).collect();
    write_titled(&runs_table("Runs", &in_order, units), units, text);
    text.extend(directory_note(path, runs).map(|note| format!("  {note}\n")));
}
