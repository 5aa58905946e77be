//! Documents about the history of a file or a directory: text, JSON lines, CSV.
//!
//! In: the history of a path in a catalogue. Out: bytes, with names and other text from the
//! catalogue escaped. `docs/reference/audit.md` specifies the JSON and CSV forms. Knows no clock,
//! no files.

mod csv;
mod document;
mod json;
mod text;

use std::path::Path;

use steadfast::catalogue::{FileHistoryEvent, Happened, History, HistoryRun, RunRecord};
use steadfast::{Tag, Timestamp, Verdict};

pub use csv::write_csv;
pub use document::document;
pub use json::write_json;
pub use text::write_text;

/// A history, as documents show it.
#[derive(Clone, Copy, Debug)]
pub struct HistoryView<'a> {
    /// The root of the tree.
    pub root: &'a Path,
    /// The present time.
    pub now: Timestamp,
    /// The run that first saw the file, if it is known.
    pub first: Option<&'a RunRecord>,
    /// The file or directory, with its history.
    pub of: HistoryOf<'a>,
}

/// The subject of a history.
#[derive(Clone, Copy, Debug)]
pub enum HistoryOf<'a> {
    /// A file.
    File(&'a History),
    /// A directory, with its runs in the order in which they began.
    Directory {
        /// Its path from the root, empty for the root.
        path: &'a Path,
        /// Runs that judged everything beneath it; for the root, all runs.
        runs: &'a [RunOver],
    },
}

/// A run over a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunOver {
    /// The run. Its counts cover everything that it judged.
    pub run: RunRecord,
    /// Whether it judged everything beneath the directory.
    pub whole: bool,
}

/// Returns the verdict of a run on a file by its earlier tag: `None` if the run set or removed the
/// tag, because the recorded state then is that of the new tag.
pub fn verdict_of(run: &HistoryRun) -> Option<Verdict> {
    use FileHistoryEvent::{Removed, Retagged, Tagged};
    let is_new = |happened: &Happened| {
        matches!(happened.what, Tagged | Retagged | Removed) || happened.what.ends_life()
    };
    run.verdict.filter(|_| !run.happened.iter().any(is_new))
}

/// Returns the tag that a file had after each event of a run.
pub fn tags_after(run: &HistoryRun) -> Vec<Option<Tag>> {
    let mut after = run.tag;
    let mut tags: Vec<Option<Tag>> = run
        .happened
        .iter()
        .rev()
        .map(|happened| {
            let this = after;
            if happened.what.changes_tag() {
                after = happened.before;
            }
            this
        })
        .collect();
    tags.reverse();
    tags
}
