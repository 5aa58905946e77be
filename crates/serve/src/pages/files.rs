//! The files of a folder as its catalogue knows them: searched by name and state, with size and
//! dates, some at a time.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use axum::Router;
use axum::extract::{self, State};
use axum::response::{Html, IntoResponse as _, Response};
use axum::routing::get;
use maud::{Markup, html};
use steadfast::catalogue::{Catalogue, ListedFile};
use steadfast::names::{NameBuf as _, NameBytes as _};
use steadfast::{FileState, Timestamp};
use steadfast_report::{Units, escape};

use crate::app::App;
use crate::dates;
use crate::fields::{NamedValues, encode};
use crate::folders::name_of;
use crate::icons::{icon, small_icon};
use crate::kinds::StateKind;
use crate::layout::{Tab, folder_trail, framed};
use crate::refusal::Refusal;
use crate::roots::ServedPath;
use crate::visitor::{QueryFields, Visitor};
use crate::words;

/// Files of one page.
const SHOWN_MAX: usize = 200;

/// Longest search text in characters.
const WORDS_LEN_MAX: usize = 200;

/// The value of the filter for files without a tag.
const NEW: &str = "new";

pub(super) fn routes() -> Router<Arc<App>> {
    Router::new().route("/folders/{root}/files", get(show))
}

/// Which files are wanted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct FileFilter {
    /// Only files whose path contains this, in any case.
    words: String,
    /// Only files in a state of this name.
    state: Option<&'static str>,
    /// Only files after this one.
    after: Option<PathBuf>,
}

impl FileFilter {
    fn of(query: &NamedValues) -> FileFilter {
        let words = query.text("words").unwrap_or("").chars().take(WORDS_LEN_MAX).collect();
        let wanted = query.text("state").unwrap_or("");
        let state = states().find(|name| *name == wanted);
        let after = query.bytes("after").filter(|path| !path.is_empty());
        let after = after.map(|path| PathBuf::from_vec(path.to_vec()));
        FileFilter { words, state, after }
    }

    /// Returns what says whether a file is wanted.
    fn wants(&self) -> impl Fn(&ListedFile) -> bool {
        let words = self.words.to_lowercase();
        move |file| {
            let has_words = || escape::path(&file.path).to_lowercase().contains(&words);
            self.state.is_none_or(|state| state == state_of(file))
                && (words.is_empty() || has_words())
        }
    }

    /// Returns the query of the files after one.
    fn after(&self, last: &Path) -> String {
        format!(
            "words={}&state={}&after={}",
            encode(self.words.as_bytes()),
            self.state.unwrap_or(""),
            encode(last.as_bytes())
        )
    }
}

/// Returns the names of states that a file can be in.
fn states() -> impl Iterator<Item = &'static str> {
    FileState::ALL.into_iter().map(FileState::name).chain([NEW])
}

fn state_of(file: &ListedFile) -> &'static str {
    match file.standing {
        FileState::Fine if !file.tagged => NEW,
        standing => standing.name(),
    }
}

async fn show(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    extract::Path(root): extract::Path<String>,
    QueryFields(query): QueryFields,
) -> Result<Response, Refusal> {
    let root = root.parse().map_err(|_| Refusal::NotFound)?;
    let place = app.roots.at(root).ok_or(Refusal::NotFound)?;
    let filter = FileFilter::of(&query);
    let (at, wanted) = (place.clone(), filter.clone());
    let listed = app.heavy(move |app| list(app, &at, &wanted)).await??;
    let now = app.now();
    if query.text("part").is_some() {
        let rows = rows(&place, &filter, &listed, now);
        return Ok(Html(html! { table { tbody { (rows) } } }.into_string()).into_response());
    }
    let name = name_of(&app.roots.path(&place));
    let title = format!("Files of {name}");
    let content = html! {
        (folder_trail(root, &name, "Files"))
        h1 { (title) }
        section .panel aria-label=(title) {
            div .cap { (search(root, &filter)) }
            @if listed.files.is_empty() {
                p .body role="status" { "No file matches." }
            } @else {
                table .grid.parts {
                    thead { tr {
                        th scope="col" { "Name" }
                        th scope="col" { "State" }
                        th scope="col" { "Last intact" }
                        th scope="col" { "Saved" }
                        th .right scope="col" { "Size" }
                    } }
                    tbody { (rows(&place, &filter, &listed, now)) }
                }
            }
        }
    };
    Ok(framed(&visitor, Some(Tab::Home), &title, &html! {}, &content))
}

/// Files of one page.
struct ListedPage {
    files: Vec<ListedFile>,
    /// Whether there are more.
    more: bool,
}

