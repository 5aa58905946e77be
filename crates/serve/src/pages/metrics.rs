//! `/metrics`: the state of the served folders, for Prometheus.
//!
//! In: a request with a session, or with the token of the configuration. Out: the text of
//! `status --prometheus`.

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
use crate::folders::ServedFolder;
use crate::guard::METRICS;
use crate::refusal::Refusal;

pub(super) fn routes() -> Router<Arc<App>> {
    Router::new().route(METRICS, get(show))
}

async fn show(State(app): State<Arc<App>>) -> Result<Response, Refusal> {
    let text = app.blocking(|app| {
        let folders = app.folders();
        let is_own = |folder: &ServedFolder| {
            !matches!(*folder.audit, FolderState::Unrecorded | FolderState::PartOf(_))
        };
        let own = folders.into_iter().filter(is_own);
        let folders: Vec<FolderStatus> = own.map(|folder| folder.status).collect();
        let mut text = Vec::new();
        write_metrics(&folders, &mut text);
        text
    });
    let kind = "text/plain; version=0.0.4; charset=utf-8";
    Ok(([(header::CONTENT_TYPE, kind)], text.await?).into_response())
}
