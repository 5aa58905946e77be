//! The history of one file, or of a directory, as documents: text, JSON lines, CSV.
//!
//! In: what a catalogue tells of a path. Out: bytes; names and whatever else came from the
//! catalogue are escaped. The JSON and CSV forms are specified in `docs/audit.md`. Knows no clock
//! and no files.

mod csv;
mod document;
mod json;
mod text;

use std::path::Path;

use steadfast::catalogue::{Happened, History, HistoryRun, RunRecord};
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
    /// The time of day.
    pub now: Timestamp,
    /// The run that first saw the file, if that is known.
    pub first: Option<&'a RunRecord>,
    /// What it is the history of.
    pub of: HistoryOf<'a>,
}

/// What a history is of.
#[derive(Clone, Copy, Debug)]
pub enum HistoryOf<'a> {
    /// A file.
    File(&'a History),
    /// A directory: runs, the first one first.
    Directory {
        /// Its path from the root, empty for the root.
        path: &'a Path,
        /// Runs that judged all that is beneath it; of the root, all runs.
        runs: &'a [RunOver],
    },
}

/// A run over a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunOver {
    /// The run. Its counts are of all that it judged.
    pub run: RunRecord,
    /// Whether it judged all that is beneath the directory.
    pub whole: bool,
}

/// Events that set or remove the tag of a file.
const TAG_CHANGES: [&str; 8] =
    ["tagged", "retagged", "refreshed", "removed", "adopted", "accepted", "moved to", "dropped"];

/// Returns the verdict that a run gave a file by the tag that it had before: none if the run set
/// or removed the tag, which leaves a file fine whatever was found.
pub fn verdict_of(run: &HistoryRun) -> Option<Verdict> {
    let is_new = |happened: &Happened| {
        matches!(happened.what.as_str(), "tagged" | "retagged" | "removed" | "moved to" | "dropped")
    };
    run.verdict.filter(|_| !run.happened.iter().any(is_new))
}

/// Returns the tag that a file had after each thing that happened to it in a run.
pub fn tags_after(run: &HistoryRun) -> Vec<Option<Tag>> {
    let mut after = run.tag;
    let mut tags: Vec<Option<Tag>> = run
        .happened
        .iter()
        .rev()
        .map(|happened| {
            let this = after;
            if changes_tag(happened) {
                after = happened.before;
            }
            this
        })
        .collect();
    tags.reverse();
    tags
}

/// Says whether something that happened set or removed the file's tag.
pub(crate) fn changes_tag(happened: &Happened) -> bool {
    TAG_CHANGES.contains(&happened.what.as_str())
}
