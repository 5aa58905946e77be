//! A run: the form that starts it, its progress, and its result.

mod form;
mod parts;
mod results;
mod verdict;

use std::sync::Arc;

use axum::Router;
use axum::extract::{Path, State};
use axum::response::{Redirect, Response};
use axum::routing::{get, post};
use maud::{Markup, html};
use steadfast::Summary;
use steadfast::qos::Pace;
use steadfast_report::document::Document;
use steadfast_report::view::{actions, verdicts};
use steadfast_report::{Units, escape, html, units};

use crate::app::App;
use crate::fields::NamedValues;
use crate::icons::{icon, small_icon};
use crate::layout::{HTML, Tab, attachment, documents, framed};
use crate::live::{Live, LiveParts, follow, part, section};
use crate::refusal::Refusal;
use crate::runs::{RunEnd, RunRefused, RunRequest, RunSnapshot, RunVerb, ServedRun};
use crate::visitor::{FormFields, QueryFields, Visitor};
use crate::words;

impl Live for RunSnapshot {
    fn parts(&self) -> LiveParts {
        self.rendered.of(|| parts::parts(self))
    }

    fn is_over(&self) -> bool {
        self.end.is_some()
    }
}

pub(super) fn routes() -> Router<Arc<App>> {
    Router::new()
        .route("/run", get(form::form))
        .route("/runs", post(begin))
        .route("/runs/{id}", get(show))
        .route("/runs/{id}/events", get(events))
        .route("/runs/{id}/report", get(report))
        .route("/runs/{id}/pace", post(set_pace))
        .route("/runs/{id}/{order}", post(order))
}

/// Starts the run of the form.
async fn begin(
    State(app): State<Arc<App>>,
    FormFields(form): FormFields,
) -> Result<Redirect, Refusal> {
    let request = requested(&app, &form).ok_or(Refusal::Malformed)?;
    begun(&app, request).await
}

/// Starts a run, and leads to its page or to that of the one in its way.
pub(super) async fn begun(app: &Arc<App>, request: RunRequest) -> Result<Redirect, Refusal> {
    let begun = app.blocking(|app| {
        let trees = app.config.trees.clone();
        app.runs.begin(request, &app.roots, &app.measurements, trees)
    });
    let page = match begun.await {
        Ok(Ok(run)) => format!("/runs/{}", run.id),
        Ok(Err(RunRefused::Overlaps(other))) => format!("/runs/{other}?overlaps=1"),
        Ok(Err(RunRefused::Measures(id))) => format!("/measure/{id}?busy=1"),
        Ok(Err(RunRefused::NoThread)) | Err(_) => return Err(Refusal::TooMuch),
        Ok(Err(RunRefused::Gone)) => return Err(Refusal::NotFound),
    };
    Ok(Redirect::to(&page))
}

fn requested(app: &App, form: &NamedValues) -> Option<RunRequest> {
    let verb: RunVerb = form.text("verb")?.parse().ok()?;
    let place = app.roots.place(form.text("place")?)?;
    let pace = match form.text("pace") {
        None => Pace::Bicycle,
        Some(_) => pace_of(form)?,
    };
    // A catalogue is of a whole root, which the owner named.
    let fits = !matches!(verb, RunVerb::Init | RunVerb::Protect) || place.is_root();
    let from_media = form.text("media").is_some();
    fits.then_some(RunRequest { verb, place, pace, from_media })
}

fn pace_of(form: &NamedValues) -> Option<Pace> {
    Pace::ALL.get(usize::try_from(form.number("pace")?).ok()?).copied()
}

/// Finds a run by the number in an address.
fn found(app: &App, id: &str) -> Result<Arc<ServedRun>, Refusal> {
    let id = id.parse().map_err(|_| Refusal::NotFound)?;
    app.runs.find(id).ok_or(Refusal::NotFound)
}

