//! `/metrics`: the state of the served folders, for Prometheus.
//!
//! In: a request with a session, or with the token of the configuration. Out: the text of
//! `status --prometheus`, without what drives say, which may take seconds to ask.

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use steadfast::FolderState;
use steadfast_report::metrics::write_metrics;
use steadfast_watch::FolderStatus;

use crate::app::App;
use crate::automation::Automation;
use crate::folders::ServedFolder;
use crate::guard::METRICS;
use crate::refusal::Refusal;

pub(super) fn routes() -> Router<Arc<App>> {
    Router::new().route(METRICS, get(show))
}

async fn show(State(app): State<Arc<App>>) -> Result<Response, Refusal> {
    let text = app.blocking(|app| {
        let folders = app.folders();
        let folders: Vec<FolderStatus> =
            folders.iter().filter_map(|folder| status_of(app, folder)).collect();
        let mut text = Vec::new();
        write_metrics(&folders, &mut text);
        text
    });
    let kind = "text/plain; version=0.0.4; charset=utf-8";
    Ok(([(header::CONTENT_TYPE, kind)], text.await?).into_response())
}

/// Returns the state of a folder that has a catalogue of its own.
fn status_of(app: &App, folder: &ServedFolder) -> Option<FolderStatus> {
    let state = match &*folder.audit {
        FolderState::Unrecorded | FolderState::PartOf(_) => return None,
        state => state.clone(),
    };
    let root = app.roots.path(&folder.place);
    Some(match &app.config.automation {
        Some(Automation { places, .. }) => {
            places.status_of(&root, state, folder.schedule.as_ref(), app.now().seconds)
        }
        None => FolderStatus { root, state, schedule: None, drives: Vec::new() },
    })
}
