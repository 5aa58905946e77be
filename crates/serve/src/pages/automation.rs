//! The forms by which checks begin by themselves and messages are sent, and what they lead to.

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::response::{IntoResponse as _, Redirect, Response};
use axum::routing::post;
use maud::{Markup, html};
use steadfast_report::escape;
use steadfast_schedule::{CheckSchedule, Every, TimerKind, timer};
use strum::VariantArray as _;

use crate::app::App;
use crate::automation::{Automation, ScheduleWish};
use crate::folders::ServedFolder;
use crate::icons::{disc, icon, small_icon};
use crate::layout::{Tab, framed};
use crate::refusal::Refusal;
use crate::roots::ServedPath;
use crate::texts::OfLanguage as _;
use crate::texts::automation::{AlertTexts, ScheduleTexts};
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
    let texts = &visitor.texts().schedule;
    let known = folder.schedule.as_ref();
    let manual = known.filter(|known| known.timer == TimerKind::Manual);
    html! {
        @if let Some(manual) = manual {
            p .small { (texts.manual) }
            p .mono { (escape::text(&timer::command_line(manual, &automation.host))) }
        }
        form .stack.tight method="post" action="/schedules" {
            (visitor.csrf())
            input type="hidden" name="place" value=(folder.place.token());
            (schedule_fields(known, texts))
            div .row {
                button .main[known.is_none()] type="submit" name="act" value="save" {
                    (icon("clock")) @if known.is_some() { (texts.change) } @else { (texts.make) }
                }
                @if known.is_some() {
                    button .quiet type="submit" name="act" value="remove" { (texts.remove) }
                }
            }
            p .small.soft { (texts.about) }
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
                (icon("clock")) (visitor.texts().add.then_monthly)
            }
        }
    }
}

fn schedule_fields(known: Option<&CheckSchedule>, texts: &ScheduleTexts) -> Markup {
    let every = known.map_or(Every::Night, |known| known.every);
    let at = known.map_or_else(|| START.to_owned(), |known| known.at.to_string());
    let cover = known.map_or(COVER_DAYS, |known| known.cover_days);
    html! {
        div .row {
            label for="every" { (texts.every) }
            select #every name="every" {
                @for &one in Every::VARIANTS {
                    @let value: &str = one.into();
                    option value=(value) selected[one == every] { ((texts.periods)(one)) }
                }
            }
        }
        div .row {
            label for="at" { (texts.at) }
            input #at type="time" name="at" value=(at) required;
        }
        div .row {
            label for="cover" { (texts.cover) }
            input #cover type="number" name="cover" value=(cover) min="1" max="3650" required;
        }
        label .row {
            input type="checkbox" name="update" value="1"
                checked[known.is_some_and(|known| known.update)];
            span { (texts.update) }
        }
    }
}

async fn schedule(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    FormFields(form): FormFields,
) -> Result<Response, Refusal> {
    type Done = Result<(), steadfast_schedule::Error>;
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
            let title = visitor.texts().schedule.failed;
            Ok(failed(&visitor, Tab::Home, title, &error.to_string(), &back))
        }
    }
}

