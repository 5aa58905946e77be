//! A folder: what needs attention with what can be done, how lately its files were checked, its
//! runs, its files, and its schedule.

mod kept;
mod months;

use std::sync::Arc;

use axum::Router;
use axum::extract::{Path, State};
use axum::response::Response;
use axum::routing::get;
use maud::{Markup, html};
use steadfast::catalogue::FailedCheck;
use steadfast::{FileState, FolderFacts, FolderState, Timestamp};
use steadfast_report::units;
use steadfast_words::NextStep;

use super::activity::{line, recorded};
use super::automation::schedule_form;
use super::files::search_in;
use super::findings::{FindingPage, findings_of, group};
use super::home::{accepted_lately, check, gauge, menu, next, protect, resume};
use super::repair_data::panel;
use crate::app::App;
use crate::fields::NamedValues;
use crate::folders::ServedFolder;
use crate::icons::{disc, icon};
use crate::kinds::StateKind;
use crate::layout::{FOLDERS, Tab, framed, trail};
use crate::refusal::Refusal;
use crate::repair_data::StoredRepairData;
use crate::runs::FileFinding;
use crate::visitor::{QueryFields, Visitor};

/// Findings of each group on the page, and of one group on a page of its own.
const GROUP_MAX: usize = 20;
const SHOWN_MAX: usize = 100;

/// Runs of the page.
const RUNS_MAX: usize = 12;

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
    let asked = query.clone();
    let look = move |app: &Arc<App>| {
        let folder = app.folder(root)?;
        let groups = folder.facts().map(|facts| open_groups(facts, &asked));
        let kept = kept::of(app, &folder.place);
        let stored = StoredRepairData::of(&folder.place, &app.roots);
        Some((groups.unwrap_or_default(), (kept, stored), folder))
    };
    let (groups, (kept, stored), folder) = app.blocking(look).await?.ok_or(Refusal::NotFound)?;
    let visitor = visitor.with_side(app.side());
    let now = app.now();
    let content = html! {
        div data-refresh[folder.said.is_going] { (head(&visitor, &folder)) }
        div .cols {
            div .stack {
                @if let Some(facts) = folder.facts() {
                    (attention(&visitor, &folder, &groups, now))
                    (turn(&folder, facts, &query))
                    (coverage(facts, now))
                }
                // Of what is away, nothing is known here but how it was.
                @if !matches!(*folder.audit, FolderState::NotThere(_)) {
                    (runs(&folder, now))
                    (files(&folder))
                }
            }
            div .stack.tight {
                (beside(&app, &visitor, &folder))
                @if folder.facts().is_some() { (panel(&visitor, &folder, stored)) }
                (kept::panel(&visitor, &folder, &kept))
                @if app.roots.is_added(&folder.place) { (remove(&visitor, &folder)) }
            }
        }
    };
    Ok(framed(&visitor, Some(Tab::Home), &folder.name, &html! {}, &content))
}

fn head(visitor: &Visitor, folder: &ServedFolder) -> Markup {
    let said = &folder.said;
    let damaged = folder.facts().map_or(0, |facts| facts.count(&[FileState::Corrupt]));
    let is_idle = !said.is_going && folder.facts().is_some();
    let is_main = !said.alarms && said.step != NextStep::GoOn;
    html! {
        div .stack.tight {
            (trail(&[FOLDERS], &folder.name))
            div .verdict {
                (disc(said.icon, &format!("{} big", said.class)))
                div {
                    h1 { (folder.name) ": " (said.word) }
                    p .soft { (said.sentence) (accepted_lately(folder)) }
                    p .small.soft { span .mono { (folder.shown) } }
                }
                div .row {
                    @if damaged > 0 && !said.is_going { (repair_all(visitor, folder, damaged)) }
                    @match said.step {
                        NextStep::LookFirst(_) => {
                            a .button.main href=(folder.target()) { (said.step_label) }
                        }
                        NextStep::Protect => (protect(folder)),
                        NextStep::GoOn => (resume(visitor, folder)),
                        _ => {}
                    }
                    @if let Some(run) = &folder.run {
                        a .button.main href=(format!("/runs/{}", run.id)) { "Watch" }
                    }
                    @if is_idle { (check(visitor, folder, is_main)) }
                    (menu(visitor, folder))
                }
            }
        }
    }
}

