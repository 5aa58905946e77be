//! The repair data of a folder: what there is, making and renewing it, and what came of that.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{Path, State};
use axum::response::{Redirect, Response};
use axum::routing::{get, post};
use maud::{Markup, html};
use steadfast_report::{Units, units};

use super::task;
use crate::app::App;
use crate::folders::{ServedFolder, name_of};
use crate::icons::{disc, icon};
use crate::layout::{Tab, folder_trail, framed};
use crate::live::Live as _;
use crate::refusal::Refusal;
use crate::repair_data::{RepairDataEnd, ServedRepairData, StoredRepairData};
use crate::visitor::{FormFields, Visitor};

/// How long the answer to the form waits for the end, so that short work shows no progress.
const PATIENCE: Duration = Duration::from_secs(1);

/// The share of a folder's bytes that repair data takes.
const SHARE: f64 = 0.1;

pub(super) fn routes() -> Router<Arc<App>> {
    Router::new()
        .route("/repair-data", post(begin))
        .route("/repair-data/{id}", get(show))
        .merge(task::routes::<ServedRepairData>())
}

/// The card on the page of a folder.
pub(super) fn panel(
    visitor: &Visitor,
    folder: &ServedFolder,
    stored: Option<StoredRepairData>,
) -> Markup {
    let bytes = folder.facts().map_or(0, |facts| facts.audit.bytes);
    html! {
        section .panel aria-labelledby="parity" {
            div .cap { (icon("layers")) h2 #parity { "Repair data" } }
            form .body.stack.tight method="post" action="/repair-data" {
                (visitor.csrf())
                input type="hidden" name="place" value=(folder.place.token());
                @match stored {
                    Some(stored) => {
                        p .small {
                            b { (Units::Si.bytes(stored.bytes)) } " in "
                            (units::counted(stored.sets, "set", "sets"))
                            ". Damaged files can be repaired without a backup."
                        }
                        button type="submit" { (icon("checking")) "Renew it" }
                    }
                    None => {
                        p .small {
                            "None. With it, damaged files are repaired without a backup. It takes \
                             about " (Units::Si.bytes((bytes as f64 * SHARE) as u64))
                            " in this folder."
                        }
                        button type="submit" { (icon("layers")) "Make repair data" }
                    }
                }
            }
        }
    }
}

async fn begin(
    State(app): State<Arc<App>>,
    FormFields(form): FormFields,
) -> Result<Redirect, Refusal> {
    let place = app.place(&form)?.filter(|place| place.is_root()).ok_or(Refusal::Malformed)?;
    if let Some(run) = app.runs.going_in(&place, &app.roots) {
        return Ok(Redirect::to(&format!("/runs/{}?overlaps=1", run.id)));
    }
    let begun =
        app.blocking(move |app| app.repair_data.begin(place, &app.roots, app.usual_options()));
    let job = begun.await?.ok_or(Refusal::TooMuch)?;
    job.control.over_within(PATIENCE).await;
    Ok(Redirect::to(&format!("/repair-data/{}", job.id)))
}

async fn show(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    Path(id): Path<String>,
) -> Result<Response, Refusal> {
    let job: Arc<ServedRepairData> = task::found(&app, &id)?;
    let snapshot = job.control.snapshot();
    let name = name_of(&app.roots.path(&job.place));
    let address = format!("/folders/{}", job.place.root);
    let (head, content) = match snapshot.end.as_deref() {
        None => {
            let title = format!("Making repair data for {name}");
            let says = "Each file is read once. You can close this page: it goes on.";
            let says = (title.as_str(), says);
            let parts = snapshot.parts();
            (task::reload(2), task::going::<ServedRepairData>(&visitor, job.id, says, &parts))
        }
        Some(end) => (html! {}, over(end)),
    };
    let content = html! {
        (folder_trail(job.place.root, &name, "Repair data"))
        (content)
        p { a .button href=(address) { "To the folder" } }
    };
    Ok(framed(&visitor, Some(Tab::Home), "Repair data", &head, &content))
}

fn over(end: &RepairDataEnd) -> Markup {
    let lacking: &[String] = match end {
        RepairDataEnd::Made(_, lacking) => lacking,
        RepairDataEnd::Failed(_) => &[],
    };
    let (class, title, text) = match end {
        RepairDataEnd::Failed(why) => {
            ("bad", "The repair data could not be made".to_owned(), why.clone())
        }
        RepairDataEnd::Made(made, _) if made.interrupted => {
            ("warn", "Stopped before the end".to_owned(), "What was made stays.".to_owned())
        }
        RepairDataEnd::Made(made, _) => {
            let files = units::counted(made.files, "file", "files");
            let class = if made.exit_status().is_fine() { "good" } else { "warn" };
            let not = made.not_protected + made.untagged;
            let not = (not > 0).then(|| format!(" {} not covered.", units::count(not)));
            let text = "A part of each may be lost and is put back from it.";
            let title = format!("{files} can be repaired without a backup");
            (class, title, format!("{text}{}", not.unwrap_or_default()))
        }
    };
    html! {
        div .verdict {
            (disc("layers", &format!("{class} big")))
            div { h1 { (title) } p .soft { (text) } }
        }
        @if !lacking.is_empty() {
            section .panel.attention.mild aria-labelledby="lacking" {
                div .cap { h2 #lacking { "Not covered" } }
                ul .list.lines { @for line in lacking { li { (line) } } }
            }
        }
    }
}
