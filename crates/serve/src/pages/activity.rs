//! All runs by day: those that the catalogues have recorded, and those of this server that no
//! catalogue has.

use std::collections::BTreeMap;
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

use super::run::title_of;
use crate::app::App;
use crate::dates;
use crate::folders::{ServedFolder, name_of};
use crate::icons::{drawn, small_icon};
use crate::kinds::StateKind;
use crate::layout::{Tab, framed};
use crate::refusal::Refusal;
use crate::runs::{RunEnd, ServedRun};
use crate::visitor::Visitor;
use crate::words;

/// Seconds after which a run that wrote nothing has ended without saying so.
const SILENCE_S: i64 = 60;

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
        // What goes on here has a page and a line of its own.
        let goes_on =
            move |run: &RunRecord| run.state == RunState::Unfinished && folder.run.is_some();
        let runs = runs.iter().filter(move |run| !goes_on(run));
        runs.map(move |run| RecordedRun { folder, run })
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
    // What a catalogue has recorded has its line there.
    let is_here = |run: &ServedRun| match run.control.snapshot().end.as_deref() {
        Some(RunEnd::Done(done)) => !done.0.catalogued,
        _ => true,
    };
    let here: Vec<Arc<ServedRun>> = app.runs.all().into_iter().filter(|run| is_here(run)).collect();
    let days = runs.chunk_by(|one, other| day_of(one.run) == day_of(other.run));
    let content = html! {
        div .head { div {
            h1 { "Activity" }
            p .soft { "All that was done, here or by schedule. Each line leads to its result." }
        } }
        section .panel data-refresh aria-label="Activity" {
            @if here.is_empty() && runs.is_empty() { p .body.soft { "There are no runs yet." } }
            @if !here.is_empty() {
                h2 .day.first { "Now, or not recorded" }
                ul .event { @for run in &here {
                    @let name = name_of(&app.roots.path(&run.request.place));
                    (line_here(&name, run, now))
                } }
            }
            @for (at, runs) in days.enumerate() {
                h2 .day.first[at == 0 && here.is_empty()] {
                    (dates::day(runs[0].run.started, now))
                    @if at == 0 { span .soft { "days as in UTC" } }
                }
                ul .event { @for run in runs { (line(run, now)) } }
            }
        }
    };
    Ok(framed(&visitor, Some(Tab::Activity), "Activity", &html! {}, &content))
}

fn day_of(run: &RunRecord) -> i64 {
    run.started.seconds.div_euclid(86_400)
}

/// One recorded run: what it came to, what it was, and when. Leads to its result.
pub(super) fn line(one: &RecordedRun<'_>, now: Timestamp) -> Markup {
    let RecordedRun { folder, run } = one;
    event(&run_address(folder.place.root, run), Some(&folder.name), run, now)
}

/// Returns the address of the page of a recorded run.
pub(super) fn run_address(root: usize, run: &RunRecord) -> String {
    format!("/folders/{root}/runs/{}", run.id)
}

/// A recorded run as a line that leads to its page. Names the folder unless the page is about it.
pub(super) fn event(
    address: &str,
    folder: Option<&str>,
    run: &RunRecord,
    now: Timestamp,
) -> Markup {
    let (class, name, words) = outcome(run, now);
    html! {
        li {
            a href=(address) {
                span .dot.(class) { (drawn(name, &format!("icon {class}"))) }
                span {
                    b {
                        @match folder {
                            Some(folder) => { (folder) ": " (words) }
                            None => (units::capital(&words)),
                        }
                    }
                    small { (title_of(run)) " of " (units::counted(run.files, "file", "files")) }
                }
                (dates::moment(run.started, now))
                (small_icon("chevron"))
            }
        }
    }
}

/// Returns the colour, the icon and the words for the end of a run: all that it found.
fn outcome(run: &RunRecord, now: Timestamp) -> (&'static str, &'static str, String) {
    let mut kinds: BTreeMap<StateKind, u64> = BTreeMap::new();
    for (name, files) in &run.counts {
        if let Some(kind) = StateKind::of_name(name) {
            *kinds.entry(kind).or_default() += files;
        }
    }
    let accepts = matches!(run.kind(), Some(VerbKind::Update | VerbKind::Retag));
    let is_told = |kind: &StateKind| match kind {
        StateKind::New | StateKind::Date => false,
        StateKind::Changed | StateKind::Missing | StateKind::Suspect => !accepts,
        _ => true,
    };
    let told: Vec<(&StateKind, &u64)> = kinds.iter().filter(|(kind, _)| is_told(kind)).collect();
    let mut words: Vec<String> = told.iter().map(|(kind, files)| kind.counted(**files)).collect();
    // One that wrote a minute ago may be going on.
    let is_silent = now.seconds.saturating_sub(run.latest.seconds) > SILENCE_S;
    let end = match run.state {
        RunState::Whole => None,
        RunState::Interrupted => Some(("warn", "stopped", "stopped before its end")),
        RunState::Unfinished if is_silent => Some(("warn", "clock", "did not end")),
        RunState::Unfinished => Some(("info", "checking", "not ended yet")),
    };
    words.extend(end.map(|(.., words)| words.to_owned()));
    let files = units::counted(run.files, "file", "files");
    match (told.first(), end) {
        (Some((kind, _)), _) => {
            let (class, name) = kind.class_and_icon();
            (class, name, words.join(", "))
        }
        (None, Some((class, name, _))) => (class, name, words.join(", ")),
        (None, None) => match run.kind() {
            Some(VerbKind::Check) => match kinds.get(&StateKind::New) {
                None => ("good", "intact", format!("{files}, all intact")),
                Some(new) if *new == run.files => {
                    ("idle", "unprotected", "nothing recorded".into())
                }
                Some(new) => {
                    let intact = units::count(run.files.saturating_sub(*new));
                    ("info", "new", format!("{intact} intact, {}", StateKind::New.counted(*new)))
                }
            },
            Some(VerbKind::Repair) => ("good", "repair", format!("{files} put back")),
            _ if accepts => ("idle", "check", "changes accepted".to_owned()),
            _ => ("info", "recorded", format!("{files} recorded")),
        },
    }
}

/// One run of this server that goes on, or that no catalogue has.
fn line_here(name: &str, run: &ServedRun, now: Timestamp) -> Markup {
    let snapshot = run.control.snapshot();
    let (class, sign) = match snapshot.end.as_deref() {
        None => ("info", "checking"),
        Some(RunEnd::Failed(_)) => ("bad", "help"),
        Some(RunEnd::TooMany(_)) => ("bad", "many"),
        Some(RunEnd::Done(_)) => ("idle", "check"),
    };
    let damaged = run.findings().count(StateKind::Damaged);
    html! {
        li {
            a href=(format!("/runs/{}", run.id)) {
                span .dot.(class) { (drawn(sign, &format!("icon {class}"))) }
                span {
                    b {
                        (words::run_title(run.request.verb)) ": " (name)
                        @if damaged > 0 { ", " (StateKind::Damaged.counted(damaged)) }
                    }
                    small { (words::run_status(run.control.status())) }
                }
                (dates::moment(run.begun, now))
                (small_icon("chevron"))
            }
        }
    }
}