fn list(app: &App, place: &ServedPath, filter: &FileFilter) -> Result<ListedPage, Refusal> {
    let root = app.roots.root(place).map_err(|_| Refusal::NotFound)?;
    let file = Catalogue::find(&root).ok_or(Refusal::NotFound)?;
    let catalogue = Catalogue::open_reader(&file).map_err(|_| Refusal::Conflict)?;
    if catalogue.root() != root.as_path() {
        return Err(Refusal::NotFound);
    }
    catalogue.guard().map_err(|_| Refusal::Conflict)?;
    let mut page = ListedPage { files: Vec::new(), more: false };
    let is_wanted = filter.wants();
    let listed = catalogue.files(filter.after.as_deref(), &mut |file| {
        if !is_wanted(&file) {
            return ControlFlow::Continue(());
        }
        page.more = page.files.len() == SHOWN_MAX;
        if page.more {
            return ControlFlow::Break(());
        }
        page.files.push(file);
        ControlFlow::Continue(())
    });
    listed.map_err(|_| Refusal::Conflict)?;
    Ok(page)
}

/// The form that searches.
pub(super) fn search_in(root: usize) -> Markup {
    search(root, &FileFilter::default())
}

fn search(root: usize, filter: &FileFilter) -> Markup {
    html! {
        form .row role="search" action=(format!("/folders/{root}/files")) {
            span .find-in {
                (icon("search"))
                input type="search" name="words" value=(filter.words)
                    maxlength=(WORDS_LEN_MAX) aria-label="Find a file"
                    placeholder="Find a file";
            }
            select name="state" aria-label="State" {
                option value="" { "All states" }
                @for state in FileState::ALL {
                    option value=(state.name()) selected[filter.state == Some(state.name())] {
                        (words::file_state(state))
                    }
                }
                option value=(NEW) selected[filter.state == Some(NEW)] { "New, not yet protected" }
            }
            button type="submit" { "Find" }
        }
    }
}

fn rows(place: &ServedPath, filter: &FileFilter, listed: &ListedPage, now: Timestamp) -> Markup {
    html! {
        @for file in &listed.files { (row(place, file, now)) }
        @if let (true, Some(last)) = (listed.more, listed.files.last()) {
            @let address = format!("/folders/{}/files?{}", place.root, filter.after(&last.path));
            tr .more {
                td colspan="5" {
                    a href=(address) data-more=(format!("{address}&part=1")) data-scroll="" {
                        "Show more"
                    }
                }
            }
        }
    }
}

fn row(place: &ServedPath, file: &ListedFile, now: Timestamp) -> Markup {
    let is_new = state_of(file) == NEW;
    let kind = StateKind::of_state(file.standing);
    let (class, name) = match kind {
        None if is_new => ("idle", "new"),
        None => ("good", "intact"),
        Some(kind) => kind.class_and_icon(),
    };
    let says = if is_new { "New, not yet protected" } else { words::file_state(file.standing) };
    let below = ServedPath { root: place.root, below: file.path.clone() };
    let above = file.path.parent().map(escape::path).unwrap_or_default();
    let shown = file.path.file_name().map_or(file.path.as_path(), Path::new);
    html! {
        tr {
            td .name {
                span .small.soft { (above) @if !above.is_empty() { "/" } }
                a href=(format!("/history?place={}", below.query())) { (escape::path(shown)) }
            }
            td { span .state.(class) { (small_icon(name)) (says) } }
            td {
                @match file.last_proof {
                    Some(proof) => (dates::moment(proof, now)),
                    None => "never",
                }
            }
            td .opt { (dates::moment(file.mtime, now)) }
            td .right { (Units::Si.bytes(file.length)) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_goes_on_after_any_name() {
        for name in [&b"a b/c&d=e"[..], b"%41", b"\xff?\n", b"d"] {
            let last = PathBuf::from_vec(name.to_vec());
            let filter = FileFilter { words: "ä&b".to_owned(), state: Some(NEW), after: None };
            let query = NamedValues::parse(filter.after(&last).as_bytes()).unwrap();
            assert_eq!(FileFilter::of(&query), FileFilter { after: Some(last), ..filter });
        }
    }

    #[test]
    fn files_are_wanted_by_words_and_state() {
        let file = |path: &str, standing, tagged| ListedFile {
            path: path.into(),
            length: 1,
            mtime: Timestamp { seconds: 0, nanoseconds: 0 },
            standing,
            tagged,
            last_proof: None,
        };
        let wants = |words: &str, state: &str, file: &ListedFile| {
            let query = format!("words={words}&state={state}");
            FileFilter::of(&NamedValues::parse(query.as_bytes()).unwrap()).wants()(file)
        };
        let damaged = file("Sommer/A.jpg", FileState::Corrupt, true);
        for (words, state, wanted) in [
            ("", "", true),
            ("sommer%2Fa", "", true),
            ("winter", "", false),
            ("", "corrupt", true),
            ("", "fine", false),
            ("jpg", "no such state", true),
        ] {
            assert_eq!(wants(words, state, &damaged), wanted, "{words} {state}");
        }
        let new = file("b", FileState::Fine, false);
        assert!(wants("", NEW, &new) && !wants("", "fine", &new));
    }
}
