//! Writes a comparison as JSON lines, one object on each and the summary last, or as CSV, with a
//! row for each path.

use steadfast::diff::{DiffSummary, Difference, FileSide, PathPair};
use steadfast::json::{Nanoseconds, TagText};
use steadfast::{Notice, Skipped};

use super::{DiffRenderer, beneath, finds, kind_name, skipped_counts};
use crate::json::{CountsByName, JsonObject};
use crate::lines::ObjectLines;
use crate::output::Output;

/// The columns, always these and in this order: of the path, of side A, of side B.
const COLUMNS: [&str; 23] = [
    "path",
    "path_b64",
    "kind",
    "difference",
    "moved_to",
    "moved_to_b64",
    "doubt",
    "a_length",
    "a_mtime_ns",
    "a_algorithm",
    "a_digest",
    "a_stored_algorithm",
    "a_stored_digest",
    "a_verdict",
    "a_error",
    "b_length",
    "b_mtime_ns",
    "b_algorithm",
    "b_digest",
    "b_stored_algorithm",
    "b_stored_digest",
    "b_verdict",
    "b_error",
];

/// Renders JSON lines or CSV.
#[derive(Clone, Copy, Debug)]
pub struct DiffLines {
    lines: ObjectLines,
    quiet: bool,
}

impl DiffLines {
    /// Begins JSON lines; `quiet` leaves out pairs that are not findings.
    pub fn json(quiet: bool) -> DiffLines {
        DiffLines { lines: ObjectLines::Json, quiet }
    }

    /// Begins CSV.
    pub fn csv(quiet: bool) -> DiffLines {
        DiffLines { lines: ObjectLines::csv(&COLUMNS), quiet }
    }
}

impl DiffRenderer for DiffLines {
    fn pair(&mut self, pair: &PathPair, output: &mut Output) {
        if !self.quiet || finds(pair) {
            self.lines.write(&pair_object(pair), output);
        }
    }

    fn notice(&mut self, notice: &Notice, output: &mut Output) {
        self.lines.write_notice(notice, output);
    }

    fn end(&mut self, summary: &DiffSummary, output: &mut Output) {
        self.lines.end(&summary_object(summary), output);
    }
}

/// The line or row about a path.
fn pair_object(pair: &PathPair) -> JsonObject<'_> {
    JsonObject::at(beneath(&pair.path))
        .optional("kind", kind_name(pair.kind))
        .field("difference", pair.difference.name())
        .optional("moved_to", pair.moved_to.as_deref().map(JsonObject::at))
        .optional("doubt", pair.doubt.map(|doubt| doubt.name()))
        .optional("times_differ", pair.times_differ.then_some(true))
        .optional("a", pair.here.as_deref().map(side_object))
        .optional("b", pair.there.as_deref().map(side_object))
}

fn side_object(side: &FileSide) -> JsonObject<'_> {
    let trouble = side.trouble.as_ref().or(side.tag_trouble.as_ref());
    JsonObject::default()
        .optional("length", side.length)
        .optional("mtime_ns", side.mtime.map(Nanoseconds))
        .optional("algorithm", side.actual.map(|tag| tag.algorithm.name()))
        .optional("digest", side.actual.map(|tag| tag.digest.to_string()))
        .optional("stored", side.tag.as_ref().map(TagText::of))
        .optional("verdict", side.verdict.map(|verdict| verdict.name()))
        .optional("error", trouble.map(ToString::to_string))
}

fn summary_object(summary: &DiffSummary) -> JsonObject<'_> {
    let differences = Difference::ALL.map(|one| (one.name(), summary.differences(one)));
    let skipped = |skipped: &Skipped| CountsByName(skipped_counts(skipped).into());
    JsonObject::default()
        .field("verb", "diff")
        .field("read", summary.read)
        .field("interrupted", summary.interrupted)
        .field("exit_status", summary.exit_status())
        .field("algorithm", summary.algorithm.map(|algorithm| algorithm.name()))
        .field("files_a", summary.files_here)
        .field("files_b", summary.files_there)
        .field("bytes", summary.bytes)
        .field("elapsed_ns", summary.elapsed_ns)
        .field("workers", summary.means.workers)
        .field("backend", &summary.means.backend)
        .field("engine", summary.means.engine)
        .field("differences", CountsByName(differences.into()))
        .field("times_differ", summary.times_differ)
        .field("damaged_a", summary.damaged[0])
        .field("damaged_b", summary.damaged[1])
        .field("skipped_a", skipped(&summary.skipped_here))
        .field("skipped_b", skipped(&summary.skipped_there))
}
