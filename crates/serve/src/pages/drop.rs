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
use steadfast::Timestamp;
use steadfast_report::{Units, escape, units};
use tokio::time::timeout;

use crate::app::App;
use crate::dates;
use crate::drops::{
    Drop, DropAnswer, DropHasher, Dropped, FILES_MAX, LookedUp, Lookup, TaggedMatch, name_of,
};
use crate::fields::NamedValues;
use crate::icons::{drawn, icon, small_icon};
use crate::kinds::StateKind;
use crate::layout::{Tab, framed, page, receipt, verdict};
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
        .route("/drop/{id}/receipt", get(kept))
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
            data-many="More than 1,000 files: check the folder instead." {
            (drawn("drop", "icon lg"))
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
    let begun =
        app.blocking(|app| app.drops.begin_at(places, &app.roots, app.usual_options())).await;
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
    let _turn = app.turns.uploads.try_acquire().map_err(|_| Refusal::TooMuch)?;
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
        place: None,
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
    let cut = (!going && drop.is_cut()).then_some(&*drop);
    let files = drop.files();
    let lookup = app.heavy(move |app| Lookup::of(files, &app.roots)).await?;
    let head = html! { @if going { meta http-equiv="refresh" content="1"; } };
    let content = html! {
        @if going { p .stand role="status" { "Hashing. This page reloads until it is done." } }
        @if let Some(drop) = cut { (cut_short(&app, drop)) }
        (shown(&visitor, drop.id, &lookup, app.now()))
        p .row {
            a .button href="/drop" { (icon("search")) "Look up more" }
            a .button href="/safe" { (icon("help")) "May I erase this?" }
            a .button href="/copy" { (icon("copy")) "Copy to a drive" }
        }
    };
    Ok(framed(&visitor, Some(Tab::Drop), "Looked up", &head, &content))
}

/// Which files are known and where, as a text to keep: that of the command.
async fn kept(State(app): State<Arc<App>>, Path(id): Path<String>) -> Result<Response, Refusal> {
    let drop = found(&app, &id)?;
    if drop.is_going() {
        return Err(Refusal::Conflict);
    }
    let mut text = String::new();
    if drop.is_cut() {
        text.push_str("Of the first 1,000 files; further files were not looked up.\n");
    }
    let files = drop.files();
    let lookup = app.heavy(move |app| Lookup::of(files, &app.roots)).await?;
    text.push_str(&lookup.receipt());
    Ok(receipt(drop.id, drop.begun, &text))
}

/// Says that there are more files than were looked up, and links to a run over all of them.
fn cut_short(app: &App, drop: &Drop) -> Markup {
    html! {
        div .warnings role="alert" {
            p { "These are the first 1,000 files. Further files were not looked up." }
            @for place in drop.places.iter().take(GIVEN_SHOWN_MAX) {
                p {
                    a .button href=(format!("/run?place={}", place.query())) {
                        "Check all of " (app.roots.shown(place))
                    }
                }
            }
        }
    }
}

/// The groups of files, what can mend something first.
fn shown(visitor: &Visitor, id: u64, lookup: &Lookup, now: Timestamp) -> Markup {
    html! {
        (answered(id, lookup))
        @for why in &lookup.errors { p .note.bad role="alert" { (why) } }
        @for answer in DropAnswer::ALL {
            @let files = lookup.files.iter().filter(|file| file.answer == answer);
            @let files: Vec<&LookedUp> = files.collect();
            @if !files.is_empty() { (group(visitor, answer, &files, now)) }
        }
        @for why in &lookup.notices { p .note { (units::capital(why)) "." } }
        p .note {
            @if lookup.searched.is_empty() {
                "None of the folders has a catalogue, so nothing can be found by its contents. \
                 Protect one first."
            } @else {
                "Looked in " (lookup.searched.join(", ")) ". "
                @if !lookup.without_catalogue.is_empty() {
                    b { "Not looked in " } (lookup.without_catalogue.join(", "))
                    ", where nothing is recorded. "
                }
                "Nothing of your files was kept."
            }
        }
    }
}

/// The answer in a sentence: the worst that there is, and how many are here and the same.
fn answered(id: u64, lookup: &Lookup) -> Markup {
    let sums = lookup.sums();
    let all = lookup.files.len() as u64;
    let (class, icon_name) =
        sums.first().map_or(("idle", "search"), |(answer, _)| class_and_icon(*answer));
    let said: Vec<String> = sums
        .iter()
        .map(|(answer, files)| {
            format!("{} {}", units::counted(*files, "file", "files"), answer_noun(*answer))
        })
        .collect();
    let title = match sums.as_slice() {
        [] => "No file was looked up yet".to_owned(),
        [(DropAnswer::Known, _)] if all == 1 => "It is here, and the same".to_owned(),
        [(DropAnswer::Known, _)] => {
            format!("All {} files are here, and the same", units::count(all))
        }
        [(first, files), ..] => {
            format!("{} {}", units::counted(*files, "file", "files"), answer_noun(*first))
        }
    };
    let beneath = html! {
        @if said.len() > 1 { p .soft { (said.join(", ")) "." } }
        @if all > 0 {
            p .mono { (lookup.last_line()) }
            div .row { a .button href=(format!("/drop/{id}/receipt")) { "Save the receipt" } }
        }
    };
    verdict(class, icon_name, &title, beneath)
}

fn group(visitor: &Visitor, answer: DropAnswer, files: &[&LookedUp], now: Timestamp) -> Markup {
    let (class, icon_name) = class_and_icon(answer);
    let title =
        format!("{} {}", units::counted(files.len() as u64, "file", "files"), answer_noun(answer));
    let id = format!("{answer:?}").to_lowercase();
    html! {
        section .panel.group.attention[class == "bad"] aria-labelledby=(id) {
            div .cap {
                (drawn(icon_name, &format!("icon {class}")))
                h2 id=(id) { (title) }
            }
            p .say { (meaning(answer)) }
            @for file in files { (card(visitor, file, now)) }
        }
    }
}

