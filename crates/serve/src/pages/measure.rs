//! A measurement: the form that starts it, its progress, its report, and its record to save.

mod answer;
mod parts;

use std::sync::Arc;

use axum::Router;
use axum::extract::{Path, State};
use axum::response::{Redirect, Response};
use axum::routing::get;
use maud::{Markup, html};
use steadfast_measure::record::{self, Record};
use steadfast_report::document::Document;
use steadfast_report::{Units, html as report, units};
use strum::VariantArray as _;

use super::task;
use crate::app::App;
use crate::dates;
use crate::fields::NamedValues;
use crate::icons::{icon, small_icon};
use crate::layout::{HTML, Tab, attachment, documents, framed, trail};
use crate::live::{Live, LiveParts, part};
use crate::measuring::{
    MeasureEnd, MeasureKind, MeasureProfile, MeasureRefused, MeasureRequest, MeasureSnapshot,
    Measurement, file_name, is_offered,
};
use crate::refusal::Refusal;
use crate::roots::ServedPath;
use crate::visitor::{FormFields, QueryFields, Visitor};
use crate::words;

impl Live for MeasureSnapshot {
    fn parts(&self) -> LiveParts {
        self.rendered.of(|| parts::parts(self))
    }

    fn is_over(&self) -> bool {
        self.end.is_some()
    }
}

pub(super) fn routes() -> Router<Arc<App>> {
    Router::new()
        .route("/measure", get(form).post(begin))
        .route("/measure/{id}", get(show))
        .merge(task::routes::<Measurement>())
        .route("/measure/{id}/report", get(save_report))
        .route("/measure/{id}/record", get(save_record))
}

async fn form(State(app): State<Arc<App>>, visitor: Visitor) -> Response {
    let measurements = app.measurements.all();
    let answered = measurements.iter().find_map(|one| answer::panel(&app, one));
    let content = html! {
        div .head {
            div {
                h1 { "What do you want to know?" }
                p .soft {
                    "Let the computer do nothing else meanwhile. Files made for a measurement are \
                     removed after it."
                }
            }
        }
        (questions(&app, &visitor))
        (answered.unwrap_or_default())
        section .panel aria-labelledby="records" {
            div .cap {
                h2 #records { "Measured before" }
                a .small href="/compare" { "Compare records" }
            }
            (list(&app, &measurements))
        }
    };
    framed(&visitor, Some(Tab::Measure), "Measure", &html! {}, &content)
}

/// The form: a question, the folder, and how thoroughly.
fn questions(app: &App, visitor: &Visitor) -> Markup {
    let places = app.roots.places();
    let is_offered = |kind: &MeasureKind| is_offered(*kind, app.config.workload, places.len());
    let offered = MeasureKind::VARIANTS.iter().copied().filter(is_offered);
    html! {
        form .stack method="post" action="/measure" {
            (visitor.csrf())
            fieldset .pick.two {
                legend .told { "Question" }
                @for (at, kind) in offered.enumerate() {
                    label {
                        input type="radio" name="work" value=(kind.name()) checked[at == 0];
                        (icon(sign(kind)))
                        span .what { (words::measure_kind(kind)) small { (kind_help(kind)) } }
                    }
                }
            }
            div .head {
                div .stack.tight {
                    p .row {
                        label for="where" { "On" }
                        select #where name="place" aria-describedby="folder-help" {
                            @for place in &places {
                                option value=(place.token()) { (app.roots.shown(place)) }
                            }
                        }
                        @if let [_, second, ..] = &places[..] {
                            label .pair for="beside" { "and" }
                            select #beside .pair name="beside" {
                                @for place in &places {
                                    option value=(place.token()) selected[place == second] {
                                        (app.roots.shown(place))
                                    }
                                }
                            }
                        }
                        select name="profile" aria-label="How thoroughly"
                            aria-describedby="profile-help" {
                            @for &profile in MeasureProfile::VARIANTS {
                                option value=(profile.name())
                                    selected[profile == MeasureProfile::Quick] {
                                    (profile_title(profile))
                                }
                            }
                        }
                    }
                    p #folder-help .small.soft {
                        "The files are created in a new folder, which is removed afterwards."
                    }
                    p #profile-help .small.soft {
                        "The standard profile writes 53.3 GB for reading and writing."
                    }
                }
                p .row {
                    button .main type="submit" { (icon("measure")) "Measure" }
                }
            }
        }
    }
}

