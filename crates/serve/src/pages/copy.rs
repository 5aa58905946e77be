//! A copy to other folders, and the question whether a folder may be erased: the forms, the plan,
//! the progress, and the answer, whose last line is that of the command.

mod form;
mod view;

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{self, State};
use axum::response::{IntoResponse as _, Redirect, Response};
use axum::routing::get;
use maud::html;

use self::form::{asked, wished};
use self::view::CopyView;
use super::task;
use crate::app::App;
use crate::copying::{CopyEnd, CopyTask, ServedCopy};
use crate::dates;
use crate::fields::NamedValues;
use crate::layout::{FOLDERS, Tab, framed, receipt, trail};
use crate::refusal::Refusal;
use crate::visitor::{FormFields, QueryFields, Visitor};

/// How long the answer to a form waits for the end, so that a short one shows no progress.
const PATIENCE: Duration = Duration::from_secs(1);

pub(super) fn routes() -> Router<Arc<App>> {
    Router::new()
        .route("/copy", get(|a, v, q| ask(Question::Copy, a, v, q)).post(begin_copy))
        .route("/safe", get(|a, v, q| ask(Question::Safe, a, v, q)).post(begin_safe))
        .route("/copy/{id}", get(show))
        .route("/copy/{id}/receipt", get(kept))
        .merge(task::routes::<ServedCopy>())
}

/// One of the two tasks, with its words.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Question {
    Copy,
    Safe,
}

impl Question {
    fn of(task: CopyTask) -> Question {
        if task == CopyTask::Judge { Question::Safe } else { Question::Copy }
    }

    fn path(self) -> &'static str {
        if self == Question::Copy { "/copy" } else { "/safe" }
    }

    fn title(self) -> &'static str {
        if self == Question::Copy { "Copy to a drive" } else { "May I erase this?" }
    }
}

async fn ask(
    question: Question,
    State(app): State<Arc<App>>,
    visitor: Visitor,
    QueryFields(query): QueryFields,
) -> Response {
    asked(&app, &visitor, question, &query, None)
}

async fn begin_copy(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    FormFields(form): FormFields,
) -> Result<Response, Refusal> {
    let agreed = form.text("agreed").is_some();
    let task = if agreed { CopyTask::Copy } else { CopyTask::Plan };
    begin(&app, &visitor, task, &form).await
}

async fn begin_safe(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    FormFields(form): FormFields,
) -> Result<Response, Refusal> {
    begin(&app, &visitor, CopyTask::Judge, &form).await
}

/// Starts it, and leads to its page or to that of what is in its way.
async fn begin(
    app: &Arc<App>,
    visitor: &Visitor,
    task: CopyTask,
    form: &NamedValues,
) -> Result<Response, Refusal> {
    let wish = match wished(app, task, form) {
        Ok(wish) => wish,
        Err(wrong) => return Ok(asked(app, visitor, Question::of(task), form, Some(&wrong))),
    };
    if task == CopyTask::Copy {
        let run = wish.places.iter().find_map(|place| app.runs.going_in(place, &app.roots));
        if let Some(run) = run {
            return Ok(Redirect::to(&format!("/runs/{}?overlaps=1", run.id)).into_response());
        }
    }
    if let Some(measurement) = app.measurements.going() {
        return Ok(Redirect::to(&format!("/measure/{measurement}?busy=1")).into_response());
    }
    let begun = app.copies.begin(wish, &app.roots, app.usual_options());
    let (copy, is_other) = begun.ok_or(Refusal::TooMuch)?;
    if is_other {
        return Ok(Redirect::to(&format!("/copy/{}?busy=1", copy.id)).into_response());
    }
    copy.control.over_within(PATIENCE).await;
    Ok(Redirect::to(&format!("/copy/{}", copy.id)).into_response())
}

/// The answer with what was proved where, as a text to keep.
async fn kept(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    extract::Path(id): extract::Path<String>,
) -> Result<Response, Refusal> {
    let copy: Arc<ServedCopy> = task::found(&app, &id)?;
    let end = copy.control.snapshot().end.clone();
    let Some(CopyEnd::Done(answer, found)) = end.as_deref() else { return Err(Refusal::NotFound) };
    let view = CopyView { app: &app, visitor: &visitor, copy: &copy };
    Ok(receipt(copy.id, copy.begun, &view.receipt(answer, found)))
}

async fn show(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    extract::Path(id): extract::Path<String>,
    QueryFields(query): QueryFields,
) -> Result<Response, Refusal> {
    let copy: Arc<ServedCopy> = task::found(&app, &id)?;
    let snapshot = copy.control.snapshot();
    let question = Question::of(copy.wish.task);
    let view = CopyView { app: &app, visitor: &visitor, copy: &copy };
    let (head, content) = match snapshot.end.as_deref() {
        None => (task::reload(5), view.going(&query)),
        Some(CopyEnd::Failed(why, found)) => (html! {}, view.failed(why, found)),
        Some(CopyEnd::Planned(found)) => (html! {}, view.planned(found)),
        Some(CopyEnd::Done(answer, found)) => (html! {}, view.answered(answer, found)),
    };
    let begun = dates::moment(copy.begun, app.now());
    let content = html! {
        (trail(&[FOLDERS, (question.path(), question.title())], &begun))
        (content)
    };
    Ok(framed(&visitor, Some(Tab::Home), question.title(), &head, &content))
}
