//! Records side by side: what was measured here, what others measured, what was published.

use std::sync::Arc;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use maud::{Markup, html};
use steadfast::Timestamp;
use steadfast_measure::record::Record;
use steadfast_report::document::Document;
use steadfast_report::{Units, escape, html as report, machines, measure, units};
use tokio::time::timeout;

use super::{REPORT_POLICY, Tab, page, waiting};
use crate::app::App;
use crate::fields::{Fields, encode};
use crate::guard::{Asked, Refusal, Visitor};
use crate::shelf::{Choice, From, RECORD_LEN_MAX};
use crate::texts::documents::CompareTexts;

/// Records that are compared at a time.
const CHOSEN_MAX: usize = 12;

pub(super) fn routes() -> Router<Arc<App>> {
    Router::new()
        .route("/compare", get(show))
        .route("/compare/report", get(save))
        .route("/compare/record", post(add))
}

async fn show(State(app): State<Arc<App>>, visitor: Visitor, Asked(asked): Asked) -> Response {
    let texts = &visitor.texts().compare;
    let compared = match compared(&app, &asked).await {
        Ok(compared) => compared,
        Err(refusal) => return refusal.page(&visitor),
    };
    let asking = Arc::clone(&app);
    let all =
        waiting(move || asking.shelf.all(&asking.measurements, asking.config.records.as_deref()));
    let all = match all.await {
        Ok(all) => all,
        Err(refusal) => return refusal.page(&visitor),
    };
    // One that was just added is chosen, and so are those that the address named before.
    let chosen: Vec<&str> = asked.texts("record").chain(asked.texts("added")).collect();
    let untranslated = visitor.texts().layout.untranslated;
    let content = html! {
        p { (texts.intro) }
        @match &compared {
            Compared::Nothing => (choices(&all, &chosen, texts)),
            Compared::Gone => {
                p .wrong role="alert" { (texts.gone) }
                (choices(&all, &chosen, texts))
            }
            Compared::Documents(documents) => {
                div .orders {
                    a .button href=(format!("/compare/report?{}", query(&asked))) { (texts.save) }
                    a .button .quiet href="/compare" { (texts.more) }
                }
                @if !untranslated.is_empty() { p .soft { (untranslated) } }
                div .document lang="en" {
                    @for (at, document) in documents.iter().enumerate() {
                        (report::article(document, at + 1, true, Units::Si))
                    }
                }
            }
        }
        @if !matches!(compared, Compared::Documents(_)) { (adding(texts)) }
    };
    page(&visitor, Some(Tab::Compare), texts.title, &content)
}

/// What is chosen, as addresses carry it.
fn query(asked: &Fields) -> String {
    let records = asked.texts("record").map(|token| ("record", token));
    let against = asked.texts("against").map(|token| ("against", token));
    let pair = |(name, token): (&str, &str)| format!("{name}={}", encode(token.as_bytes()));
    records.chain(against).map(pair).collect::<Vec<_>>().join("&")
}

/// What came of a choice.
enum Compared {
    /// Nothing was chosen.
    Nothing,
    /// Something that was chosen is not there.
    Gone,
    Documents(Vec<Document>),
}

async fn compared(app: &Arc<App>, asked: &Fields) -> Result<Compared, Refusal> {
    let chosen: Vec<String> = asked.texts("record").map(str::to_owned).collect();
    let against = asked.text("against").filter(|token| !token.is_empty()).map(str::to_owned);
    if chosen.is_empty() {
        return Ok(Compared::Nothing);
    }
    if chosen.len() > CHOSEN_MAX {
        return Err(Refusal::TooMuch);
    }
    // Statistics of long records take all of a processor.
    let turn = Arc::clone(&app.heavy).acquire_owned().await.map_err(|_| Refusal::TooMuch)?;
    let app = Arc::clone(app);
    waiting(move || {
        let folder = app.config.records.as_deref();
        let find = |token: &String| app.shelf.find(token, &app.measurements, folder);
        let records: Option<Vec<Arc<Record>>> = chosen.iter().map(find).collect();
        let other = against.as_ref().map(find);
        drop(turn);
        match (records, other) {
            (None, _) | (_, Some(None)) => Compared::Gone,
            (Some(records), other) => Compared::Documents(documents(&records, other.flatten())),
        }
    })
    .await
}

/// All records together, then each; with one other, figures are held against it. What tells nothing
/// by itself, as most that is published, has its row among all.
fn documents(records: &[Arc<Record>], other: Option<Arc<Record>>) -> Vec<Document> {
    let other = other.as_deref();
    let all: Vec<&Record> = records.iter().map(Arc::as_ref).chain(other).collect();
    let units = Units::default();
    let together = machines::document(&all, units);
    let each = records.iter().map(|record| measure::document_against(record, other, units));
    let mut each: Vec<Document> =
        each.chain(other.map(|other| measure::document_against(other, None, units))).collect();
    if together.is_some() {
        // A session that was cut short says so, with no figure as well.
        let tells = |one: &Document| !one.sections.is_empty() || !one.warnings.is_empty();
        each.retain(tells);
    }
    together.into_iter().chain(each).collect()
}

