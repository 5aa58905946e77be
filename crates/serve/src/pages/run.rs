//! A run: what to do and how fast; then how it goes, in as many pages as look; then what came of
//! it.

mod ask;
mod parts;
mod results;

use std::sync::Arc;

use axum::Router;
use axum::extract::{Path, State};
use axum::http::header;
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use maud::{Markup, html};
use steadfast::qos::Pace;
use steadfast_report::{RunView, Units, escape, html, units};

pub(crate) use parts::parts;

use super::{REPORT_POLICY, Tab, page_with, waiting};
use crate::app::App;
use crate::fields::Fields;
use crate::guard::{Asked, Posted, Refusal, Visitor, to};
use crate::live::{Live as _, follow};
use crate::runs::{Ask, Ended, Refused, Run, Verb};
use crate::texts::RunTexts;

pub(super) fn routes() -> Router<Arc<App>> {
    Router::new()
        .route("/run", get(ask::form))
        .route("/runs", post(begin))
        .route("/runs/{id}", get(show))
        .route("/runs/{id}/events", get(events))
        .route("/runs/{id}/report", get(report))
        .route("/runs/{id}/{order}", post(order))
}

/// Begins what the form asks for.
async fn begin(State(app): State<Arc<App>>, visitor: Visitor, Posted(posted): Posted) -> Response {
    let Some(ask) = asked_for(&app, &posted) else { return Refusal::Malformed.page(&visitor) };
    let beginning = Arc::clone(&app);
    match waiting(move || beginning.runs.begin(ask, &beginning)).await {
        Ok(Ok(run)) => to(&format!("/runs/{}", run.id)),
        Ok(Err(Refused::Overlaps(other))) => to(&format!("/runs/{other}?overlaps=1")),
        Ok(Err(Refused::Measures(id))) => to(&format!("/measure/{id}?busy=1")),
        Ok(Err(Refused::NoThread)) | Err(_) => Refusal::TooMuch.page(&visitor),
        Ok(Err(Refused::Gone)) => Refusal::NotFound.page(&visitor),
    }
}

fn asked_for(app: &App, posted: &Fields) -> Option<Ask> {
    let verb = Verb::named(posted.text("verb")?)?;
    let place = app.roots.place(posted.text("place")?)?;
    let pace = match posted.text("pace") {
        None => Pace::Bicycle,
        Some(pace) => *Pace::ALL.get(pace.parse::<usize>().ok()?)?,
    };
    // A catalogue is of a whole tree, and trees are what the owner named.
    let fits = verb != Verb::Init || place.below.as_os_str().is_empty();
    let from_media = posted.text("media").is_some();
    fits.then_some(Ask { verb, place, pace, from_media })
}

/// Finds a run by what an address calls it.
fn found(app: &App, id: &str) -> Result<Arc<Run>, Refusal> {
    let id = id.parse().map_err(|_| Refusal::NotFound)?;
    app.runs.find(id).ok_or(Refusal::NotFound)
}

async fn show(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    Path(id): Path<String>,
    Asked(asked): Asked,
) -> Response {
    let run = match found(&app, &id) {
        Ok(run) => run,
        Err(refusal) => return refusal.page(&visitor),
    };
    let texts = &visitor.texts().run;
    let state = run.state();
    let title = format!("{}: {}", (texts.heading)(run.ask.verb), run.shown);
    let (head, content) = match &state.ended {
        // Who has no script loads the page anew.
        None => (
            html! { noscript { meta http-equiv="refresh" content="2"; } },
            going(&visitor, &run, &asked),
        ),
        Some(ended) => (html! {}, over(&visitor, &run, ended, &asked)),
    };
    page_with(&visitor, Some(Tab::Run), &title, &head, &content)
}

/// The page while the run goes on. Its parts are replaced as they change.
fn going(visitor: &Visitor, run: &Run, asked: &Fields) -> Markup {
    let texts = &visitor.texts().run;
    let order = |order: &str, label: &str| {
        html! {
            form .(order) method="post" action=(format!("/runs/{}/{order}", run.id)) {
                (visitor.csrf())
                button type="submit" { (label) }
            }
        }
    };
    let parts = run.state().parts(visitor.language);
    let part = |wanted: &str| {
        let (name, part) = parts.iter().find(|(name, _)| *name == wanted)?;
        Some(html! { div data-live=(name) { (maud::PreEscaped(part)) } })
    };
    html! {
        @if asked.text("overlaps").is_some() { p .warnings role="status" { (texts.overlaps) } }
        div #live data-events=(format!("/runs/{}/events", run.id))
            data-lost=(visitor.texts().layout.lost) {
            p .soft { (pace(texts, run.ask.pace)) }
            (part("stand").unwrap_or_default())
            div .orders {
                (order("pause", texts.pause))
                (order("resume", texts.resume))
                (order("stop", texts.stop))
            }
            section aria-labelledby="progress" {
                h2 #progress { (texts.progress) }
                (part("bar").unwrap_or_default())
                (part("figures").unwrap_or_default())
            }
            section aria-labelledby="found" {
                h2 #found { (texts.found) }
                (part("found").unwrap_or_default())
            }
            section aria-labelledby="counts" {
                h2 #counts { (texts.counts) }
                (part("counts").unwrap_or_default())
            }
            section aria-labelledby="cost" {
                h2 #cost { (texts.cost) }
                (part("cost").unwrap_or_default())
            }
            section aria-labelledby="cores" {
                h2 #cores { (texts.cores) }
                (part("cores").unwrap_or_default())
            }
            section {
                h2 #rows { (texts.rows) }
                (part("rows").unwrap_or_default())
            }
            div .told role="status" aria-live="polite" data-live="say" {}
        }
    }
}

