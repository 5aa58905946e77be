//! Writes a comparison as JSON lines: one object on each line, the summary last.

use std::path::Path;

use serde::Serialize;
use steadfast::diff::{DiffSummary, Difference, FileSide, PathPair};
use steadfast::{Notice, Skipped};
use steadfast_events::{Nanoseconds, PathText, TagText};

use super::{DiffRenderer, beneath, finds, kind_name, skipped_counts};
use crate::json::{CountsByName, JsonObject, write_notice, write_object, write_summary};
use crate::output::Output;

/// Renders JSON lines.
#[derive(Clone, Copy, Debug, Default)]
pub struct DiffJson {
    /// Whether to write findings and the summary only.
    pub quiet: bool,
}

impl DiffRenderer for DiffJson {
    fn pair(&mut self, pair: &PathPair, output: &mut Output) {
        if !self.quiet || finds(pair) {
            write_object(&PairObject::of(pair), &mut output.answer);
        }
    }

    fn notice(&mut self, notice: &Notice, output: &mut Output) {
        write_notice(notice, &mut output.answer);
    }

    fn end(&mut self, summary: &DiffSummary, output: &mut Output) {
        write_summary(&summary_object(summary), &mut output.answer);
    }
}

#[derive(Serialize)]
pub(super) struct PairObject {
    #[serde(flatten)]
    path: PathText,
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<&'static str>,
    difference: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    moved_to: Option<PathText>,
    #[serde(skip_serializing_if = "Option::is_none")]
    doubt: Option<&'static str>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    times_differ: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    a: Option<SideObject>,
    #[serde(skip_serializing_if = "Option::is_none")]
    b: Option<SideObject>,
}

impl PairObject {
    pub(super) fn of(pair: &PathPair) -> PairObject {
        PairObject {
            path: PathText::of(beneath(&pair.path)),
            kind: kind_name(pair.kind),
            difference: pair.difference.name(),
            moved_to: pair.moved_to.as_deref().map(|path: &Path| PathText::of(path)),
            doubt: pair.doubt.map(|doubt| doubt.name()),
            times_differ: pair.times_differ,
            a: pair.here.as_deref().map(SideObject::of),
            b: pair.there.as_deref().map(SideObject::of),
        }
    }
}

#[derive(Serialize)]
struct SideObject {
    #[serde(skip_serializing_if = "Option::is_none")]
    length: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mtime_ns: Option<Nanoseconds>,
    #[serde(skip_serializing_if = "Option::is_none")]
    algorithm: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    digest: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stored: Option<TagText>,
    #[serde(skip_serializing_if = "Option::is_none")]
    verdict: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

impl SideObject {
    fn of(side: &FileSide) -> SideObject {
        let trouble = side.trouble.as_ref().or(side.tag_trouble.as_ref());
        SideObject {
            length: side.length,
            mtime_ns: side.mtime.map(Nanoseconds),
            algorithm: side.actual.map(|tag| tag.algorithm.name()),
            digest: side.actual.map(|tag| tag.digest.to_string()),
            stored: side.tag.as_ref().map(TagText::of),
            verdict: side.verdict.map(|verdict| verdict.name()),
            error: trouble.map(|trouble| trouble.to_string()),
        }
    }
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
        .field("workers", summary.workers)
        .field("backend", &summary.backend)
        .field("engine", summary.engine)
        .field("differences", CountsByName(differences.into()))
        .field("times_differ", summary.times_differ)
        .field("skipped_a", skipped(&summary.skipped_here))
        .field("skipped_b", skipped(&summary.skipped_there))
}
