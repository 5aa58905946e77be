//! From a request to a page: one file for each, and what stands around them all.
//!
//! In: requests that the guard let through. Out: whole pages, parts of them, or the way to another
//! page. Every page works without its script: the script only saves loading it anew.

mod browse;
mod code;
mod compare;
pub(crate) mod drop;
mod enter;
mod history;
pub(crate) mod home;
pub(crate) mod measure;
pub(crate) mod run;
mod ticket;

use std::sync::Arc;

use axum::Router;
use axum::http::{StatusCode, header};
use axum::middleware::from_fn_with_state;
use axum::response::{Html, IntoResponse as _, Response};
use axum::routing::get;
use maud::{DOCTYPE, Markup, html};

use crate::app::App;
use crate::guard::{Refusal, Visitor, guard};
use crate::texts::{Texts, Words};

/// What the report's style lacks: forms, trees, bars.
const STYLE: &str = include_str!("../assets/style.css");
const SCRIPT: &str = include_str!("../assets/script.js");
/// What a saved report may do: nothing but to look as it does.
const REPORT_POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'none'; sandbox";

const ICON: &str = include_str!("../assets/icon.svg");

/// The pages that every page leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tab {
    Home,
    Run,
    Drop,
    Measure,
    Compare,
    Code,
    History,
}

impl Tab {
    const ALL: [Tab; 7] =
        [Tab::Home, Tab::Run, Tab::Drop, Tab::Measure, Tab::Compare, Tab::Code, Tab::History];

    fn path(self) -> &'static str {
        match self {
            Tab::Home => "/",
            Tab::Run => "/run",
            Tab::Drop => "/drop",
            Tab::Measure => "/measure",
            Tab::Compare => "/compare",
            Tab::Code => "/code",
            Tab::History => "/history",
        }
    }

    fn title(self, texts: &Texts) -> &'static str {
        match self {
            Tab::Home => texts.layout.home,
            Tab::Run => texts.layout.run,
            Tab::Drop => texts.layout.drop,
            Tab::Measure => texts.layout.measure,
            Tab::Compare => texts.layout.compare,
            Tab::Code => texts.layout.code,
            Tab::History => texts.layout.history,
        }
    }
}

/// Puts all pages together, behind the guard.
pub(crate) fn router(app: Arc<App>) -> Router {
    Router::new()
        .merge(enter::routes())
        .merge(home::routes())
        .merge(browse::routes())
        .merge(run::routes())
        .merge(drop::routes())
        .merge(measure::routes())
        .merge(compare::routes())
        .merge(code::routes())
        .merge(history::routes())
        .merge(ticket::routes())
        .route("/style.css", get(style))
        .route("/script.js", get(script))
        .route("/icon.svg", get(icon))
        .fallback(nowhere)
        .method_not_allowed_fallback(no_way)
        .layer(from_fn_with_state(Arc::clone(&app), guard))
        .with_state(app)
}

async fn style() -> Response {
    let style = [steadfast_report::html::STYLE, STYLE].concat();
    ([(header::CONTENT_TYPE, "text/css; charset=utf-8")], style).into_response()
}

async fn script() -> Response {
    ([(header::CONTENT_TYPE, "text/javascript; charset=utf-8")], SCRIPT).into_response()
}

async fn icon() -> Response {
    ([(header::CONTENT_TYPE, "image/svg+xml")], ICON).into_response()
}

async fn nowhere(visitor: Visitor) -> Response {
    Refusal::NotFound.page(&visitor)
}

async fn no_way(visitor: Visitor) -> Response {
    Refusal::Method.page(&visitor)
}

/// Makes a whole page. `tab` is the one that it belongs to.
pub(crate) fn page(visitor: &Visitor, tab: Option<Tab>, title: &str, content: &Markup) -> Response {
    page_with(visitor, tab, title, &html! {}, content)
}

/// The same with more in its head, as a page has it that is to be loaded anew by itself.
pub(crate) fn page_with(
    visitor: &Visitor,
    tab: Option<Tab>,
    title: &str,
    head: &Markup,
    content: &Markup,
) -> Response {
    let texts = visitor.texts();
    let inside = visitor.session().is_some();
    let markup = html! {
        (DOCTYPE)
        html lang=(visitor.language.tag()) {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) " – Steadfast" }
                link rel="icon" href="/icon.svg" type="image/svg+xml";
                link rel="stylesheet" href="/style.css";
                script src="/script.js" defer {}
                (head)
            }
            body data-csrf=(visitor.csrf_letters()) {
                a .skip href="#content" { (texts.layout.skip) }
                header .top {
                    p .brand { "Steadfast" }
                    @if inside { (tabs(visitor, tab)) }
                }
                main #content tabindex="-1" {
                    h1 { (title) }
                    (content)
                }
            }
        }
    };
    Html(markup.into_string()).into_response()
}

fn tabs(visitor: &Visitor, current: Option<Tab>) -> Markup {
    let texts = visitor.texts();
    html! {
        nav aria-label=(texts.layout.pages) {
            ul {
                @for tab in Tab::ALL {
                    li {
                        @let here = (current == Some(tab)).then_some("page");
                        a href=(tab.path()) aria-current=[here] { (tab.title(texts)) }
                    }
                }
                li {
                    form method="post" action="/leave" {
                        (visitor.csrf())
                        button .plain type="submit" { (texts.layout.leave) }
                    }
                }
            }
        }
    }
}

/// Makes a page that says one thing.
pub(crate) fn notice(visitor: &Visitor, status: StatusCode, words: Words) -> Response {
    let content = html! { p { (words.text) } };
    let mut response = page(visitor, None, words.title, &content);
    *response.status_mut() = status;
    response
}

/// Does what waits for the disk, out of the way of other requests.
///
/// What fails to be done at all is a page that says so.
pub(crate) async fn waiting<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Refusal> {
    tokio::task::spawn_blocking(work).await.map_err(|_| Refusal::Conflict)
}
