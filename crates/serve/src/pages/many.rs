//! Before many changes are accepted at once: how many, where, since when, examples, and the
//! question whether it was you.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use axum::Router;
use axum::extract::{self, State};
use axum::response::Response;
use axum::routing::get;
use maud::{Markup, html};
use steadfast::{FileState, Timestamp, beneath};
use steadfast_report::{Units, escape, units};
use steadfast_words::NextStep;

use crate::app::App;
use crate::dates;
use crate::folders::ServedFolder;
use crate::icons::{disc, icon};
use crate::kinds::StateKind;
use crate::layout::{Tab, folder_trail, framed};
use crate::refusal::Refusal;
use crate::roots::ServedPath;
use crate::runs::{MassChange, RunVerb};
use crate::visitor::Visitor;

/// Files that are shown as examples, folders that are named, files whose dates are compared.
const EXAMPLES_MAX: usize = 5;
const PLACES_MAX: usize = 8;
const DATED_MAX: usize = 2_000;

pub(super) fn routes() -> Router<Arc<App>> {
    Router::new().route("/folders/{root}/many", get(show))
}

/// Many changes at once, as the page shows them.
pub(super) struct ManyPlan {
    pub(super) place: ServedPath,
    /// The run that accepts them.
    pub(super) verb: RunVerb,
    change: MassChange,
    /// Some of the files, with length and date of those that are there.
    examples: Vec<(PathBuf, Option<(u64, Timestamp)>)>,
    /// Between which moments they were saved.
    saved: Option<(Timestamp, Timestamp)>,
    /// How many are in which folder.
    places: Vec<(String, u64)>,
}

impl ManyPlan {
    /// Looks at changed files of a root. Waits for the disk.
    pub(super) fn of(app: &App, place: ServedPath, verb: RunVerb, change: MassChange) -> ManyPlan {
        let root = app.roots.root(&place).unwrap_or_default();
        let dated = |path: &PathBuf| {
            let found = beneath::status(&root, path).ok()?;
            Some((path.clone(), (found.length, found.mtime)))
        };
        let all = || change.edited.iter().chain(&change.missing);
        let dates: BTreeMap<PathBuf, (u64, Timestamp)> =
            change.edited.iter().take(DATED_MAX).filter_map(dated).collect();
        let mut places: BTreeMap<String, u64> = BTreeMap::new();
        for path in all() {
            let above = path.parent().and_then(|above| above.iter().next());
            let named =
                above.map_or("directly in it".to_owned(), |name| escape::path(Path::new(name)));
            *places.entry(named).or_default() += 1;
        }
        let mut places: Vec<(String, u64)> = places.into_iter().collect();
        places.sort_by_key(|(_, files)| std::cmp::Reverse(*files));
        places.truncate(PLACES_MAX);
        let moments = || dates.values().map(|(_, mtime)| *mtime);
        let examples =
            all().take(EXAMPLES_MAX).map(|path| (path.clone(), dates.get(path).copied()));
        ManyPlan {
            examples: examples.collect(),
            saved: moments().min().zip(moments().max()),
            places,
            place,
            verb,
            change,
        }
    }

    fn kind(&self) -> StateKind {
        match self.change.edited.len() >= self.change.missing.len() {
            true => StateKind::Changed,
            false => StateKind::Missing,
        }
    }
}

/// The plan for what is open in a folder.
async fn show(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    extract::Path(root): extract::Path<String>,
) -> Result<Response, Refusal> {
    let root = root.parse().map_err(|_| Refusal::NotFound)?;
    let found = app.blocking(move |app| {
        let folder = app.folder(root)?;
        let plan = open_in(app, &folder)
            .map(|(verb, change)| ManyPlan::of(app, folder.place.clone(), verb, change));
        Some((folder, plan))
    });
    let (folder, plan) = found.await?.ok_or(Refusal::NotFound)?;
    let visitor = visitor.with_side(app.side());
    let content = match &plan {
        Some(plan) => shown(&visitor, &folder.name, plan, app.now()),
        None => html! {
            h1 { "Nothing unusual is open in " (folder.name) }
            p { a .button href=(folder.address()) { "To the folder" } }
        },
    };
    Ok(framed(&visitor, Some(Tab::Home), "Before accepting", &html! {}, &content))
}

/// Returns what is open in a folder in alarming numbers, and the run that would accept it.
fn open_in(app: &App, folder: &ServedFolder) -> Option<(RunVerb, MassChange)> {
    let NextStep::LookFirst(state) = folder.said.step else { return None };
    let paths = app.open_paths(&folder.place, state)?;
    let answer = app.question(folder, state, &paths);
    let files = folder.facts()?.audit.entries;
    let change = MassChange { files, answer, ..MassChange::default() };
    Some(match state {
        FileState::Missing => (RunVerb::Removed, MassChange { missing: paths, ..change }),
        FileState::Suspect => (RunVerb::Keep, MassChange { edited: paths, ..change }),
        _ => (RunVerb::Accept, MassChange { edited: paths, ..change }),
    })
}

