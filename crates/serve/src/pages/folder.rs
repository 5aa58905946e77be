//! A folder: what needs attention with what can be done, how lately its files were checked, its
//! runs, its files, and its schedule.

mod months;

use std::sync::Arc;

use axum::Router;
use axum::extract::{Path, State};
use axum::response::Response;
use axum::routing::get;
use maud::{Markup, html};
use steadfast::catalogue::FailedCheck;
use steadfast::{FileState, FolderFacts, Timestamp};
use steadfast_report::{escape, units};

use super::activity::{line, recorded};
use super::automation::schedule_form;
use super::files::search_in;
use super::home::{accepted_lately, check, gauge, next, protect, sentence};
use crate::app::App;
use crate::dates;
use crate::fields::NamedValues;
use crate::folders::{FolderCondition, ServedFolder, look_of};
use crate::icons::{disc, drawn, icon, small_icon};
use crate::layout::{Tab, condition_word, framed};
use crate::refusal::Refusal;
use crate::roots::ServedPath;
use crate::runs::RunVerb;
use crate::visitor::{QueryFields, Visitor};
use crate::words;

/// Findings of one page.
const SHOWN_MAX: usize = 50;

/// Runs of the page.
const RUNS_MAX: usize = 12;

/// The order of findings: damage first.
const ORDER: [FileState; 10] = [
    FileState::Corrupt,
    FileState::Suspect,
    FileState::Unreadable,
    FileState::Unstable,
    FileState::TagReplaced,
    FileState::TagLost,
    FileState::Missing,
    FileState::Modified,
    FileState::Differs,
    FileState::Touched,
];

pub(super) fn routes() -> Router<Arc<App>> {
    Router::new().route("/folders/{root}", get(show))
}

async fn show(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    Path(root): Path<String>,
    QueryFields(query): QueryFields,
) -> Result<Response, Refusal> {
    let root = root.parse().map_err(|_| Refusal::NotFound)?;
    let folder = app.blocking(move |app| app.folder(root)).await?.ok_or(Refusal::NotFound)?;
    let visitor = visitor.with_side(app.side());
    let now = app.now();
    let content = html! {
        div data-refresh[folder.run.is_some()] { (head(&visitor, &folder)) }
        div .cols {
            div .stack {
                @if let Some(facts) = folder.facts() {
                    (attention(&visitor, &folder, facts, &query, now))
                    (coverage(facts, now))
                }
                (runs(&folder, now))
                (files(&folder))
            }
            div .stack.tight {
                (beside(&app, &visitor, &folder))
                @if app.roots.is_added(&folder.place) { (remove(&visitor, &folder)) }
            }
        }
    };
    Ok(framed(&visitor, Some(Tab::Home), &folder.name, &html! {}, &content))
}

fn head(visitor: &Visitor, folder: &ServedFolder) -> Markup {
    let condition = folder.condition();
    let look = condition.look();
    let is_idle = folder.run.is_none();
    let has_damage = matches!(condition, FolderCondition::Damaged(_));
    html! {
        div .stack.tight {
            p .trail {
                a href="/" { "Folders" }
                (small_icon("chevron"))
                span { (folder.name) }
            }
            div .verdict {
                (disc(look.icon, &format!("{} big", look.class)))
                div {
                    h1 { (folder.name) ": " (condition_word(&condition)) }
                    p .soft { (sentence(folder, &condition)) (accepted_lately(folder)) }
                    p .small.soft { span .mono { (folder.shown) } }
                }
                div .row {
                    @if has_damage { (repair_all(visitor, folder)) }
                    @if let Some(run) = &folder.run {
                        a .button.main href=(format!("/runs/{}", run.id)) { "Watch" }
                    }
                    @if is_idle && folder.facts().is_some() {
                        (check(visitor, folder, !has_damage))
                    }
                    @if is_idle && condition == FolderCondition::Unprotected {
                        (protect(folder))
                    }
                }
            }
        }
    }
}

fn repair_all(visitor: &Visitor, folder: &ServedFolder) -> Markup {
    html! {
        form method="post" action="/repair" {
            (visitor.csrf())
            input type="hidden" name="place" value=(folder.place.token());
            button .main type="submit" { (icon("repair")) "See what can be repaired" }
        }
    }
}

