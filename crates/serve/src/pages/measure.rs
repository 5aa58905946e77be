//! A measurement: the form that starts it, its progress, its report, and its record to save.

mod parts;

use std::sync::Arc;

use axum::Router;
use axum::extract::{Path, State};
use axum::response::{Redirect, Response};
use axum::routing::{get, post};
use maud::{Markup, html};
use steadfast_measure::record::{self, Record};
use steadfast_report::document::Document;
use steadfast_report::{Units, html as report, units};
use strum::VariantArray as _;

use crate::app::App;
use crate::config::Language;
use crate::fields::NamedValues;
use crate::layout::{HTML, Tab, attachment, english_documents, page, page_with, root_choice};
use crate::live::{Live, LiveParts, follow, part, section};
use crate::measuring::{
    MeasureEnd, MeasureKind, MeasureProfile, MeasureRefused, MeasureRequest, MeasureSnapshot,
    Measurement, file_name, is_offered,
};
use crate::refusal::Refusal;
use crate::roots::ServedPath;
use crate::texts::OfLanguage as _;
use crate::texts::documents::MeasureTexts;
use crate::visitor::{FormFields, QueryFields, Visitor};

impl Live for MeasureSnapshot {
    fn parts(&self, language: Language) -> LiveParts {
        self.rendered.of(language, || parts::parts(self, language))
    }

    fn is_over(&self) -> bool {
        self.end.is_some()
    }
}

pub(super) fn routes() -> Router<Arc<App>> {
    Router::new()
        .route("/measure", get(form).post(begin))
        .route("/measure/{id}", get(show))
        .route("/measure/{id}/events", get(events))
        .route("/measure/{id}/stop", post(stop))
        .route("/measure/{id}/report", get(save_report))
        .route("/measure/{id}/record", get(save_record))
}

async fn form(State(app): State<Arc<App>>, visitor: Visitor) -> Response {
    let texts = &visitor.texts().measure;
    let kinds = MeasureKind::VARIANTS.iter().copied();
    let offered = kinds.filter(|kind| is_offered(*kind, app.config.worker.as_ref()));
    let content = html! {
        p { (texts.intro) }
        p { a href="/compare" { (visitor.texts().compare.title) } }
        form .sheet method="post" action="/measure" {
            (visitor.csrf())
            fieldset {
                legend { (texts.what) }
                @for (at, kind) in offered.enumerate() {
                    p .choice {
                        @let id = format!("work-{}", kind.name());
                        @let help = format!("{id}-help");
                        input id=(id) type="radio" name="work" value=(kind.name())
                            checked[at == 0] aria-describedby=(help);
                        label for=(id) { ((texts.kind)(kind)) }
                        span .soft id=(help) { ((texts.kind_help)(kind)) }
                    }
                }
            }
            fieldset aria-describedby="profile-help" {
                legend { (texts.profile_label) }
                @for &profile in MeasureProfile::VARIANTS {
                    p .choice {
                        @let id = format!("profile-{}", profile.name());
                        input id=(id) type="radio" name="profile" value=(profile.name())
                            checked[profile == MeasureProfile::Quick];
                        label for=(id) { ((texts.profile)(profile)) }
                    }
                }
                p #profile-help .soft { (texts.profile_help) }
            }
            fieldset aria-describedby="folder-help" {
                legend { (texts.folder) }
                (root_choice(&app.roots, "folder"))
                p #folder-help .soft { (texts.folder_help) }
            }
            button type="submit" { (texts.begin) }
        }
        section aria-labelledby="records" {
            h2 #records { (texts.records) }
            (table(&app.measurements.all(), texts))
        }
    };
    page(&visitor, Some(Tab::Measure), texts.title, &content)
}

/// The measurements of this server.
fn table(measurements: &[Arc<Measurement>], texts: &MeasureTexts) -> Markup {
    html! {
        @if measurements.is_empty() {
            p .soft { (texts.no_records) }
        } @else {
            div .scroll tabindex="0" role="group" aria-labelledby="records" {
                table {
                    thead { tr {
                        th scope="col" { (texts.what) }
                        th scope="col" { (texts.column_begun) }
                        th scope="col" { (texts.column_stand) }
                    } }
                    tbody {
                        @for one in measurements { tr {
                            th scope="row" {
                                a href=(format!("/measure/{}", one.id)) { (name(one, texts)) }
                            }
                            td { (units::moment(one.begun)) }
                            td .long { ((texts.status)(one.control.status())) }
                        } }
                    }
                }
            }
        }
    }
}

fn name(one: &Measurement, texts: &MeasureTexts) -> String {
    format!("{} {}", (texts.kind)(one.request.kind), one.id)
}

