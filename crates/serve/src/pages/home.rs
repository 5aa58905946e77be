//! The start page: what needs attention, a card for each folder, the latest runs, what comes next.

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::response::{Html, IntoResponse as _, Response};
use axum::routing::get;
use maud::{Markup, html};
use steadfast::Timestamp;
use steadfast_report::status::accepted;
use steadfast_report::{Units, units};
use steadfast_watch::ScheduleFacts;
use steadfast_words::{NextStep, folders_said};

use super::activity::{self, recorded};
use crate::app::App;
use crate::dates;
use crate::folders::ServedFolder;
use crate::icons::{bar, disc, icon, small_icon};
use crate::layout::{Tab, chip, framed, mine};
use crate::refusal::Refusal;
use crate::runs::RunVerb;
use crate::visitor::Visitor;

/// Runs that are listed here.
const LATELY_MAX: usize = 5;

pub(super) fn routes() -> Router<Arc<App>> {
    Router::new().route("/", get(home)).route("/side", get(side))
}

/// The folders of the side bar, which open pages ask for: damage is shown wherever one is.
async fn side(State(app): State<Arc<App>>) -> Result<Response, Refusal> {
    let side = app.blocking(|app| app.folders().len()).await.map(|_| app.side())?;
    Ok(Html(mine(&side).into_string()).into_response())
}

async fn home(State(app): State<Arc<App>>, visitor: Visitor) -> Result<Response, Refusal> {
    let mut folders = app.blocking(|app| app.folders()).await?;
    // A stable sort: folders of equal need stay in the order in which they were named.
    folders.sort_by_key(|folder| folder.said.standing);
    let visitor = visitor.with_side(app.side());
    let now = app.now();
    let content = html! {
        div .head {
            div {
                h1 { (folders_said(folders.iter().map(|folder| &folder.said))) }
                p .soft { (summary(&folders)) }
            }
            div .orders {
                a .button href="/copy" { (icon("copy")) "Copy to a drive" }
                a .button href="/safe" { (icon("help")) "May I erase this?" }
                @if !folders.is_empty() {
                    a .button href="/add" { (icon("plus")) "Add a folder" }
                }
            }
        }
        (attention(&folders))
        div .halves data-refresh {
            @for folder in &folders { (card(&visitor, folder, now)) }
        }
        div .halves {
            (lately(&folders, now))
            (coming(&folders))
        }
    };
    Ok(framed(&visitor, Some(Tab::Home), "Folders", &html! {}, &content))
}

fn summary(folders: &[ServedFolder]) -> String {
    let bytes: u64 =
        folders.iter().filter_map(ServedFolder::facts).map(|facts| facts.audit.bytes).sum();
    format!(
        "{}, {}",
        units::counted(folders.len() as u64, "folder", "folders"),
        Units::Si.bytes(bytes)
    )
}

/// What needs attention, above everything else.
fn attention(folders: &[ServedFolder]) -> Markup {
    let alarms = folders.iter().filter(|folder| folder.said.alarms);
    let alarms: Vec<&ServedFolder> = alarms.collect();
    html! {
        @if !alarms.is_empty() {
            section .panel.attention aria-label="Needs attention" {
                ul .list { @for (at, folder) in alarms.into_iter().enumerate() {
                    (alarm(folder, at == 0))
                } }
            }
        }
    }
}

fn alarm(folder: &ServedFolder, is_first: bool) -> Markup {
    let said = &folder.said;
    html! {
        li {
            (disc(said.icon, said.class))
            div .what {
                h2 { (said.title(&folder.name)) }
                p .small.soft { (said.note) }
            }
            a .button.main[is_first && said.class == "bad"] href=(folder.target()) {
                (said.step_label)
            }
        }
    }
}

/// One folder: its state, a sentence, how much is proved, the next check, and one action.
fn card(visitor: &Visitor, folder: &ServedFolder, now: Timestamp) -> Markup {
    let id = format!("root-{}", folder.place.root);
    html! {
        article .panel.folder aria-labelledby=(id) {
            header {
                (disc("folder", folder.said.class))
                div {
                    h2 id=(id) { a href=(folder.address()) { (folder.name) } }
                    p .path { (folder.shown) }
                }
                (chip(&folder.said))
            }
            p { (folder.said.sentence) (accepted_lately(folder)) (last(folder, now)) }
            (gauge(folder))
            footer {
                span .next { (small_icon("clock")) span { (next(folder)) } }
                (action(visitor, folder))
                (menu(visitor, folder))
            }
        }
    }
}

/// How many files were accepted with other contents lately.
pub(super) fn accepted_lately(folder: &ServedFolder) -> String {
    let text = folder.facts().and_then(accepted);
    text.map(|text| format!(" {text}.")).unwrap_or_default()
}

/// When the last run was.
fn last(folder: &ServedFolder, now: Timestamp) -> Markup {
    let run = folder.facts().and_then(|facts| facts.audit.runs.first());
    html! {
        @if let Some(run) = run {
            " Last run "
            (dates::moment(run.started, now)) "."
        }
    }
}

