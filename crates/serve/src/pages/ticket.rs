//! Gives a command an address that shows its paths on this server.
//!
//! The command presents the token, which only the server's owner can read. The address contains a
//! ticket instead, which is valid once and for a minute: others may see the arguments of a browser.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::routing::get;
use steadfast::names::NameBytes as _;

use crate::app::App;
use crate::refusal::Refusal;
use crate::visitor::QueryFields;

pub(super) fn routes() -> Router<Arc<App>> {
    Router::new().route("/ticket", get(issue))
}

/// Responds with an address, if all paths are beneath the roots.
async fn issue(
    State(app): State<Arc<App>>,
    QueryFields(query): QueryFields,
) -> Result<String, Refusal> {
    if !query.text("token").is_some_and(|token| app.is_owner(token)) {
        return Err(Refusal::NoSession);
    }
    let paths = query.all_bytes("path").map(|path| PathBuf::from(Path::from_bytes(path)));
    let paths: Vec<PathBuf> = paths.collect();
    let page = app.blocking(move |app| app.page_of(&paths)).await?.ok_or(Refusal::NotFound)?;
    app.ticket_to(&page).map_err(|_| Refusal::Conflict)
}
