//! All runs: those that the catalogues have recorded, and those of this server.

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::response::Response;
use axum::routing::get;
use maud::{Markup, html};
use steadfast::Timestamp;
use steadfast::VerbKind;
use steadfast::catalogue::{RunRecord, RunState};
use steadfast_report::units;

use crate::app::App;
use crate::dates;
use crate::folders::ServedFolder;
use crate::icons::small_icon;
use crate::layout::{Tab, framed};
use crate::refusal::Refusal;
use crate::runs::{RunEnd, ServedRun};
use crate::visitor::Visitor;
use crate::words;

pub(super) fn routes() -> Router<Arc<App>> {
    Router::new().route("/activity", get(show))
}

/// A run of a catalogue, and its folder.
pub(super) struct RecordedRun<'a> {
    folder: &'a ServedFolder,
    run: &'a RunRecord,
}

/// Returns the latest runs of all folders, the latest first.
pub(super) fn recorded(folders: &[ServedFolder]) -> Vec<RecordedRun<'_>> {
    let of = |folder| {
        let runs = ServedFolder::facts(folder).map_or(&[][..], |facts| &facts.audit.runs);
        runs.iter().map(move |run| RecordedRun { folder, run })
    };
    let mut all: Vec<RecordedRun<'_>> = folders.iter().flat_map(of).collect();
    all.sort_by_key(|one| std::cmp::Reverse((one.run.started.seconds, one.run.id)));
    all
}

async fn show(State(app): State<Arc<App>>, visitor: Visitor) -> Result<Response, Refusal> {
    let folders = app.blocking(|app| app.folders()).await?;
    let visitor = visitor.with_side(app.side());
    let now = app.now();
    let runs = recorded(&folders);
    let here = app.runs.all();
    let content = html! {
        div .head { div {
            h1 { "Activity" }
            p .soft {
                "Every run that a catalogue has recorded, from this page or from the command line."
            }
        } }
        section .panel aria-labelledby="here" {
            div .cap { h2 #here { "Runs of this server" } }
            @if here.is_empty() { p .body.soft { "No runs yet." } }
            ul .list.lines { @for run in &here { (line_here(run, now)) } }
        }
        section .panel aria-labelledby="recorded" {
            div .cap { h2 #recorded { "Recorded runs" } }
            @if runs.is_empty() { p .body.soft { "There are no runs yet." } }
            ul .list.lines { @for run in &runs { (line(run, now)) } }
        }
    };
    Ok(framed(&visitor, Some(Tab::Activity), "Activity", &html! {}, &content))
}

/// One recorded run: how it ended, what it was, and when.
pub(super) fn line(one: &RecordedRun<'_>, now: Timestamp) -> Markup {
    let (class, name, word) = outcome(one.run);
    html! {
        li {
            span .state.(class) { (small_icon(name)) (word) }
            span .what {
                a href=(one.folder.address()) { (one.folder.name) }
                " " (one.run.verb)
            }
            (dates::moment(one.run.started, now))
        }
    }
}

/// Returns the colour, the icon and the words for the end of a run: the worst that it found.
fn outcome(run: &RunRecord) -> (&'static str, &'static str, String) {
    let count = |names: &[&str]| names.iter().filter_map(|name| run.counts.get(*name)).sum::<u64>();
    let (corrupt, unreadable) = (count(&["corrupt"]), count(&["unreadable", "unstable"]));
    let suspect = count(&["suspect"]);
    let changed = count(&["modified", "differs", "missing"]);
    match run.state {
        _ if corrupt > 0 => ("bad", "damaged", format!("{} damaged", units::count(corrupt))),
        _ if suspect > 0 => ("bad", "damaged", format!("{} suspect", units::count(suspect))),
        _ if unreadable > 0 => {
            ("bad", "damaged", format!("{} not readable", units::count(unreadable)))
        }
        RunState::Unfinished => ("warn", "clock", "did not end".to_owned()),
        RunState::Interrupted => ("warn", "stop", "stopped".to_owned()),
        RunState::Whole if changed > 0 => {
            ("warn", "changed", format!("{} changed", units::count(changed)))
        }
        RunState::Whole if run.kind() == Some(VerbKind::Check) => {
            ("good", "intact", units::counted(run.files, "file, all is well", "files, all is well"))
        }
        RunState::Whole => ("idle", "check", units::count(run.files)),
    }
}

/// One run of this server.
fn line_here(run: &ServedRun, now: Timestamp) -> Markup {
    let snapshot = run.control.snapshot();
    let (class, name) = match snapshot.end.as_deref() {
        None => ("info", "checking"),
        Some(RunEnd::Failed(_)) => ("bad", "damaged"),
        Some(RunEnd::Done(_)) => ("idle", "check"),
    };
    html! {
        li {
            span .state.(class) { (small_icon(name)) (words::run_status(run.control.status())) }
            span .what {
                a href=(format!("/runs/{}", run.id)) { (words::run_title(run.request.verb)) }
                " " (run.shown)
            }
            (dates::moment(run.begun, now))
        }
    }
}
