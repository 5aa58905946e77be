//! A run: the form that starts it, its progress, and its result.

mod form;
mod parts;
mod recorded;
mod results;
mod verdict;

pub(super) use recorded::title_of;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use axum::Router;
use axum::extract::{self, State};
use axum::response::{Redirect, Response};
use axum::routing::{get, post};
use maud::{Markup, html};
use steadfast::catalogue::FailedCheck;
use steadfast::qos::Pace;
use steadfast::{FileState, Summary};
use steadfast_report::document::Document;
use steadfast_report::view::{actions, verdicts};
use steadfast_report::{Units, escape, html, units};

use super::many::{self, ManyPlan};
use super::task;
use crate::app::App;
use crate::dates;
use crate::fields::NamedValues;
use crate::folders::name_of;
use crate::icons::{disc, icon, small_icon};
use crate::kinds::StateKind;
use crate::layout::{HTML, Tab, attachment, documents, folder_trail, framed};
use crate::live::{Live, LiveParts, part, section};
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
        .merge(task::routes::<ServedRun>())
        .route("/runs/{id}/report", get(report))
        .route("/runs/{id}/pace", post(set_pace))
        .route("/folders/{root}/runs/{id}", get(recorded::show))
        .route("/runs/{id}/{order}", post(order))
}

/// Starts the run of the form.
async fn begin(
    State(app): State<Arc<App>>,
    FormFields(form): FormFields,
) -> Result<Redirect, Refusal> {
    let request = requested(&app, &form).ok_or(Refusal::Malformed)?;
    let only_open = form.text("only") == Some("open");
    let root = request.place.root;
    let answer = form.text("answer").map(str::to_owned);
    let listed = app.blocking(move |app| listed_of(app, request, answer.as_deref(), only_open));
    let listed = listed.await?;
    match listed? {
        RunAnswer::Run(request) => begun(&app, request).await,
        RunAnswer::Nothing => Ok(Redirect::to(&format!("/folders/{root}"))),
        RunAnswer::LookFirst => Ok(Redirect::to(&format!("/folders/{root}/many"))),
    }
}

/// What a form leads to.
enum RunAnswer {
    Run(RunRequest),
    /// There is no such file any more.
    Nothing,
    /// So many files are gone that the question is asked on a page of its own.
    LookFirst,
}

/// Completes a request that is about open files of a folder. Waits for the disk.
fn listed_of(
    app: &App,
    request: RunRequest,
    answer: Option<&str>,
    only_open: bool,
) -> Result<RunAnswer, Refusal> {
    let kind = request.verb.answers();
    if kind.is_none() && !only_open {
        return Ok(RunAnswer::Run(request));
    }
    let RunRequest { verb, ref place, accepts_many, .. } = request;
    let listed: Vec<PathBuf> = match place.is_root() {
        // One that is gone cannot be opened by its own path.
        false if verb == RunVerb::Removed => vec![place.below.clone()],
        false => return Ok(RunAnswer::Run(request)),
        true => {
            let folder = app.folder(place.root).ok_or(Refusal::NotFound)?;
            let facts = folder.facts().ok_or(Refusal::Conflict)?;
            let many = facts.many_at_once().map(|(state, _)| StateKind::of_state(state));
            match (answer, kind.and_then(StateKind::state)) {
                // About what the page showed, and nothing that came since.
                (Some(code), _) => app.answered(place, code).ok_or(Refusal::Conflict)?,
                _ if many == Some(kind) && !accepts_many => return Ok(RunAnswer::LookFirst),
                (None, Some(state)) => app.open_paths(place, state).ok_or(Refusal::Conflict)?,
                (None, None) => {
                    let is_wanted = |it: &&FailedCheck| it.standing != FileState::Missing;
                    let open = facts.failures.iter().filter(is_wanted);
                    open.map(|failure| failure.path.clone()).collect()
                }
            }
        }
    };
    if listed.is_empty() {
        return Ok(RunAnswer::Nothing);
    }
    let place = place.with(Path::new(""));
    Ok(RunAnswer::Run(RunRequest { listed: Some(listed.into()), place, ..request }))
}