/// The page once the run has ended: what can be filtered, and the document of the report.
fn over(visitor: &Visitor, run: &Run, ended: &Ended, asked: &Fields) -> Markup {
    let texts = &visitor.texts().run;
    let again = html! {
        form method="post" action="/runs" {
            (visitor.csrf())
            input type="hidden" name="place" value=(run.ask.place.token());
            input type="hidden" name="pace" value=(run.ask.pace as usize);
            @if run.ask.from_media { input type="hidden" name="media" value="1"; }
            button type="submit" name="verb" value=(run.ask.verb.name()) { (texts.again) }
        }
    };
    let untranslated = visitor.texts().layout.untranslated;
    html! {
        @match ended {
            Ended::Failed(error) => {
                p .wrong role="alert" { (texts.failed) ": " (escape::text(error)) }
                div .orders { (again) }
            }
            Ended::Done(done) => {
                p .soft { (pace(texts, run.ask.pace)) }
                div .orders {
                    a .button href=(format!("/runs/{}/report", run.id)) { (texts.report) }
                    (again)
                    a .button .quiet href=(format!("/run?place={}", run.ask.place.query())) {
                        (texts.title)
                    }
                }
                (done_counts(&done.0, texts))
                (results::section(run, asked, texts))
                @if !untranslated.is_empty() { p .soft { (untranslated) } }
                div .document lang="en" { (html::article(&done.1, 1, true, Units::Si)) }
            }
        }
    }
}

/// What was done and judged, in the report's words and order.
fn done_counts(view: &RunView, texts: &RunTexts) -> Markup {
    let verdicts = view.verdicts.iter().map(|(verdict, count)| (verdict.name(), *count));
    let actions = view.actions.iter().map(|(action, count)| (action.name(), *count));
    let counts = verdicts.chain(actions).filter(|(_, count)| *count > 0);
    html! {
        section aria-labelledby="counts" {
            h2 #counts { (texts.done) }
            dl .figures {
                div { dt { (texts.files) } dd { (units::count(view.files)) } }
                div { dt { (texts.read) } dd { (Units::Si.bytes(view.bytes)) } }
                div { dt { (texts.elapsed) } dd { (units::duration(view.elapsed_ns)) } }
                div { dt { (texts.rate) } dd { (Units::Si.rate(view.bytes, view.elapsed_ns)) } }
                @for (name, count) in counts {
                    div { dt lang="en" { (name) } dd { (units::count(count)) } }
                }
            }
        }
    }
}

/// The pace and its level.
fn pace(texts: &RunTexts, pace: Pace) -> String {
    let at = Pace::ALL.iter().position(|one| *one == pace).unwrap_or(0);
    format!("{}: {} ({})", texts.pace, texts.pace_names[at], pace.level())
}

async fn events(State(app): State<Arc<App>>, visitor: Visitor, Path(id): Path<String>) -> Response {
    match found(&app, &id) {
        Ok(run) => follow(run.states(), &visitor),
        Err(refusal) => refusal.page(&visitor),
    }
}

async fn order(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    Path((id, order)): Path<(String, String)>,
) -> Response {
    let run = match found(&app, &id) {
        Ok(run) => run,
        Err(refusal) => return refusal.page(&visitor),
    };
    match order.as_str() {
        "pause" => run.hold(true),
        "resume" => run.hold(false),
        "stop" => run.stop(),
        _ => return Refusal::NotFound.page(&visitor),
    }
    to(&format!("/runs/{}", run.id))
}

/// The report of a run as one file: the same as `--report` writes.
async fn report(State(app): State<Arc<App>>, visitor: Visitor, Path(id): Path<String>) -> Response {
    let run = match found(&app, &id) {
        Ok(run) => run,
        Err(refusal) => return refusal.page(&visitor),
    };
    let state = run.state();
    let Some(Ended::Done(done)) = state.ended.as_deref() else {
        return Refusal::Conflict.page(&visitor);
    };
    let name =
        format!("attachment; filename=\"steadfast-{}-{}.html\"", run.ask.verb.name(), run.id);
    let lines = [
        (header::CONTENT_TYPE, "text/html; charset=utf-8"),
        (header::CONTENT_SECURITY_POLICY, REPORT_POLICY),
        (header::CONTENT_DISPOSITION, name.as_str()),
    ];
    (lines, html::page(std::slice::from_ref(&done.1), Units::Si)).into_response()
}
