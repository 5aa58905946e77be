//! Files that are dropped on the page or handed over by the desktop: known here, different from
//! the known file, or unknown.

use std::sync::Arc;

use axum::Extension;
use axum::Router;
use axum::body::Body;
use axum::extract::{Path, State};
use axum::response::{Redirect, Response};
use axum::routing::{get, post};
use futures_util::StreamExt as _;
use maud::{Markup, html};
use steadfast_report::{Units, escape, units};
use tokio::time::timeout;

use crate::app::App;
use crate::dates;
use crate::drops::{Drop, DropAnswer, DropHasher, Dropped, FILES_MAX, LookedUp, Lookup, name_of};
use crate::fields::NamedValues;
use crate::layout::{Tab, page, page_with};
use crate::refusal::Refusal;
use crate::roots::ServedPath;
use crate::visitor::{FormFields, QueryFields, Visitor};

/// Paths that are listed of those that were handed over.
const GIVEN_SHOWN_MAX: usize = 20;

pub(super) fn routes() -> Router<Arc<App>> {
    Router::new()
        .route("/drop", get(form).post(begin_at))
        .route("/drop/begin", post(begin))
        .route("/drop/{id}", get(show))
        .route("/drop/{id}/file", post(take))
}

async fn form(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    QueryFields(query): QueryFields,
) -> Result<Response, Refusal> {
    let places = handed_over(&app, &query).ok_or(Refusal::NotFound)?;
    let content = html! {
        p {
            "Looks files up by their contents: are they known here, and unchanged? The server \
             hashes the bytes and keeps none of them."
        }
        @if !places.is_empty() { (given(&app, &visitor, &query, &places)) }
        (zone("Progress"))
        @let earlier = app.drops.all();
        @if !earlier.is_empty() {
            section aria-labelledby="earlier" {
                h2 #earlier { "Looked up before" }
                ul {
                    @for drop in earlier.iter().filter(|drop| drop.len() > 0) {
                        li {
                            a href=(format!("/drop/{}", drop.id)) {
                                (units::counted(drop.len() as u64, "file", "files")) ", "
                                (dates::moment(drop.begun, app.now()))
                            }
                        }
                    }
                }
            }
        }
    };
    Ok(page(&visitor, Some(Tab::Drop), "Look up files", &content))
}

/// Returns the paths that a request names, or that are kept under the number that it names. Returns
/// `None` if there is no such path or number.
fn handed_over(app: &App, asked: &NamedValues) -> Option<Vec<ServedPath>> {
    match asked.text("given") {
        Some(number) => app.handed_over(number.parse().ok()?).map(|places| places.to_vec()),
        None => asked.texts("place").map(|token| app.roots.place(token)).collect(),
    }
}

/// The paths that the desktop handed over. The script submits the form by itself.
fn given(app: &App, visitor: &Visitor, asked: &NamedValues, places: &[ServedPath]) -> Markup {
    let number = asked.text("given");
    let more = places.len().saturating_sub(GIVEN_SHOWN_MAX) as u64;
    html! {
        form .sheet #given method="post" action="/drop" {
            (visitor.csrf())
            fieldset {
                legend { "Handed over by the desktop" }
                ul {
                    @for place in places.iter().take(GIVEN_SHOWN_MAX) {
                        li .place {
                            (app.roots.shown(place))
                            @if number.is_none() {
                                input type="hidden" name="place" value=(place.token());
                            }
                        }
                    }
                    @if more > 0 {
                        li { "and " (units::counted(more, "further path", "further paths")) }
                    }
                }
                @if let Some(number) = number {
                    input type="hidden" name="given" value=(number);
                }
                button type="submit" { "Look these up" }
            }
        }
    }
}

/// The zone for dropping or choosing files, which needs the script.
fn zone(progress: &str) -> Markup {
    html! {
        noscript {
            p .warnings {
                "Dropping needs the page's script. Without it, choose files in the tree of a \
                 folder and check them."
            }
        }
        div #drop .drop hidden data-max=(FILES_MAX) data-going="{done} of {all}: {name}"
            data-failed="Cannot read or send:"
            data-many="More than 1,000 files: tag or check the folder instead." {
            (tray())
            p .zone { "Drop files or a folder here" }
            div .orders {
                p {
                    label .button for="drop-files" { "Choose files" }
                    input #drop-files .told type="file" multiple;
                }
                p {
                    label .button .quiet for="drop-folder" { "Choose a folder" }
                    input #drop-folder .told type="file" webkitdirectory multiple;
                }
            }
            progress #drop-progress hidden aria-label=(progress) {}
            p #drop-said role="status" {}
        }
    }
}

