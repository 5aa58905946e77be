//! The forms by which checks begin by themselves and messages are sent, and what they lead to.

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::response::{IntoResponse as _, Redirect, Response};
use axum::routing::post;
use maud::{Markup, html};
use steadfast_report::escape;
use steadfast_watch::{CheckSchedule, Every, Occasion, TimerKind, timer};
use strum::VariantArray as _;

use crate::app::App;
use crate::automation::{Automation, ScheduleWish};
use crate::folders::ServedFolder;
use crate::icons::{disc, icon, small_icon};
use crate::layout::{Tab, framed};
use crate::refusal::Refusal;
use crate::roots::ServedPath;
use crate::visitor::{FormFields, Visitor};

/// The days of a new schedule's cover: those of the longest month, so that each choice of how often
/// fits it.
const COVER_DAYS: u32 = 31;

/// When new schedules start.
const START: &str = "02:00";

pub(super) fn routes() -> Router<Arc<App>> {
    Router::new().route("/schedules", post(schedule)).route("/alerts", post(alert))
}

/// The form of a folder's schedule. A folder without a catalogue of its own has none.
pub(super) fn schedule_form(
    visitor: &Visitor,
    folder: &ServedFolder,
    automation: &Automation,
) -> Markup {
    let known = folder.schedule.as_ref();
    let manual = known.filter(|known| known.timer == TimerKind::Manual);
    let fields = schedule_fields_form(visitor, folder, known);
    html! {
        @if let Some(manual) = manual {
            @if folder.status.schedule.as_ref().is_some_and(|it| it.lacks_timer) {
                p .note.bad.small { "Nothing on this computer starts it yet." }
            }
            details .fold.plain {
                summary { (small_icon("chevron")) "How to start it" }
                div .body {
                    p .small { "Enter this command in its scheduler, as a daily task:" }
                    p .mono { (escape::text(&timer::command_line(manual, &automation.host))) }
                }
            }
        }
        @if known.is_some() {
            details .fold.plain {
                summary { (small_icon("chevron")) "Change the schedule" }
                div .body { (fields) }
            }
        } @else {
            (fields)
        }
    }
}

fn schedule_fields_form(
    visitor: &Visitor,
    folder: &ServedFolder,
    known: Option<&CheckSchedule>,
) -> Markup {
    html! {
        form .stack.tight method="post" action="/schedules" {
            (visitor.csrf())
            input type="hidden" name="place" value=(folder.place.token());
            (schedule_fields(known))
            div .row {
                button .main[known.is_none()] type="submit" name="act" value="save" {
                    (icon("clock"))
                    @if known.is_some() { "Save the schedule" } @else { "Check regularly" }
                }
                @if known.is_some() {
                    button .quiet type="submit" name="act" value="remove" { "Remove the schedule" }
                }
            }
            p .small.soft {
                "A timer of this computer starts the checks, as the user who started this server. \
                 Each reads a part, the longest unchecked first."
            }
        }
    }
}

/// A button that makes a schedule: all of a folder is checked every month.
pub(super) fn monthly(visitor: &Visitor, place: &ServedPath) -> Markup {
    let every: &str = Every::Month.into();
    html! {
        form method="post" action="/schedules" {
            (visitor.csrf())
            input type="hidden" name="place" value=(place.token());
            input type="hidden" name="every" value=(every);
            input type="hidden" name="at" value=(START);
            input type="hidden" name="cover" value=(COVER_DAYS);
            button .main type="submit" name="act" value="save" {
                (icon("clock")) "Check it every month"
            }
        }
    }
}