/// What is open, the most severe first.
fn attention(
    visitor: &Visitor,
    folder: &ServedFolder,
    facts: &FolderFacts,
    asked: &NamedValues,
    now: Timestamp,
) -> Markup {
    let rank = |state| ORDER.iter().position(|one| *one == state).unwrap_or(ORDER.len());
    let mut open: Vec<&FailedCheck> = facts.failures.iter().collect();
    open.sort_by_key(|failure| rank(failure.standing));
    let skip = usize::try_from(asked.number("skip").unwrap_or(0)).unwrap_or(0);
    let page: Vec<&&FailedCheck> = open.iter().skip(skip).take(SHOWN_MAX).collect();
    let all: u64 = facts.open.values().sum();
    let alarms = [FileState::Corrupt, FileState::Suspect];
    let is_mild = alarms.iter().all(|state| !facts.open.contains_key(state));
    html! {
        @if all > 0 {
            section #attention .panel.attention.mild[is_mild] aria-labelledby="needs" {
                div .cap {
                    (icon(if is_mild { "changed" } else { "damaged" }))
                    h2 #needs { "Needs attention" }
                    span .small { (counts(facts)) }
                }
                @if facts.open.get(&FileState::Suspect).is_some_and(|files| *files > 1) {
                    form .body method="post" action="/runs" {
                        (visitor.csrf())
                        input type="hidden" name="place" value=(folder.place.token());
                        button type="submit" name="verb" value=(RunVerb::Keep.name()) {
                            (icon("check")) "It was me: keep all whose date was kept"
                        }
                    }
                }
                @for failure in &page { (finding(visitor, folder, failure, now)) }
                (turn(folder, skip, open.len()))
            }
        }
    }
}

/// The links to the previous and the next findings.
fn turn(folder: &ServedFolder, skip: usize, all: usize) -> Markup {
    let address = |skip: usize| format!("{}?skip={skip}#attention", folder.address());
    html! {
        @if skip > 0 || all > SHOWN_MAX {
            div .more {
                span {
                    (units::count(skip as u64 + 1)) " to "
                    (units::count((skip + SHOWN_MAX).min(all) as u64)) " of "
                    (units::count(all as u64))
                }
                span .row {
                    @if skip > 0 {
                        a .button href=(address(skip.saturating_sub(SHOWN_MAX))) {
                            "Previous"
                        }
                    }
                    @if skip.saturating_add(SHOWN_MAX) < all {
                        a .button href=(address(skip + SHOWN_MAX)) { "Next" }
                    }
                }
            }
        }
    }
}

/// How many files are open, by state.
fn counts(facts: &FolderFacts) -> String {
    let open = ORDER.iter().filter_map(|state| Some((*state, *facts.open.get(state)?)));
    let parts = open.map(|(state, files)| {
        let files = units::count(files);
        format!("{files} {}", words::file_state(state).to_lowercase())
    });
    parts.collect::<Vec<_>>().join(", ")
}

/// One file: what happened to it, and what can be done.
fn finding(
    visitor: &Visitor,
    folder: &ServedFolder,
    failure: &FailedCheck,
    now: Timestamp,
) -> Markup {
    let (class, name) = look_of(failure.standing);
    let place = ServedPath { root: folder.place.root, below: failure.path.clone() };
    let above = failure.path.parent().map(escape::path).unwrap_or_default();
    let file = failure.path.file_name().map_or(failure.path.as_path(), std::path::Path::new);
    let whole = format!("{}/{}", folder.shown, escape::path(&failure.path));
    html! {
        article .find {
            (drawn(name, &format!("icon {class}")))
            div {
                p .file { span { (above) } (escape::path(file)) }
                p .why {
                    b .(class) { (words::file_state(failure.standing)) "." }
                    " " (file_state_help(failure.standing))
                }
            }
            p .at {
                "found " (dates::moment(failure.at, now))
            }
            div .row { (actions(visitor, &place, failure.standing, &whole)) }
        }
    }
}

fn actions(visitor: &Visitor, place: &ServedPath, state: FileState, whole: &str) -> Markup {
    let form = |address: &str, verb: &str, name: &str, label: &str| {
        html! {
            form method="post" action=(address) {
                (visitor.csrf())
                input type="hidden" name="place" value=(place.token());
                button type="submit" name="verb" value=(verb) { (icon(name)) (label) }
            }
        }
    };
    let is_damaged =
        matches!(state, FileState::Corrupt | FileState::Missing | FileState::Unreadable);
    html! {
        @if is_damaged {
            (form("/repair", "repair", "repair", "Repair…"))
        }
        @if state == FileState::Suspect {
            (form("/runs", RunVerb::Keep.name(), "check", "It was me: keep it"))
            (form("/repair", "repair", "repair", "It was not me: restore it…"))
        }
        @if state == FileState::Modified {
            (form("/runs", RunVerb::Update.name(), "check", "Accept the change"))
        }
        @if state != FileState::Missing {
            (form("/runs", RunVerb::Check.name(), "checking", "Check again"))
        }
        button .quiet hidden type="button" data-copy=(whole) data-copied="Copied" {
            (icon("copy")) "Copy the path"
        }
        a .button.quiet href=(format!("/history?place={}", place.query())) {
            (icon("activity")) "History"
        }
        details .fold.plain {
            summary { (small_icon("chevron")) "How to restore" }
            div .body {
                p .small {
                    "Copy this file from a backup over the damaged one, with its date, and check \
                     it again: the check says whether the backup's copy is good. Or let Steadfast \
                     take what is good of the backup: `steadfast repair PATH --from BACKUP`."
                }
                p .mono { (whole) }
            }
        }
    }
}

