//! A repair: how far it is, the plan first, and then what was done.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{Path, State};
use axum::response::{Redirect, Response};
use axum::routing::{get, post};
use maud::{Markup, html};
use steadfast_report::units;

use crate::app::App;
use crate::icons::{disc, icon, small_icon};
use crate::layout::{Tab, framed};
use crate::live::{Live, LiveParts, follow, part, stand};
use crate::refusal::Refusal;
use crate::repairs::{
    MendedFile, MendedFolder, RepairEnd, RepairFiles, RepairSnapshot, ServedRepair, damaged_in,
};
use crate::roots::ServedPath;
use crate::visitor::{FormFields, Visitor};
use crate::words;

/// How long the answer to a form waits for the end, so that a short repair shows no progress.
const PATIENCE: Duration = Duration::from_secs(1);

impl Live for RepairSnapshot {
    fn parts(&self) -> LiveParts {
        self.rendered.of(|| parts(self))
    }

    fn is_over(&self) -> bool {
        self.end.is_some()
    }
}

pub(super) fn routes() -> Router<Arc<App>> {
    Router::new()
        .route("/repair", post(begin))
        .route("/repairs/{id}", get(show))
        .route("/repairs/{id}/events", get(events))
        .route("/repairs/{id}/stop", post(stop))
}

/// Starts the plan of a repair, or the repair, and leads to its page.
async fn begin(
    State(app): State<Arc<App>>,
    FormFields(form): FormFields,
) -> Result<Redirect, Refusal> {
    let place = app.place(&form)?.ok_or(Refusal::Malformed)?;
    if let Some(run) = app.runs.going_in(&place, &app.roots) {
        return Ok(Redirect::to(&format!("/runs/{}?overlaps=1", run.id)));
    }
    let is_agreed = form.text("agreed").is_some();
    let begun = app.blocking(move |app| {
        let path = app.roots.path(&place);
        let files = match place.is_root() {
            false => RepairFiles { paths: vec![path], more: 0 },
            true => {
                let folder = app.folder(place.root);
                let facts = folder.as_ref().and_then(|folder| folder.facts());
                facts.map_or_else(RepairFiles::default, |facts| damaged_in(facts, &path))
            }
        };
        app.repairs.begin(place, files, &app.roots, app.config.trees.clone(), is_agreed)
    });
    let repair = begun.await?.ok_or(Refusal::TooMuch)?;
    repair.control.over_within(PATIENCE).await;
    Ok(Redirect::to(&format!("/repairs/{}", repair.id)))
}

/// Finds a repair by the number in an address.
fn found(app: &App, id: &str) -> Result<Arc<ServedRepair>, Refusal> {
    id.parse().ok().and_then(|id| app.repairs.find(id)).ok_or(Refusal::NotFound)
}

async fn show(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    Path(id): Path<String>,
) -> Result<Response, Refusal> {
    let repair = found(&app, &id)?;
    let place = &repair.place;
    let snapshot = repair.control.snapshot();
    let (head, content) = match snapshot.end.as_deref() {
        // Browsers without scripts reload the page.
        None => (
            html! { noscript { meta http-equiv="refresh" content="2"; } },
            going(&visitor, &repair, &snapshot),
        ),
        Some(end) => (html! {}, over(&visitor, place, end)),
    };
    let content = html! {
        p .trail { a href=(format!("/folders/{}", place.root)) { (app.roots.shown(place)) } }
        (content)
        p { a .button href=(format!("/folders/{}", place.root)) { "Back to the folder" } }
    };
    Ok(framed(&visitor, Some(Tab::Home), "Repair", &head, &content))
}

/// The page while a repair is planned or carried out. Its parts are replaced as they change.
fn going(visitor: &Visitor, repair: &ServedRepair, snapshot: &RepairSnapshot) -> Markup {
    let parts = snapshot.parts();
    html! {
        div #live .stack data-events=(format!("/repairs/{}/events", repair.id))
            data-lost="The server does not answer. This page shows its last update." {
            div .head {
                div {
                    @if repair.is_agreed {
                        h1 { "Repairing" }
                        p .soft {
                            "A repaired file replaces a damaged one only when it is exactly as \
                             recorded. The damaged file is kept until you discard it."
                        }
                    } @else {
                        h1 { "Finding out what can be repaired" }
                        p .soft {
                            "Damaged files and what could replace them are read. Nothing is \
                             written."
                        }
                    }
                }
                div .orders {
                    form method="post" action=(format!("/repairs/{}/stop", repair.id)) {
                        (visitor.csrf())
                        button type="submit" { (icon("stop")) "Stop" }
                    }
                }
            }
            (part(&parts, "stand"))
            section .panel aria-labelledby="progress" {
                div .body.stack.tight {
                    h2 #progress .told { "Progress" }
                    (part(&parts, "bar"))
                }
            }
            div .told role="status" aria-live="polite" data-live="say" {}
        }
    }
}

/// How far it is.
fn parts(state: &RepairSnapshot) -> Vec<(&'static str, Markup)> {
    let (done, say) = match state.told {
        0 => (
            state.seen,
            format!(
                "{} of {} read",
                units::count(state.seen),
                units::counted(state.all, "file", "files")
            ),
        ),
        told => (
            told,
            format!(
                "{} of {} settled",
                units::count(told),
                units::counted(state.all, "file", "files")
            ),
        ),
    };
    let all = state.all.max(1);
    let bar = html! {
        p .say { b { (say) } }
        progress max=(all) value=[(done > 0).then_some(done)] aria-labelledby="progress" {}
    };
    let tenths = (done * 10 / all) as f64 / 10.0;
    vec![
        ("stand", stand(state.status, words::run_status(state.status))),
        ("bar", bar),
        ("say", html! { (units::percent(tenths)) }),
    ]
}

