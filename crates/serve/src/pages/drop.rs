//! Files that are dropped on the page, or handed over by the desktop: known here, other than known,
//! or unknown.

mod answers;

use std::sync::Arc;

use axum::Extension;
use axum::Router;
use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use futures_util::StreamExt as _;
use maud::{Markup, html};
use steadfast_report::{Units, escape, units};
use tokio::time::timeout;

pub(crate) use answers::Answer;
use answers::{Answered, Answers};

use super::{Tab, page, page_with, waiting};
use crate::app::App;
use crate::drops::{Drop, Dropped, FILES_MAX, Taker, name_of};
use crate::fields::Fields;
use crate::guard::{Asked, Posted, Refusal, Visitor, to};
use crate::roots::Place;
use crate::texts::documents::DropTexts;

/// Places that are named of those that were handed over.
const GIVEN_SHOWN_MAX: usize = 20;

pub(super) fn routes() -> Router<Arc<App>> {
    Router::new()
        .route("/drop", get(form).post(begin_at))
        .route("/drop/begin", post(begin))
        .route("/drop/{id}", get(show))
        .route("/drop/{id}/file", post(take))
}

async fn form(State(app): State<Arc<App>>, visitor: Visitor, Asked(asked): Asked) -> Response {
    let texts = &visitor.texts().drop;
    let Some(places) = handed_over(&app, &asked) else {
        return Refusal::NotFound.page(&visitor);
    };
    let content = html! {
        p { (texts.intro) }
        @if !places.is_empty() { (given(&app, &visitor, &asked, &places)) }
        (zone(texts))
        @let earlier = app.drops.all();
        @if !earlier.is_empty() {
            section aria-labelledby="earlier" {
                h2 #earlier { (texts.earlier) }
                ul {
                    @for drop in earlier.iter().filter(|drop| drop.len() > 0) {
                        @let moment = units::moment(drop.begun);
                        li {
                            a href=(format!("/drop/{}", drop.id)) {
                                ((texts.entry)(drop.len() as u64, &moment))
                            }
                        }
                    }
                }
            }
        }
    };
    page(&visitor, Some(Tab::Drop), texts.title, &content)
}

/// The places that a request names, or that are kept under the number that it names; `None` if
/// there is no such place or number.
fn handed_over(app: &App, asked: &Fields) -> Option<Vec<Place>> {
    match asked.text("given") {
        Some(number) => app.given(number.parse().ok()?).map(|places| places.to_vec()),
        None => asked.texts("place").map(|token| app.roots.place(token)).collect(),
    }
}

