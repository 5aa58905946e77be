//! The seal of an application or a binary: three verdicts, what was found, and a map of its bytes.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::{Instant, SystemTime};

use axum::Router;
use axum::extract::State;
use axum::response::Response;
use axum::routing::get;
use maud::{Markup, html};
use steadfast::beneath::{self, FileKind};
use steadfast_codesign::bundle::{self, Folder};
use steadfast_codesign::{Code, Cover, Coverage, Error, FileSource, VerifyOptions};
use steadfast_report::code::{CodeMap, MapMark, VerifiedCode, document};
use steadfast_report::document::Document;
use steadfast_report::{Units, escape, html as report, units};

use super::browse::{Goal, way};
use super::{Tab, page, waiting};
use crate::app::App;
use crate::guard::{Asked, Refusal, Visitor};
use crate::roots::Place;
use crate::texts::documents::CodeTexts;

/// Fields of a map: a page of a file of 4 MB each, more of a longer one.
const CELLS_MAX: u64 = 1024;

/// Fields in a row.
const CELLS_ACROSS: usize = 64;

pub(super) fn routes() -> Router<Arc<App>> {
    Router::new().route("/code", get(show))
}

async fn show(State(app): State<Arc<App>>, visitor: Visitor, Asked(asked): Asked) -> Response {
    let texts = &visitor.texts().code;
    let place = asked.text("place").map(|token| app.roots.place(token));
    let place = match place {
        None => return choose(&app, &visitor),
        Some(None) => return Refusal::NotFound.page(&visitor),
        Some(Some(place)) => place,
    };
    // One after another: a large application takes all processors there are.
    let Ok(turn) = Arc::clone(&app.heavy).acquire_owned().await else {
        return Refusal::TooMuch.page(&visitor);
    };
    let (looking, at) = (Arc::clone(&app), place.clone());
    let looked = waiting(move || {
        let looked = look(&looking, &at);
        drop(turn);
        looked
    });
    let content = match looked.await {
        Err(refusal) => return refusal.page(&visitor),
        Ok(Err(Trouble::Gone)) => return Refusal::NotFound.page(&visitor),
        Ok(Err(Trouble::NoCode(why))) => html! {
            (way(&app, &place, Goal::Code, visitor.texts()))
            p .wrong role="alert" { (texts.no_code) ": " (why) }
        },
        Ok(Ok(looked)) => html! {
            (way(&app, &place, Goal::Code, visitor.texts()))
            (shown(&looked, &visitor))
        },
    };
    page(&visitor, Some(Tab::Code), texts.title, &content)
}

/// The roots, to choose some code in.
fn choose(app: &App, visitor: &Visitor) -> Response {
    let texts = &visitor.texts().code;
    let content = html! {
        p { (texts.intro) }
        (super::browse::choice(app, Goal::Code, texts.choose))
    };
    page(visitor, Some(Tab::Code), texts.title, &content)
}

/// What was found.
struct Looked {
    document: Document,
    map: Option<CodeMap>,
}

/// Why nothing was.
enum Trouble {
    /// There is no such name.
    Gone,
    /// It is no code, for this reason.
    NoCode(String),
}

impl From<io::Error> for Trouble {
    fn from(error: io::Error) -> Trouble {
        match error.kind() {
            io::ErrorKind::NotFound => Trouble::Gone,
            _ => Trouble::NoCode(escape::text(&error.to_string())),
        }
    }
}

impl From<Error> for Trouble {
    fn from(error: Error) -> Trouble {
        Trouble::NoCode(escape::text(&error.to_string()))
    }
}

/// Verifies what is at a place, reached by names alone.
fn look(app: &App, place: &Place) -> Result<Looked, Trouble> {
    let (root, begun) = (app.roots.root(place)?, Instant::now());
    if let Some(bundle) = bundle_of(app, root, place)? {
        return look(app, &bundle);
    }
    let path = app.roots.path(place);
    if beneath::status(root, &place.below)?.kind != FileKind::Directory {
        let source = FileSource::new(beneath::file(root, &place.below)?)?;
        let code = Code::file(Box::new(source))?;
        return verified(&code, &path, begun);
    }
    let tree = Folder::of(beneath::directory(root, &place.below)?, &path);
    let called = path.file_name().unwrap_or_default().as_encoded_bytes();
    let code = Code::bundle(&tree, called)?;
    verified(&code, &path, begun)
}

