//! The tree of a folder: names in order, several hundred at a time. Folders open in place.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::response::{Html, Response};
use axum::routing::get;
use maud::{Markup, html};
use steadfast::beneath::{self, Name, NameKind, Names};
use steadfast::names::{NameBuf as _, NameBytes as _};
use steadfast_report::{escape, units};

use crate::app::App;
use crate::fields::{NamedValues, decode, encode};
use crate::folders::name_of;
use crate::icons::small_icon;
use crate::layout::{Tab, page};
use crate::refusal::Refusal;
use crate::roots::ServedPath;
use crate::visitor::{QueryFields, Visitor};

/// Names of one page.
const NAMES_MAX: usize = 500;

/// The page for which the visitor chooses a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Goal {
    Run,
    Code,
    History,
    /// To show the folder as one of the visitor's own, and protect it.
    Add,
}

impl Goal {
    /// Parses the field `for` of a query.
    fn of(query: &NamedValues) -> Goal {
        match query.text("for") {
            Some("code") => Goal::Code,
            Some("history") => Goal::History,
            Some("add") => Goal::Add,
            _ => Goal::Run,
        }
    }

    fn tab(self) -> Tab {
        match self {
            Goal::Run | Goal::History | Goal::Add => Tab::Home,
            Goal::Code => Tab::Code,
        }
    }

    /// Returns the address of the page for a path.
    pub(super) fn address(self, place: &ServedPath) -> String {
        let page = match self {
            Goal::Run => "/run",
            Goal::Code => "/code",
            Goal::History => "/history",
            Goal::Add => "/add",
        };
        format!("{page}?place={}", place.query())
    }

    /// Returns the query of a tree for this page.
    fn query(self, place: &ServedPath) -> String {
        let goal = match self {
            Goal::Run => "",
            Goal::Code => "for=code&",
            Goal::History => "for=history&",
            Goal::Add => "for=add&",
        };
        format!("{goal}place={}", place.query())
    }
}

/// The roots as trees, to choose a path.
pub(super) fn choice(app: &App, goal: Goal, label: &str) -> Markup {
    html! {
        h2 { (label) }
        @for place in app.roots.places() {
            @let query = goal.query(&place);
            details .fold data-part=(format!("/browse/part?{query}")) {
                summary {
                    (small_icon("chevron")) (name_of(&app.roots.path(&place)))
                    span .soft { (app.roots.shown(&place)) }
                }
                p .body { a href=(format!("/browse?{query}")) {
                    "Choose in " (app.roots.shown(&place))
                } }
            }
        }
    }
}

/// The roots with the folders in them, to choose one of these at once.
pub(super) async fn open_choice(app: &Arc<App>, goal: Goal) -> Result<Markup, Refusal> {
    let listed = app.blocking(|app| {
        let of = |place: ServedPath| {
            (
                app.roots
                    .root(&place)
                    .and_then(|root| beneath::names(&root, &place.below, None, NAMES_MAX)),
                place,
            )
        };
        app.roots.places().into_iter().map(of).collect::<Vec<_>>()
    });
    let listed = listed.await?;
    Ok(html! {
        @for (names, place) in &listed {
            details .fold open {
                summary {
                    (small_icon("chevron")) (name_of(&app.roots.path(place)))
                    span .soft { (app.roots.shown(place)) }
                }
                div .body {
                    @match names {
                        Ok(names) => (tree(place, names, goal)),
                        Err(_) => p .soft { "Not connected, or not readable." },
                    }
                }
            }
        }
    })
}

pub(super) fn routes() -> Router<Arc<App>> {
    Router::new().route("/browse", get(whole)).route("/browse/part", get(part))
}