fn tray() -> Markup {
    html! {
        svg .pace viewBox="0 0 48 40" width="60" height="50" aria-hidden="true" {
            path fill="none" stroke="currentColor" stroke-width="3" stroke-linecap="round"
                stroke-linejoin="round" d="M24 3v20m-8-8l8 8l8-8M5 24v12h38V24" {}
        }
    }
}

/// Begins a drop whose files the script uploads one by one; responds with its number.
async fn begin(State(app): State<Arc<App>>) -> Result<String, Refusal> {
    app.blocking(|app| app.drops.begin(&app.roots).id.to_string()).await
}

/// Begins a drop of files of the roots.
async fn begin_at(
    State(app): State<Arc<App>>,
    FormFields(form): FormFields,
) -> Result<Redirect, Refusal> {
    let places = handed_over(&app, &form).ok_or(Refusal::NotFound)?;
    if places.is_empty() {
        return Err(Refusal::Malformed);
    }
    let begun = app.blocking(|app| app.drops.begin_at(places, &app.roots)).await;
    let drop = begun.ok().flatten().ok_or(Refusal::TooMuch)?;
    Ok(Redirect::to(&format!("/drop/{}", drop.id)))
}

/// Finds a drop by the number in an address.
fn found(app: &App, id: &str) -> Result<Arc<Drop>, Refusal> {
    id.parse().ok().and_then(|id| app.drops.find(id)).ok_or(Refusal::NotFound)
}

/// Takes one uploaded file: hashes its bytes as they arrive, and keeps none.
async fn take(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    QueryFields(query): QueryFields,
    form: Option<Extension<FormFields>>,
    body: Body,
) -> Result<String, Refusal> {
    // The guard has consumed the body of a form.
    if form.is_some() {
        return Err(Refusal::Malformed);
    }
    let drop = found(&app, &id)?;
    let path = query.bytes("name").unwrap_or_default();
    let name = name_of(path).ok_or(Refusal::Malformed)?;
    let _turn = app.uploads.try_acquire().map_err(|_| Refusal::TooMuch)?;
    if drop.len() >= FILES_MAX {
        return Err(Refusal::TooLarge);
    }
    let mut hasher = DropHasher::new(&drop.algorithms);
    let mut pieces = body.into_data_stream();
    let stall = app.config.limits.stall;
    while let Some(piece) = timeout(stall, pieces.next()).await.map_err(|_| Refusal::TooSlow)? {
        hasher.take(&piece.map_err(|_| Refusal::Malformed)?);
    }
    let file = Dropped {
        shown: escape::text(&String::from_utf8_lossy(path)),
        name: name.to_vec(),
        read: Ok(hasher.end()),
        own: None,
    };
    drop.add(file).then(String::new).ok_or(Refusal::TooLarge)
}

async fn show(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    Path(id): Path<String>,
) -> Result<Response, Refusal> {
    let drop = found(&app, &id)?;
    let going = drop.is_going();
    let cut = (!going && drop.is_cut()).then_some(&drop);
    let files = drop.files();
    let lookup = app.heavy(move |app| Lookup::of(files, &app.roots)).await?;
    let head = html! { @if going { meta http-equiv="refresh" content="1"; } };
    let content = html! {
        @if going { p .stand role="status" { "Hashing. This page reloads until it is done." } }
        @if let Some(drop) = cut { (cut_short(&app, drop)) }
        (shown(&lookup))
        p { a .button href="/drop" { "Drop more" } }
    };
    Ok(page_with(&visitor, Some(Tab::Drop), "Results", &head, &content))
}

