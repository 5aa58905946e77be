//! All pages, a file each, and the routes to them.
//!
//! In: requests that passed the guard. Out: whole pages, parts of them, or redirects. Every page
//! works without its script, which only saves reloading.

mod activity;
mod automation;
mod add;
mod browse;
mod code;
mod compare;
mod drop;
mod enter;
mod files;
mod folder;
mod history;
mod home;
mod measure;
mod metrics;
mod repair;
mod run;
mod settings;
mod ticket;

use std::sync::Arc;

use axum::Router;
use axum::extract::Request;
use axum::http::header;
use axum::middleware::{from_fn_with_state, map_request};
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;

use crate::app::App;
use crate::base_path::strip;
use crate::guard::guard;
use crate::refusal::Refusal;

/// The style of all pages.
const STYLE: &str = include_str!("../assets/style.css");
const SCRIPT: &str = include_str!("../assets/script.js");
const ICON: &str = include_str!("../assets/icon.svg");

/// Joins the routes of all pages behind the guard.
pub(crate) fn router(app: Arc<App>) -> Router {
    let base = app.config.public.base_path.clone();
    let pages = Router::new()
        .merge(enter::routes())
        .merge(home::routes())
        .merge(activity::routes())
        .merge(add::routes())
        .merge(folder::routes())
        .merge(files::routes())
        .merge(repair::routes())
        .merge(browse::routes())
        .merge(run::routes())
        .merge(drop::routes())
        .merge(measure::routes())
        .merge(compare::routes())
        .merge(code::routes())
        .merge(history::routes())
        .merge(settings::routes())
        .merge(automation::routes())
        .merge(metrics::routes())
        .merge(ticket::routes())
        .route("/style.css", get(style))
        .route("/script.js", get(script))
        .route("/icon.svg", get(icon))
        .fallback(async || Refusal::NotFound)
        .method_not_allowed_fallback(async || Refusal::Method)
        .layer(from_fn_with_state(Arc::clone(&app), guard))
        .with_state(app);
    if base.is_empty() {
        return pages;
    }
    // Outside of the routes, which know nothing of the path.
    let strip = map_request(move |request: Request| std::future::ready(strip(&base, request)));
    Router::new().fallback_service(pages).layer(strip)
}

async fn style() -> Response {
    // Documents have the style of reports, and nothing else has.
    let style = [STYLE, ".document{", steadfast_report::html::STYLE, "}\n"].concat();
    ([(header::CONTENT_TYPE, "text/css; charset=utf-8")], style).into_response()
}

async fn script() -> Response {
    ([(header::CONTENT_TYPE, "text/javascript; charset=utf-8")], SCRIPT).into_response()
}

async fn icon() -> Response {
    ([(header::CONTENT_TYPE, "image/svg+xml")], ICON).into_response()
}
