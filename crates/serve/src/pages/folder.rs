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
use steadfast::{FileState, Timestamp};
use steadfast_report::{escape, units};

use super::activity::{line, recorded};
use super::automation::schedule_form;
use super::files::search_in;
use super::home::{check, gauge, next, protect, sentence};
use crate::app::App;
use crate::audits::RootFacts;
use crate::dates;
use crate::fields::NamedValues;
use crate::folders::{FolderCondition, ServedFolder, look_of};
use crate::icons::{disc, drawn, icon, small_icon};
use crate::layout::{Tab, condition_word, framed};
use crate::refusal::Refusal;
use crate::roots::ServedPath;
use crate::runs::RunVerb;
use crate::texts::OfLanguage as _;
use crate::texts::Texts;
use crate::visitor::{QueryFields, Visitor};

/// Findings of one page.
const SHOWN_MAX: usize = 50;

/// Runs of the page.
const RUNS_MAX: usize = 12;

/// The order of findings: damage first.
const ORDER: [FileState; 8] = [
    FileState::Corrupt,
    FileState::Unreadable,
    FileState::Unstable,
    FileState::TagReplaced,
    FileState::TagLost,
    FileState::Missing,
    FileState::Modified,
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
    let (texts, now) = (visitor.texts(), app.now());
    let content = html! {
        div data-refresh[folder.run.is_some()] { (head(&visitor, &folder)) }
        div .cols {
            div .stack {
                @if let Some(facts) = folder.facts() {
                    (attention(&visitor, &folder, facts, &query, now))
                    (coverage(facts, texts, now))
                }
                (runs(&visitor, &folder, now))
                (files(&folder, texts))
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
    let texts = visitor.texts();
    let condition = folder.condition();
    let look = condition.look();
    let is_idle = folder.run.is_none();
    let has_damage = matches!(condition, FolderCondition::Damaged(_));
    html! {
        div .stack.tight {
            p .trail {
                a href="/" { (texts.home.title) }
                (small_icon("chevron"))
                span { (folder.name) }
            }
            div .verdict {
                (disc(look.icon, &format!("{} big", look.class)))
                div {
                    h1 { (folder.name) ": " (condition_word(&condition, &texts.state)) }
                    p .soft { (sentence(folder, &condition, &texts.home)) }
                    p .small.soft { span .mono { (folder.shown) } }
                }
                div .row {
                    @if has_damage { (repair_all(visitor, folder)) }
                    @if let Some(run) = &folder.run {
                        a .button.main href=(format!("/runs/{}", run.id)) { (texts.home.watch) }
                    }
                    @if is_idle && folder.facts().is_some() {
                        (check(visitor, folder, !has_damage))
                    }
                    @if is_idle && condition == FolderCondition::Unprotected {
                        (protect(folder, &texts.home))
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
            button .main type="submit" { (icon("repair")) (visitor.texts().repair.plan) }
        }
    }
}

/// What is open, the most severe first.
fn attention(
    visitor: &Visitor,
    folder: &ServedFolder,
    facts: &RootFacts,
    asked: &NamedValues,
    now: Timestamp,
) -> Markup {
    let texts = &visitor.texts().folder;
    let rank = |state| ORDER.iter().position(|one| *one == state).unwrap_or(ORDER.len());
    let mut open: Vec<&FailedCheck> = facts.failures.iter().collect();
    open.sort_by_key(|failure| rank(failure.standing));
    let skip = usize::try_from(asked.number("skip").unwrap_or(0)).unwrap_or(0);
    let page: Vec<&&FailedCheck> = open.iter().skip(skip).take(SHOWN_MAX).collect();
    let all: u64 = facts.open.values().sum();
    let is_mild = !facts.open.contains_key(&FileState::Corrupt);
    html! {
        @if all > 0 {
            section #attention .panel.attention.mild[is_mild] aria-labelledby="needs" {
                div .cap {
                    (icon(if is_mild { "changed" } else { "damaged" }))
                    h2 #needs { (texts.attention) }
                    span .small { (counts(facts, visitor.texts())) }
                }
                @for failure in &page { (finding(visitor, folder, failure, now)) }
                (turn(folder, skip, open.len(), texts))
            }
        }
    }
}

/// The links to the previous and the next findings.
fn turn(
    folder: &ServedFolder,
    skip: usize,
    all: usize,
    texts: &crate::texts::folders::FolderTexts,
) -> Markup {
    let address = |skip: usize| format!("{}?skip={skip}#attention", folder.address());
    html! {
        @if skip > 0 || all > SHOWN_MAX {
            div .more {
                span { ((texts.span)(skip as u64 + 1, (skip + SHOWN_MAX).min(all) as u64,
                    all as u64)) }
                span .row {
                    @if skip > 0 {
                        a .button href=(address(skip.saturating_sub(SHOWN_MAX))) {
                            (texts.previous)
                        }
                    }
                    @if skip.saturating_add(SHOWN_MAX) < all {
                        a .button href=(address(skip + SHOWN_MAX)) { (texts.next) }
                    }
                }
            }
        }
    }
}

/// How many files are open, by state.
fn counts(facts: &RootFacts, texts: &Texts) -> String {
    let open = ORDER.iter().filter_map(|state| Some((*state, *facts.open.get(state)?)));
    let parts = open.map(|(state, files)| {
        let files = texts.state.say(&units::count(files));
        format!("{files} {}", (texts.state.file)(state).to_lowercase())
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
    let texts = visitor.texts();
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
                    b .(class) { ((texts.state.file)(failure.standing)) "." }
                    " " ((texts.state.why)(failure.standing))
                }
            }
            p .at {
                (texts.folder.found) " " (dates::moment(failure.at, now, visitor.language))
            }
            div .row { (actions(visitor, &place, failure.standing, &whole)) }
        }
    }
}

fn actions(visitor: &Visitor, place: &ServedPath, state: FileState, whole: &str) -> Markup {
    let texts = &visitor.texts().folder;
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
            (form("/repair", "repair", "repair", visitor.texts().repair.plan_one))
        }
        @if state == FileState::Modified {
            (form("/runs", RunVerb::Update.name(), "check", texts.accept))
        }
        @if state != FileState::Missing {
            (form("/runs", RunVerb::Check.name(), "checking", texts.again))
        }
        button .quiet hidden type="button" data-copy=(whole) data-copied=(texts.copied) {
            (icon("copy")) (texts.copy)
        }
        a .button.quiet href=(format!("/history?place={}", place.query())) {
            (icon("activity")) (visitor.texts().home.history)
        }
        details .fold.plain {
            summary { (small_icon("chevron")) (texts.restore) }
            div .body { p .small { (texts.restore_text) } p .mono { (whole) } }
        }
    }
}

/// When files were last checked.
fn coverage(facts: &RootFacts, texts: &Texts, now: Timestamp) -> Markup {
    html! {
        section .panel aria-labelledby="coverage" {
            div .cap { h2 #coverage { (texts.folder.coverage) } }
            div .body.stack.tight { (months::chart(facts, now, &texts.folder)) }
        }
    }
}

fn runs(visitor: &Visitor, folder: &ServedFolder, now: Timestamp) -> Markup {
    let texts = visitor.texts();
    let runs = recorded(std::slice::from_ref(folder));
    html! {
        section .panel aria-labelledby="runs" {
            div .cap {
                h2 #runs { (texts.activity.title) }
                a .small href=(format!("/history?place={}", folder.place.query())) {
                    (texts.home.history)
                }
            }
            @if runs.is_empty() { p .body.soft { (texts.activity.none) } }
            ul .list.lines {
                @for run in runs.iter().take(RUNS_MAX) { (line(visitor, run, now)) }
            }
        }
    }
}

/// The tree of the folder, which opens in place.
fn files(folder: &ServedFolder, texts: &Texts) -> Markup {
    let query = folder.place.query();
    html! {
        section .panel aria-labelledby="files" {
            div .cap {
                h2 #files { (texts.folder.tree) }
                @if folder.facts().is_some() { (search_in(folder.place.root, texts)) }
            }
            details .body data-part=(format!("/browse/part?place={query}")) {
                summary { (texts.home.browse) }
                p { a href=(format!("/browse?place={query}")) { (texts.home.browse) } }
            }
        }
    }
}

/// What stands beside: the cover, the schedule, repair data.
fn beside(app: &App, visitor: &Visitor, folder: &ServedFolder) -> Markup {
    let texts = visitor.texts();
    let automation = app.config.automation.as_ref();
    let automation = automation.filter(|_| folder.facts().is_some() || folder.schedule.is_some());
    html! {
        section .panel aria-labelledby="schedule" {
            div .cap { (icon("clock")) h2 #schedule { (texts.folder.schedule) } }
            div .body.stack.tight {
                (gauge(folder, &texts.home))
                p .small { (next(folder, &texts.home)) }
                @if let Some(automation) = automation {
                    (schedule_form(visitor, folder, automation))
                }
            }
        }
        section .panel aria-labelledby="parity" {
            div .cap { (icon("layers")) h2 #parity { (texts.folder.parity) } }
            div .body.stack.tight {
                p .small { (texts.folder.parity_text) }
                p .mono { "steadfast parity make " (folder.shown) }
            }
        }
    }
}

/// The button that takes an added folder off the pages.
fn remove(visitor: &Visitor, folder: &ServedFolder) -> Markup {
    let texts = &visitor.texts().add;
    html! {
        form .panel method="post" action=(format!("{}/remove", folder.address())) {
            div .body.stack.tight {
                (visitor.csrf())
                button type="submit" { (texts.remove) }
                p .small.soft { (texts.removed) }
            }
        }
    }
}
