//! The frame of every page: head, tabs and content; and the response that saves a file.

use axum::http::{StatusCode, header};
use axum::response::{Html, IntoResponse as _, Response};
use maud::{DOCTYPE, Markup, html};
use steadfast_report::document::Document;
use steadfast_report::{Units, html as report};

use crate::roots::ServedRoots;
use crate::texts::Texts;
use crate::visitor::Visitor;

/// The media type of a page.
pub(crate) const HTML: &str = "text/html; charset=utf-8";

/// The content policy of a saved report: no scripts, and nothing loaded.
const REPORT_POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'none'; sandbox";

/// The pages that the navigation links.
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

/// Makes a whole page. `tab` is marked as current.
pub(crate) fn page(visitor: &Visitor, tab: Option<Tab>, title: &str, content: &Markup) -> Response {
    page_with(visitor, tab, title, &html! {}, content)
}

/// Makes a whole page with additional elements in its head, such as an automatic reload.
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

/// Makes a page with one sentence.
pub(crate) fn notice(visitor: &Visitor, status: StatusCode, title: &str, text: &str) -> Response {
    let mut response = page(visitor, None, title, &html! { p { (text) } });
    *response.status_mut() = status;
    response
}

/// Shows documents of the report, which are in English, with a note if the page is not.
pub(crate) fn documents(visitor: &Visitor, documents: &[Document]) -> Markup {
    let untranslated = visitor.texts().layout.untranslated;
    html! {
        @if !untranslated.is_empty() { p .soft { (untranslated) } }
        div .document lang="en" {
            @for (at, document) in documents.iter().enumerate() {
                (report::article(document, at + 1, true, Units::Si))
            }
        }
    }
}

/// Radio buttons that choose a root, the first one checked. `prefix` begins their ids.
pub(crate) fn root_choice(roots: &ServedRoots, prefix: &str) -> Markup {
    html! {
        @for (at, place) in roots.places().enumerate() {
            p .choice {
                @let id = format!("{prefix}-{at}");
                input id=(id) type="radio" name="place" value=(place.token())
                    checked[at == 0];
                label for=(id) { (roots.shown(&place)) }
            }
        }
    }
}

/// Responds with a file to save. `content_type` is its media type.
pub(crate) fn attachment(name: &str, content_type: &str, content: Vec<u8>) -> Response {
    let disposition = format!("attachment; filename=\"{name}\"");
    let headers = [
        (header::CONTENT_TYPE, content_type),
        (header::CONTENT_SECURITY_POLICY, REPORT_POLICY),
        (header::CONTENT_DISPOSITION, disposition.as_str()),
    ];
    (headers, content).into_response()
}