fn schedule_fields(known: Option<&CheckSchedule>) -> Markup {
    let every = known.map_or(Every::Night, |known| known.every);
    let at = known.map_or_else(|| START.to_owned(), |known| known.at.to_string());
    let cover = known.map_or(COVER_DAYS, |known| known.cover_days);
    html! {
        div .row {
            label for="every" { "How often" }
            select #every name="every" {
                @for &one in Every::VARIANTS {
                    @let value: &str = one.into();
                    option value=(value) selected[one == every] { (period(one)) }
                }
            }
        }
        div .row {
            label for="at" { "At" }
            input #at type="time" name="at" value=(at) required;
        }
        div .row {
            label for="cover" { "Days within which everything is checked" }
            input #cover type="number" name="cover" value=(cover) min="1" max="3650" required;
        }
        label .row {
            input type="checkbox" name="update" value="1"
                checked[known.is_some_and(|known| known.update)];
            span { "Also record new and edited files" }
        }
        label .row {
            input type="checkbox" name="repair" value="1"
                checked[known.is_some_and(|known| known.repair)];
            span { "Also mend files that have decayed, where that is proved" }
        }
    }
}

async fn schedule(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    FormFields(form): FormFields,
) -> Result<Response, Refusal> {
    type Done = Result<(), steadfast_watch::Error>;
    let place = app.place(&form)?.filter(|place| place.is_root()).ok_or(Refusal::Malformed)?;
    let removes = form.text("act") == Some("remove");
    let wish = match removes {
        true => None,
        false => Some(ScheduleWish::of(&form).ok_or(Refusal::Malformed)?),
    };
    let root = place.root;
    let now_s = app.now().seconds;
    let done = app.blocking(move |app| -> Result<Done, Refusal> {
        let automation = app.config.automation.as_ref().ok_or(Refusal::NotFound)?;
        let folder = app.folder(root).ok_or(Refusal::NotFound)?;
        let path = app.roots.path(&folder.place);
        Ok(match wish {
            None => automation.cancel(&path),
            // Nothing is due in a folder whose catalogue cannot be read.
            Some(_) if folder.facts().is_none() => return Err(Refusal::Conflict),
            Some(wish) => automation.plan(path, wish, now_s),
        })
    });
    let back = format!("/folders/{root}");
    match done.await?? {
        Ok(()) => Ok(Redirect::to(&back).into_response()),
        Err(error) => {
            let title = "The schedule could not be changed";
            Ok(failed(&visitor, Tab::Home, title, &error.to_string(), &back))
        }
    }
}

/// The panel of the alerts, for the page of settings.
pub(super) fn alerts_panel(visitor: &Visitor, automation: &Automation) -> Markup {
    let alerts = automation.places.alerts();
    html! {
        section .panel aria-labelledby="alerts" {
            div .cap { (icon("bell")) h2 #alerts { "Messages about trouble" } }
            div .body.stack.tight {
                p .small.soft {
                    "Regular checks send a message when they find trouble, a reminder each week, \
                     and one when it is over. A message names up to five files, unless you say \
                     that it must not."
                }
                @match &alerts {
                    Err(error) => {
                        p .note.bad { (escape::text(&error.to_string())) }
                    }
                    Ok(list) => { (alert_lines(visitor, list.alerts())) }
                }
                (add_form(visitor))
            }
        }
    }
}

fn alert_lines(visitor: &Visitor, alerts: &[steadfast_watch::Alert]) -> Markup {
    html! {
        @if alerts.is_empty() { p .small { "No messages are sent yet." } }
        ul .list.lines {
            @for (index, alert) in alerts.iter().enumerate() {
                @let target = alert.target();
                @let said = escape::text(&target);
                li {
                    span .what { (said) span .soft { (occasion(alert.on)) } }
                    form method="post" action="/alerts" {
                        (visitor.csrf())
                        input type="hidden" name="number" value=(index + 1);
                        input type="hidden" name="target" value=(target);
                        button .quiet type="submit" name="act" value="test"
                            aria-label=(format!("Test {said}")) { "Test" }
                        button .quiet type="submit" name="act" value="remove"
                            aria-label=(format!("Remove {said}")) { "Remove" }
                    }
                }
            }
        }
        @if !alerts.is_empty() {
            form method="post" action="/alerts" {
                (visitor.csrf())
                button type="submit" name="act" value="test" { "Send a test message to all" }
            }
        }
    }
}

fn add_form(visitor: &Visitor) -> Markup {
    html! {
        form .stack.tight method="post" action="/alerts" {
            (visitor.csrf())
            div .row {
                label for="channel" { "Send" }
                select #channel name="channel" {
                    option value="webhook" { "a request: ntfy, Gotify, Slack, Discord, JSON" }
                    option value="ping" { "a ping at each check, as to Healthchecks" }
                    option value="mail" { "a mail, by this computer's sendmail" }
                }
            }
            div .row {
                label for="address" { "To the address" }
                input #address type="text" name="address" required maxlength="2000"
                    autocomplete="off" placeholder="https://ntfy.sh/…";
            }
            label .row {
                input type="checkbox" name="details" value="counts";
                span { "Numbers of files only, no names" }
            }
            div .row {
                label for="on" { "When" }
                select #on name="on" {
                    option value="trouble" { (occasion(Occasion::Trouble)) }
                    option value="weekly" { (occasion(Occasion::Weekly)) }
                    option value="every-run" { (occasion(Occasion::EveryRun)) }
                }
                button type="submit" name="act" value="add" { "Add" }
            }
        }
    }
}

