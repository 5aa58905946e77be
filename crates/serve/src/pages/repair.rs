//! A repair: the plan first, and then what was done.

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::response::Response;
use axum::routing::post;
use maud::{Markup, html};

use crate::app::App;
use crate::icons::{disc, icon, small_icon};
use crate::layout::{Tab, framed};
use crate::refusal::Refusal;
use crate::repairs::{MendedFile, MendedFolder, damaged_in, repair};
use crate::roots::ServedPath;
use crate::texts::folders::RepairTexts;
use crate::visitor::{FormFields, Visitor};

pub(super) fn routes() -> Router<Arc<App>> {
    Router::new().route("/repair", post(show))
}

async fn show(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    FormFields(form): FormFields,
) -> Result<Response, Refusal> {
    let place = app.place(&form)?.ok_or(Refusal::Malformed)?;
    let is_agreed = form.text("agreed").is_some();
    let at = place.clone();
    let mended = app.heavy(move |app| {
        let paths = match at.is_root() {
            false => vec![app.roots.path(&at)],
            true => {
                let folder = app.folder(at.root);
                let facts = folder.as_ref().and_then(|folder| folder.facts());
                facts.map_or_else(Vec::new, |facts| damaged_in(facts, &app.roots.path(&at)))
            }
        };
        let mended = match paths.is_empty() {
            true => Ok(None),
            false => repair(&at, paths, &app.roots, app.config.trees.clone(), is_agreed).map(Some),
        };
        if is_agreed {
            app.audits.forget(at.root);
        }
        mended
    });
    let mended = mended.await?;
    let texts = &visitor.texts().repair;
    let content = html! {
        p .trail { a href=(format!("/folders/{}", place.root)) { (app.roots.shown(&place)) } }
        @match &mended {
            Err(why) => {
                (verdict("bad", "damaged", texts.failed))
                p .note.bad role="alert" { (why) }
            }
            Ok(None) => (verdict("good", "intact", texts.nothing)),
            Ok(Some(mended)) => (shown(&visitor, &place, mended, texts)),
        }
        p { a .button href=(format!("/folders/{}", place.root)) { (texts.back) } }
    };
    Ok(framed(&visitor, Some(Tab::Home), texts.title, &html! {}, &content))
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
        true => (texts.done)(good, bad),
        false => (texts.planned)(good, bad),
    };
    let (class, name) = if bad == 0 { ("good", "repair") } else { ("bad", "damaged") };
    html! {
        (verdict(class, name, &title))
        @if !summary.is_done && good > 0 {
            form method="post" action="/repair" {
                (visitor.csrf())
                input type="hidden" name="place" value=(place.token());
                button .main type="submit" name="agreed" value="1" {
                    (icon("repair")) ((texts.go)(good))
                }
                p .small.soft { (texts.kept) }
            }
        }
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
                @if let Some(fault) = &file.fault { span .soft lang="en" { (fault) } }
                @for source in &file.sources { span .soft { (texts.from) " " (source) } }
            }
        }
    }
}