/// Returns the bundle beneath the same root whose main executable is at a place.
fn bundle_of(app: &App, root: &Path, place: &Place) -> Result<Option<Place>, Trouble> {
    if beneath::status(root, &place.below)?.kind == FileKind::Directory {
        return Ok(None);
    }
    for level in bundle::LEVELS {
        let Some(below) = place.below.ancestors().nth(level) else { continue };
        let bundle = Place { root: place.root, below: below.to_owned() };
        let path = app.roots.path(&bundle);
        let inner = place.below.strip_prefix(below).unwrap_or(&place.below);
        let tree = Folder::of(beneath::directory(root, below)?, &path);
        let called = path.file_name().unwrap_or_default().as_encoded_bytes();
        let inner = inner.as_os_str().as_encoded_bytes();
        if bundle::is_main_executable(&tree, called, inner)? {
            return Ok(Some(bundle));
        }
    }
    Ok(None)
}

fn verified(code: &Code<'_>, path: &Path, begun: Instant) -> Result<Looked, Trouble> {
    // A clock before 1970 stands for 1970, when no certificate was valid.
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let now = i64::try_from(since.map_or(0, |since| since.as_secs())).ok();
    let verification = code.verify(&VerifyOptions { now, ..VerifyOptions::default() })?;
    let coverage =
        code.as_binary().map(|binary| Coverage::of(code.source(), binary)).transpose()?;
    let elapsed_ns = u64::try_from(begun.elapsed().as_nanos()).unwrap_or(u64::MAX);
    let facts = VerifiedCode { path, verification: &verification, elapsed_ns };
    Ok(Looked {
        document: document(&facts, coverage.as_ref(), Units::Si),
        map: coverage.map(|coverage| CodeMap::of(&coverage, &verification, CELLS_MAX)),
    })
}

fn shown(looked: &Looked, visitor: &Visitor) -> Markup {
    let texts = &visitor.texts().code;
    let untranslated = visitor.texts().layout.untranslated;
    html! {
        section aria-labelledby="map" {
            h2 #map { (texts.map) }
            @match &looked.map {
                Some(map) => (map_of(map, texts)),
                None => p .soft { (texts.no_map) }
            }
        }
        @if !untranslated.is_empty() { p .soft { (untranslated) } }
        div .document lang="en" { (report::article(&looked.document, 1, true, Units::Si)) }
    }
}

/// The fields, row by row, and what their colours mean. Who cannot see them has the table of
/// ranges in the report below.
fn map_of(map: &CodeMap, texts: &CodeTexts) -> Markup {
    let rows = map.cells.len().div_ceil(CELLS_ACROSS);
    let across = CELLS_ACROSS.min(map.cells.len());
    html! {
        p .soft { ((texts.map_help)(&Units::Si.bytes(map.cell_len_bytes))) }
        div .scroll tabindex="0" role="group" aria-labelledby="map" {
            svg .map viewBox=(format!("0 0 {} {}", across * 10, rows * 10))
                width=(across * 12) height=(rows * 12) aria-hidden="true" {
                @for (at, cell) in map.cells.iter().enumerate() {
                    rect .(ink(cell.mark)) x=((at % CELLS_ACROSS) * 10) y=((at / CELLS_ACROSS) * 10)
                        width="9" height="9" {
                        title {
                            (cell.mark.name()) ": " (units::count(cell.bytes.start)) "–"
                            (units::count(cell.bytes.end))
                        }
                    }
                }
            }
        }
        ul .legend aria-label=(texts.legend) lang="en" {
            @for (mark, bytes) in &map.bytes {
                li {
                    svg .dot viewBox="0 0 10 10" aria-hidden="true" {
                        rect .(ink(*mark)) width="10" height="10" {}
                    }
                    (mark.name()) " " (Units::Si.bytes(*bytes))
                }
            }
        }
    }
}

fn ink(mark: MapMark) -> &'static str {
    match mark {
        MapMark::Covered(Cover::Sealed) => "map-sealed",
        MapMark::Covered(Cover::Signed) => "map-signed",
        MapMark::Covered(Cover::Structure) => "map-structure",
        MapMark::Covered(Cover::Unsigned) => "map-unsigned",
        MapMark::Covered(Cover::UnsealedZero) => "map-zero",
        MapMark::Covered(Cover::Unsealed) => "map-unsealed",
        MapMark::Damaged => "map-damaged",
    }
}
