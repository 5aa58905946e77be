//! All runs: those that the catalogues have recorded, and those of this server.

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::response::Response;
use axum::routing::get;
use maud::{Markup, html};
use steadfast::Timestamp;
use steadfast::catalogue::{RunRecord, RunState};
use steadfast_report::units;

use crate::app::App;
use crate::dates;
use crate::folders::ServedFolder;
use crate::icons::small_icon;
use crate::layout::{Tab, framed};
use crate::refusal::Refusal;
use crate::runs::{RunEnd, ServedRun};
use crate::texts::OfLanguage as _;
use crate::texts::Texts;
use crate::texts::reports::wording;
use crate::visitor::Visitor;

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
    let (texts, now) = (&visitor.texts().activity, app.now());
    let runs = recorded(&folders);
    let here = app.runs.all();
    let content = html! {
        div .head { div {
            h1 { (texts.title) }
            p .soft { (texts.intro) }
        } }
        section .panel aria-labelledby="here" {
            div .cap { h2 #here { (texts.here) } }
            @if here.is_empty() { p .body.soft { (texts.no_here) } }
            ul .list.lines { @for run in &here { (line_here(&visitor, run, now)) } }
        }
        section .panel aria-labelledby="recorded" {
            div .cap { h2 #recorded { (texts.recorded) } }
            @if runs.is_empty() { p .body.soft { (texts.none) } }
            ul .list.lines { @for run in &runs { (line(&visitor, run, now)) } }
        }
    };
    Ok(framed(&visitor, Some(Tab::Activity), texts.title, &html! {}, &content))
}

/// One recorded run: how it ended, what it was, and when.
pub(super) fn line(visitor: &Visitor, one: &RecordedRun<'_>, now: Timestamp) -> Markup {
    let texts = visitor.texts();
    let (class, name, word) = outcome(one.run, texts);
    html! {
        li {
            span .state.(class) { (small_icon(name)) (word) }
            span .what {
                a href=(one.folder.address()) { (one.folder.name) }
                " " (wording(visitor.language).say(&one.run.verb))
            }
            (dates::moment(one.run.started, now, visitor.language))
        }
    }
}

/// Returns the colour, the icon and the words for the end of a run: the worst that it found.
fn outcome(run: &RunRecord, texts: &Texts) -> (&'static str, &'static str, String) {
    let count = |names: &[&str]| names.iter().filter_map(|name| run.counts.get(*name)).sum::<u64>();
    let (corrupt, unreadable) = (count(&["corrupt"]), count(&["unreadable", "unstable"]));
    let changed = count(&["modified", "missing"]);
    match run.state {
        _ if corrupt > 0 => ("bad", "damaged", (texts.state.damaged)(corrupt)),
        _ if unreadable > 0 => ("bad", "damaged", (texts.state.unreadable)(unreadable)),
        RunState::Unfinished => ("warn", "clock", texts.activity.unfinished.to_owned()),
        RunState::Interrupted => ("warn", "stop", texts.activity.interrupted.to_owned()),
        RunState::Whole if changed > 0 => ("warn", "changed", (texts.state.changed)(changed)),
        RunState::Whole if run.verb == "check" => {
            ("good", "intact", (texts.activity.intact)(run.files))
        }
        RunState::Whole => ("idle", "check", texts.activity.say(&units::count(run.files))),
    }
}

/// One run of this server.
fn line_here(visitor: &Visitor, run: &ServedRun, now: Timestamp) -> Markup {
    let texts = visitor.texts();
    let snapshot = run.control.snapshot();
    let (class, name) = match snapshot.end.as_deref() {
        None => ("info", "checking"),
        Some(RunEnd::Failed(_)) => ("bad", "damaged"),
        Some(RunEnd::Done(_)) => ("idle", "check"),
    };
    html! {
        li {
            span .state.(class) { (small_icon(name)) ((texts.run.status)(run.control.status())) }
            span .what {
                a href=(format!("/runs/{}", run.id)) { ((texts.run.heading)(run.request.verb)) }
                " " (run.shown)
            }
            (dates::moment(run.begun, now, visitor.language))
        }
    }
}
