//! The history in the catalogue: the runs over a folder, or the life of one file.

mod life;

use std::path::Path;
use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::response::Response;
use axum::routing::get;
use maud::{Markup, html};
use steadfast::Options;
use steadfast::catalogue::{Catalogue, CatalogueError, History, RunRecord};
use steadfast_report::document::Document;
use steadfast_report::history::{HistoryOf, HistoryView, RunOver, document};
use steadfast_report::{Units, escape, units};

use self::life::FileLife;
use super::activity::{event, run_address};
use super::browse::{Goal, choice, way};
use crate::app::App;
use crate::folders::name_of;
use crate::icons::small_icon;
use crate::layout::{Tab, documents, framed, page};
use crate::refusal::Refusal;
use crate::roots::ServedPath;
use crate::visitor::{QueryFields, Visitor};

/// Runs of one page, the latest.
const RUNS_MAX: u32 = 500;

pub(super) fn routes() -> Router<Arc<App>> {
    Router::new().route("/history", get(show))
}

async fn show(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    QueryFields(query): QueryFields,
) -> Result<Response, Refusal> {
    let only_root = || app.roots.places().pop().filter(|_| app.roots.places().len() == 1);
    let Some(place) = app.place(&query)?.or_else(only_root) else {
        let content = html! {
            p { "What happened to each file, and every run." }
            (choice(&app, Goal::History, "Choose a file or a folder"))
        };
        return Ok(page(&visitor, Some(Tab::Home), "History", &content));
    };
    let at = place.clone();
    let lookup = app.blocking(move |app| look_up(app, &at)).await?;
    let content = html! {
        (way(&app, &place, Goal::History))
        @match &lookup {
            HistoryLookup::NoCatalogue => {
                h1 { "No history" }
                p {
                    (app.roots.shown(&place))
                    " has no catalogue, and so no history. Protect it, and it has one from then on."
                }
            },
            HistoryLookup::Unknown => {
                h1 { "No history" }
                p { "The catalogue does not contain this path." }
            }
            HistoryLookup::Failed(why) => {
                h1 { "The history cannot be read" }
                p .note.bad role="alert" { (why) }
            }
            HistoryLookup::Folder(runs, document) => {
                (folder(&app, &place, runs, document))
            }
            HistoryLookup::File(life) => {
                (life::shown(&place, &name_of(&app.roots.path(&place)), life, app.now()))
            }
        }
        @if place.is_root() { (choice(&app, Goal::History, "Choose a file or a folder")) }
    };
    Ok(framed(&visitor, Some(Tab::Home), "History", &html! {}, &content))
}

/// The runs over a folder, each with its result, and the same in figures.
fn folder(app: &App, place: &ServedPath, runs: &[RunRecord], document: &Document) -> Markup {
    html! {
        h1 { "History of " (name_of(&app.roots.path(place))) }
        section .panel aria-labelledby="runs" {
            div .cap {
                h2 #runs { (units::counted(runs.len() as u64, "run", "runs")) }
                span .small.soft { "the latest first" }
            }
            ul .event {
                @for run in runs { (event(&run_address(place.root, run), None, run, app.now())) }
            }
        }
        details .fold {
            summary {
                (small_icon("chevron")) "Technical details" span .soft { "verbs, versions, bytes" }
            }
            div .body { (documents(std::slice::from_ref(document))) }
        }
    }
}

/// The result of a look-up in the catalogue.
enum HistoryLookup {
    NoCatalogue,
    /// The catalogue does not have this path.
    Unknown,
    Failed(String),
    /// The runs over it, the latest first, and their document.
    Folder(Vec<RunRecord>, Box<Document>),
    File(Box<FileLife>),
}

fn look_up(app: &App, place: &ServedPath) -> HistoryLookup {
    let root = match app.roots.root(place) {
        Ok(root) => root,
        Err(error) => return HistoryLookup::Failed(error.to_string()),
    };
    let Some(file) = Catalogue::find(&root) else { return HistoryLookup::NoCatalogue };
    let found = Catalogue::open_reader(&file).and_then(|catalogue| {
        // The catalogue may be of a larger tree than the root.
        catalogue.guard()?;
        let path = app.roots.path(place);
        let path = path.strip_prefix(catalogue.root()).map(Path::to_owned);
        path.map_or(Ok(HistoryLookup::NoCatalogue), |path| of_path(&catalogue, &path))
    });
    found.unwrap_or_else(|error| HistoryLookup::Failed(escape::text(&error.to_string())))
}

fn of_path(catalogue: &Catalogue, path: &Path) -> Result<HistoryLookup, CatalogueError> {
    let history = catalogue.history(path)?;
    if history.now.is_some() || history.runs.iter().any(|run| !run.happened.is_empty()) {
        return of_file(catalogue, history);
    }
    let whole = catalogue.runs_over(path)?;
    let all = path.as_os_str().is_empty();
    let mut runs = Vec::new();
    for run in catalogue.runs(i64::MAX, RUNS_MAX)? {
        let whole = whole.contains(&run.id);
        if whole || all {
            runs.push(RunOver { run, whole });
        }
    }
    if runs.is_empty() && !all {
        return Ok(HistoryLookup::Unknown);
    }
    runs.reverse();
    let view = view_of(catalogue, HistoryOf::Directory { path, runs: &runs });
    let document = Box::new(document(&view, Units::Si));
    let runs = runs.into_iter().rev().map(|one| one.run).collect();
    Ok(HistoryLookup::Folder(runs, document))
}

fn of_file(catalogue: &Catalogue, history: History) -> Result<HistoryLookup, CatalogueError> {
    let first = match &history.now {
        Some(look) => catalogue.runs(look.first_run.saturating_add(1), 1)?,
        None => Vec::new(),
    };
    let view =
        HistoryView { first: first.first(), ..view_of(catalogue, HistoryOf::File(&history)) };
    let document = document(&view, Units::Si);
    let first = first.into_iter().next();
    Ok(HistoryLookup::File(Box::new(FileLife { first, history, document })))
}

fn view_of<'a>(catalogue: &'a Catalogue, of: HistoryOf<'a>) -> HistoryView<'a> {
    HistoryView { root: catalogue.root(), now: (Options::default().now)(), first: None, of }
}
