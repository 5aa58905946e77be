//! Writes a history as JSON lines: one object for each run, the summary last.

use std::ops::Range;
use std::path::Path;

use steadfast::ExitStatus;
use steadfast::Tag;
use steadfast::catalogue::{Happened, History, HistoryRun, KnownFile, RepairSource};
use steadfast::json::{Nanoseconds, PathText, TagText};

use super::{HistoryOf, HistoryView, RunOver, tags_after, verdict_of};
use crate::catalogue::{run_object, standing_key};
use crate::json::{JsonObject, write_object, write_summary};

/// Appends the lines.
pub fn write_json(view: &HistoryView<'_>, out: &mut Vec<u8>) {
    match view.of {
        HistoryOf::File(history) => {
            for run in &history.runs {
                write_object(&file_run_object(history, run), out);
            }
            let known = history.now.as_ref().map(|look| known_object(view, look));
            let now = JsonObject::default().field("kind", "file").field("known", known);
            write_summary(&summary_object(view, &history.path).fields(now), out);
        }
        HistoryOf::Directory { path, runs } => {
            for RunOver { run, whole } in runs {
                let of_run = JsonObject::at(path).field("whole", *whole).fields(run_object(run));
                write_object(&of_run, out);
            }
            write_summary(&summary_object(view, path).field("kind", "directory"), out);
        }
    }
}

fn file_run_object<'a>(history: &History, of: &'a HistoryRun) -> JsonObject<'a> {
    let happened = of.happened.iter().zip(tags_after(of));
    let happened = happened.map(|(one, after)| happened_object(one, after));
    JsonObject::at(&history.path)
        .field("verdict", verdict_of(of).map(|verdict| verdict.name()))
        .field("standing", standing_key(of.standing))
        .field("tag", of.tag.as_ref().map(TagText::of))
        .field("happened", happened.collect::<Vec<_>>())
        .fields(run_object(&of.run))
}

fn happened_object(happened: &Happened, after: Option<Tag>) -> JsonObject<'_> {
    let after = after.filter(|_| happened.what.changes_tag());
    JsonObject::default()
        .field("what", happened.what.name())
        .field("at_s", happened.at.seconds)
        .field("standing", standing_key(happened.standing))
        .optional("before", happened.before.as_ref().map(TagText::of))
        .optional("after", after.as_ref().map(TagText::of))
        .optional("other", happened.other.as_deref().map(PathText::of))
        .optional("sources", (!happened.sources.is_empty()).then(|| source_objects(happened)))
}

/// Where the contents of a repaired file came from.
fn source_objects(happened: &Happened) -> Vec<JsonObject<'_>> {
    let range = |range: &Range<u64>| {
        JsonObject::default().field("offset", range.start).field("length", range.end - range.start)
    };
    let source = |source: &RepairSource| {
        let ranges: Vec<_> = source.ranges.iter().map(range).collect();
        JsonObject::at(&source.path).field("pages", source.pages).field("ranges", ranges)
    };
    happened.sources.iter().map(source).collect()
}

/// The fields that the summaries of files and of directories have in common.
fn summary_object<'a>(view: &HistoryView<'_>, path: &Path) -> JsonObject<'a> {
    JsonObject::default()
        .field("verb", "history")
        .field("exit_status", ExitStatus::Fine)
        .field("root", PathText::of(view.root))
        .path(path)
        .field("at_s", view.now.seconds)
}

/// The present state of a file.
fn known_object<'a>(view: &HistoryView<'_>, look: &KnownFile) -> JsonObject<'a> {
    let some = |run: i64| Some(run).filter(|run| *run != 0);
    JsonObject::default()
        .field("standing", standing_key(look.standing))
        .field("length", look.facts.length)
        .field("mtime_ns", Nanoseconds(look.facts.mtime))
        .field("ctime_ns", Nanoseconds(look.facts.ctime))
        .field("inode", look.facts.inode)
        .field("tag", look.tag.as_ref().map(TagText::of))
        .field("first_run", look.first_run)
        .field("first_seen_s", view.first.map(|run| run.started.seconds))
        .field("last_checked_run", some(look.last_checked_run))
        .field("last_proved_run", some(look.last_proved_run))
}