/// Starts the measurement of the form.
async fn begin(
    State(app): State<Arc<App>>,
    FormFields(form): FormFields,
) -> Result<Redirect, Refusal> {
    let (request, place) = requested(&app, &form).ok_or(Refusal::Malformed)?;
    let begun = app.blocking(move |app| {
        if let Some(run) = app.runs.going() {
            return Err(MeasureRefused::Runs(run));
        }
        app.roots.root(&place).map_err(|_| MeasureRefused::Gone)?;
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

fn requested(app: &App, form: &NamedValues) -> Option<(MeasureRequest, ServedPath)> {
    let kind: MeasureKind = form.text("work")?.parse().ok()?;
    let profile: MeasureProfile = form.text("profile")?.parse().ok()?;
    let place = app.roots.place(form.text("place")?)?;
    let fits = place.is_root() && is_offered(kind, app.config.worker.as_ref());
    let folder = app.roots.path(&place);
    fits.then_some((MeasureRequest { kind, profile, folder }, place))
}

/// Finds a measurement by the number in an address.
fn found(app: &App, id: &str) -> Result<Arc<Measurement>, Refusal> {
    let id = id.parse().map_err(|_| Refusal::NotFound)?;
    app.measurements.find(id).ok_or(Refusal::NotFound)
}

async fn show(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    Path(id): Path<String>,
    QueryFields(query): QueryFields,
) -> Result<Response, Refusal> {
    let one = found(&app, &id)?;
    let texts = &visitor.texts().measure;
    let snapshot = one.control.snapshot();
    let (head, content) = match &snapshot.end {
        None => (
            html! { noscript { meta http-equiv="refresh" content="2"; } },
            going(&visitor, &one, &query),
        ),
        Some(end) => (html! {}, over(&visitor, &one, end)),
    };
    let title = (texts.kind)(one.request.kind);
    Ok(page_with(&visitor, Some(Tab::Measure), title, &head, &content))
}

/// The page during a measurement. Its parts are replaced as they change.
fn going(visitor: &Visitor, one: &Measurement, asked: &NamedValues) -> Markup {
    let texts = &visitor.texts().measure;
    let parts = one.control.snapshot().parts(visitor.language);
    html! {
        @if asked.text("busy").is_some() { p .warnings role="status" { (texts.busy) } }
        div #live data-events=(format!("/measure/{}/events", one.id))
            data-lost=(visitor.texts().layout.lost) {
            p .soft { ((texts.profile)(one.request.profile)) }
            (part(&parts, "stand"))
            div .orders {
                form .stop method="post" action=(format!("/measure/{}/stop", one.id)) {
                    (visitor.csrf())
                    button type="submit" { (texts.stop) }
                }
            }
            (section(&parts, "progress", texts.progress, &["bar", "figures"]))
            (section(&parts, "series", texts.series, &["series"]))
            div .told role="status" aria-live="polite" data-live="say" {}
        }
    }
}

/// The page of a measurement that has ended: its report, and links to save it.
fn over(visitor: &Visitor, one: &Measurement, end: &MeasureEnd) -> Markup {
    let texts = &visitor.texts().measure;
    html! {
        @if end.stopped { p .warnings { (texts.ended_early) } }
        @for why in &end.failed { p .wrong { (texts.failed) ": " (texts.say(why)) } }
        @match &end.kept {
            Some(Ok(name)) => p .soft { ((texts.kept)(name)) },
            Some(Err(why)) => p .wrong { ((texts.not_kept)(why)) },
            None => {}
        }
        @match &end.made {
            None => p { (texts.nothing) },
            Some((_, document)) => {
                div .orders {
                    a .button href=(format!("/measure/{}/report", one.id)) { (texts.save_report) }
                    a .button .quiet href=(format!("/measure/{}/record", one.id)) {
                        (texts.save_record)
                    }
                    a .button .quiet href=(format!("/compare?record=run-{}", one.id)) {
                        (texts.compare)
                    }
                    a .button .quiet href="/measure" { (texts.title) }
                }
                (english_documents(visitor, std::slice::from_ref(document)))
            }
        }
    }
}

async fn events(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    Path(id): Path<String>,
) -> Result<Response, Refusal> {
    let one = found(&app, &id)?;
    Ok(follow(&one.control, visitor.language, visitor.session().cloned()))
}

async fn stop(State(app): State<Arc<App>>, Path(id): Path<String>) -> Result<Redirect, Refusal> {
    let one = found(&app, &id)?;
    one.control.stop();
    Ok(Redirect::to(&format!("/measure/{}", one.id)))
}

/// The report as one file: the same as `report` makes of the record.
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
    let one = found(app, id)?;
    let snapshot = one.control.snapshot();
    let (record, document) = snapshot.made().ok_or(Refusal::Conflict)?;
    let name = file_name(&one.request, one.begun).replace(".json", &format!(".{extension}"));
    Ok(attachment(&name, content_type, write(record, document)))
}