fn card(visitor: &Visitor, file: &LookedUp, now: Timestamp) -> Markup {
    let (class, icon_name) = class_and_icon(file.answer);
    let length = file.dropped.read.as_ref().ok().map(|read| Units::Si.bytes(read.length));
    let mended = file.matches.iter().find(|known| known.needs_mending());
    html! {
        article .find {
            (drawn(icon_name, &format!("icon {class}")))
            div {
                h3 .file { (file.dropped.shown) }
                @for line in lines(file, now) { p .why { (line) } }
            }
            p .at { (length.unwrap_or_default()) }
            @if let (DropAnswer::Mends, Some(mended)) = (file.answer, mended) {
                div .row { (mend(visitor, file, mended)) }
            }
            @if let Ok(read) = &file.dropped.read {
                details .fold.plain {
                    summary { (small_icon("chevron")) "Digests" }
                    div .body {
                        @for (algorithm, digest) in &read.digests {
                            p .digest { (algorithm.name()) " " code { (digest) } }
                        }
                    }
                }
            }
        }
    }
}

/// The button that mends a file with the one that was looked up, or the way to do so.
fn mend(visitor: &Visitor, file: &LookedUp, mended: &TaggedMatch) -> Markup {
    let name = name_of(mended.place.below.as_os_str().as_encoded_bytes());
    let name = String::from_utf8_lossy(name.unwrap_or_default()).into_owned();
    html! {
        @match &file.dropped.place {
            Some(own) => {
                form method="post" action="/repair" {
                    (visitor.csrf())
                    input type="hidden" name="place" value=(mended.place.token());
                    input type="hidden" name="from" value=(own.token());
                    button type="submit" {
                        (icon("repair")) "Mend " (escape::text(&name)) " with this one…"
                    }
                }
            }
            None => {
                a .button href=(format!("/copies?place={}", mended.place.query())) {
                    (icon("repair")) "Mend it from a folder…"
                }
                span .soft { "Copy your file into one of your folders first." }
            }
        }
        a .button.quiet href=(format!("/history?place={}", mended.place.query())) {
            (icon("clock")) "History"
        }
    }
}

/// What is known of a file, line by line.
fn lines(file: &LookedUp, now: Timestamp) -> Vec<Markup> {
    let mut lines = Vec::new();
    if let Err(why) = &file.dropped.read {
        lines.push(html! { (why) });
    }
    if let Some((verdict, tag)) = &file.dropped.own {
        let said = StateKind::of_verdict(*verdict).map_or("Intact", StateKind::word);
        lines.push(html! {
            (said)
            @if let Some(tag) = tag { " by its own record of " (dates::moment(tag.tagged, now)) }
            "."
        });
    }
    for known in &file.matches {
        let state = known.standing.and_then(StateKind::of_state);
        lines.push(html! {
            (match file.answer {
                DropAnswer::Known | DropAnswer::Mends => "The same as ",
                DropAnswer::Unknown => "Was the same as ",
                DropAnswer::Differs | DropAnswer::Unreadable => "Other contents than ",
            })
            span .mono { (known.path) } ", recorded " (dates::moment(known.tagged, now)) "."
            @if file.answer == DropAnswer::Unknown { " That one changed since, or is gone." }
            @if let Some(kind) = state { " That one: " (kind.word().to_lowercase()) "." }
        });
    }
    let listed = |path: &str| file.matches.iter().any(|known| known.path == path);
    for place in file.known.iter().flat_map(|known| &known.places) {
        let path = escape::path(&place.path);
        if !listed(&path) {
            lines.push(html! {
                "Known: " span .mono { (path) }
                @if place.is_listed { ", by that list" }
                @else if !place.is_there { ", on a drive that is not connected" } "."
            });
        }
    }
    // Of places in archives, those are counted; they are at least as many.
    let further = file.further.max(file.known.as_ref().map_or(0, |known| known.more));
    if further > 0 {
        let places = units::counted(further, "further place", "further places");
        lines.push(html! { "And at " (places) "." });
    }
    lines
}

/// Returns the colour and the icon of an answer.
fn class_and_icon(answer: DropAnswer) -> (&'static str, &'static str) {
    match answer {
        DropAnswer::Mends => ("bad", "repair"),
        DropAnswer::Differs => ("bad", "changed"),
        DropAnswer::Unreadable => ("bad", "help"),
        DropAnswer::Unknown => ("warn", "search"),
        DropAnswer::Known => ("good", "intact"),
    }
}

fn answer_noun(answer: DropAnswer) -> &'static str {
    match answer {
        DropAnswer::Mends => "damaged or gone here, and yours is good",
        DropAnswer::Differs => "unlike the recorded file of that name",
        DropAnswer::Unreadable => "that could not be read",
        DropAnswer::Unknown => "not known here",
        DropAnswer::Known => "here, and the same",
    }
}

fn meaning(answer: DropAnswer) -> &'static str {
    match answer {
        DropAnswer::Mends => "Your file is exactly what was recorded: it can mend the one here.",
        DropAnswer::Differs => "A file of this name is recorded, with other contents.",
        DropAnswer::Unreadable => "Nothing is known of their contents.",
        DropAnswer::Unknown => {
            "None of the folders that were searched has these contents. Do not erase them."
        }
        DropAnswer::Known => {
            "Each has the contents of a recorded file, or of its own record, as its lines say. A \
             recorded file was not read now: “May I erase this?” reads it."
        }
    }
}
