//! A history, as programs read it: one JSON object for each run, the summary last.

use serde::Serialize;
use steadfast::Tag;
use steadfast::catalogue::{Happened, History, HistoryRun, KnownFile};
use steadfast_events::{Nanoseconds, PathText, TagText};

use super::{HistoryOf, HistoryView, RunOver, changes_tag, tags_after, verdict_of};
use crate::catalogue::{RunObject, standing_key};
use crate::json::{write_object, write_summary};

/// Appends the lines.
pub fn write_json(view: &HistoryView<'_>, out: &mut Vec<u8>) {
    match view.of {
        HistoryOf::File(history) => {
            for run in &history.runs {
                write_object(&FileRunObject::of(history, run), out);
            }
            let path = PathText::of(&history.path);
            let known = history.now.as_ref().map(|look| KnownObject::of(view, look));
            let now = Now { kind: "file", known: Some(known) };
            write_summary(&HistorySummary::of(view, path, now), out);
        }
        HistoryOf::Directory { path, runs } => {
            for RunOver { run, whole } in runs {
                let path = PathText::of(path);
                let run = RunObject::of(run);
                write_object(&DirectoryRunObject { path, whole: *whole, run }, out);
            }
            let now = Now { kind: "directory", known: None };
            write_summary(&HistorySummary::of(view, PathText::of(path), now), out);
        }
    }
}

#[derive(Serialize)]
struct DirectoryRunObject<'a> {
    #[serde(flatten)]
    path: PathText,
    whole: bool,
    #[serde(flatten)]
    run: RunObject<'a>,
}

#[derive(Serialize)]
struct FileRunObject<'a> {
    #[serde(flatten)]
    path: PathText,
    verdict: Option<&'static str>,
    standing: &'static str,
    tag: Option<TagText>,
    happened: Vec<HappenedObject<'a>>,
    #[serde(flatten)]
    run: RunObject<'a>,
}

impl<'a> FileRunObject<'a> {
    fn of(history: &History, of: &'a HistoryRun) -> FileRunObject<'a> {
        let happened = of.happened.iter().zip(tags_after(of));
        FileRunObject {
            path: PathText::of(&history.path),
            verdict: verdict_of(of).map(|verdict| verdict.name()),
            standing: standing_key(of.standing),
            tag: of.tag.as_ref().map(TagText::of),
            happened: happened.map(|(one, after)| HappenedObject::of(one, after)).collect(),
            run: RunObject::of(&of.run),
        }
    }
}

#[derive(Serialize)]
struct HappenedObject<'a> {
    what: &'a str,
    at_s: i64,
    standing: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    before: Option<TagText>,
    #[serde(skip_serializing_if = "Option::is_none")]
    after: Option<TagText>,
    #[serde(skip_serializing_if = "Option::is_none")]
    other: Option<PathText>,
}

impl HappenedObject<'_> {
    fn of(happened: &Happened, after: Option<Tag>) -> HappenedObject<'_> {
        let after = after.filter(|_| changes_tag(happened));
        HappenedObject {
            what: &happened.what,
            at_s: happened.at.seconds,
            standing: standing_key(happened.standing),
            before: happened.before.as_ref().map(TagText::of),
            after: after.as_ref().map(TagText::of),
            other: happened.other.as_deref().map(PathText::of),
        }
    }
}

#[derive(Serialize)]
struct HistorySummary {
    verb: &'static str,
    exit_status: u8,
    root: PathText,
    #[serde(flatten)]
    path: PathText,
    at_s: i64,
    #[serde(flatten)]
    now: Now,
}

/// What the path is, and of a file what is known of it now.
#[derive(Serialize)]
struct Now {
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    known: Option<Option<KnownObject>>,
}

impl HistorySummary {
    fn of(view: &HistoryView<'_>, path: PathText, now: Now) -> HistorySummary {
        HistorySummary {
            verb: "history",
            exit_status: 0,
            root: PathText::of(view.root),
            path,
            at_s: view.now.seconds,
            now,
        }
    }
}

#[derive(Serialize)]
struct KnownObject {
    standing: &'static str,
    length: u64,
    mtime_ns: Nanoseconds,
    ctime_ns: Nanoseconds,
    inode: u64,
    tag: Option<TagText>,
    first_run: i64,
    first_seen_s: Option<i64>,
    last_checked_run: Option<i64>,
    last_proved_run: Option<i64>,
}

impl KnownObject {
    fn of(view: &HistoryView<'_>, look: &KnownFile) -> KnownObject {
        let some = |run: i64| Some(run).filter(|run| *run != 0);
        KnownObject {
            standing: standing_key(look.standing),
            length: look.facts.length,
            mtime_ns: Nanoseconds(look.facts.mtime),
            ctime_ns: Nanoseconds(look.facts.ctime),
            inode: look.facts.inode,
            tag: look.tag.as_ref().map(TagText::of),
            first_run: look.first_run,
            first_seen_s: view.first.map(|run| run.started.seconds),
            last_checked_run: some(look.last_checked_run),
            last_proved_run: some(look.last_proved_run),
        }
    }
}
