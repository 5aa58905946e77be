//! Measuring: what and how thoroughly; then samples as they come, in as many pages as look; then
//! the report, and the record to take away.

mod parts;

use std::sync::Arc;

use axum::Router;
use axum::extract::{Path, State};
use axum::http::header;
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use maud::{Markup, html};
use steadfast_measure::record::{self, Record};
use steadfast_report::{Units, html as report, units};

pub(crate) use parts::parts;

use super::{REPORT_POLICY, Tab, page, page_with, waiting};
use crate::app::App;
use crate::fields::Fields;
use crate::guard::{Asked, Posted, Refusal, Visitor, to};
use crate::live::{Live as _, follow};
use crate::measuring::{
    MeasureAsk, MeasureEnd, Measurement, NotBegun, Profile, Work, file_name, is_offered,
};
use crate::roots::Place;
use crate::texts::documents::MeasureTexts;

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
    let offered =
        Work::ALL.into_iter().filter(|work| is_offered(*work, app.config.worker.as_ref()));
    let content = html! {
        p { (texts.intro) }
        form .sheet method="post" action="/measure" {
            (visitor.csrf())
            fieldset {
                legend { (texts.what) }
                @for (at, work) in offered.enumerate() {
                    p .choice {
                        @let id = format!("work-{}", work.name());
                        @let help = format!("{id}-help");
                        input id=(id) type="radio" name="work" value=(work.name())
                            checked[at == 0] aria-describedby=(help);
                        label for=(id) { ((texts.work)(work)) }
                        span .soft id=(help) { ((texts.work_help)(work)) }
                    }
                }
            }
            fieldset aria-describedby="profile-help" {
                legend { (texts.profile_label) }
                @for profile in Profile::ALL {
                    p .choice {
                        @let id = format!("profile-{}", profile.name());
                        input id=(id) type="radio" name="profile" value=(profile.name())
                            checked[profile == Profile::Quick];
                        label for=(id) { ((texts.profile)(profile)) }
                    }
                }
                p #profile-help .soft { (texts.profile_help) }
            }
            fieldset aria-describedby="folder-help" {
                legend { (texts.folder) }
                @for (at, place) in app.roots.places().enumerate() {
                    p .choice {
                        @let id = format!("folder-{at}");
                        input id=(id) type="radio" name="place" value=(place.token())
                            checked[at == 0];
                        label for=(id) { (app.roots.shown(&place)) }
                    }
                }
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

/// What this server measured.
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
                            td .long { ((texts.stand)(one.stand())) }
                        } }
                    }
                }
            }
        }
    }
}

fn name(one: &Measurement, texts: &MeasureTexts) -> String {
    format!("{} {}", (texts.work)(one.ask.work), one.id)
}

async fn begin(State(app): State<Arc<App>>, visitor: Visitor, Posted(posted): Posted) -> Response {
    let Some((ask, place)) = asked_for(&app, &posted) else {
        return Refusal::Malformed.page(&visitor);
    };
    let beginning = Arc::clone(&app);
    let begun = waiting(move || {
        // A run would be measured with it, and spoil it.
        if let Some(run) = beginning.runs.all().iter().find(|run| !run.is_over()) {
            return Err(NotBegun::Runs(run.id));
        }
        beginning.roots.root(&place).map_err(|_| NotBegun::Gone)?;
        beginning.measurements.begin(ask, &beginning.config)
    });
    match begun.await {
        Ok(Ok(one)) => to(&format!("/measure/{}", one.id)),
        Ok(Err(NotBegun::Busy(other))) => to(&format!("/measure/{other}?busy=1")),
        Ok(Err(NotBegun::Runs(run))) => to(&format!("/runs/{run}?overlaps=1")),
        Ok(Err(NotBegun::Gone)) => Refusal::NotFound.page(&visitor),
        Ok(Err(NotBegun::NoThread)) | Err(_) => Refusal::TooMuch.page(&visitor),
    }
}

fn asked_for(app: &App, posted: &Fields) -> Option<(MeasureAsk, Place)> {
    let work = Work::named(posted.text("work")?)?;
    let profile = Profile::named(posted.text("profile")?)?;
    let place = app.roots.place(posted.text("place")?)?;
    let is_root = place.below.as_os_str().is_empty();
    let fits = is_root && is_offered(work, app.config.worker.as_ref());
    let folder = app.roots.path(&place);
    fits.then_some((MeasureAsk { work, profile, folder }, place))
}

/// Finds a measurement by what an address calls it.
fn found(app: &App, id: &str) -> Result<Arc<Measurement>, Refusal> {
    let id = id.parse().map_err(|_| Refusal::NotFound)?;
    app.measurements.find(id).ok_or(Refusal::NotFound)
}

