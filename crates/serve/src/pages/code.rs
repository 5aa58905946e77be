//! The signature of an application or a binary: three verdicts, findings, and a map of its bytes.

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
use steadfast_codesign::bundle::{self, FolderTree};
use steadfast_codesign::{Code, Coverage, Error, FileSource, RangeCover, VerifyOptions};
use steadfast_report::code::{CodeMap, MapMark, VerifiedCode, document};
use steadfast_report::document::Document;
use steadfast_report::{Units, escape, units};

use super::browse::{Goal, choice, way};
use crate::app::App;
use crate::layout::{Tab, documents, page};
use crate::refusal::Refusal;
use crate::roots::ServedPath;
use crate::visitor::{QueryFields, Visitor};

/// Cells of a map at most: one for each page of a file of 4 MB, and for more bytes of a longer one.
const CELLS_MAX: u64 = 1024;

/// Cells in a row.
const CELLS_ACROSS: usize = 64;

pub(super) fn routes() -> Router<Arc<App>> {
    Router::new().route("/code", get(show))
}

async fn show(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    QueryFields(query): QueryFields,
) -> Result<Response, Refusal> {
    let content = match app.place(&query)? {
        None => html! {
            p {
                "Verifies an application, program or disk image signed with Apple's tools: whether \
                 its bytes are the signed ones, who signed it, and whether the signature is valid. \
                 Does not tell whether a Mac would run it."
            }
            (choice(&app, Goal::Code, "Choose an application or a binary in"))
        },
        Some(place) => {
            let at = place.clone();
            let verified = match app.heavy(move |app| verify_at(app, &at)).await? {
                Err(CodeFailure::Gone) => return Err(Refusal::NotFound),
                Err(CodeFailure::NoCode(why)) => html! {
                    p .wrong role="alert" {
                        "This cannot be read as signed code: " (why)
                    }
                },
                Ok(verified) => shown(&verified),
            };
            html! {
                (way(&app, &place, Goal::Code))
                (verified)
            }
        }
    };
    Ok(page(&visitor, Some(Tab::Code), "Code signature", &content))
}

/// The document of verified code, and its map.
struct CodePage {
    document: Document,
    map: Option<CodeMap>,
}

/// Why code could not be verified.
enum CodeFailure {
    /// There is no such file.
    Gone,
    /// It is not code, for this reason.
    NoCode(String),
}

impl From<io::Error> for CodeFailure {
    fn from(error: io::Error) -> CodeFailure {
        match error.kind() {
            io::ErrorKind::NotFound => CodeFailure::Gone,
            _ => CodeFailure::NoCode(escape::text(&error.to_string())),
        }
    }
}

impl From<Error> for CodeFailure {
    fn from(error: Error) -> CodeFailure {
        CodeFailure::NoCode(escape::text(&error.to_string()))
    }
}

/// Verifies the code at a path, without following links.
fn verify_at(app: &App, place: &ServedPath) -> Result<CodePage, CodeFailure> {
    let (root, begun) = (app.roots.root(place)?, Instant::now());
    if let Some(bundle) = bundle_of(app, &root, place)? {
        return verify_at(app, &bundle);
    }
    let path = app.roots.path(place);
    if beneath::status(&root, &place.below)?.kind != FileKind::Directory {
        let source = FileSource::new(beneath::file(&root, &place.below)?)?;
        let code = Code::file(Box::new(source))?;
        return verify(&code, &path, begun);
    }
    let tree = FolderTree::of(beneath::directory(&root, &place.below)?, &path);
    let called = path.file_name().unwrap_or_default().as_encoded_bytes();
    let code = Code::bundle(&tree, called)?;
    verify(&code, &path, begun)
}

/// Returns the bundle beneath the same root whose main executable this is.
fn bundle_of(
    app: &App,
    root: &Path,
    place: &ServedPath,
) -> Result<Option<ServedPath>, CodeFailure> {
    if beneath::status(root, &place.below)?.kind == FileKind::Directory {
        return Ok(None);
    }
    for level in bundle::LEVELS {
        let Some(below) = place.below.ancestors().nth(level) else { continue };
        let bundle = ServedPath { root: place.root, below: below.to_owned() };
        let path = app.roots.path(&bundle);
        let inner = place.below.strip_prefix(below).unwrap_or(&place.below);
        let tree = FolderTree::of(beneath::directory(root, below)?, &path);
        let called = path.file_name().unwrap_or_default().as_encoded_bytes();
        let inner = inner.as_os_str().as_encoded_bytes();
        if bundle::is_main_executable(&tree, called, inner)? {
            return Ok(Some(bundle));
        }
    }
    Ok(None)
}

fn verify(code: &Code<'_>, path: &Path, begun: Instant) -> Result<CodePage, CodeFailure> {
    // A clock before 1970 counts as 1970, when no certificate was valid.
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let now = i64::try_from(since.map_or(0, |since| since.as_secs())).ok();
    let verification = code.verify(&VerifyOptions { now, ..VerifyOptions::default() })?;
    let coverage =
        code.as_binary().map(|binary| Coverage::of(code.source(), binary)).transpose()?;
    let elapsed_ns = u64::try_from(begun.elapsed().as_nanos()).unwrap_or(u64::MAX);
    let facts = VerifiedCode { path, verification: &verification, elapsed_ns };
    Ok(CodePage {
        document: document(&facts, coverage.as_ref(), Units::Si),
        map: coverage.map(|coverage| CodeMap::of(&coverage, &verification, CELLS_MAX)),
    })
}

fn shown(verified: &CodePage) -> Markup {
    html! {
        section aria-labelledby="map" {
            h2 #map { "Byte by byte" }
            @match &verified.map {
                Some(map) => (map_of(map)),
                None => p .soft { "There is no map. Maps exist for Mach-O code only." }
            }
        }
        (documents(std::slice::from_ref(&verified.document)))
    }
}

/// The cells row by row, and a legend. The table of ranges in the report below says the same in
/// text.
fn map_of(map: &CodeMap) -> Markup {
    let rows = map.cells.len().div_ceil(CELLS_ACROSS);
    let across = CELLS_ACROSS.min(map.cells.len());
    html! {
        p .soft {
            "The file from its first to its last byte. Each cell is "
            (Units::Si.bytes(map.cell_len_bytes)) "."
        }
        div .scroll tabindex="0" role="group" aria-labelledby="map" {
            svg .map viewBox=(format!("0 0 {} {}", across * 10, rows * 10))
                width=(across * 12) height=(rows * 12) aria-hidden="true" {
                @for (at, cell) in map.cells.iter().enumerate() {
                    rect .(ink(cell.mark)) x=((at % CELLS_ACROSS) * 10) y=((at / CELLS_ACROSS) * 10)
                        width="9" height="9" {
                        title {
                            (cell.mark.name()) ": "
                            (units::count(cell.bytes.start)) "–"
                            (units::count(cell.bytes.end))
                        }
                    }
                }
            }
        }
        ul .legend aria-label="Legend" {
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
        MapMark::Covered(RangeCover::Sealed) => "map-sealed",
        MapMark::Covered(RangeCover::Signed) => "map-signed",
        MapMark::Covered(RangeCover::Structure) => "map-structure",
        MapMark::Covered(RangeCover::Unsigned) => "map-unsigned",
        MapMark::Covered(RangeCover::UnsealedZero) => "map-zero",
        MapMark::Covered(RangeCover::Unsealed) => "map-unsealed",
        MapMark::Damaged => "map-damaged",
    }
}