/// The page of a repair that has ended.
fn over(visitor: &Visitor, place: &ServedPath, end: &RepairEnd) -> Markup {
    html! {
        @match end {
            RepairEnd::Failed(why) => {
                (verdict("bad", "damaged", "The repair could not begin"))
                p .note.bad role="alert" { (why) }
            }
            RepairEnd::Nothing => {
                (verdict("good", "intact", "Nothing here is known to be damaged."))
            }
            RepairEnd::Done(mended) => (shown(visitor, place, mended)),
        }
    }
}

async fn events(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    Path(id): Path<String>,
) -> Result<Response, Refusal> {
    let repair = found(&app, &id)?;
    Ok(follow(&repair.control, visitor.session().cloned()))
}

async fn stop(State(app): State<Arc<App>>, Path(id): Path<String>) -> Result<Redirect, Refusal> {
    let repair = found(&app, &id)?;
    repair.control.stop();
    Ok(Redirect::to(&format!("/repairs/{}", repair.id)))
}

fn verdict(class: &str, name: &str, title: &str) -> Markup {
    html! { div .verdict { (disc(name, &format!("{class} big"))) div { h1 { (title) } } } }
}

fn shown(visitor: &Visitor, place: &ServedPath, mended: &MendedFolder) -> Markup {
    let summary = &mended.summary;
    let (good, bad) = (summary.repaired, summary.not_repaired + summary.undecided.len() as u64);
    let title = match summary.is_done {
        _ if summary.interrupted => "Stopped before the end".to_owned(),
        true => done_title(good, bad),
        false => planned_title(good, bad),
    };
    let (class, name) = match bad {
        _ if summary.interrupted => ("warn", "stop"),
        0 => ("good", "repair"),
        _ => ("bad", "damaged"),
    };
    html! {
        (verdict(class, name, &title))
        @if !summary.is_done && !summary.interrupted && good > 0 {
            form method="post" action="/repair" {
                (visitor.csrf())
                input type="hidden" name="place" value=(place.token());
                button .main type="submit" name="agreed" value="1" {
                    (icon("repair")) "Repair " (units::counted(good, "file", "files"))
                }
                p .small.soft {
                    "A repaired file replaces a damaged one only when it is exactly as recorded. \
                     The damaged file is kept until you discard it."
                }
            }
        }
        @if mended.more > 0 {
            p .note.warn {
                (units::counted(mended.more, "further damaged file", "further damaged files"))
                " not looked at here: one repair takes 1,000. In a terminal, `steadfast repair` \
                 takes all."
            }
        }
        @for (_, folder) in &summary.originals {
            p .note { "The damaged files are kept in " (steadfast_report::escape::path(folder)) }
        }
        section .panel aria-label="Repair" {
            ul .list.lines { @for file in &mended.files { (line(file, summary.is_done)) } }
        }
    }
}

fn line(file: &MendedFile, is_done: bool) -> Markup {
    let (class, name, word) = match (&file.fault, is_done) {
        (Some(_), _) => ("bad", "damaged", "Cannot be repaired"),
        (None, true) => ("good", "check", "Repaired"),
        (None, false) => ("info", "repair", "Can be repaired"),
    };
    html! {
        li {
            span .state.(class) { (small_icon(name)) (word) }
            span .what {
                span { (file.shown) }
                @if let Some(fault) = &file.fault { span .soft { (fault) } }
                @for source in &file.sources { span .soft { "from " (source) } }
            }
        }
    }
}

fn planned_title(good: u64, bad: u64) -> String {
    match bad {
        0 if good == 0 => "Nothing is damaged".to_owned(),
        0 => format!("{} can be repaired", units::counted(good, "file", "files")),
        bad => format!(
            "{} can be repaired, {} cannot",
            units::counted(good, "file", "files"),
            units::count(bad)
        ),
    }
}

fn done_title(good: u64, bad: u64) -> String {
    match bad {
        0 => format!("Repaired {}", units::counted(good, "file", "files")),
        bad => {
            format!("Repaired {}, {} not", units::counted(good, "file", "files"), units::count(bad))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repair_that_goes_on_says_how_far_it_is() {
        let said = |seen, told| {
            let state = RepairSnapshot { seen, told, all: 40, ..RepairSnapshot::default() };
            let parts = state.parts();
            let [_, (_, bar), (_, say)] = &*parts else { panic!("{parts:?}") };
            (bar.to_string(), say.to_string())
        };
        let (bar, say) = said(0, 0);
        assert!(bar.contains("0 of 40 files read") && !bar.contains("value="), "{bar}");
        assert_eq!(say, "0 %");
        let (bar, say) = said(19, 0);
        assert!(bar.contains("19 of 40 files read"), "{bar}");
        assert!(bar.contains("max=\"40\" value=\"19\"") && say == "40 %", "{bar} {say}");
        let (bar, _) = said(40, 3);
        assert!(bar.contains("3 of 40 files settled") && bar.contains("value=\"3\""), "{bar}");
    }
}
