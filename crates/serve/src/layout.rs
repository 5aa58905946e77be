//! The frame of every page: head, side bar and content; and the response that saves a file.

use crate::assets::{SCRIPT, STYLE};
use crate::folders::SideFolder;
use crate::icons::{disc, drawn, icon, mark, small_icon, symbols};
use crate::roots::ServedRoots;
use crate::visitor::Visitor;
use axum::http::{StatusCode, header};
use axum::response::{Html, IntoResponse as _, Response};
use maud::{DOCTYPE, Markup, Render, html};
use steadfast::Timestamp;
use steadfast_report::document::Document;
use steadfast_report::{Units, html as report, units};
use steadfast_words::FolderSaid;

/// The media type of a page.
pub(crate) const HTML: &str = "text/html; charset=utf-8";

/// The content policy of a saved report: no scripts, and nothing loaded.
const REPORT_POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'none'; sandbox";

/// The pages that the navigation links.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tab {
    /// Also every page of a folder.
    Home,
    Activity,
    Drop,
    Code,
    Measure,
    Settings,
}

impl Tab {
    const ALL: [Tab; 6] =
        [Tab::Home, Tab::Activity, Tab::Drop, Tab::Code, Tab::Measure, Tab::Settings];

    fn path(self) -> &'static str {
        match self {
            Tab::Home => "/",
            Tab::Activity => "/activity",
            Tab::Drop => "/drop",
            Tab::Code => "/code",
            Tab::Measure => "/measure",
            Tab::Settings => "/settings",
        }
    }

    fn icon(self) -> &'static str {
        match self {
            Tab::Home => "folder",
            Tab::Activity => "activity",
            Tab::Drop => "search",
            Tab::Code => "app",
            Tab::Measure => "measure",
            Tab::Settings => "settings",
        }
    }

    fn title(self) -> &'static str {
        match self {
            Tab::Home => "Folders",
            Tab::Activity => "Activity",
            Tab::Drop => "Look up",
            Tab::Code => "Signed apps",
            Tab::Measure => "Measure",
            Tab::Settings => "Settings",
        }
    }
}

/// Makes a whole page with a heading. `tab` is marked as current.
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
    let content = html! { div .plain-page { h1 { (title) } (content) } };
    framed(visitor, tab, title, head, &content)
}

/// Makes a whole page whose content has its own heading.
pub(crate) fn framed(
    visitor: &Visitor,
    tab: Option<Tab>,
    title: &str,
    head: &Markup,
    content: &Markup,
) -> Response {
    let inside = visitor.session().is_some();
    let markup = html! {
        (DOCTYPE)
        html lang="en" data-theme=[visitor.theme()] {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) " · Steadfast" }
                link rel="icon" href="/icon.svg" type="image/svg+xml";
                link rel="stylesheet" href=(STYLE.path);
                script src=(SCRIPT.path) defer {}
                (head)
            }
            body .alone[!inside] data-csrf=(visitor.csrf_letters()) data-base="/"
                data-lost="The server does not answer. What this page shows is from before, and \
                           nothing can be done now. It is loaded anew when the server is back." {
                a .skip href="#content" { "Skip to the content" }
                @if inside { (side(visitor, tab)) }
                @if !inside { div .over { p .brand { (mark()) "Steadfast" } } }
                main #content tabindex="-1" {
                    div .wrap .panel[!inside] { (content) }
                }
                (symbols())
            }
        }
    };
    Html(markup.into_string()).into_response()
}

/// The side bar: the pages, and the folders with their states.
fn side(visitor: &Visitor, current: Option<Tab>) -> Markup {
    html! {
        header .side {
            a .brand href="/" { (mark()) "Steadfast" }
            nav .pages aria-label="Pages" {
                ul {
                    @for tab in Tab::ALL {
                        @let here = (current == Some(tab)).then_some("page");
                        li { a href=(tab.path()) aria-current=[here] {
                            (icon(tab.icon()))
                            span {
                                @match tab {
                                    Tab::Drop => { "Look up" span .long { " files" } }
                                    Tab::Code => { span .long { "Signed " } span .apps { "apps" } }
                                    tab => (tab.title()),
                                }
                            }
                        } }
                    }
                }
            }
            nav .mine aria-labelledby="mine" {
                h2 #mine { "Your folders" }
                (mine(&visitor.side))
            }
            p .foot {
                @if visitor.is_local {
                    span { (small_icon("lock")) "This computer only" }
                } @else {
                    span { (small_icon("lock")) "Reachable from the network" }
                }
                span { "Steadfast " (env!("CARGO_PKG_VERSION")) }
            }
        }
    }
}

