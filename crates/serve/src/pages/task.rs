//! What the pages of work that outlives requests share: the stream of its events, the button that
//! stops it, and how far it is.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Path, State};
use axum::response::{Redirect, Response};
use axum::routing::{get, post};
use maud::{Markup, html};
use steadfast_report::{progress, units};

use crate::app::App;
use crate::copying::ServedCopy;
use crate::icons::{bar, icon};
use crate::jobs::{JobEnd, JobSnapshot, ServedJob, ServedJobs};
use crate::live::{Live, LiveParts, LiveStatus, follow, part, stand};
use crate::measuring::Measurement;
use crate::refusal::Refusal;
use crate::repair_data::ServedRepairData;
use crate::repairs::ServedRepair;
use crate::runs::ServedRun;
use crate::visitor::Visitor;
use crate::words;

impl<E: JobEnd> Live for JobSnapshot<E> {
    fn parts(&self) -> LiveParts {
        let (share, left) =
            (progress::share(&self.progress), progress::remaining_ns(&self.progress));
        self.rendered.of(|| parts(self.status, share, left, &self.says))
    }

    fn is_over(&self) -> bool {
        self.end.is_some()
    }
}

/// Work whose pages have its number in their addresses.
pub(super) trait ServedTask: ServedJob {
    /// What these addresses begin with.
    const PATH: &'static str;

    /// Returns all work of its kind.
    fn all(app: &App) -> &ServedJobs<Self>
    where
        Self: Sized;
}

impl ServedTask for ServedRun {
    const PATH: &'static str = "/runs";

    fn all(app: &App) -> &ServedJobs<ServedRun> {
        &app.runs
    }
}

impl ServedTask for ServedRepair {
    const PATH: &'static str = "/repairs";

    fn all(app: &App) -> &ServedJobs<ServedRepair> {
        &app.repairs
    }
}

impl ServedTask for ServedRepairData {
    const PATH: &'static str = "/repair-data";

    fn all(app: &App) -> &ServedJobs<ServedRepairData> {
        &app.repair_data
    }
}

impl ServedTask for ServedCopy {
    const PATH: &'static str = "/copy";

    fn all(app: &App) -> &ServedJobs<ServedCopy> {
        &app.copies
    }
}

impl ServedTask for Measurement {
    const PATH: &'static str = "/measure";

    fn all(app: &App) -> &ServedJobs<Measurement> {
        &app.measurements
    }
}

/// The routes that every kind of work has.
pub(super) fn routes<T: ServedTask>() -> Router<Arc<App>> {
    let route = |name: &str| format!("{}/{{id}}/{name}", T::PATH);
    Router::new().route(&route("events"), get(events::<T>)).route(&route("stop"), post(stop::<T>))
}

/// Finds a piece of work by the number in an address.
pub(super) fn found<T: ServedTask>(app: &App, id: &str) -> Result<Arc<T>, Refusal> {
    id.parse().ok().and_then(|id| T::all(app).find(id)).ok_or(Refusal::NotFound)
}

async fn events<T: ServedTask>(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    Path(id): Path<String>,
) -> Result<Response, Refusal> {
    let one = found::<T>(&app, &id)?;
    Ok(follow(one.control(), visitor.session().cloned()))
}

async fn stop<T: ServedTask>(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
) -> Result<Redirect, Refusal> {
    found::<T>(&app, &id)?.control().stop();
    Ok(Redirect::to(&format!("{}/{id}", T::PATH)))
}

/// Lets browsers without scripts load a page again while the work goes on.
pub(super) fn reload(seconds: u8) -> Markup {
    html! { noscript { meta http-equiv="refresh" content=(seconds); } }
}

/// The page while it goes on, with how far it is. Its parts are replaced as they change.
pub(super) fn going<T: ServedTask>(
    visitor: &Visitor,
    id: u64,
    (title, says): (&str, &str),
    parts: &LiveParts,
) -> Markup {
    html! {
        div #live .stack data-events=(format!("{}/{id}/events", T::PATH)) {
            div .head {
                div { h1 { (title) } p .soft { (says) } }
                div .orders {
                    form method="post" action=(format!("{}/{id}/stop", T::PATH)) {
                        (visitor.csrf())
                        button type="submit" { (icon("stop")) "Stop" }
                    }
                }
            }
            section .panel aria-labelledby="progress" {
                div .body.stack.tight {
                    h2 #progress .told { "Progress" }
                    (part(parts, "bar"))
                    (part(parts, "stand"))
                }
            }
            div .told role="status" aria-live="polite" data-live="say" {}
        }
    }
}

/// How far it is: a figure, two lines beside it, and a bar.
pub(super) fn hero(share: Option<f64>, says: &str, beneath: &str) -> Markup {
    let percent = share.map(units::percent);
    html! {
        div .hero {
            @if let Some(percent) = &percent { p .pct data-percent=(percent) { (percent) } }
            p .say { b { (says) } @if !beneath.is_empty() { span .soft { (beneath) } } }
        }
        @match (share, &percent) {
            (Some(share), Some(percent)) => (bar(share, "f-info", "tall", percent)),
            _ => progress aria-labelledby="progress" {},
        }
    }
}

/// The parts of that page: what is done, the time left if it is known, and each tenth of the way
/// to be announced.
pub(super) fn parts(
    status: LiveStatus,
    share: Option<f64>,
    left_ns: Option<u64>,
    done: &str,
) -> Vec<(&'static str, Markup)> {
    let tenth = (share.unwrap_or(0.0) * 10.0).floor() / 10.0;
    let bar = match left_ns.map(left) {
        Some(left) => hero(share, &left, done),
        None => hero(share, done, ""),
    };
    vec![
        ("stand", stand(status, words::run_status(status))),
        ("bar", bar),
        ("say", html! { (units::percent(tenth)) }),
    ]
}

/// Says how long it takes yet.
pub(super) fn left(left_ns: u64) -> String {
    format!("About {} left", units::rough_duration(left_ns))
}

#[cfg(test)]
mod tests {
    use steadfast::Progress;

    use super::*;
    use crate::repairs::RepairEnd;

    #[test]
    fn work_that_goes_on_says_how_far_it_is() {
        let said = |files| {
            let mut progress = Progress::default();
            (progress.files, progress.total) = (files, Some((40, 0)));
            let says = format!("{files} of 40 files read");
            let state: JobSnapshot<RepairEnd> =
                JobSnapshot { progress, says, ..JobSnapshot::default() };
            let parts = state.parts();
            let [_, (_, bar), (_, say)] = &*parts else { panic!("{parts:?}") };
            (bar.to_string(), say.to_string())
        };
        let (bar, say) = said(0);
        assert!(bar.contains("0 of 40 files read"), "{bar}");
        assert_eq!(say, "0 %");
        let (bar, say) = said(19);
        assert!(bar.contains("19 of 40 files read"), "{bar}");
        assert!(bar.contains("47.5%") && say == "40 %", "{bar} {say}");
    }
}