/// Says that there are more files than were looked up, and links to a run over all of them.
fn cut_short(app: &App, drop: &Drop) -> Markup {
    html! {
        div .warnings role="alert" {
            p { "These are the first 1,000 files. Further files were not looked up." }
            @for place in drop.places.iter().take(GIVEN_SHOWN_MAX) {
                p {
                    a .button href=(format!("/run?place={}", place.query())) {
                        "Check or tag all of " (app.roots.shown(place))
                    }
                }
            }
        }
    }
}

fn shown(lookup: &Lookup) -> Markup {
    html! {
        ul .sums {
            @for (answer, files) in lookup.sums() {
                li .(class(answer)) {
                    (units::counted(files, "file", "files")) " " (answer_noun(answer))
                }
            }
        }
        @if lookup.searched.is_empty() && lookup.errors.is_empty() {
            p .warnings {
                "None of the folders has a catalogue, so nothing can be found by its contents. \
                 Home makes one."
            }
        } @else if !lookup.without_catalogue.is_empty() {
            p .soft {
                "Not searched, since there is no catalogue: " (lookup.without_catalogue.join(", "))
            }
        }
        @for why in &lookup.errors { p .wrong { (why) } }
        @if !lookup.files.is_empty() {
            div .scroll tabindex="0" role="group" aria-label="Results" {
                table {
                    thead { tr {
                        th scope="col" { "File" }
                        th scope="col" { "Answer" }
                        th scope="col" { "Details" }
                        th .number scope="col" { "Length" }
                    } }
                    tbody { @for file in &lookup.files { (row(file)) } }
                }
            }
        }
    }
}

fn row(file: &LookedUp) -> Markup {
    let length = file.dropped.read.as_ref().ok().map(|read| Units::Si.bytes(read.length));
    html! {
        tr {
            th .long scope="row" {
                (file.dropped.shown)
                @if let Ok(read) = &file.dropped.read {
                    details {
                        summary .soft { "Digests" }
                        @for (algorithm, digest) in &read.digests {
                            p .digest { (algorithm.name()) " " code { (digest) } }
                        }
                    }
                }
            }
            td .(class(file.answer)) { (answer_title(file.answer)) }
            td .long {
                ul .known {
                    @for line in lines(file) { li { (line) } }
                }
            }
            td .number { (length.unwrap_or_default()) }
        }
    }
}

/// What is known of a file, line by line.
fn lines(file: &LookedUp) -> Vec<String> {
    let mut lines = Vec::new();
    if let Err(why) = &file.dropped.read {
        lines.push(why.clone());
    }
    if let Some((verdict, tag)) = &file.dropped.own {
        match tag {
            Some(tag) => {
                lines.push(format!(
                    "by its own tag of {}: {}",
                    units::moment(tag.tagged),
                    verdict.name()
                ));
            }
            None => lines.push(verdict.name().to_owned()),
        }
    }
    for known in &file.matches {
        let moment = units::moment(known.tagged);
        let line = match file.answer {
            DropAnswer::Known => format!("as {}, tagged on {moment}", known.path),
            _ => format!("{}, tagged on {moment}, has other contents", known.path),
        };
        lines.push(match known.standing {
            Some(standing) => format!("{line}; last found {standing}"),
            None => line,
        });
    }
    if file.further > 0 {
        lines.push(format!(
            "and at {}",
            units::counted(file.further, "further place", "further places")
        ));
    }
    if file.answer == DropAnswer::Unknown {
        lines.push("no tagged file here has these contents or this name".to_owned());
    }
    lines
}

fn class(answer: DropAnswer) -> &'static str {
    match answer {
        DropAnswer::Known => "good",
        DropAnswer::Differs | DropAnswer::Unreadable => "bad",
        DropAnswer::Unknown => "neutral",
    }
}

fn answer_title(answer: DropAnswer) -> &'static str {
    match answer {
        DropAnswer::Known => "known here",
        DropAnswer::Differs => "differs",
        DropAnswer::Unknown => "unknown here",
        DropAnswer::Unreadable => "unreadable",
    }
}

fn answer_noun(answer: DropAnswer) -> &'static str {
    match answer {
        DropAnswer::Known => "known here, with the tagged contents",
        DropAnswer::Differs => "unlike the tagged file of that name",
        DropAnswer::Unknown => "unknown here",
        DropAnswer::Unreadable => "that could not be read",
    }
}
