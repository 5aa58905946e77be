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
use steadfast_report::{Units, escape, html as report, machines};
use tokio::time::timeout;

use crate::app::App;
use crate::dates;
use crate::fields::{NamedValues, encode};
use crate::icons::icon;
use crate::layout::{HTML, Tab, attachment, documents, page};
use crate::refusal::Refusal;
use crate::shelf::{Choice, RECORD_LEN_MAX, RecordSource};
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
    let compared = compared(&app, &query).await?;
    let all =
        app.blocking(|app| app.shelf.all(&app.measurements, app.config.records.as_deref())).await?;
    // Preselects the record that was just added, and those that the address names.
    let chosen: Vec<&str> = query.texts("record").chain(query.texts("added")).collect();
    let content = html! {
        p .soft { "Records of any computer, side by side, with what others have published." }
        @match &compared {
            CompareResult::Nothing => (choices(&all, &chosen, app.now())),
            CompareResult::Gone => {
                p .wrong role="alert" {
                    "A chosen record does not exist any more, or cannot be read."
                }
                (choices(&all, &chosen, app.now()))
            }
            CompareResult::Documents(compared) => {
                div .orders {
                    @let save = format!("/compare/report?{}", chosen_query(&query));
                    a .button href=(save) { "Save the report" }
                    a .button .quiet href="/compare" { "Choose others" }
                }
                (documents(compared))
            }
        }
        @if !matches!(compared, CompareResult::Documents(_)) { (adding()) }
    };
    Ok(page(&visitor, Some(Tab::Measure), "Compare records", &content))
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
            (Some(records), other) => {
                let records: Vec<&Record> = records.iter().map(Arc::as_ref).collect();
                let other: Vec<&Record> = other.iter().flatten().map(Arc::as_ref).collect();
                let documents = machines::documents(&records, &other, Units::default());
                CompareResult::Documents(documents)
            }
        }
    })
    .await
}

/// The form that chooses among all records.
fn choices(all: &[Choice], chosen: &[&str], now: Timestamp) -> Markup {
    html! {
        form .panel.records method="get" action="/compare" {
            div .cap {
                h2 #records { "Records" }
                p .small.soft { "Choose one or more, and one to compare them with if you like." }
            }
            @if all.is_empty() { p .body.soft { "There are no records." } }
            ul .list.lines aria-labelledby="records" {
                @for (at, choice) in all.iter().enumerate() { (line(at, choice, chosen, now)) }
            }
            div .acts {
                label for="against" { "Compared with" }
                select #against name="against" {
                    option value="" { "nothing" }
                    @for choice in all.iter().filter(|choice| choice.record.is_ok()) {
                        option value=(choice.token) { (choice.name) }
                    }
                }
                button .main type="submit" { "Show them" }
            }
        }
    }
}

/// One record: its name, its computer, where it is from, and when it was measured.
fn line(at: usize, choice: &Choice, chosen: &[&str], now: Timestamp) -> Markup {
    let from = match choice.source {
        RecordSource::Here => "measured here",
        RecordSource::Folder => "from the folder of records",
        RecordSource::Added => "added",
        RecordSource::Published => "published",
    };
    let id = format!("record-{at}");
    html! {
        li {
            @match &choice.record {
                Ok(record) => {
                    input id=(id) type="checkbox" name="record" value=(choice.token)
                        checked[chosen.contains(&choice.token.as_str())];
                    div .what {
                        label for=(id) { (choice.name) }
                        span .soft { (escape::text(&record.machine.cpu)) "; " (from) }
                    }
                    @if record.started_unix_s != 0 {
                        @let begun = Timestamp { seconds: record.started_unix_s, nanoseconds: 0 };
                        (dates::moment(begun, now))
                    }
                }
                Err(why) => div .what {
                    (choice.name)
                    span .soft { "Not a record: " (why) }
                },
            }
        }
    }
}

/// The form that uploads a record, which needs the script.
fn adding() -> Markup {
    html! {
        section .panel aria-labelledby="adding" {
            div .cap { h2 #adding { "A record from another computer" } }
            div .body {
                noscript {
                    p .note.warn {
                        "Adding a record needs the page's script. Without it, start the server \
                         with a folder of records."
                    }
                }
                div #record hidden data-refused="The record was refused" {
                    p {
                        input #record-file .told type="file" accept=".json,application/json"
                            aria-describedby="record-help";
                        label .button for="record-file" { (icon("plus")) "Add a record" }
                    }
                    p #record-help .small.soft {
                        "A .json file as `measure --export` writes it, up to 8 MB. It is kept in \
                         memory until the server ends."
                    }
                    p #record-said .wrong role="alert" {}
                }
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
    let _turn = app.turns.uploads.try_acquire().map_err(|_| Refusal::TooMuch)?;
    let body = timeout(app.config.limits.stall, to_bytes(body, RECORD_LEN_MAX)).await;
    let body = body.map_err(|_| Refusal::TooSlow)?.map_err(|_| Refusal::TooLarge)?;
    let name = query.text("name").unwrap_or("record").to_owned();
    Ok(match app.blocking(move |app| app.shelf.add(&name, &body)).await? {
        Ok(token) => token.into_response(),
        Err(why) => (StatusCode::UNPROCESSABLE_ENTITY, why).into_response(),
    })
}

/// The comparison as one file: the same as `measure report --output` writes.
async fn save(
    State(app): State<Arc<App>>,
    QueryFields(query): QueryFields,
) -> Result<Response, Refusal> {
    let CompareResult::Documents(documents) = compared(&app, &query).await? else {
        return Err(Refusal::NotFound);
    };
    let page = app.blocking(move |_| report::page(&documents, Units::Si)).await?;
    Ok(attachment("steadfast-compared.html", HTML, page.into_bytes()))
}