async fn show(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    Path(id): Path<String>,
    Asked(asked): Asked,
) -> Response {
    let one = match found(&app, &id) {
        Ok(one) => one,
        Err(refusal) => return refusal.page(&visitor),
    };
    let texts = &visitor.texts().measure;
    let state = one.state();
    let (head, content) = match &state.ended {
        None => (
            html! { noscript { meta http-equiv="refresh" content="2"; } },
            going(&visitor, &one, &asked),
        ),
        Some(end) => (html! {}, over(&visitor, &one, end)),
    };
    let title = (texts.work)(one.ask.work);
    page_with(&visitor, Some(Tab::Measure), title, &head, &content)
}

/// The page while it goes on. Its parts are replaced as they change.
fn going(visitor: &Visitor, one: &Measurement, asked: &Fields) -> Markup {
    let texts = &visitor.texts().measure;
    let parts = one.state().parts(visitor.language);
    let part = |wanted: &str| {
        let (name, part) = parts.iter().find(|(name, _)| *name == wanted)?;
        Some(html! { div data-live=(name) { (maud::PreEscaped(part)) } })
    };
    html! {
        @if asked.text("busy").is_some() { p .warnings role="status" { (texts.busy) } }
        div #live data-events=(format!("/measure/{}/events", one.id))
            data-lost=(visitor.texts().layout.lost) {
            p .soft { ((texts.profile)(one.ask.profile)) }
            (part("stand").unwrap_or_default())
            div .orders {
                form .stop method="post" action=(format!("/measure/{}/stop", one.id)) {
                    (visitor.csrf())
                    button type="submit" { (texts.stop) }
                }
            }
            section aria-labelledby="progress" {
                h2 #progress { (texts.progress) }
                (part("bar").unwrap_or_default())
                (part("figures").unwrap_or_default())
            }
            section aria-labelledby="series" {
                h2 #series { (texts.series) }
                (part("series").unwrap_or_default())
            }
            div .told role="status" aria-live="polite" data-live="say" {}
        }
    }
}

/// The page once it has ended: the report, and what can be taken away.
fn over(visitor: &Visitor, one: &Measurement, end: &MeasureEnd) -> Markup {
    let texts = &visitor.texts().measure;
    let untranslated = visitor.texts().layout.untranslated;
    html! {
        @if end.stopped { p .warnings { (texts.ended_early) } }
        @for why in &end.failed { p .wrong { (texts.failed) ": " (why) } }
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
                @if !untranslated.is_empty() { p .soft { (untranslated) } }
                div .document lang="en" { (report::article(document, 1, true, Units::Si)) }
            }
        }
    }
}

async fn events(State(app): State<Arc<App>>, visitor: Visitor, Path(id): Path<String>) -> Response {
    match found(&app, &id) {
        Ok(one) => follow(one.states(), &visitor),
        Err(refusal) => refusal.page(&visitor),
    }
}

async fn stop(State(app): State<Arc<App>>, visitor: Visitor, Path(id): Path<String>) -> Response {
    match found(&app, &id) {
        Ok(one) => {
            one.stop();
            to(&format!("/measure/{}", one.id))
        }
        Err(refusal) => refusal.page(&visitor),
    }
}

/// The report as one file: what `report` makes of the record.
async fn save_report(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    Path(id): Path<String>,
) -> Response {
    saved(&app, &visitor, &id, "html", "text/html; charset=utf-8", |_, document| {
        report::page(std::slice::from_ref(document), Units::Si).into_bytes()
    })
}

async fn save_record(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    Path(id): Path<String>,
) -> Response {
    saved(&app, &visitor, &id, "json", "application/json", |record, _| record::write(record))
}

fn saved(
    app: &App,
    visitor: &Visitor,
    id: &str,
    ending: &str,
    kind: &str,
    write: impl FnOnce(&Record, &steadfast_report::document::Document) -> Vec<u8>,
) -> Response {
    let one = match found(app, id) {
        Ok(one) => one,
        Err(refusal) => return refusal.page(visitor),
    };
    let state = one.state();
    let Some((record, document)) = state.ended.as_ref().and_then(|end| end.made.as_ref()) else {
        return Refusal::Conflict.page(visitor);
    };
    let name = file_name(&one.ask, one.begun).replace(".json", &format!(".{ending}"));
    let name = format!("attachment; filename=\"{name}\"");
    let lines = [
        (header::CONTENT_TYPE, kind),
        (header::CONTENT_SECURITY_POLICY, REPORT_POLICY),
        (header::CONTENT_DISPOSITION, name.as_str()),
    ];
    (lines, write(record, document)).into_response()
}