/// A folder as a page of its own.
async fn whole(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    QueryFields(query): QueryFields,
) -> Result<Response, Refusal> {
    let (place, names) = listed(&app, &query).await?;
    let goal = Goal::of(&query);
    let use_this = match goal {
        Goal::Run => "Check this folder",
        Goal::Code => "Code signature",
        Goal::History => "History",
        Goal::Add => "Add this folder",
    };
    let content = html! {
        (way(&app, &place, goal))
        p { a .button href=(goal.address(&place)) { (use_this) } }
        @match &names {
            Ok(names) => section .panel aria-labelledby="names" {
                div .cap { h2 #names { (units::counted(names.total, "entry", "entries")) } }
                div .body { (tree(&place, names, goal)) }
            },
            Err(error) => p .wrong { "The folder cannot be listed: " (error) }
        }
    };
    Ok(page(&visitor, Some(goal.tab()), "Choose a folder", &content))
}

/// The names of a folder, which the script adds to a tree.
async fn part(
    State(app): State<Arc<App>>,
    QueryFields(query): QueryFields,
) -> Result<Html<String>, Refusal> {
    let markup = match listed(&app, &query).await? {
        (place, Ok(names)) => tree(&place, &names, Goal::of(&query)),
        (_, Err(error)) => html! { p .wrong { "The folder cannot be listed: " (error) } },
    };
    Ok(Html(markup.into_string()))
}

/// Lists a folder. Returns why it cannot be listed if its permissions forbid it; refuses other
/// failures.
async fn listed(
    app: &Arc<App>,
    query: &NamedValues,
) -> Result<(ServedPath, Result<Names, String>), Refusal> {
    let place = app.place(query)?.ok_or(Refusal::NotFound)?;
    let after = query.text("after").map(|after| read_after(after).ok_or(Refusal::Malformed));
    let after = after.transpose()?;
    let at = place.clone();
    let names = app.blocking(move |app| {
        let root = app.roots.root(&at)?;
        beneath::names(&root, &at.below, after.as_ref(), NAMES_MAX)
    });
    match names.await? {
        Ok(names) => Ok((place, Ok(names))),
        Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => {
            Ok((place, Err(escape::text(&error.to_string()))))
        }
        Err(_) => Err(Refusal::NotFound),
    }
}

/// Encodes the last name of a page for the address of the next one.
fn after(name: &Name) -> String {
    let kind = if name.is_leaf { 'f' } else { 'd' };
    encode(format!("{kind}{}", encode(name.name.as_bytes())).as_bytes())
}

fn read_after(after: &str) -> Option<Name> {
    let (kind, name) = after.split_at_checked(1)?;
    let is_leaf = match kind {
        "d" => false,
        "f" => true,
        _ => return None,
    };
    let name = OsString::from_vec(decode(name.as_bytes())?);
    Some(Name { is_leaf, name, kind: NameKind::Other })
}

/// The path from the root, with a link to each folder.
pub(super) fn way(app: &App, place: &ServedPath, goal: Goal) -> Markup {
    let way = place.way();
    html! {
        nav .way aria-label="Folders above" {
            ol {
                @for (at, above) in way.iter().enumerate() {
                    @let name = match above.below.file_name() {
                        Some(name) => escape::path(Path::new(name)),
                        None => name_of(&app.roots.path(above)),
                    };
                    @let here = (at + 1 == way.len()).then_some("location");
                    li {
                        a href=(format!("/browse?{}", goal.query(above))) aria-current=[here] {
                            (name)
                        }
                    }
                }
            }
        }
    }
}

/// The names of a folder as a list. Folders open in place, or on a page if there is no script.
fn tree(place: &ServedPath, names: &Names, goal: Goal) -> Markup {
    // Folders come first, so after a file there are none.
    let is_wanted = |name: &Name| {
        goal != Goal::Add || !name.is_leaf && name.name != steadfast::catalogue::FOLDER
    };
    let last = names.names.last().filter(|last| names.more > 0 && is_wanted(last));
    html! {
        @if names.total == 0 {
            p .soft { "The folder is empty." }
        } @else if !names.names.iter().any(is_wanted) {
            p .soft { "There is no folder in it." }
        } @else {
            ul .tree {
                @for name in names.names.iter().filter(|name| is_wanted(name)) {
                    li { (entry(place, name, goal)) }
                }
                @if let Some(last) = last {
                    @let query = format!("{}&after={}", goal.query(place), after(last));
                    @let next = names.more.min(NAMES_MAX as u64);
                    li .more {
                        a href=(format!("/browse?{query}"))
                            data-more=(format!("/browse/part?{query}")) {
                            "Show the next " (units::count(next)) " of " (units::count(names.more))
                            " more"
                        }
                    }
                }
            }
        }
    }
}

fn entry(place: &ServedPath, name: &Name, goal: Goal) -> Markup {
    let shown = escape::path(Path::new(OsStr::new(&name.name)));
    let below = place.join(&name.name);
    let (query, address) = (goal.query(&below), goal.address(&below));
    let choose = match goal {
        Goal::Run => format!("Check {shown}"),
        _ => format!("choose {shown}"),
    };
    html! {
        @match name.kind {
            NameKind::Directory => {
                details data-part=(format!("/browse/part?{query}")) {
                    summary { (shown) "/" }
                    p { a href=(format!("/browse?{query}")) { "Open " (shown) } }
                }
                a .use href=(address) aria-label=(choose) { "choose" }
            }
            NameKind::File => {
                span .leaf { (shown) }
                a .use href=(address) aria-label=(choose) { "choose" }
            }
            NameKind::Link => span .leaf { (shown) " " span .soft { "(a link, not followed)" } }
            NameKind::Other => span .leaf {
                (shown) " " span .soft { "(neither a file nor a folder)" }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_goes_on_after_any_name() {
        for bytes in [&b"a b"[..], b"%41", b"\xff&?=", b"d"] {
            let name = OsStr::from_bytes(bytes).to_owned();
            let name = Name { is_leaf: true, name, kind: NameKind::Other };
            let asked = NamedValues::parse(format!("after={}", after(&name)).as_bytes()).unwrap();
            assert_eq!(read_after(asked.text("after").unwrap()), Some(name));
        }
        assert_eq!(read_after("x"), None);
        assert_eq!(read_after(""), None);
    }
}
