//! Adding a folder: choosing it, what protecting it reads and writes, and one button.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Path, State};
use axum::response::{Redirect, Response};
use axum::routing::{get, post};
use maud::{Markup, html};
use steadfast_report::{Units, escape, progress, units};

use super::browse::{Goal, open_choice};
use super::run::begun;
use crate::app::App;
use crate::estimates::{ProtectEstimate, estimate};
use crate::icons::icon;
use crate::layout::{FOLDERS, Tab, framed, trail};
use crate::refusal::Refusal;
use crate::roots::ServedPath;
use crate::runs::{RunRequest, RunVerb};
use crate::visitor::{FormFields, QueryFields, Visitor};
use steadfast::beneath;

/// Bytes of a catalogue for each file: its row, with a name and a digest, and its share of indexes.
const CATALOGUED_LEN_BYTES: u64 = 200;

pub(super) fn routes() -> Router<Arc<App>> {
    Router::new()
        .route("/add", get(show))
        .route("/folders/add", post(add))
        .route("/folders/{root}/remove", post(remove))
}

/// The folders to choose from, or what protecting one comes to.
async fn show(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    QueryFields(query): QueryFields,
) -> Result<Response, Refusal> {
    let content = match app.place(&query)? {
        None => html! {
            h1 { "Add a folder" }
            p .soft {
                "A folder beneath those that this server was started with gets a card of its own, \
                 and can be protected by itself."
            }
            (open_choice(&app, Goal::Add).await?)
        },
        Some(place) => {
            let at = place.clone();
            let counted = app.heavy(move |app| {
                let root = app.roots.root(&at).map_err(|error| error.to_string())?;
                let path = app.roots.resolve(&at).map_err(|error| error.to_string())?;
                match beneath::is_folder(&path) {
                    true => estimate(&at, &root, &app.roots),
                    false => Err("not a folder".to_owned()),
                }
            });
            match counted.await? {
                Ok(counted) => plan(&app, &visitor, &place, counted),
                Err(error) => html! {
                    h1 { "Add a folder" }
                    p .note.bad role="alert" { (app.roots.shown(&place)) ": "
                        (escape::text(&error)) }
                },
            }
        }
    };
    Ok(framed(&visitor, Some(Tab::Home), "Add a folder", &html! {}, &content))
}

/// What protecting a folder reads and writes, and the button.
fn plan(app: &App, visitor: &Visitor, place: &ServedPath, counted: ProtectEstimate) -> Markup {
    let ProtectEstimate { files, bytes, is_cut } = counted;
    let form = |name: &str, label: &str, main: bool| {
        html! {
            button .big .main[main] type="submit" name="then" value=(name) {
                (icon(if main { "intact" } else { "folder" })) (label)
            }
        }
    };
    html! {
        (trail(&[FOLDERS, ("/add", "Add a folder")], "Protect"))
        h1 { "Protect " (app.roots.shown(place)) }
        section .panel aria-labelledby="reads" {
            div .cap { (icon("clock")) h2 #reads { "What is read" } }
            div .body.stack.tight {
                p {
                    @if is_cut { "Counted so far: " }
                    (units::counted(files, "file", "files"))
                    @if bytes == 0 { ", all recorded already: nothing is read." }
                    @else {
                        "; " (Units::Si.bytes(bytes)) " are read once, and what is in each file \
                         is recorded. Files that are recorded already are not read."
                    }
                }
                p {
                    @match progress::about(bytes) {
                        None => "That takes less than a second.",
                        Some(about) => { "That takes " (about) "." }
                    }
                }
                p .small.soft { "You can pause it, close the page, and go on working." }
            }
        }
        section .panel aria-labelledby="writes" {
            div .cap { (icon("file")) h2 #writes { "What is written" } }
            div .body.stack.tight {
                p {
                    "A tag of 60 bytes attached to each file, and one hidden folder, .steadfast, \
                     of about "
                    (Units::Si.bytes(files * CATALOGUED_LEN_BYTES))
                    ". On drives without attributes the tags are in that folder too."
                }
                p .small.soft {
                    "Contents, names and dates of your files stay as they are. "
                    code { "steadfast untag" } " removes the tags again."
                }
            }
        }
        form .orders method="post" action="/folders/add" {
            (visitor.csrf())
            input type="hidden" name="place" value=(place.token());
            (form("protect", "Protect this folder", true))
            @if !place.is_root() { (form("show", "Only show it", false)) }
        }
    }
}

/// Adds the folder, and protects it if asked to.
async fn add(
    State(app): State<Arc<App>>,
    FormFields(form): FormFields,
) -> Result<Redirect, Refusal> {
    let place = app.place(&form)?.ok_or(Refusal::Malformed)?;
    let protects = form.text("then") == Some("protect");
    let added = app.blocking(move |app| app.roots.add(&place)).await?;
    let place = added.map_err(|_| Refusal::NotFound)?;
    if !protects {
        return Ok(Redirect::to(&format!("/folders/{}", place.root)));
    }
    begun(&app, RunRequest::of(RunVerb::Protect, place)).await
}

/// Shows an added folder no longer. What is recorded in it stays.
async fn remove(
    State(app): State<Arc<App>>,
    Path(root): Path<String>,
) -> Result<Redirect, Refusal> {
    let root = root.parse().map_err(|_| Refusal::NotFound)?;
    let place = app.roots.at(root).ok_or(Refusal::NotFound)?;
    if app.runs.going_in(&place, &app.roots).is_some() {
        return Err(Refusal::Conflict);
    }
    match app.roots.remove(&place) {
        true => Ok(Redirect::to("/")),
        false => Err(Refusal::NotFound),
    }
}
