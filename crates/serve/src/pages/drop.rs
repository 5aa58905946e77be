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
use crate::texts::OfLanguage as _;
use crate::texts::documents::DropTexts;
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
    let texts = &visitor.texts().drop;
    let places = handed_over(&app, &query).ok_or(Refusal::NotFound)?;
    let content = html! {
        p { (texts.intro) }
        @if !places.is_empty() { (given(&app, &visitor, &query, &places)) }
        (zone(texts, visitor.texts().run.progress))
        @let earlier = app.drops.all();
        @if !earlier.is_empty() {
            section aria-labelledby="earlier" {
                h2 #earlier { (texts.earlier) }
                ul {
                    @for drop in earlier.iter().filter(|drop| drop.len() > 0) {
                        li {
                            a href=(format!("/drop/{}", drop.id)) {
                                ((texts.count)(drop.len() as u64)) ", "
                                (dates::moment(drop.begun, app.now(), visitor.language))
                            }
                        }
                    }
                }
            }
        }
    };
    Ok(page(&visitor, Some(Tab::Drop), texts.title, &content))
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
    let texts = &visitor.texts().drop;
    html! {
        form .sheet #given method="post" action="/drop" {
            (visitor.csrf())
            fieldset {
                legend { (texts.given) }
                ul {
                    @for place in places.iter().take(GIVEN_SHOWN_MAX) {
                        li .place {
                            (app.roots.shown(place))
                            @if number.is_none() {
                                input type="hidden" name="place" value=(place.token());
                            }
                        }
                    }
                    @if more > 0 { li { ((texts.given_more)(more)) } }
                }
                @if let Some(number) = number {
                    input type="hidden" name="given" value=(number);
                }
                button type="submit" { (texts.check_given) }
            }
        }
    }
}

/// The zone for dropping or choosing files, which needs the script.
fn zone(texts: &DropTexts, progress: &str) -> Markup {
    html! {
        noscript { p .warnings { (texts.no_script) } }
        div #drop .drop hidden data-max=(FILES_MAX) data-going=(texts.going)
            data-failed=(texts.failed) data-many=(texts.too_many) {
            (tray())
            p .zone { (texts.zone) }
            div .orders {
                p {
                    label .button for="drop-files" { (texts.files) }
                    input #drop-files .told type="file" multiple;
                }
                p {
                    label .button .quiet for="drop-folder" { (texts.folder) }
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
    let texts = &visitor.texts().drop;
    let going = drop.is_going();
    let cut = (!going && drop.is_cut()).then_some(&drop);
    let files = drop.files();
    let lookup = app.heavy(move |app| Lookup::of(files, &app.roots)).await?;
    let head = html! { @if going { meta http-equiv="refresh" content="1"; } };
    let content = html! {
        @if going { p .stand role="status" { (texts.hashing) } }
        @if let Some(drop) = cut { (cut_short(&app, drop, texts)) }
        (shown(&lookup, texts))
        p { a .button href="/drop" { (texts.more) } }
    };
    Ok(page_with(&visitor, Some(Tab::Drop), texts.results, &head, &content))
}

/// Says that there are more files than were looked up, and links to a run over all of them.
fn cut_short(app: &App, drop: &Drop, texts: &DropTexts) -> Markup {
    html! {
        div .warnings role="alert" {
            p { (texts.cut) }
            @for place in drop.places.iter().take(GIVEN_SHOWN_MAX) {
                p {
                    a .button href=(format!("/run?place={}", place.query())) {
                        ((texts.whole)(&app.roots.shown(place)))
                    }
                }
            }
        }
    }
}

fn shown(lookup: &Lookup, texts: &DropTexts) -> Markup {
    html! {
        ul .sums {
            @for (answer, files) in lookup.sums() {
                li .(class(answer)) { ((texts.count)(files)) " " ((texts.sum)(answer)) }
            }
        }
        @if lookup.searched.is_empty() {
            p .warnings { (texts.none) }
        } @else if !lookup.without_catalogue.is_empty() {
            p .soft { (texts.without_catalogue) ": " (lookup.without_catalogue.join(", ")) }
        }
        @for why in &lookup.errors { p .wrong { (texts.say(why)) } }
        @if !lookup.files.is_empty() {
            div .scroll tabindex="0" role="group" aria-label=(texts.results) {
                table {
                    thead { tr {
                        th scope="col" { (texts.column_file) }
                        th scope="col" { (texts.column_answer) }
                        th scope="col" { (texts.column_known) }
                        th .number scope="col" { (texts.column_length) }
                    } }
                    tbody { @for file in &lookup.files { (row(file, texts)) } }
                }
            }
        }
    }
}

fn row(file: &LookedUp, texts: &DropTexts) -> Markup {
    let length =
        file.dropped.read.as_ref().ok().map(|read| texts.say(&Units::Si.bytes(read.length)));
    html! {
        tr {
            th .long scope="row" {
                (file.dropped.shown)
                @if let Ok(read) = &file.dropped.read {
                    details {
                        summary .soft { (texts.digests) }
                        @for (algorithm, digest) in &read.digests {
                            p .digest { (algorithm.name()) " " code { (digest) } }
                        }
                    }
                }
            }
            td .(class(file.answer)) { ((texts.answer)(file.answer)) }
            td .long {
                ul .known {
                    @for line in lines(file, texts) { li { (line) } }
                }
            }
            td .number { (length.unwrap_or_default()) }
        }
    }
}

/// What is known of a file, line by line.
fn lines(file: &LookedUp, texts: &DropTexts) -> Vec<String> {
    let mut lines = Vec::new();
    if let Err(why) = &file.dropped.read {
        lines.push(texts.say(why));
    }
    if let Some((verdict, tag)) = &file.dropped.own {
        match tag {
            Some(tag) => {
                lines.push((texts.own_tag)(&texts.say(verdict.name()), &units::moment(tag.tagged)));
            }
            None => lines.push(texts.say(verdict.name())),
        }
    }
    for known in &file.matches {
        let moment = units::moment(known.tagged);
        let line = match file.answer {
            DropAnswer::Known => (texts.known_as)(&known.path, &moment),
            _ => (texts.other)(&known.path, &moment),
        };
        lines.push(match known.standing {
            Some(standing) => format!("{line}; {}", (texts.stands)(&texts.say(standing))),
            None => line,
        });
    }
    if file.further > 0 {
        lines.push((texts.further)(file.further));
    }
    if file.answer == DropAnswer::Unknown {
        lines.push(texts.no_tag.to_owned());
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