async fn show(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    Path(id): Path<String>,
    QueryFields(query): QueryFields,
) -> Result<Response, Refusal> {
    let run = found(&app, &id)?;
    let mut visitor = visitor;
    if run.control.is_over() {
        // The side bar must not show what was known before the run.
        let root = run.request.place.root;
        app.blocking(move |app| app.folder(root).is_some()).await?;
        visitor = visitor.with_side(app.side());
    }
    let snapshot = run.control.snapshot();
    let title = format!("{}: {}", words::run_title(run.request.verb), run.shown);
    let (head, content) = match &snapshot.end {
        // Browsers without scripts reload the page.
        None => (
            html! { noscript { meta http-equiv="refresh" content="5"; } },
            going(&visitor, &run, &query, &title),
        ),
        Some(end) => {
            let offers_automation = app.config.automation.is_some();
            (html! {}, over(&visitor, &run, end, &query, &title, offers_automation))
        }
    };
    Ok(framed(&visitor, Some(Tab::Home), &title, &head, &content))
}

/// The way back to the folder of a run.
fn trail(run: &ServedRun) -> Markup {
    let folder = format!("/folders/{}", run.request.place.root);
    html! {
        p .trail {
            a href="/" { "Folders" }
            (small_icon("chevron"))
            a href=(folder) { "To the folder" }
        }
    }
}

/// The page while the run goes on. Its parts are replaced as they change.
fn going(visitor: &Visitor, run: &ServedRun, asked: &NamedValues, title: &str) -> Markup {
    let order = |order: &str, name: &str, label: &str| {
        html! {
            form .(order) method="post" action=(format!("/runs/{}/{order}", run.id)) {
                (visitor.csrf())
                button .main[order != "stop"] type="submit" { (icon(name)) (label) }
            }
        }
    };
    let parts = run.control.snapshot().parts();
    html! {
        @if asked.text("overlaps").is_some() {
            p .warnings role="status" {
                "Another run goes on that this one would meet: in that folder, above or beneath, \
                 or with the same catalogue, or while something is to be measured. This is it."
            }
        }
        div #live .stack data-events=(format!("/runs/{}/events", run.id))
            data-lost="The server does not answer. This page shows its last update." {
            div .head {
                div {
                    (trail(run))
                    h1 { (title) }
                    p .soft {
                        "Every file is read and compared with what was recorded. You can close \
                         this page: the run goes on."
                    }
                }
                div .orders {
                    (order("pause", "pause", "Pause"))
                    (order("resume", "checking", "Go on"))
                    (order("stop", "stop", "Stop"))
                }
            }
            (part(&parts, "stand"))
            div .cols {
                div .stack {
                    section .panel aria-labelledby="progress" {
                        div .body.stack.tight {
                            h2 #progress .told { "Progress" }
                            (part(&parts, "bar"))
                            (part(&parts, "figures"))
                        }
                    }
                    section .panel aria-labelledby="found" {
                        div .cap { h2 #found { "Found so far" } }
                        div .body { (part(&parts, "found")) }
                    }
                }
                form #speed .panel method="post" action=(format!("/runs/{}/pace", run.id)) {
                    (visitor.csrf())
                    div .body.stack.tight {
                        (form::slider(
                            run.pace(),
                            "Takes effect at once, slower or faster. Finding and counting files \
                             keep their first pace. The report says if the system refused a pace."
                        ))
                        noscript { button type="submit" { "Set this pace" } }
                    }
                }
            }
            (technical(&parts))
            div .told role="status" aria-live="polite" data-live="say" {}
        }
    }
}

/// What few people want to know while a run goes on.
fn technical(parts: &LiveParts) -> Markup {
    html! {
        details .fold {
            summary {
                (small_icon("chevron")) "Technical details"
                span .soft { "time, processors, latest files" }
            }
            div .body {
                (section(parts, "counts", "So far", &["counts"]))
                (section(parts, "cost", "Where the time goes", &["cost"]))
                (section(parts, "cores", "Processors, the last minute", &["cores"]))
                (section(parts, "rows", "Latest files", &["rows"]))
            }
        }
    }
}