/// All records, to choose from.
fn choices(all: &[Choice], chosen: &[&str], texts: &CompareTexts) -> Markup {
    html! {
        section aria-labelledby="records" {
            h2 #records { (texts.records) }
            @if all.is_empty() {
                p .soft { (texts.no_records) }
            } @else {
                p .soft { (texts.none_chosen) }
                form .records method="get" action="/compare" {
                    div .scroll tabindex="0" role="group" aria-labelledby="records" {
                        table {
                            thead { tr {
                                th scope="col" { (texts.column_record) }
                                th scope="col" { (texts.column_machine) }
                                th scope="col" { (texts.column_begun) }
                                th scope="col" { (texts.column_from) }
                            } }
                            tbody {
                                @for (at, choice) in all.iter().enumerate() {
                                    (row(at, choice, chosen, texts))
                                }
                            }
                        }
                    }
                    p .against {
                        label for="against" { (texts.against) }
                        select #against name="against" {
                            option value="" { (texts.against_none) }
                            @for choice in all.iter().filter(|choice| choice.record.is_ok()) {
                                option value=(choice.token) { (choice.name) }
                            }
                        }
                    }
                    button type="submit" { (texts.show) }
                }
            }
        }
    }
}

fn row(at: usize, choice: &Choice, chosen: &[&str], texts: &CompareTexts) -> Markup {
    let from = match choice.from {
        From::Here => texts.measured_here,
        From::Folder => texts.in_folder,
        From::Added => texts.uploaded,
        From::Published => texts.published,
    };
    let id = format!("record-{at}");
    html! {
        tr {
            th scope="row" {
                @if choice.record.is_ok() {
                    span .choice {
                        input id=(id) type="checkbox" name="record" value=(choice.token)
                            checked[chosen.contains(&choice.token.as_str())];
                        label for=(id) { (choice.name) }
                    }
                } @else { (choice.name) }
            }
            @match &choice.record {
                Ok(record) => {
                    td .long { (escape::text(&record.machine.cpu)) }
                    td { (begun(record)) }
                }
                Err(why) => td .long colspan="2" { (texts.unreadable) ": " (why) }
            }
            td { (from) }
        }
    }
}

fn begun(record: &Record) -> String {
    match record.started_unix_s {
        0 => "–".to_owned(),
        seconds => units::moment(Timestamp { seconds, nanoseconds: 0 }),
    }
}

/// Where a record is added. Without the script there is nothing to see.
fn adding(texts: &CompareTexts) -> Markup {
    html! {
        section aria-labelledby="adding" {
            h2 #adding { (texts.upload) }
            noscript { p .warnings { (texts.upload_script) } }
            div #record hidden data-refused=(texts.refused) {
                p {
                    label .button .quiet for="record-file" { (texts.upload) }
                    input #record-file .told type="file" accept=".json,application/json"
                        aria-describedby="record-help";
                }
                p #record-help .soft { (texts.upload_help) }
                p #record-said .wrong role="alert" {}
            }
        }
    }
}

/// Takes a record; answers with what addresses call it, or with what is wrong with it.
async fn add(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    Asked(asked): Asked,
    body: Body,
) -> Response {
    let Ok(_turn) = app.takes.try_acquire() else { return Refusal::TooMuch.page(&visitor) };
    let body = match timeout(app.config.limits.stall, to_bytes(body, RECORD_LEN_MAX)).await {
        Err(_) => return Refusal::TooSlow.page(&visitor),
        Ok(Err(_)) => return Refusal::TooLarge.page(&visitor),
        Ok(Ok(body)) => body,
    };
    let name = asked.text("name").unwrap_or("record").to_owned();
    let taking = Arc::clone(&app);
    let added = waiting(move || taking.shelf.add(&name, &body));
    let plain = [(header::CONTENT_TYPE, "text/plain; charset=utf-8")];
    match added.await {
        Ok(Ok(token)) => (StatusCode::OK, plain, token).into_response(),
        Ok(Err(why)) => (StatusCode::UNPROCESSABLE_ENTITY, plain, why).into_response(),
        Err(refusal) => refusal.page(&visitor),
    }
}

/// The comparison as one file: the same as `report --output` writes.
async fn save(State(app): State<Arc<App>>, visitor: Visitor, Asked(asked): Asked) -> Response {
    let documents = match compared(&app, &asked).await {
        Ok(Compared::Documents(documents)) => documents,
        Ok(_) => return Refusal::NotFound.page(&visitor),
        Err(refusal) => return refusal.page(&visitor),
    };
    let lines = [
        (header::CONTENT_TYPE, "text/html; charset=utf-8"),
        (header::CONTENT_SECURITY_POLICY, REPORT_POLICY),
        (header::CONTENT_DISPOSITION, "attachment; filename=\"steadfast-compared.html\""),
    ];
    match waiting(move || report::page(&documents, Units::Si)).await {
        Ok(page) => (lines, page).into_response(),
        Err(refusal) => refusal.page(&visitor),
    }
}