/// When files were last checked.
fn coverage(facts: &FolderFacts, now: Timestamp) -> Markup {
    html! {
        section .panel aria-labelledby="coverage" {
            div .cap { h2 #coverage { "When files were last found intact" } }
            div .body.stack.tight { (months::chart(facts, now)) }
        }
    }
}

fn runs(folder: &ServedFolder, now: Timestamp) -> Markup {
    let runs = recorded(std::slice::from_ref(folder));
    html! {
        section .panel aria-labelledby="runs" {
            div .cap {
                h2 #runs { "Activity" }
                a .small href=(format!("/history?place={}", folder.place.query())) {
                    "History"
                }
            }
            @if runs.is_empty() { p .body.soft { "There are no runs yet." } }
            ul .list.lines {
                @for run in runs.iter().take(RUNS_MAX) { (line(run, now)) }
            }
        }
    }
}

/// The tree of the folder, which opens in place.
fn files(folder: &ServedFolder) -> Markup {
    let query = folder.place.query();
    html! {
        section .panel aria-labelledby="files" {
            div .cap {
                h2 #files { "Files" }
                @if folder.facts().is_some() { (search_in(folder.place.root)) }
            }
            details .body data-part=(format!("/browse/part?place={query}")) {
                summary { "Choose a folder or a file in it" }
                p {
                    a href=(format!("/browse?place={query}")) { "Choose a folder or a file in it" }
                }
            }
        }
    }
}

/// What stands beside: the cover, the schedule, repair data.
fn beside(app: &App, visitor: &Visitor, folder: &ServedFolder) -> Markup {
    let automation = app.config.automation.as_ref();
    let automation = automation.filter(|_| folder.facts().is_some() || folder.schedule.is_some());
    html! {
        section .panel aria-labelledby="schedule" {
            div .cap { (icon("clock")) h2 #schedule { "Schedule" } }
            div .body.stack.tight {
                (gauge(folder))
                p .small { (next(folder)) }
                @if let Some(automation) = automation {
                    (schedule_form(visitor, folder, automation))
                }
            }
        }
        section .panel aria-labelledby="parity" {
            div .cap { (icon("layers")) h2 #parity { "Repair data" } }
            div .body.stack.tight {
                p .small {
                    "With repair data, damaged files can be repaired without a backup. This \
                     command makes it or brings it up to date:"
                }
                p .mono { "steadfast parity make " (folder.shown) }
            }
        }
    }
}

/// The button that takes an added folder off the pages.
fn remove(visitor: &Visitor, folder: &ServedFolder) -> Markup {
    html! {
        form .panel method="post" action=(format!("{}/remove", folder.address())) {
            div .body.stack.tight {
                (visitor.csrf())
                button type="submit" { "Show this folder no longer" }
                p .small.soft {
                    "Nothing is deleted. A protected folder is shown again when the server starts."
                }
            }
        }
    }
}

fn file_state_help(state: FileState) -> &'static str {
    match state {
        FileState::Fine => "Its contents are exactly as recorded.",
        FileState::Touched => "Its contents are exactly as recorded; its date is another.",
        FileState::Modified => {
            "Its contents and its date are different: it was saved since it was recorded. If that \
             was you, accept the change."
        }
        FileState::Corrupt => {
            "Its contents are different, although its date is as recorded. A worn drive, a loose \
             cable or faulty memory does that."
        }
        FileState::Suspect => {
            "Something changed it and kept its date. Was it you? Some programs do that when they \
             write into photographs or music. If it was not you, restore it."
        }
        FileState::Differs => {
            "Its contents are not those of a list without dates; the cause is not known."
        }
        FileState::Unreadable => "It could not be read, so nothing is known of its contents.",
        FileState::Unstable => "It was written while it was read. Check it again.",
        FileState::Missing => "It was recorded and is no longer there.",
        FileState::TagLost => "Its own record is gone. Its contents are as the catalogue has them.",
        FileState::TagReplaced => "Its own record and the catalogue disagree about its contents.",
    }
}