/// The page of a run that has ended: a sentence, actions, its findings, and the folded document.
fn over(
    visitor: &Visitor,
    run: &ServedRun,
    ended: &RunEnd,
    asked: &NamedValues,
    title: &str,
    offers_automation: bool,
) -> Markup {
    let again = html! {
        form method="post" action="/runs" {
            (visitor.csrf())
            input type="hidden" name="place" value=(run.request.place.token());
            input type="hidden" name="pace" value=(run.pace() as usize);
            @if run.request.from_media { input type="hidden" name="media" value="1"; }
            button type="submit" name="verb" value=(run.request.verb.name()) {
                (icon("checking")) "Run again"
            }
        }
    };
    html! {
        (trail(run))
        @match ended {
            RunEnd::Failed(error) => {
                h1 { (title) }
                p .note.bad role="alert" {
                    "The run failed: " (escape::text(error))
                }
                div .orders { (again) }
            }
            RunEnd::Done(done) => {
                (verdict::shown(visitor, run, &done.0, title, &again, offers_automation))
                (results::section(run, asked))
                (details(run, done))
            }
        }
    }
}

/// What the run was in numbers, and the document of the report.
fn details(run: &ServedRun, done: &(Summary, Document)) -> Markup {
    html! {
        details .fold {
            summary {
                (small_icon("chevron")) "Technical details"
                span .soft { "report, counts, command" }
            }
            div .body {
                p .soft { (pace(run.pace())) }
                (done_counts(&done.0))
                (documents(std::slice::from_ref(&done.1)))
            }
        }
    }
}

/// The counts of verdicts and actions, as the report names and orders them.
fn done_counts(view: &Summary) -> Markup {
    let verdicts = verdicts(view).map(|(verdict, count)| (verdict.name(), count));
    let actions = actions(view).map(|(action, count)| (action.name(), count));
    let counts = verdicts.chain(actions).filter(|(_, count)| *count > 0);
    html! {
        section aria-labelledby="counts" {
            h2 #counts { "What was done" }
            dl .figures {
                div { dt { "Files" } dd { (units::count(view.files)) } }
                div { dt { "Read" } dd { (Units::Si.bytes(view.bytes)) } }
                div { dt { "Time" } dd { (units::duration(view.elapsed_ns)) } }
                div { dt { "Rate" } dd {
                    (Units::Si.rate(view.bytes, view.elapsed_ns))
                } }
                @for (name, count) in counts {
                    div { dt { (name) } dd { (units::count(count)) } }
                }
            }
        }
    }
}

/// The pace and its level.
fn pace(pace: Pace) -> String {
    format!("Pace: {} ({})", words::pace(pace), pace.level())
}

async fn events(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    Path(id): Path<String>,
) -> Result<Response, Refusal> {
    let run = found(&app, &id)?;
    Ok(follow(&run.control, visitor.session().cloned()))
}

async fn order(
    State(app): State<Arc<App>>,
    Path((id, order)): Path<(String, String)>,
) -> Result<Redirect, Refusal> {
    let run = found(&app, &id)?;
    match order.as_str() {
        "pause" => run.control.hold(true),
        "resume" => run.control.hold(false),
        "stop" => run.control.stop(),
        _ => return Err(Refusal::NotFound),
    }
    Ok(Redirect::to(&format!("/runs/{}", run.id)))
}

/// Changes the pace of a run.
async fn set_pace(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    FormFields(form): FormFields,
) -> Result<Redirect, Refusal> {
    let run = found(&app, &id)?;
    run.set_pace(pace_of(&form).ok_or(Refusal::Malformed)?);
    Ok(Redirect::to(&format!("/runs/{}", run.id)))
}

/// The report of a run as one file: the same as `--report` writes.
async fn report(State(app): State<Arc<App>>, Path(id): Path<String>) -> Result<Response, Refusal> {
    let run = found(&app, &id)?;
    let snapshot = run.control.snapshot();
    let Some(RunEnd::Done(done)) = snapshot.end.as_deref() else { return Err(Refusal::Conflict) };
    let name = format!("steadfast-{}-{}.html", run.request.verb.name(), run.id);
    let page = html::page(std::slice::from_ref(&done.1), Units::Si);
    Ok(attachment(&name, HTML, page.into_bytes()))
}