/// Starts a run, and leads to its page or to that of the one in its way.
pub(super) async fn begun(app: &Arc<App>, request: RunRequest) -> Result<Redirect, Refusal> {
    let begun = app.blocking(|app| {
        app.runs.begin(request, &app.roots, &app.measurements, app.usual_options())
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
    let accepts_many = form.text("many").is_some();
    let fits = fits && (verb.accepts() || !accepts_many);
    fits.then_some(RunRequest { pace, from_media, accepts_many, ..RunRequest::of(verb, place) })
}

fn pace_of(form: &NamedValues) -> Option<Pace> {
    Pace::ALL.get(usize::try_from(form.number("pace")?).ok()?).copied()
}

async fn show(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    extract::Path(id): extract::Path<String>,
    QueryFields(query): QueryFields,
) -> Result<Response, Refusal> {
    let run: Arc<ServedRun> = task::found(&app, &id)?;
    let mut visitor = visitor;
    if run.control.is_over() {
        // The side bar must not show what was known before the run.
        let root = run.request.place.root;
        app.blocking(move |app| app.folder(root).is_some()).await?;
        visitor = visitor.with_side(app.side());
    }
    let snapshot = run.control.snapshot();
    let name = name_of(&app.roots.path(&run.request.place));
    let folder = run.request.place.with(Path::new(""));
    let trail = {
        let name = name_of(&app.roots.path(&folder));
        folder_trail(folder.root, &name, words::run_title(run.request.verb))
    };
    let title = match &snapshot.end {
        None => words::run_going(run.request.verb, &name),
        Some(_) => format!("{}: {name}", words::run_title(run.request.verb)),
    };
    let (head, content) = match snapshot.end.as_deref() {
        None => (task::reload(5), html! { (trail) (going(&visitor, &run, &query, &title)) }),
        Some(RunEnd::TooMany(change)) => {
            let (verb, change) = (run.request.verb, change.clone());
            let plan = app.blocking(move |app| ManyPlan::of(app, folder, verb, change));
            (html! {}, many::shown(&visitor, &name, &plan.await?, app.now()))
        }
        Some(RunEnd::Failed(error)) => {
            (html! {}, html! { (trail) (failed(&visitor, &run, error, &title)) })
        }
        Some(RunEnd::Done(done)) => {
            let view = verdict::RunView {
                visitor: &visitor,
                run: &run,
                shown: &app.roots.shown(&folder),
                now: app.now(),
                offers_automation: app.config.automation.is_some(),
            };
            (html! {}, html! { (trail) (over(&view, done, &query)) })
        }
    };
    Ok(framed(&visitor, Some(Tab::Home), &title, &head, &content))
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
            p .note.warn role="status" {
                "This run goes on already, and yours would meet it: in the same folder, above or \
                 beneath it, or while something is measured."
            }
        }
        div #live .stack data-events=(format!("/runs/{}/events", run.id)) {
            div .head {
                div {
                    h1 { (title) }
                    p .soft { (words::run_does(run.request.verb)) }
                }
                div .orders {
                    (order("pause", "pause", "Pause"))
                    (order("resume", "play", "Go on"))
                    (order("stop", "stop", "Stop"))
                }
            }
            div .cols {
                div .stack {
                    section .panel aria-labelledby="progress" {
                        div .body.stack.tight {
                            h2 #progress .told { "Progress" }
                            (part(&parts, "bar"))
                            (part(&parts, "stand"))
                        }
                        (part(&parts, "figures"))
                    }
                    (part(&parts, "found"))
                }
                form #speed .panel method="post" action=(format!("/runs/{}/pace", run.id)) {
                    (visitor.csrf())
                    div .cap { h2 { "Speed" } }
                    div .body.stack.tight {
                        (form::gears(run.pace()))
                        noscript { button type="submit" { "Set this speed" } }
                        p .tiny.soft {
                            "Takes effect at once. The report says if the system refused it."
                        }
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

/// A button that does the same again.
fn again(visitor: &Visitor, run: &ServedRun, label: &str) -> Markup {
    html! {
        form method="post" action="/runs" {
            (visitor.csrf())
            input type="hidden" name="place" value=(run.request.place.token());
            input type="hidden" name="pace" value=(run.pace() as usize);
            @if run.request.from_media { input type="hidden" name="media" value="1"; }
            button type="submit" name="verb" value=(run.request.verb.name()) {
                (icon("checking")) (label)
            }
        }
    }
}

fn failed(visitor: &Visitor, run: &ServedRun, error: &str, title: &str) -> Markup {
    html! {
        div .verdict {
            (disc("help", "bad big"))
            div {
                h1 { (title) " could not be done" }
                p .soft { "Nothing was changed by it after that." }
                div .row { (again(visitor, run, "Try again")) }
            }
        }
        details .fold open {
            summary { (small_icon("chevron")) "Why" }
            div .body { p .mono { (escape::text(error)) } }
        }
    }
}

/// The page of a run that has ended: a sentence, its findings, and the folded document.
fn over(view: &verdict::RunView<'_>, done: &(Summary, Document), asked: &NamedValues) -> Markup {
    let run = view.run;
    html! {
        (verdict::shown(view, &done.0))
        div .cols {
            div .stack { (results::groups(view, asked)) }
            (about(view, &done.0))
        }
        (details(run, done))
    }
}

/// When the run was, and what it read.
fn about(view: &verdict::RunView<'_>, summary: &Summary) -> Markup {
    html! {
        section .panel aria-labelledby="about" {
            div .cap {
                h2 #about { "This run" }
                a .small href=(format!("/runs/{}/report", view.run.id)) { "Save the report" }
            }
            div .body {
                dl .facts {
                    div { dt { "Began" } dd { (dates::moment(view.run.begun, view.now)) } }
                    div { dt { "Took" } dd { (units::rough_duration(summary.elapsed_ns)) } }
                    div { dt { "Read" } dd {
                        (units::counted(summary.files, "file", "files")) ", "
                        (Units::Si.bytes(summary.bytes))
                    } }
                    div { dt { "Speed" } dd { (words::pace(view.run.pace())) } }
                }
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
                @for (name, count) in counts {
                    div { dt { (name) } dd { (units::count(count)) } }
                }
            }
        }
    }
}

/// The pace and its level.
fn pace(pace: Pace) -> String {
    format!("Speed: {} ({})", words::pace(pace), pace.level())
}

async fn order(
    State(app): State<Arc<App>>,
    extract::Path((id, order)): extract::Path<(String, String)>,
) -> Result<Redirect, Refusal> {
    let run: Arc<ServedRun> = task::found(&app, &id)?;
    match order.as_str() {
        "pause" => run.control.hold(true),
        "resume" => run.control.hold(false),
        _ => return Err(Refusal::NotFound),
    }
    Ok(Redirect::to(&format!("/runs/{}", run.id)))
}

/// Changes the pace of a run.
async fn set_pace(
    State(app): State<Arc<App>>,
    extract::Path(id): extract::Path<String>,
    FormFields(form): FormFields,
) -> Result<Redirect, Refusal> {
    let run: Arc<ServedRun> = task::found(&app, &id)?;
    run.set_pace(pace_of(&form).ok_or(Refusal::Malformed)?);
    Ok(Redirect::to(&format!("/runs/{}", run.id)))
}

/// The report of a run as one file: the same as `--report` writes.
async fn report(
    State(app): State<Arc<App>>,
    extract::Path(id): extract::Path<String>,
) -> Result<Response, Refusal> {
    let run: Arc<ServedRun> = task::found(&app, &id)?;
    let snapshot = run.control.snapshot();
    let Some(RunEnd::Done(done)) = snapshot.end.as_deref() else { return Err(Refusal::Conflict) };
    let name = format!("steadfast-{}-{}.html", run.request.verb.name(), run.id);
    let page = html::page(std::slice::from_ref(&done.1), Units::Si);
    Ok(attachment(&name, HTML, page.into_bytes()))
}