/// What the desktop handed over. The script sends it on by itself.
fn given(app: &App, visitor: &Visitor, asked: &Fields, places: &[Place]) -> Markup {
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

/// Where files are dropped or chosen. Without the script there is nothing to see.
fn zone(texts: &DropTexts) -> Markup {
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
            progress #drop-progress hidden aria-label=(texts.title) {}
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

/// Begins a drop whose files the script sends one by one; answers with its number.
async fn begin(State(app): State<Arc<App>>, visitor: Visitor) -> Response {
    let beginning = Arc::clone(&app);
    match waiting(move || beginning.drops.begin(&beginning.roots).id).await {
        Ok(id) => id.to_string().into_response(),
        Err(refusal) => refusal.page(&visitor),
    }
}

/// Begins a drop of files of the roots.
async fn begin_at(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    Posted(posted): Posted,
) -> Response {
    let Some(places) = handed_over(&app, &posted) else {
        return Refusal::NotFound.page(&visitor);
    };
    if places.is_empty() {
        return Refusal::Malformed.page(&visitor);
    }
    let beginning = Arc::clone(&app);
    match waiting(move || beginning.drops.begin_at(places, &beginning.roots)).await {
        Ok(Some(drop)) => to(&format!("/drop/{}", drop.id)),
        Ok(None) | Err(_) => Refusal::TooMuch.page(&visitor),
    }
}

/// Takes one file: hashes its bytes as they come and forgets them.
async fn take(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    Path(id): Path<String>,
    Asked(asked): Asked,
    form: Option<Extension<Posted>>,
    body: Body,
) -> Response {
    // The bytes of a form were taken for one, and are not here any more.
    if form.is_some() {
        return Refusal::Malformed.page(&visitor);
    }
    let drop = id.parse().ok().and_then(|id| app.drops.find(id));
    let Some(drop) = drop else { return Refusal::NotFound.page(&visitor) };
    let path = asked.bytes("name").unwrap_or_default();
    let Some(name) = name_of(path) else { return Refusal::Malformed.page(&visitor) };
    let Ok(_turn) = app.takes.try_acquire() else { return Refusal::TooMuch.page(&visitor) };
    if drop.len() >= FILES_MAX {
        return Refusal::TooLarge.page(&visitor);
    }
    let mut taker = Taker::new(&drop.algorithms);
    let mut pieces = body.into_data_stream();
    loop {
        match timeout(app.config.limits.stall, pieces.next()).await {
            Err(_) => return Refusal::TooSlow.page(&visitor),
            Ok(Some(Err(_))) => return Refusal::Malformed.page(&visitor),
            Ok(Some(Ok(piece))) => taker.take(&piece),
            Ok(None) => break,
        }
    }
    let file = Dropped {
        shown: escape::text(&String::from_utf8_lossy(path)),
        name: name.to_vec(),
        read: Ok(taker.end()),
        own: None,
    };
    match drop.add(file) {
        true => (StatusCode::OK, [(header::CONTENT_TYPE, "text/plain")], "").into_response(),
        false => Refusal::TooLarge.page(&visitor),
    }
}

async fn show(State(app): State<Arc<App>>, visitor: Visitor, Path(id): Path<String>) -> Response {
    let drop = id.parse().ok().and_then(|id| app.drops.find(id));
    let Some(drop) = drop else { return Refusal::NotFound.page(&visitor) };
    let texts = &visitor.texts().drop;
    let going = drop.is_going();
    let cut = (!going && drop.is_cut()).then_some(&drop);
    let (asking, files) = (Arc::clone(&app), drop.files());
    let Ok(turn) = Arc::clone(&app.heavy).acquire_owned().await else {
        return Refusal::TooMuch.page(&visitor);
    };
    let answers = waiting(move || {
        let answers = Answers::of(files, &asking.roots);
        std::mem::drop(turn);
        answers
    });
    let answers = match answers.await {
        Ok(answers) => answers,
        Err(refusal) => return refusal.page(&visitor),
    };
    let head = html! { @if going { meta http-equiv="refresh" content="1"; } };
    let content = html! {
        @if going { p .stand role="status" { (texts.hashing) } }
        @if let Some(drop) = cut { (cut_short(&app, drop, texts)) }
        (shown(&answers, texts))
        p { a .button href="/drop" { (texts.more) } }
    };
    page_with(&visitor, Some(Tab::Drop), texts.results, &head, &content)
}

/// Says that there are more files than were looked at, and where all of them can be.
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

fn shown(answers: &Answers, texts: &DropTexts) -> Markup {
    html! {
        ul .sums {
            @for (answer, files) in answers.sums() {
                li .(class(answer)) { ((texts.sum)(answer, files)) }
            }
        }
        @if answers.asked.is_empty() {
            p .warnings { (texts.none) }
        } @else if !answers.not_asked.is_empty() {
            p .soft { (texts.not_asked) ": " (answers.not_asked.join(", ")) }
        }
        @for why in &answers.troubles { p .wrong { (why) } }
        @if !answers.files.is_empty() {
            div .scroll tabindex="0" role="group" aria-label=(texts.results) {
                table {
                    thead { tr {
                        th scope="col" { (texts.column_file) }
                        th scope="col" { (texts.column_answer) }
                        th scope="col" { (texts.column_known) }
                        th .number scope="col" { (texts.column_length) }
                    } }
                    tbody { @for file in &answers.files { (row(file, texts)) } }
                }
            }
        }
    }
}

fn row(file: &Answered, texts: &DropTexts) -> Markup {
    let length = file.dropped.read.as_ref().ok().map(|read| Units::Si.bytes(read.length));
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
fn lines(file: &Answered, texts: &DropTexts) -> Vec<String> {
    let mut lines = Vec::new();
    if let Err(why) = &file.dropped.read {
        lines.push(why.clone());
    }
    if let Some((verdict, tag)) = &file.dropped.own {
        match tag {
            Some(tag) => {
                lines.push((texts.own_tag)(verdict.name(), &units::moment(tag.tagged)));
            }
            None => lines.push(verdict.name().to_owned()),
        }
    }
    for known in &file.places {
        let moment = units::moment(known.tagged);
        let line = match file.answer {
            Answer::Known => (texts.known_as)(&known.path, &moment),
            _ => (texts.other)(&known.path, &moment),
        };
        lines.push(match known.standing {
            Some(standing) => format!("{line}; {}", (texts.stands)(standing)),
            None => line,
        });
    }
    if file.further > 0 {
        lines.push((texts.further)(file.further));
    }
    if file.answer == Answer::Unknown {
        lines.push(texts.no_tag.to_owned());
    }
    lines
}

fn class(answer: Answer) -> &'static str {
    match answer {
        Answer::Known => "good",
        Answer::Differs | Answer::Unreadable => "bad",
        Answer::Unknown => "neutral",
    }
}