async fn alert(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    FormFields(form): FormFields,
) -> Result<Response, Refusal> {
    const BACK: &str = "/settings";
    // What an act leads to: the lines of a test, or nothing to say.
    type Done = Result<Vec<steadfast_watch::Delivery>, steadfast_watch::Error>;
    let tests = form.text("act") == Some("test");
    let (reach, is_local) = (app.alert_reach(), app.is_local());
    let done = app.blocking(move |app| -> Result<Done, Refusal> {
        let automation = app.config.automation.as_ref().ok_or(Refusal::NotFound)?;
        Ok(match form.text("act") {
            Some("add") => automation.add_alert(&form, reach).map(|()| Vec::new()),
            Some("remove") => match automation.remove_alert(&form) {
                Ok(false) => return Err(Refusal::Conflict),
                outcome => outcome.map(|_| Vec::new()),
            },
            Some("test") => automation.test_alerts(form.number("number"), reach),
            _ => return Err(Refusal::Malformed),
        })
    });
    match done.await?? {
        Err(error) => Ok(failed(
            &visitor,
            Tab::Settings,
            "The messages could not be changed",
            &error.to_string(),
            BACK,
        )),
        Ok(_) if !tests => Ok(Redirect::to(BACK).into_response()),
        Ok(deliveries) => Ok(tested(&visitor, &deliveries, BACK, is_local)),
    }
}

/// What became of the test messages.
fn tested(
    visitor: &Visitor,
    deliveries: &[steadfast_watch::Delivery],
    back: &str,
    is_local: bool,
) -> Response {
    let content = html! {
        div .head { div { h1 { "Test messages" } } }
        section .panel aria-label="Test messages" {
            ul .list.lines {
                @for delivery in deliveries {
                    li {
                        @match &delivery.result {
                            Ok(()) => {
                                span .state.good { (small_icon("check")) "delivered" }
                            }
                            Err(_) => {
                                span .state.bad { (small_icon("damaged")) "not delivered" }
                            }
                        }
                        span .what {
                            span { (escape::text(&delivery.target)) }
                            // Who signs in from elsewhere learns nothing of this network.
                            @if let (Err(error), true) = (&delivery.result, is_local) {
                                span .soft { (escape::text(&error.to_string())) }
                            }
                        }
                    }
                }
            }
        }
        p { a .button href=(back) { "Back" } }
    };
    framed(visitor, Some(Tab::Settings), "Test messages", &html! {}, &content)
}

/// Says why nothing was done.
fn failed(visitor: &Visitor, tab: Tab, title: &str, why: &str, back: &str) -> Response {
    let content = html! {
        div .verdict { (disc("damaged", "bad big")) div { h1 { (title) } } }
        p .note.bad role="alert" { (escape::text(why)) }
        p { a .button href=(back) { "Back" } }
    };
    framed(visitor, Some(tab), title, &html! {}, &content)
}

fn occasion(on: Occasion) -> &'static str {
    match on {
        Occasion::Trouble => "when something is wrong, or settled",
        Occasion::Weekly => "the same, and each week that all is well",
        Occasion::EveryRun => "after every check",
    }
}

fn period(every: Every) -> &'static str {
    match every {
        Every::Night => "every night",
        Every::Week => "every week",
        Every::Month => "every month",
    }
}
