//! Adding a folder: choosing it, what protecting it reads and writes, and one button.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Path, State};
use axum::response::{Redirect, Response};
use axum::routing::{get, post};
use maud::{Markup, html};
use steadfast::qos::Pace;
use steadfast_report::{Units, escape, units};

use super::browse::{Goal, choice};
use super::run::begun;
use crate::app::App;
use crate::estimates::{ProtectEstimate, estimate};
use crate::icons::{icon, small_icon};
use crate::layout::{Tab, framed};
use crate::refusal::Refusal;
use crate::roots::ServedPath;
use crate::runs::{RunRequest, RunVerb};
use crate::texts::OfLanguage as _;
use crate::visitor::{FormFields, QueryFields, Visitor};

/// Bytes per second of a fast drive and of a slow one, between which most are.
const FAST_BYTES_PER_S: u64 = 500_000_000;
const SLOW_BYTES_PER_S: u64 = 100_000_000;

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
    let texts = &visitor.texts().add;
    let content = match app.place(&query)? {
        None => html! {
            h1 { (texts.title) }
            p .soft { (texts.intro) }
            section .panel.pad aria-label=(texts.choose) {
                (choice(&app, Goal::Add, texts.choose))
            }
        },
        Some(place) => {
            let at = place.clone();
            let counted = app.heavy(move |app| {
                let root = app.roots.root(&at).map_err(|error| error.to_string())?;
                let path = app.roots.resolve(&at).map_err(|error| error.to_string())?;
                match path.is_dir() {
                    true => estimate(&at, &root, &app.roots),
                    false => Err("not a folder".to_owned()),
                }
            });
            match counted.await? {
                Ok(counted) => plan(&app, &visitor, &place, counted),
                Err(error) => html! {
                    h1 { (texts.title) }
                    p .note.bad role="alert" { (app.roots.shown(&place)) ": "
                        (texts.say(&escape::text(&error))) }
                },
            }
        }
    };
    Ok(framed(&visitor, Some(Tab::Home), texts.title, &html! {}, &content))
}

/// What protecting a folder reads and writes, and the button.
fn plan(app: &App, visitor: &Visitor, place: &ServedPath, counted: ProtectEstimate) -> Markup {
    let texts = &visitor.texts().add;
    let ProtectEstimate { files, bytes, is_cut } = counted;
    let time =
        |bytes_per_s: u64| units::rough_duration((bytes as f64 * 1e9 / bytes_per_s as f64) as u64);
    let form = |name: &str, label: &str, main: bool| {
        html! {
            button .big .main[main] type="submit" name="then" value=(name) {
                (icon(if main { "intact" } else { "folder" })) (label)
            }
        }
    };
    html! {
        p .trail {
            a href="/" { (visitor.texts().home.title) }
            (small_icon("chevron"))
            a href="/add" { (texts.title) }
        }
        h1 { ((texts.protect)(&app.roots.shown(place))) }
        section .panel aria-labelledby="reads" {
            div .cap { (icon("clock")) h2 #reads { (texts.reads) } }
            div .body.stack.tight {
                p {
                    @if is_cut { (texts.at_least) " " }
                    ((texts.amount)(files, &texts.say(&Units::Si.bytes(bytes))))
                }
                p {
                    @match bytes {
                        0..SLOW_BYTES_PER_S => (texts.time_short),
                        _ => ((texts.time)(&time(FAST_BYTES_PER_S), &time(SLOW_BYTES_PER_S))),
                    }
                }
                p .small.soft { (texts.meanwhile) }
            }
        }
        section .panel aria-labelledby="writes" {
            div .cap { (icon("file")) h2 #writes { (texts.writes) } }
            div .body.stack.tight {
                p { ((texts.written)(&texts.say(&Units::Si.bytes(files * CATALOGUED_LEN_BYTES)))) }
                p .small.soft { (texts.kept) }
            }
        }
        form .orders method="post" action="/folders/add" {
            (visitor.csrf())
            input type="hidden" name="place" value=(place.token());
            (form("protect", texts.go, true))
            @if !place.is_root() { (form("show", texts.only_show, false)) }
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
    let (verb, pace) = (RunVerb::Protect, Pace::Bicycle);
    begun(&app, RunRequest { verb, place, pace, from_media: false }).await
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
