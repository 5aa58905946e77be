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
mod copy;
mod differences;
mod drop;
mod enter;
mod files;
mod findings;
mod folder;
mod history;
mod home;
mod many;
mod measure;
mod metrics;
mod repair;
mod repair_data;
mod run;
mod settings;
mod task;
mod ticket;

use std::sync::Arc;

use axum::Router;
use axum::extract::Request;
use axum::middleware::{from_fn_with_state, map_request};
use axum::routing::get;
use tower_http::compression::CompressionLayer;

use crate::app::App;
use crate::assets::{SCRIPT, STYLE, icon};
use crate::base_path::strip;
use crate::guard::guard;
use crate::refusal::Refusal;

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
        .merge(many::routes())
        .merge(repair::routes())
        .merge(repair_data::routes())
        .merge(copy::routes())
        .merge(browse::routes())
        .merge(run::routes())
        .merge(drop::routes())
        .merge(measure::routes())
        .merge(compare::routes())
        .merge(differences::routes())
        .merge(code::routes())
        .merge(history::routes())
        .merge(settings::routes())
        .merge(automation::routes())
        .merge(metrics::routes())
        .merge(ticket::routes())
        .route(&STYLE.path, get(async || STYLE.response()))
        .route(&SCRIPT.path, get(async || SCRIPT.response()))
        .route("/icon.svg", get(async || icon()))
        .fallback(async || Refusal::NotFound)
        .method_not_allowed_fallback(async || Refusal::Method)
        .layer(from_fn_with_state(Arc::clone(&app), guard))
        // Pages are five times smaller then, which a slow line feels. Their tokens are no secret to
        // whoever can make a browser send its cookies: they are `SameSite=Strict`.
        .layer(CompressionLayer::new())
        .with_state(app);
    if base.is_empty() {
        return pages;
    }
    // Outside of the routes, which know nothing of the path.
    let strip = map_request(move |request: Request| std::future::ready(strip(&base, request)));
    Router::new().fallback_service(pages).layer(strip)
}
