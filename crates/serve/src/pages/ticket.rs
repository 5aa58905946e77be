//! What a command asks of a server that runs already: an address that shows these paths.
//!
//! Whoever asks shows the token, which the server's owner alone can read. The answer holds a ticket
//! in its place, good once and soon, since others may see the arguments of a browser.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;
use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;

use crate::app::App;
use crate::guard::{Asked, Refusal, Visitor};

pub(super) fn routes() -> Router<Arc<App>> {
    Router::new().route("/ticket", get(issue))
}

/// Answers with an address, if all paths are beneath the roots.
async fn issue(State(app): State<Arc<App>>, visitor: Visitor, Asked(asked): Asked) -> Response {
    if !asked.text("token").is_some_and(|token| app.is_token(token)) {
        return Refusal::NoSession.page(&visitor);
    }
    let paths = asked.all_bytes("path").map(|path| PathBuf::from(OsStr::from_bytes(path)));
    let paths: Vec<PathBuf> = paths.collect();
    let Some(page) = app.page_of(&paths) else { return Refusal::NotFound.page(&visitor) };
    match app.ticket_to(&page) {
        Ok(address) => {
            ([(header::CONTENT_TYPE, "text/plain; charset=utf-8")], address).into_response()
        }
        Err(_) => Refusal::Conflict.page(&visitor),
    }
}
