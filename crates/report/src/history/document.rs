//! A history as a document: what is known now, then run by run, as the text has it.

use steadfast::catalogue::History;

use super::text::{known_rows, run_rows};
use super::{HistoryOf, HistoryView};
use crate::catalogue::{RUN_COLUMNS, run_row};
use crate::document::{Cell, Document, Section, Table};
use crate::escape;
use crate::units::{self, Units};

/// Makes the document.
pub fn document(view: &HistoryView<'_>, units: Units) -> Document {
    match view.of {
        HistoryOf::File(history) => of_file(view, history),
        HistoryOf::Directory { .. } => of_directory(view, units),
    }
}

fn of_file(view: &HistoryView<'_>, history: &History) -> Document {
    let mut facts = vec![("in".to_owned(), escape::path(view.root))];
    match &history.now {
        Some(look) => facts.extend(
            known_rows(view, history, look, false)
                .into_iter()
                .map(|(name, value)| (name.to_owned(), value)),
        ),
        None => facts.push(("now".to_owned(), "known no more".to_owned())),
    }
    let columns = [">run", "began", "verb", "version", "from", "verdict", "what happened"];
    let mut table = Table::new("runs", "Runs that judged it", &columns);
    for row in history.runs.iter().flat_map(run_rows) {
        table.push(row.into_iter().map(words).collect());
    }
    let sentence = match history.runs.len() as u64 {
        0 => "No run ever judged it.".to_owned(),
        runs => format!("{} had to do with it.", units::counted(runs, "run", "runs")),
    };
    Document {
        title: escape::path(&history.path),
        facts,
        warnings: Vec::new(),
        sections: vec![Section {
            title: "Run by run".to_owned(),
            sentences: vec![sentence],
            tables: vec![table],
            ..Section::default()
        }],
    }
}

fn of_directory(view: &HistoryView<'_>, units: Units) -> Document {
    let HistoryOf::Directory { path, runs } = view.of else { return Document::default() };
    let all = path.as_os_str().is_empty();
    let title = match all {
        true => format!("Runs over {}", escape::path(view.root)),
        false => {
            format!("Runs over all of {} in {}", escape::path(path), escape::path(view.root))
        }
    };
    let mut table = Table::new("runs", "Runs", &RUN_COLUMNS);
    for over in runs.iter().rev() {
        table.push(run_row(&over.run, units).into_iter().map(words).collect());
    }
    let sentence = match runs.len() as u64 {
        0 => "There was none.".to_owned(),
        runs => format!("{}, the latest first.", units::counted(runs, "run", "runs")),
    };
    let parts = runs.iter().filter(|over| !over.whole).count() as u64;
    let mut notes = Vec::new();
    if all && parts > 0 {
        let parts = units::counted(parts, "run", "runs");
        notes.push(format!("{parts} of these judged a part of it, or nothing."));
    }
    if !all {
        notes.push("Counts are of whole runs. Runs over a part of it are not listed.".to_owned());
    }
    let section = Section {
        title: "Runs".to_owned(),
        sentences: vec![sentence],
        tables: vec![table],
        notes,
        ..Section::default()
    };
    Document { title, sections: vec![section], ..Document::default() }
}

fn words(text: String) -> Cell {
    if text.is_empty() { Cell::Empty } else { Cell::Text(text) }
}