/// The panel of the alerts, for the page of settings.
pub(super) fn alerts_panel(visitor: &Visitor, automation: &Automation) -> Markup {
    let texts = &visitor.texts().alert;
    let alerts = automation.alerts();
    html! {
        section .panel aria-labelledby="alerts" {
            div .cap { (icon("bell")) h2 #alerts { (texts.title) } }
            div .body.stack.tight {
                p .small.soft { (texts.about) }
                @match &alerts {
                    Err(error) => {
                        p .note.bad { (texts.say(&escape::text(&error.to_string()))) }
                    }
                    Ok(list) => { (alert_lines(visitor, list.alerts(), texts)) }
                }
                (add_form(visitor, texts))
            }
        }
    }
}

fn alert_lines(visitor: &Visitor, alerts: &[steadfast_alert::Alert], texts: &AlertTexts) -> Markup {
    html! {
        @if alerts.is_empty() { p .small { (texts.none) } }
        ul .list.lines {
            @for (index, alert) in alerts.iter().enumerate() {
                @let target = alert.target();
                @let said = texts.say(&escape::text(&target));
                li {
                    span .what { (said) }
                    form method="post" action="/alerts" {
                        (visitor.csrf())
                        input type="hidden" name="number" value=(index + 1);
                        input type="hidden" name="target" value=(target);
                        button .quiet type="submit" name="act" value="remove"
                            aria-label=(format!("{} {said}", texts.remove)) { (texts.remove) }
                    }
                }
            }
        }
        @if !alerts.is_empty() {
            form method="post" action="/alerts" {
                (visitor.csrf())
                button type="submit" name="act" value="test" { (texts.test) }
            }
        }
    }
}

fn add_form(visitor: &Visitor, texts: &AlertTexts) -> Markup {
    html! {
        form .stack.tight method="post" action="/alerts" {
            (visitor.csrf())
            div .row {
                label for="channel" { (texts.channel) }
                select #channel name="channel" {
                    option value="webhook" { (texts.webhook) }
                    option value="ping" { (texts.ping) }
                    option value="mail" { (texts.mail) }
                }
            }
            div .row {
                label for="address" { (texts.address) }
                input #address type="text" name="address" required maxlength="2000"
                    autocomplete="off" placeholder="https://ntfy.sh/…";
            }
            div .row { button type="submit" name="act" value="add" { (texts.add) } }
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
    type Done = Result<Vec<steadfast_alert::Delivery>, steadfast_alert::Error>;
    let tests = form.text("act") == Some("test");
    let done = app.blocking(move |app| -> Result<Done, Refusal> {
        let automation = app.config.automation.as_ref().ok_or(Refusal::NotFound)?;
        Ok(match form.text("act") {
            Some("add") => automation.add_alert(&form).map(|()| Vec::new()),
            Some("remove") => match automation.remove_alert(&form) {
                Ok(false) => return Err(Refusal::Conflict),
                outcome => outcome.map(|_| Vec::new()),
            },
            Some("test") => automation.test_alerts(),
            _ => return Err(Refusal::Malformed),
        })
    });
    let texts = &visitor.texts().alert;
    match done.await?? {
        Err(error) => Ok(failed(&visitor, Tab::Settings, texts.failed, &error.to_string(), BACK)),
        Ok(_) if !tests => Ok(Redirect::to(BACK).into_response()),
        Ok(deliveries) => Ok(tested(&visitor, &deliveries, texts, BACK)),
    }
}

/// What became of the test messages.
fn tested(
    visitor: &Visitor,
    deliveries: &[steadfast_alert::Delivery],
    texts: &AlertTexts,
    back: &str,
) -> Response {
    let content = html! {
        div .head { div { h1 { (texts.tested) } } }
        section .panel aria-label=(texts.tested) {
            ul .list.lines {
                @for delivery in deliveries {
                    li {
                        @match &delivery.result {
                            Ok(()) => {
                                span .state.good { (small_icon("check")) (texts.delivered) }
                            }
                            Err(_) => {
                                span .state.bad { (small_icon("damaged")) (texts.undelivered) }
                            }
                        }
                        span .what {
                            span { (texts.say(&escape::text(&delivery.target))) }
                            @if let Err(error) = &delivery.result {
                                span .soft { (texts.say(&escape::text(&error.to_string()))) }
                            }
                        }
                    }
                }
            }
        }
        p { a .button href=(back) { (texts.back) } }
    };
    framed(visitor, Some(Tab::Settings), texts.tested, &html! {}, &content)
}

/// Says why nothing was done.
fn failed(visitor: &Visitor, tab: Tab, title: &str, why: &str, back: &str) -> Response {
    let content = html! {
        div .verdict { (disc("damaged", "bad big")) div { h1 { (title) } } }
        p .note.bad role="alert" { (visitor.texts().alert.say(&escape::text(why))) }
        p { a .button href=(back) { (visitor.texts().alert.back) } }
    };
    framed(visitor, Some(tab), title, &html! {}, &content)
}
