//! What the catalogue remembers: the runs over a folder, or the life of one file.

use std::path::Path;
use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::response::Response;
use axum::routing::get;
use maud::html;
use steadfast::Options;
use steadfast::catalogue::{Catalogue, CatalogueError, History};
use steadfast_report::document::Document;
use steadfast_report::history::{HistoryOf, HistoryView, RunOver, document};
use steadfast_report::{Units, escape, html as report};

use super::browse::{Goal, choice, way};
use super::{Tab, page, waiting};
use crate::app::App;
use crate::guard::{Asked, Refusal, Visitor};
use crate::roots::Place;

/// Runs of which a page tells, the latest.
const RUNS_MAX: u32 = 500;

pub(super) fn routes() -> Router<Arc<App>> {
    Router::new().route("/history", get(show))
}

async fn show(State(app): State<Arc<App>>, visitor: Visitor, Asked(asked): Asked) -> Response {
    let texts = &visitor.texts().history;
    let place = match asked.text("place").map(|token| app.roots.place(token)) {
        Some(None) => return Refusal::NotFound.page(&visitor),
        Some(Some(place)) => Some(place),
        // Of a single root there is nothing to choose.
        None if app.roots.places().count() == 1 => app.roots.places().next(),
        None => None,
    };
    let Some(place) = place else {
        let content = html! {
            p { (texts.intro) }
            (choice(&app, Goal::History, texts.choose))
        };
        return page(&visitor, Some(Tab::History), texts.title, &content);
    };
    let (asking, at) = (Arc::clone(&app), place.clone());
    let told = match waiting(move || tell(&asking, &at)).await {
        Ok(told) => told,
        Err(refusal) => return refusal.page(&visitor),
    };
    let untranslated = visitor.texts().layout.untranslated;
    let is_root = place.below.as_os_str().is_empty();
    let content = html! {
        @if is_root { p { (texts.intro) } }
        (way(&app, &place, Goal::History, visitor.texts()))
        @match &told {
            Told::NoCatalogue => p { (app.roots.shown(&place)) " " (texts.none) },
            Told::Unknown => p { (texts.unknown) },
            Told::Trouble(why) => p .wrong role="alert" { (why) },
            Told::Document(document) => {
                @if !untranslated.is_empty() { p .soft { (untranslated) } }
                div .document lang="en" { (report::article(document, 1, true, Units::Si)) }
            }
        }
        @if is_root { (choice(&app, Goal::History, texts.choose)) }
    };
    page(&visitor, Some(Tab::History), texts.title, &content)
}

/// What there is to tell.
enum Told {
    NoCatalogue,
    /// It knows no such name.
    Unknown,
    Trouble(String),
    Document(Box<Document>),
}

fn tell(app: &App, place: &Place) -> Told {
    let root = match app.roots.root(place) {
        Ok(root) => root,
        Err(error) => return Told::Trouble(error.to_string()),
    };
    let Some(file) = Catalogue::find(root) else { return Told::NoCatalogue };
    let told = Catalogue::open_reader(&file).and_then(|catalogue| {
        // The catalogue may be of a larger tree; what is told of is beneath the root all the same.
        let path = app.roots.path(place);
        let path = path.strip_prefix(catalogue.root()).map(Path::to_owned);
        path.map_or(Ok(Told::NoCatalogue), |path| of_path(&catalogue, &path))
    });
    told.unwrap_or_else(|error| Told::Trouble(escape::text(&error.to_string())))
}

fn of_path(catalogue: &Catalogue, path: &Path) -> Result<Told, CatalogueError> {
    let history = catalogue.history(path)?;
    if history.now.is_some() || history.runs.iter().any(|run| !run.happened.is_empty()) {
        return of_file(catalogue, &history);
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
        return Ok(Told::Unknown);
    }
    runs.reverse();
    let view = view_of(catalogue, HistoryOf::Directory { path, runs: &runs });
    Ok(Told::Document(Box::new(document(&view, Units::Si))))
}

fn of_file(catalogue: &Catalogue, history: &History) -> Result<Told, CatalogueError> {
    let first = match &history.now {
        Some(look) => catalogue.runs(look.first_run.saturating_add(1), 1)?,
        None => Vec::new(),
    };
    let view = HistoryView { first: first.first(), ..view_of(catalogue, HistoryOf::File(history)) };
    Ok(Told::Document(Box::new(document(&view, Units::Si))))
}

fn view_of<'a>(catalogue: &'a Catalogue, of: HistoryOf<'a>) -> HistoryView<'a> {
    HistoryView { root: catalogue.root(), now: (Options::default().now)(), first: None, of }
}