/// The page: nothing is accepted until one of the two answers is given.
pub(super) fn shown(visitor: &Visitor, name: &str, plan: &ManyPlan, now: Timestamp) -> Markup {
    let (files, all) = (plan.change.count(), plan.change.files);
    let kind = plan.kind();
    let (_, sign) = kind.class_and_icon();
    let happened = match kind {
        StateKind::Missing => "are gone",
        _ => "changed at once",
    };
    html! {
        (folder_trail(plan.place.root, name, "Before accepting"))
        div .verdict {
            (disc(if kind == StateKind::Missing { sign } else { "many" }, "bad big"))
            div {
                h1 {
                    (units::count(files)) " of " (units::counted(all, "file", "files")) " "
                    (happened) ". Look before you accept."
                }
                p .soft {
                    @if let Some((first, last)) = plan.saved {
                        @if dates::is_same(first, last, now) {
                            "All saved " (dates::moment(last, now)) ". "
                        } @else {
                            "Saved between " (dates::moment(first, now)) " and "
                            (dates::moment(last, now)) ". "
                        }
                    }
                    b { "Nothing was accepted and nothing was overwritten." }
                }
            }
        }
        p .note.warn {
            (icon("suspect"))
            span { (looks_like(kind)) }
        }
        div .cols {
            div .stack { (examples(plan, files, now)) (answers(visitor, plan, kind, files)) }
            section .panel aria-labelledby="where" {
                div .cap { h2 #where { "Where" } }
                div .body {
                    dl .facts {
                        @for (place, files) in &plan.places {
                            div { dt { (place) } dd { (units::count(*files)) } }
                        }
                    }
                }
            }
        }
    }
}

fn looks_like(kind: StateKind) -> &'static str {
    match kind {
        StateKind::Missing => {
            "A folder that was moved elsewhere looks like this, and so does a drive that is not \
             mounted. Look whether they are somewhere else."
        }
        _ => {
            "Malware that encrypts files looks like this. So does a program that you told to \
             rewrite them all. Open two or three of them: can you still read them?"
        }
    }
}

fn examples(plan: &ManyPlan, files: u64, now: Timestamp) -> Markup {
    let address = format!("/folders/{}?show={}", plan.place.root, plan.kind().name());
    html! {
        section .panel aria-labelledby="examples" {
            div .cap {
                h2 #examples { (plan.examples.len()) " of the " (units::count(files)) }
                a .small href=(address) { "Show all" }
            }
            ul .list {
                @for (path, found) in &plan.examples {
                    li {
                        div .what {
                            h3 .file { (escape::path(path.file_name().map_or(path, Path::new))) }
                            p .tiny.soft { (path.parent().map(escape::path).unwrap_or_default()) }
                        }
                        @if let Some((length, mtime)) = found {
                            span .small {
                                (Units::Si.bytes(*length)) ", saved " (dates::moment(*mtime, now))
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Two answers, neither of which is suggested.
fn answers(visitor: &Visitor, plan: &ManyPlan, kind: StateKind, files: u64) -> Markup {
    let token = plan.place.token();
    let count = units::count(files);
    html! {
        h2 { "Was it you?" }
        div .answers {
            form .panel method="post" action="/repair" {
                (visitor.csrf())
                input type="hidden" name="place" value=(token);
                input type="hidden" name="kind" value=(kind.name());
                h3 { (icon("repair")) "No, put them back" }
                p .small {
                    "First a plan: for which of them there is a good copy. The files of now are \
                     kept beside."
                }
                button type="submit" { "See what can be restored…" }
            }
            form .panel method="post" action="/runs" {
                (visitor.csrf())
                input type="hidden" name="place" value=(token);
                input type="hidden" name="verb" value=(plan.verb.name());
                @if let Some(answer) = &plan.change.answer {
                    input type="hidden" name="answer" value=(answer);
                }
                h3 { (icon("check")) "Yes, it was me" }
                div .stack.tight {
                    p .small {
                        @if kind == StateKind::Missing { "They are no longer expected here." }
                        @else { "What they contain now becomes what is recorded." }
                    }
                    label .tick {
                        input type="checkbox" name="many" value="1" required;
                        span { "I looked at some of them, and it is right" }
                    }
                }
                button type="submit" { "Accept all " (count) }
            }
        }
        p .soft { "You can also close this page. Nothing is accepted until you answer." }
    }
}