fn repair_all(visitor: &Visitor, folder: &ServedFolder, files: u64) -> Markup {
    html! {
        form method="post" action="/repair" {
            (visitor.csrf())
            input type="hidden" name="place" value=(folder.place.token());
            button .main type="submit" {
                (icon("repair")) "Repair " (units::counted(files, "file", "files")) "…"
            }
        }
    }
}

/// A kind with its files, and those of them that a page shows.
type OpenGroup = (StateKind, u64, Vec<FileFinding>);

/// Returns what is open, the most severe first: some of each kind, or more of the one that is
/// asked for.
fn open_groups(facts: &FolderFacts, asked: &NamedValues) -> Vec<OpenGroup> {
    let wanted = asked.text("show").and_then(|kind| kind.parse::<StateKind>().ok());
    let skip = usize::try_from(asked.number("skip").unwrap_or(0)).unwrap_or(0);
    let is_of = |failure: &&FailedCheck, kind| StateKind::of_state(failure.standing) == Some(kind);
    let counted = counts(facts).into_iter();
    let wanted = counted.filter(|(kind, _)| wanted.is_none_or(|wanted| wanted == *kind));
    let is_alone = asked.text("show").is_some();
    wanted
        .map(|(kind, files)| {
            let all = facts.failures.iter().filter(|failure| is_of(failure, kind));
            let (skip, most) = if is_alone { (skip, SHOWN_MAX) } else { (0, GROUP_MAX) };
            let shown = findings_of(all.skip(skip).take(most));
            (kind, files, shown)
        })
        .collect()
}

/// Returns how many files are open, by kind, the most severe first.
fn counts(facts: &FolderFacts) -> Vec<(StateKind, u64)> {
    let mut counts = std::collections::BTreeMap::new();
    for (state, files) in &facts.open {
        if let Some(kind) = StateKind::of_state(*state) {
            *counts.entry(kind).or_default() += files;
        }
    }
    counts.into_iter().collect()
}

fn attention(
    visitor: &Visitor,
    folder: &ServedFolder,
    groups: &[OpenGroup],
    now: Timestamp,
) -> Markup {
    let page = FindingPage {
        actor: (!folder.said.is_going).then_some((visitor, &folder.place)),
        shown: &folder.shown,
        now,
    };
    html! {
        @for (kind, files, shown) in groups {
            @let all = format!("{}?show={}", folder.address(), kind.name());
            (group(&page, *kind, *files, shown, Some(all.as_str())))
        }
    }
}

/// The links to the previous and the next files of one kind.
fn turn(folder: &ServedFolder, facts: &FolderFacts, asked: &NamedValues) -> Markup {
    let kind = asked.text("show").and_then(|kind| kind.parse::<StateKind>().ok());
    let Some(kind) = kind else { return html! {} };
    let all = counts(facts).into_iter().find(|(other, _)| *other == kind).map_or(0, |it| it.1);
    let all = usize::try_from(all).unwrap_or(usize::MAX).min(facts.failures.len());
    let skip = usize::try_from(asked.number("skip").unwrap_or(0)).unwrap_or(0);
    let address = |skip: usize| format!("{}?show={}&skip={skip}", folder.address(), kind.name());
    html! {
        p .row {
            a .button href=(folder.address()) { "Show all kinds" }
            @if skip > 0 {
                a .button href=(address(skip.saturating_sub(SHOWN_MAX))) { "Previous" }
            }
            @if skip.saturating_add(SHOWN_MAX) < all {
                a .button href=(address(skip + SHOWN_MAX)) { "Next" }
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
            ul .event {
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
