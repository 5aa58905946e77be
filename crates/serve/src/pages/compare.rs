//! Compares records: measured here, measured elsewhere, published.

use std::sync::Arc;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use maud::{Markup, html};
use steadfast::Timestamp;
use steadfast_measure::record::Record;
use steadfast_report::document::Document;
use steadfast_report::{Units, escape, html as report, machines, measure, units};
use tokio::time::timeout;

use crate::app::App;
use crate::fields::{NamedValues, encode};
use crate::layout::{HTML, Tab, attachment, documents, page};
use crate::refusal::Refusal;
use crate::shelf::{Choice, RECORD_LEN_MAX, RecordSource};
use crate::texts::OfLanguage as _;
use crate::texts::documents::CompareTexts;
use crate::texts::reports::wording;
use crate::visitor::{QueryFields, Visitor};

/// Records that are compared at a time.
const CHOSEN_MAX: usize = 12;

pub(super) fn routes() -> Router<Arc<App>> {
    Router::new()
        .route("/compare", get(show))
        .route("/compare/report", get(save))
        .route("/compare/record", post(add))
}

async fn show(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    QueryFields(query): QueryFields,
) -> Result<Response, Refusal> {
    let texts = &visitor.texts().compare;
    let compared = compared(&app, &query).await?;
    let all =
        app.blocking(|app| app.shelf.all(&app.measurements, app.config.records.as_deref())).await?;
    // Preselects the record that was just added, and those that the address names.
    let chosen: Vec<&str> = query.texts("record").chain(query.texts("added")).collect();
    let content = html! {
        p { (texts.intro) }
        @match &compared {
            CompareResult::Nothing => (choices(&all, &chosen, texts)),
            CompareResult::Gone => {
                p .wrong role="alert" { (texts.gone) }
                (choices(&all, &chosen, texts))
            }
            CompareResult::Documents(compared) => {
                div .orders {
                    @let save = format!("/compare/report?{}", chosen_query(&query));
                    a .button href=(save) { (texts.save) }
                    a .button .quiet href="/compare" { (texts.more) }
                }
                (documents(visitor.language, compared))
            }
        }
        @if !matches!(compared, CompareResult::Documents(_)) { (adding(texts)) }
    };
    Ok(page(&visitor, Some(Tab::Measure), texts.title, &content))
}

/// Returns the chosen records as a query.
fn chosen_query(asked: &NamedValues) -> String {
    let records = asked.texts("record").map(|token| ("record", token));
    let against = asked.texts("against").map(|token| ("against", token));
    let pair = |(name, token): (&str, &str)| format!("{name}={}", encode(token.as_bytes()));
    records.chain(against).map(pair).collect::<Vec<_>>().join("&")
}

/// The result of a comparison.
enum CompareResult {
    /// No record was chosen.
    Nothing,
    /// A chosen record does not exist any more.
    Gone,
    Documents(Vec<Document>),
}

async fn compared(app: &Arc<App>, asked: &NamedValues) -> Result<CompareResult, Refusal> {
    let chosen: Vec<String> = asked.texts("record").map(str::to_owned).collect();
    let against = asked.text("against").filter(|token| !token.is_empty()).map(str::to_owned);
    if chosen.is_empty() {
        return Ok(CompareResult::Nothing);
    }
    if chosen.len() > CHOSEN_MAX {
        return Err(Refusal::TooMuch);
    }
    app.heavy(move |app| {
        let folder = app.config.records.as_deref();
        let find = |token: &String| app.shelf.find(token, &app.measurements, folder);
        let records: Option<Vec<Arc<Record>>> = chosen.iter().map(find).collect();
        let other = against.as_ref().map(find);
        match (records, other) {
            (None, _) | (_, Some(None)) => CompareResult::Gone,
            (Some(records), other) => CompareResult::Documents(compare(&records, other.flatten())),
        }
    })
    .await
}

/// Makes a document of all records together, and one of each, compared with `other` if given.
/// Omits empty documents, as of most published records, which have their row in the first one.
fn compare(records: &[Arc<Record>], other: Option<Arc<Record>>) -> Vec<Document> {
    let other = other.as_deref();
    let all: Vec<&Record> = records.iter().map(Arc::as_ref).chain(other).collect();
    let units = Units::default();
    let together = machines::document(&all, units);
    let each = records.iter().map(|record| measure::document_against(record, other, units));
    let mut each: Vec<Document> =
        each.chain(other.map(|other| measure::document_against(other, None, units))).collect();
    if together.is_some() {
        // A session that was interrupted has a warning, even without figures.
        let tells = |one: &Document| !one.sections.is_empty() || !one.warnings.is_empty();
        each.retain(tells);
    }
    together.into_iter().chain(each).collect()
}

/// The form that chooses among all records.
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
                                option value=(choice.token) { (name_of(choice, texts)) }
                            }
                        }
                    }
                    button type="submit" { (texts.show) }
                }
            }
        }
    }
}

/// Returns the name of a record. Those of published ones are in English.
fn name_of(choice: &Choice, texts: &CompareTexts) -> String {
    match choice.source {
        RecordSource::Published => texts.say(&choice.name),
        RecordSource::Here | RecordSource::Folder | RecordSource::Added => choice.name.clone(),
    }
}

fn row(at: usize, choice: &Choice, chosen: &[&str], texts: &CompareTexts) -> Markup {
    let from = match choice.source {
        RecordSource::Here => texts.measured_here,
        RecordSource::Folder => texts.in_folder,
        RecordSource::Added => texts.uploaded,
        RecordSource::Published => texts.published,
    };
    let name = name_of(choice, texts);
    let id = format!("record-{at}");
    html! {
        tr {
            th scope="row" {
                @if choice.record.is_ok() {
                    span .choice {
                        input id=(id) type="checkbox" name="record" value=(choice.token)
                            checked[chosen.contains(&choice.token.as_str())];
                        label for=(id) { (name) }
                    }
                } @else { (name) }
            }
            @match &choice.record {
                Ok(record) => {
                    td .long { (escape::text(&record.machine.cpu)) }
                    td { (begun(record)) }
                }
                Err(why) => td .long colspan="2" { (texts.unreadable) ": " (texts.say(why)) }
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

/// The form that uploads a record, which needs the script.
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

/// Takes an uploaded record; responds with its name in addresses, or with what is wrong with it.
async fn add(
    State(app): State<Arc<App>>,
    QueryFields(query): QueryFields,
    body: Body,
) -> Result<Response, Refusal> {
    let _turn = app.uploads.try_acquire().map_err(|_| Refusal::TooMuch)?;
    let body = timeout(app.config.limits.stall, to_bytes(body, RECORD_LEN_MAX)).await;
    let body = body.map_err(|_| Refusal::TooSlow)?.map_err(|_| Refusal::TooLarge)?;
    let name = query.text("name").unwrap_or("record").to_owned();
    Ok(match app.blocking(move |app| app.shelf.add(&name, &body)).await? {
        Ok(token) => token.into_response(),
        Err(why) => (StatusCode::UNPROCESSABLE_ENTITY, why).into_response(),
    })
}

/// The comparison as one file: the same as `report --output` writes.
async fn save(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    QueryFields(query): QueryFields,
) -> Result<Response, Refusal> {
    let CompareResult::Documents(documents) = compared(&app, &query).await? else {
        return Err(Refusal::NotFound);
    };
    let wording = wording(visitor.language);
    let page = app.blocking(move |_| report::page_in(wording, &documents, Units::Si)).await?;
    Ok(attachment("steadfast-compared.html", HTML, page.into_bytes()))
}