/// How much is proved, or how far a run is.
pub(super) fn gauge(folder: &ServedFolder) -> Markup {
    let size = folder.facts().map(|facts| Units::Si.bytes(facts.audit.bytes));
    html! {
        div .gauge {
            @match &folder.said.gauge {
                None => {
                    (bar(0.0, "f-idle", "", "Nothing checked yet"))
                    p { span { "Nothing checked yet" } }
                }
                Some(gauge) => {
                    @let percent = units::share(gauge.share);
                    (bar(gauge.share, gauge.class, "", &format!("{percent} {}", gauge.says)))
                    p {
                        span {
                            @if folder.status.seen.is_none() { b { (percent) } " " }
                            (gauge.says)
                        }
                        @if let Some(size) = size.filter(|_| gauge.has_size) { span { (size) } }
                    }
                }
            }
        }
    }
}

/// When the next check is.
pub(super) fn next(folder: &ServedFolder) -> String {
    let schedule = folder.status.schedule.as_ref();
    schedule.map_or_else(|| "No schedule yet".to_owned(), ScheduleFacts::words)
}

/// The next sensible step.
fn action(visitor: &Visitor, folder: &ServedFolder) -> Markup {
    match folder.said.step {
        NextStep::GoOn => resume(visitor, folder),
        NextStep::Check => check(visitor, folder, true),
        NextStep::CheckAnyway => check(visitor, folder, false),
        NextStep::Protect => protect(folder),
        _ => html! {
            a .button.main[folder.said.class == "bad"] href=(folder.target()) {
                (folder.said.step_label)
            }
        },
    }
}

/// A link to what protecting a folder comes to.
pub(super) fn protect(folder: &ServedFolder) -> Markup {
    let address = format!("/add?place={}", folder.place.query());
    html! { a .button.main href=(address) { (icon("intact")) "Protect this folder" } }
}

/// A button that checks a whole folder.
pub(super) fn check(visitor: &Visitor, folder: &ServedFolder, main: bool) -> Markup {
    begin(visitor, folder, RunVerb::Check, main.then_some("main"), "Check now")
}

/// A button that goes on with a check that was stopped.
pub(super) fn resume(visitor: &Visitor, folder: &ServedFolder) -> Markup {
    begin(visitor, folder, RunVerb::Resume, Some("main"), "Go on")
}

/// A button that begins a run of a whole folder.
fn begin(
    visitor: &Visitor,
    folder: &ServedFolder,
    verb: RunVerb,
    class: Option<&str>,
    label: &str,
) -> Markup {
    let sign = match verb {
        RunVerb::Resume => "play",
        RunVerb::Update => "check",
        RunVerb::Protect => "intact",
        _ => "checking",
    };
    html! {
        form method="post" action="/runs" {
            (visitor.csrf())
            input type="hidden" name="place" value=(folder.place.token());
            button class=[class] type="submit" name="verb" value=(verb.name()) {
                (icon(sign)) (label)
            }
        }
    }
}

/// What is needed more rarely.
pub(super) fn menu(visitor: &Visitor, folder: &ServedFolder) -> Markup {
    let query = folder.place.query();
    let is_idle = !folder.said.is_going && folder.facts().is_some();
    let link = |address: String, name: &str, label: &str| {
        html! { li { a href=(address) { (icon(name)) (label) } } }
    };
    html! {
        details .menu {
            summary aria-label=(format!("More for {}", folder.name)) { (icon("more")) }
            ul {
                @if is_idle {
                    li { (begin(visitor, folder, RunVerb::Check, None, "Check all of it now")) }
                    li { (begin(visitor, folder, RunVerb::Protect, None, "Protect new files")) }
                    li { (begin(visitor, folder, RunVerb::Update, None, "Accept all changes")) }
                }
                (link(format!("/run?place={query}"), "settings", "Check with options"))
                (link(format!("/copies?place={query}"), "repair", "Repair from another copy"))
                @let compare = format!("/differences?place={query}");
                (link(compare, "layers", "Compare with another folder"))
                (link(format!("/copy?from={query}"), "copy", "Copy to a drive"))
                (link(format!("/safe?from={query}"), "help", "May I erase this?"))
                (link(format!("/browse?place={query}"), "file", "Choose a file in it"))
                (link(format!("/history?place={query}"), "activity", "History"))
            }
        }
    }
}

fn lately(folders: &[ServedFolder], now: Timestamp) -> Markup {
    let runs = recorded(folders);
    html! {
        section .panel aria-labelledby="lately" {
            div .cap {
                h2 #lately { "Lately" }
                a .small href="/activity" { "All activity" }
            }
            @if runs.is_empty() { p .body.soft { "No runs yet." } }
            ul .event {
                @for run in runs.iter().take(LATELY_MAX) { (activity::line(run, now)) }
            }
        }
    }
}

fn coming(folders: &[ServedFolder]) -> Markup {
    let scheduled = folders.iter().filter(|folder| folder.schedule.is_some());
    let scheduled: Vec<&ServedFolder> = scheduled.collect();
    html! {
        section .panel aria-labelledby="coming" {
            div .cap { h2 #coming { "Coming up" } }
            @if scheduled.is_empty() { p .body.soft { "No checks are scheduled yet." } }
            ul .list.lines {
                @for folder in scheduled {
                    li {
                        (icon("clock"))
                        span .what { a href=(folder.address()) { (folder.name) } }
                        span .when { (next(folder)) }
                    }
                }
            }
        }
    }
}