/// The icon of a question.
fn sign(kind: MeasureKind) -> &'static str {
    match kind {
        MeasureKind::Hash | MeasureKind::Levels => "measure",
        MeasureKind::Read | MeasureKind::Write | MeasureKind::Queue => "drive",
        MeasureKind::Pair => "folder",
        MeasureKind::Cipher => "lock",
        MeasureKind::Kernels | MeasureKind::Cpu | MeasureKind::Contention => "cpu",
    }
}

/// The measurements of this server: the figure, the question, the folder, and when.
fn list(app: &App, measurements: &[Arc<Measurement>]) -> Markup {
    let now = app.now();
    html! {
        @if measurements.is_empty() { p .body.soft { "None yet." } }
        ul .list.lines {
            @for one in measurements {
                @let snapshot = one.control.snapshot();
                li {
                    b {
                        (snapshot.answer().map_or("–".to_owned(), answer::figure_text))
                    }
                    span .what {
                        a href=(format!("/measure/{}", one.id)) {
                            (words::measure_kind(one.request.kind))
                        }
                        span .soft { (answer::folder(one)) }
                        @if snapshot.end.is_none() {
                            span .soft { (words::measure_status(one.control.status())) }
                        }
                    }
                    (dates::moment(one.begun, now))
                }
            }
        }
    }
}

/// Starts the measurement of the form.
async fn begin(
    State(app): State<Arc<App>>,
    FormFields(form): FormFields,
) -> Result<Redirect, Refusal> {
    let (request, places) = requested(&app, &form).ok_or(Refusal::Malformed)?;
    let begun = app.blocking(move |app| {
        if let Some(run) = app.runs.going() {
            return Err(MeasureRefused::Runs(run));
        }
        for place in &places {
            app.roots.root(place).map_err(|_| MeasureRefused::Gone)?;
        }
        app.measurements.begin(request, &app.config)
    });
    let page = match begun.await {
        Ok(Ok(one)) => format!("/measure/{}", one.id),
        Ok(Err(MeasureRefused::Busy(other))) => format!("/measure/{other}?busy=1"),
        Ok(Err(MeasureRefused::Runs(run))) => format!("/runs/{run}?overlaps=1"),
        Ok(Err(MeasureRefused::Gone)) => return Err(Refusal::NotFound),
        Ok(Err(MeasureRefused::NoThread)) | Err(_) => return Err(Refusal::TooMuch),
    };
    Ok(Redirect::to(&page))
}

fn requested(app: &App, form: &NamedValues) -> Option<(MeasureRequest, Vec<ServedPath>)> {
    let kind: MeasureKind = form.text("work")?.parse().ok()?;
    let profile: MeasureProfile = form.text("profile")?.parse().ok()?;
    let second = (kind == MeasureKind::Pair).then_some("beside");
    let fields = std::iter::once("place").chain(second);
    let places: Option<Vec<ServedPath>> =
        fields.map(|field| app.roots.place(form.text(field)?)).collect();
    let places = places?;
    let fits = places.iter().all(ServedPath::is_root)
        && (second.is_none() || places[0] != places[1])
        && is_offered(kind, app.config.workload, app.roots.places().len());
    let mut folders = places.iter().map(|place| app.roots.path(place));
    let request = MeasureRequest { kind, profile, folder: folders.next()?, beside: folders.next() };
    drop(folders);
    fits.then_some((request, places))
}

async fn show(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    Path(id): Path<String>,
    QueryFields(query): QueryFields,
) -> Result<Response, Refusal> {
    let one: Arc<Measurement> = task::found(&app, &id)?;
    let snapshot = one.control.snapshot();
    let title = words::measure_kind(one.request.kind);
    match &snapshot.end {
        None => {
            let content = going(&visitor, &one, &query);
            Ok(framed(&visitor, Some(Tab::Measure), title, &task::reload(2), &content))
        }
        Some(end) => {
            let content = over(&app, &one, end);
            Ok(framed(&visitor, Some(Tab::Measure), title, &html! {}, &content))
        }
    }
}