/// The folders with their states, which the script loads anew.
pub(crate) fn mine(folders: &[SideFolder]) -> Markup {
    html! { ul { @for folder in folders { li { (side_folder(folder)) } } } }
}

fn side_folder(folder: &SideFolder) -> Markup {
    html! {
        a href=(folder.address) {
            @match &folder.said {
                None => (icon("folder")),
                Some(said) => (drawn(said.icon, &format!("icon {}", said.class))),
            }
            span .name { (folder.name) }
            @if let Some(said) = &folder.said {
                @if let Some(share) = said.share.filter(|_| said.is_going) {
                    span .tiny aria-hidden="true" { (units::percent(share)) }
                }
                span .told { ", " (said.word) }
            }
        }
    }
}

/// Returns a chip with what is said of a folder in a few words.
pub(crate) fn chip(said: &FolderSaid) -> Markup {
    html! {
        span .chip.(said.class) { (small_icon(said.icon)) (said.word) }
    }
}

/// The first of most ways.
pub(crate) const FOLDERS: (&str, &str) = ("/", "Folders");

/// The way to a page: what it is beneath, by address and name, and the page itself.
pub(crate) fn trail(above: &[(&str, &str)], last: impl Render) -> Markup {
    html! {
        p .trail {
            @for (address, name) in above { a href=(address) { (name) } (small_icon("chevron")) }
            span { (last) }
        }
    }
}

/// The way to a page of a folder.
pub(crate) fn folder_trail(root: usize, name: &str, last: &str) -> Markup {
    trail(&[FOLDERS, (&format!("/folders/{root}"), name)], last)
}

/// Makes a page with one sentence.
pub(crate) fn notice(visitor: &Visitor, status: StatusCode, title: &str, text: &str) -> Response {
    let is_inside = visitor.session().is_some();
    let content = html! {
        div .panel[is_inside] .empty[is_inside] {
            @if is_inside {
                svg .ride viewBox="0 0 32 24" aria-hidden="true" { use href="#r-tortoise" {} }
            }
            h1 { (title) }
            p .soft { (prose(text)) }
            @if is_inside {
                p .row {
                    a .button.main href="/" { (icon("folder")) "To your folders" }
                    a .button href="/activity" { (icon("activity")) "Activity" }
                }
            }
        }
    };
    let mut response = framed(visitor, None, title, &html! {}, &content);
    *response.status_mut() = status;
    response
}

/// A sentence in which what is to be typed stands between backticks.
pub(crate) fn prose(text: &str) -> Markup {
    html! {
        @for (at, piece) in text.split('`').enumerate() {
            @if at % 2 == 1 { code { (piece) } } @else { (piece) }
        }
    }
}

/// Shows documents of the report.
pub(crate) fn documents(documents: &[Document]) -> Markup {
    html! {
        div .document {
            @for (at, document) in documents.iter().enumerate() {
                (report::article(document, at + 1, Units::Si))
            }
        }
    }
}

/// Radio buttons that choose a root, the first one checked. `prefix` begins their ids.
pub(crate) fn root_choice(roots: &ServedRoots, prefix: &str) -> Markup {
    html! {
        @for (at, place) in roots.places().iter().enumerate() {
            p .choice {
                @let id = format!("{prefix}-{at}");
                input id=(id) type="radio" name="place" value=(place.token())
                    checked[at == 0];
                label for=(id) { (roots.shown(place)) }
            }
        }
    }
}

/// The answer of a page in large letters, and what is beneath it.
pub(crate) fn verdict(class: &str, sign: &str, title: &str, beneath: Markup) -> Markup {
    html! {
        div .verdict {
            (disc(sign, &format!("{class} big")))
            div { h1 { (title) } (beneath) }
        }
    }
}

/// Responds with an answer as a text to keep: when it was asked for, and what it was.
pub(crate) fn receipt(id: u64, begun: Timestamp, text: &str) -> Response {
    let text = format!("Steadfast, {}\n\n{text}", units::moment(begun));
    let name = format!("receipt-{id}.txt");
    attachment(&name, "text/plain; charset=utf-8", text.into_bytes())
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
