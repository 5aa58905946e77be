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
use steadfast::qos::Pace;
use steadfast_report::document::Document;
use steadfast_report::{RunView, Units, escape, html, units};

use crate::app::App;
use crate::config::Language;
use crate::fields::NamedValues;
use crate::icons::{icon, small_icon};
use crate::layout::{HTML, Tab, attachment, documents, framed};
use crate::live::{Live, LiveParts, follow, part, section};
use crate::refusal::Refusal;
use crate::runs::{RunEnd, RunRefused, RunRequest, RunSnapshot, RunVerb, ServedRun};
use crate::texts::OfLanguage as _;
use crate::texts::reports::{word, wording};
use crate::texts::{RunTexts, texts};
use crate::visitor::{FormFields, QueryFields, Visitor};

impl Live for RunSnapshot {
    fn parts(&self, language: Language) -> LiveParts {
        self.rendered.of(language, || parts::parts(self, language))
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
    let texts = &visitor.texts().run;
    let snapshot = run.control.snapshot();
    let title = format!("{}: {}", (texts.heading)(run.request.verb), run.shown);
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
fn trail(visitor: &Visitor, run: &ServedRun) -> Markup {
    let folder = format!("/folders/{}", run.request.place.root);
    html! {
        p .trail {
            a href="/" { (visitor.texts().home.title) }
            (small_icon("chevron"))
            a href=(folder) { (visitor.texts().result.to_folder) }
        }
    }
}

/// The page while the run goes on. Its parts are replaced as they change.
fn going(visitor: &Visitor, run: &ServedRun, asked: &NamedValues, title: &str) -> Markup {
    let (texts, result) = (&visitor.texts().run, &visitor.texts().result);
    let order = |order: &str, name: &str, label: &str| {
        html! {
            form .(order) method="post" action=(format!("/runs/{}/{order}", run.id)) {
                (visitor.csrf())
                button .main[order != "stop"] type="submit" { (icon(name)) (label) }
            }
        }
    };
    let parts = run.control.snapshot().parts(visitor.language);
    html! {
        @if asked.text("overlaps").is_some() { p .warnings role="status" { (texts.overlaps) } }
        div #live .stack data-events=(format!("/runs/{}/events", run.id))
            data-lost=(visitor.texts().layout.lost) {
            div .head {
                div {
                    (trail(visitor, run))
                    h1 { (title) }
                    p .soft { (result.going_text) }
                }
                div .orders {
                    (order("pause", "pause", texts.pause))
                    (order("resume", "checking", texts.resume))
                    (order("stop", "stop", texts.stop))
                }
            }
            (part(&parts, "stand"))
            div .cols {
                div .stack {
                    section .panel aria-labelledby="progress" {
                        div .body.stack.tight {
                            h2 #progress .told { (texts.progress) }
                            (part(&parts, "bar"))
                            (part(&parts, "figures"))
                        }
                    }
                    section .panel aria-labelledby="found" {
                        div .cap { h2 #found { (result.found) } }
                        div .body { (part(&parts, "found")) }
                    }
                }
                form #speed .panel method="post" action=(format!("/runs/{}/pace", run.id)) {
                    (visitor.csrf())
                    div .body.stack.tight {
                        (form::slider(texts, run.pace(), result.pace_text))
                        noscript { button type="submit" { (result.set_pace) } }
                    }
                }
            }
            details .fold {
                summary {
                    (small_icon("chevron")) (result.details)
                    span .soft { (result.details_hint) }
                }
                div .body {
                    (section(&parts, "counts", texts.counts, &["counts"]))
                    (section(&parts, "cost", texts.cost, &["cost"]))
                    (section(&parts, "cores", texts.cores, &["cores"]))
                    (section(&parts, "rows", texts.rows, &["rows"]))
                }
            }
            div .told role="status" aria-live="polite" data-live="say" {}
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
    let texts = &visitor.texts().run;
    let again = html! {
        form method="post" action="/runs" {
            (visitor.csrf())
            input type="hidden" name="place" value=(run.request.place.token());
            input type="hidden" name="pace" value=(run.pace() as usize);
            @if run.request.from_media { input type="hidden" name="media" value="1"; }
            button type="submit" name="verb" value=(run.request.verb.name()) {
                (icon("checking")) (texts.again)
            }
        }
    };
    html! {
        (trail(visitor, run))
        @match ended {
            RunEnd::Failed(error) => {
                h1 { (title) }
                p .note.bad role="alert" {
                    (texts.failed) ": " (texts.say(&escape::text(error)))
                }
                div .orders { (again) }
            }
            RunEnd::Done(done) => {
                (verdict::shown(visitor, run, &done.0, title, &again, offers_automation))
                (results::section(run, asked, visitor.language))
                (details(visitor, run, done))
            }
        }
    }
}

/// What the run was in numbers, and the document of the report.
fn details(visitor: &Visitor, run: &ServedRun, done: &(RunView, Document)) -> Markup {
    let (texts, result) = (&visitor.texts().run, &visitor.texts().result);
    html! {
        details .fold {
            summary {
                (small_icon("chevron")) (result.details)
                span .soft { (result.document) }
            }
            div .body {
                p .soft { (pace(texts, run.pace())) }
                (done_counts(&done.0, visitor.language))
                (documents(visitor.language, std::slice::from_ref(&done.1)))
            }
        }
    }
}

/// The counts of verdicts and actions, as the report names and orders them.
fn done_counts(view: &RunView, language: Language) -> Markup {
    let texts = &texts(language).run;
    let verdicts = view.verdicts.iter().map(|(verdict, count)| (verdict.name(), *count));
    let actions = view.actions.iter().map(|(action, count)| (action.name(), *count));
    let counts = verdicts.chain(actions).filter(|(_, count)| *count > 0);
    html! {
        section aria-labelledby="counts" {
            h2 #counts { (texts.done) }
            dl .figures {
                div { dt { (texts.files) } dd { (texts.say(&units::count(view.files))) } }
                div { dt { (texts.read) } dd { (texts.say(&Units::Si.bytes(view.bytes))) } }
                div { dt { (texts.elapsed) } dd { (texts.say(&units::duration(view.elapsed_ns))) } }
                div { dt { (texts.rate) } dd {
                    (texts.say(&Units::Si.rate(view.bytes, view.elapsed_ns)))
                } }
                @for (name, count) in counts {
                    div { dt { (word(name, language)) } dd { (texts.say(&units::count(count))) } }
                }
            }
        }
    }
}

/// The pace and its level.
fn pace(texts: &RunTexts, pace: Pace) -> String {
    format!("{}: {} ({})", texts.pace, (texts.pace_name)(pace), pace.level())
}

async fn events(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    Path(id): Path<String>,
) -> Result<Response, Refusal> {
    let run = found(&app, &id)?;
    Ok(follow(&run.control, visitor.language, visitor.session().cloned()))
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

/// The report of a run as one file: the same as `--report` writes, in the language of the page.
async fn report(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    Path(id): Path<String>,
) -> Result<Response, Refusal> {
    let run = found(&app, &id)?;
    let snapshot = run.control.snapshot();
    let Some(RunEnd::Done(done)) = snapshot.end.as_deref() else { return Err(Refusal::Conflict) };
    let name = format!("steadfast-{}-{}.html", run.request.verb.name(), run.id);
    let page = html::page_in(wording(visitor.language), std::slice::from_ref(&done.1), Units::Si);
    Ok(attachment(&name, HTML, page.into_bytes()))
}