/// The page during a measurement. Its parts are replaced as they change.
fn going(visitor: &Visitor, one: &Measurement, asked: &NamedValues) -> Markup {
    let parts = one.control.snapshot().parts();
    html! {
        @if asked.text("busy").is_some() {
            p .note.warn role="status" { "Another measurement is running. This is it." }
        }
        div #live .stack data-events=(format!("/measure/{}/events", one.id)) {
            div .head {
                div {
                    h1 { (words::measure_kind(one.request.kind)) }
                    p .soft { (units::capital(profile_title(one.request.profile))) "." }
                }
                div .orders {
                    form .stop method="post" action=(format!("/measure/{}/stop", one.id)) {
                        (visitor.csrf())
                        button type="submit" { (icon("stop")) "Stop and keep the samples" }
                    }
                }
            }
            section .panel aria-labelledby="progress" {
                div .body.stack.tight {
                    h2 #progress .told { "Progress" }
                    (part(&parts, "bar"))
                    (part(&parts, "stand"))
                }
                (part(&parts, "figures"))
            }
            section .panel aria-labelledby="series" {
                div .cap { h2 #series { "Latest samples" } }
                div .body { (part(&parts, "series")) }
            }
            div .told role="status" aria-live="polite" data-live="say" {}
        }
    }
}

/// The page of a measurement that has ended: the answer, its report, and links to save it.
fn over(app: &App, one: &Measurement, end: &MeasureEnd) -> Markup {
    let panel = answer::panel(app, one);
    html! {
        (trail(&[("/measure", "Measure")], answer::folder(one)))
        h1 { (words::measure_kind(one.request.kind)) }
        @if end.stopped {
            p .note.warn { "It ended early. What follows is made of the samples until then." }
        }
        @for why in &end.failed { p .wrong { "A part could not be measured: " (why) } }
        @match &end.kept {
            Some(Ok(name)) => p .soft { "The record is kept as " (name) "." },
            Some(Err(why)) => p .wrong {
                "The record is not kept in the folder of records: " (why) "."
            },
            None => {}
        }
        @match &end.made {
            None => p { "Nothing was measured." },
            Some((_, document)) => {
                @match &panel {
                    Some(panel) => (panel),
                    None => div .row { (answer::savings(one)) },
                }
                // The levels by size are a chart, which is there.
                details .fold open[panel.is_none() || one.request.kind == MeasureKind::Levels] {
                    summary {
                        (small_icon("chevron")) "Technical details"
                        span .soft { "every series, method, computer" }
                    }
                    div .body { (documents(std::slice::from_ref(document))) }
                }
            }
        }
    }
}

/// The report as one file: the same as `measure report` makes of the record.
async fn save_report(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
) -> Result<Response, Refusal> {
    saved(&app, &id, "html", HTML, |_, document| {
        report::page(std::slice::from_ref(document), Units::Si).into_bytes()
    })
}

async fn save_record(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
) -> Result<Response, Refusal> {
    saved(&app, &id, "json", "application/json", |record, _| record::write(record))
}

fn saved(
    app: &App,
    id: &str,
    extension: &str,
    content_type: &str,
    write: impl FnOnce(&Record, &Document) -> Vec<u8>,
) -> Result<Response, Refusal> {
    let one: Arc<Measurement> = task::found(app, id)?;
    let snapshot = one.control.snapshot();
    let (record, document) = snapshot.made().ok_or(Refusal::Conflict)?;
    let name = file_name(&one.request, one.begun).replace(".json", &format!(".{extension}"));
    Ok(attachment(&name, content_type, write(record, document)))
}

fn profile_title(profile: MeasureProfile) -> &'static str {
    match profile {
        MeasureProfile::Quick => "quick: a first look, in about a minute",
        MeasureProfile::Small => "small files (reading and writing; 3.3 GB)",
        MeasureProfile::Standard => "standard: what machines are compared by",
    }
}

fn kind_help(kind: MeasureKind) -> &'static str {
    match kind {
        MeasureKind::Kernels => "Every algorithm and backend, in memory. Writes no file.",
        MeasureKind::Hash => "Reading, hashing, and both, over files made for it.",
        MeasureKind::Read => "Files made for it, past the page cache and with an empty one.",
        MeasureKind::Write => "Files of many lengths, flushed, read back and compared.",
        MeasureKind::Queue => "1 to 32 reads at a time, and how long each takes.",
        MeasureKind::Pair => "The same work in both by turns: encrypted and plain, two drives.",
        MeasureKind::Levels => "Files of many sizes, read and hashed at the slowest and fastest.",
        MeasureKind::Contention => "Two threads at the lowest beside two at the highest, no file.",
        MeasureKind::Cpu => "Six loops at every QoS level. Writes no file.",
        MeasureKind::Cipher => "With and without the instructions for them.",
    }
}
