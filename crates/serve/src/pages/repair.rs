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
use crate::config::Language;
use crate::icons::{disc, icon, small_icon};
use crate::layout::{Tab, framed};
use crate::live::{Live, LiveParts, follow, part, stand};
use crate::refusal::Refusal;
use crate::repairs::{
    MendedFile, MendedFolder, RepairEnd, RepairFiles, RepairSnapshot, ServedRepair, damaged_in,
};
use crate::roots::ServedPath;
use crate::texts::OfLanguage as _;
use crate::texts::folders::RepairTexts;
use crate::texts::texts;
use crate::visitor::{FormFields, Visitor};

/// How long the answer to a form waits for the end, so that a short repair shows no progress.
const PATIENCE: Duration = Duration::from_secs(1);

impl Live for RepairSnapshot {
    fn parts(&self, language: Language) -> LiveParts {
        self.rendered.of(language, || parts(self, language))
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
    let texts = &visitor.texts().repair;
    let snapshot = repair.control.snapshot();
    let (head, content) = match snapshot.end.as_deref() {
        // Browsers without scripts reload the page.
        None => (
            html! { noscript { meta http-equiv="refresh" content="2"; } },
            going(&visitor, &repair, &snapshot),
        ),
        Some(end) => (html! {}, over(&visitor, place, end, texts)),
    };
    let content = html! {
        p .trail { a href=(format!("/folders/{}", place.root)) { (app.roots.shown(place)) } }
        (content)
        p { a .button href=(format!("/folders/{}", place.root)) { (texts.back) } }
    };
    Ok(framed(&visitor, Some(Tab::Home), texts.title, &head, &content))
}

/// The page while a repair is planned or carried out. Its parts are replaced as they change.
fn going(visitor: &Visitor, repair: &ServedRepair, snapshot: &RepairSnapshot) -> Markup {
    let (texts, run) = (&visitor.texts().repair, &visitor.texts().run);
    let parts = snapshot.parts(visitor.language);
    html! {
        div #live .stack data-events=(format!("/repairs/{}/events", repair.id))
            data-lost=(visitor.texts().layout.lost) {
            div .head {
                div {
                    h1 { (if repair.is_agreed { texts.repairing } else { texts.planning }) }
                    p .soft { (if repair.is_agreed { texts.kept } else { texts.only_reads }) }
                }
                div .orders {
                    form method="post" action=(format!("/repairs/{}/stop", repair.id)) {
                        (visitor.csrf())
                        button type="submit" { (icon("stop")) (run.stop) }
                    }
                }
            }
            (part(&parts, "stand"))
            section .panel aria-labelledby="progress" {
                div .body.stack.tight {
                    h2 #progress .told { (run.progress) }
                    (part(&parts, "bar"))
                }
            }
            div .told role="status" aria-live="polite" data-live="say" {}
        }
    }
}

/// How far it is.
fn parts(state: &RepairSnapshot, language: Language) -> Vec<(&'static str, Markup)> {
    let (texts, run) = (&texts(language).repair, &texts(language).run);
    let (done, say) = match state.told {
        0 => (state.seen, (texts.seen)(state.seen, state.all)),
        told => (told, (texts.told)(told, state.all)),
    };
    let all = state.all.max(1);
    let bar = html! {
        p .say { b { (say) } }
        progress max=(all) value=[(done > 0).then_some(done)] aria-labelledby="progress" {}
    };
    let tenths = (done * 10 / all) as f64 / 10.0;
    vec![
        ("stand", stand(state.status, (run.status)(state.status))),
        ("bar", bar),
        ("say", html! { (units::percent(tenths)) }),
    ]
}

/// The page of a repair that has ended.
fn over(visitor: &Visitor, place: &ServedPath, end: &RepairEnd, texts: &RepairTexts) -> Markup {
    html! {
        @match end {
            RepairEnd::Failed(why) => {
                (verdict("bad", "damaged", texts.failed))
                p .note.bad role="alert" { (texts.say(why)) }
            }
            RepairEnd::Nothing => (verdict("good", "intact", texts.nothing)),
            RepairEnd::Done(mended) => (shown(visitor, place, mended, texts)),
        }
    }
}

async fn events(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    Path(id): Path<String>,
) -> Result<Response, Refusal> {
    let repair = found(&app, &id)?;
    Ok(follow(&repair.control, visitor.language, visitor.session().cloned()))
}

async fn stop(State(app): State<Arc<App>>, Path(id): Path<String>) -> Result<Redirect, Refusal> {
    let repair = found(&app, &id)?;
    repair.control.stop();
    Ok(Redirect::to(&format!("/repairs/{}", repair.id)))
}

fn verdict(class: &str, name: &str, title: &str) -> Markup {
    html! { div .verdict { (disc(name, &format!("{class} big"))) div { h1 { (title) } } } }
}

fn shown(
    visitor: &Visitor,
    place: &ServedPath,
    mended: &MendedFolder,
    texts: &RepairTexts,
) -> Markup {
    let summary = &mended.summary;
    let (good, bad) = (summary.repaired, summary.not_repaired + summary.undecided.len() as u64);
    let title = match summary.is_done {
        _ if summary.interrupted => texts.stopped.to_owned(),
        true => (texts.done)(good, bad),
        false => (texts.planned)(good, bad),
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
                    (icon("repair")) ((texts.go)(good))
                }
                p .small.soft { (texts.kept) }
            }
        }
        @if mended.more > 0 { p .note.warn { ((texts.more)(mended.more)) } }
        @for (_, folder) in &summary.originals {
            p .note { (texts.originals) " " (steadfast_report::escape::path(folder)) }
        }
        section .panel aria-label=(texts.title) {
            ul .list.lines { @for file in &mended.files { (line(file, summary.is_done, texts)) } }
        }
    }
}

fn line(file: &MendedFile, is_done: bool, texts: &RepairTexts) -> Markup {
    let (class, name, word) = match (&file.fault, is_done) {
        (Some(_), _) => ("bad", "damaged", texts.cannot),
        (None, true) => ("good", "check", texts.repaired),
        (None, false) => ("info", "repair", texts.can),
    };
    html! {
        li {
            span .state.(class) { (small_icon(name)) (word) }
            span .what {
                span { (file.shown) }
                @if let Some(fault) = &file.fault { span .soft { (texts.say(fault)) } }
                @for source in &file.sources { span .soft { (texts.from) " " (source) } }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repair_that_goes_on_says_how_far_it_is() {
        let said = |seen, told, language| {
            let state = RepairSnapshot { seen, told, all: 40, ..RepairSnapshot::default() };
            let parts = state.parts(language);
            let [_, (_, bar), (_, say)] = &*parts else { panic!("{parts:?}") };
            (bar.to_string(), say.to_string())
        };
        let (bar, say) = said(0, 0, Language::English);
        assert!(bar.contains("0 of 40 files read") && !bar.contains("value="), "{bar}");
        assert_eq!(say, "0 %");
        let (bar, say) = said(19, 0, Language::German);
        assert!(bar.contains("19 von 40 Dateien gelesen"), "{bar}");
        assert!(bar.contains("max=\"40\" value=\"19\"") && say == "40 %", "{bar} {say}");
        let (bar, _) = said(40, 3, Language::English);
        assert!(bar.contains("3 of 40 files settled") && bar.contains("value=\"3\""), "{bar}");
    }
}
