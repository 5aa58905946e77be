//! The signature of an application or a binary: three verdicts, findings, and a map of its bytes.

use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::sync::Arc;
use std::time::{Instant, SystemTime};

use axum::Router;
use axum::extract::State;
use axum::response::Response;
use axum::routing::get;
use maud::{Markup, html};
use steadfast::beneath::{self, FileKind};
use steadfast_codesign::bundle::{self, BundleTree, FolderTree};
use steadfast_codesign::{
    ArchiveTree, Code, Coverage, Error, FileSource, RangeCover, VerifyOptions, each_code,
};
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

/// The longest contents of an archive that a page verifies.
const ARCHIVE_LEN_MAX: u64 = 256 << 20;

/// Most pieces of code of a folder or an archive on one page.
const CODES_MAX: usize = 100;

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
                "Verifies applications, programs and disk images signed with Apple's tools, also \
                 in a folder or an archive: whether their bytes are the signed ones, who signed \
                 them, and whether the signatures are valid. \
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

/// The documents of verified code, the map of a single one, and what could not be verified.
#[derive(Default)]
struct CodePage {
    documents: Vec<Document>,
    map: Option<CodeMap>,
    failed: Vec<String>,
    /// Whether there is more code than is verified.
    is_cut: bool,
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
        if let Some(archive) = ArchiveTree::read(&source, ARCHIVE_LEN_MAX)? {
            return verify_each(&archive, &path);
        }
        let code = Code::file(Box::new(source))?;
        return verify(&code, &path, begun);
    }
    let tree = FolderTree::of(beneath::directory(&root, &place.below)?, &path);
    let called = path.file_name().unwrap_or_default().as_encoded_bytes();
    match bundle::is_bundle(&tree, called)? {
        true => verify(&Code::bundle(&tree, called)?, &path, begun),
        false => verify_each(&tree, &path),
    }
}

/// Verifies the code in a folder or an archive.
fn verify_each(tree: &dyn BundleTree, path: &Path) -> Result<CodePage, CodeFailure> {
    let mut all = CodePage::default();
    each_code(tree, &mut |inner, code| {
        let path = path.join(OsStr::from_bytes(inner));
        let name = escape::path(&path);
        if all.documents.len() + all.failed.len() >= CODES_MAX {
            all.is_cut = true;
            return;
        }
        match code.map_err(CodeFailure::from).and_then(|code| verify(&code, &path, Instant::now()))
        {
            Ok(page) => all.documents.extend(page.documents),
            Err(CodeFailure::NoCode(why)) => all.failed.push(format!("{name}: {why}")),
            Err(CodeFailure::Gone) => all.failed.push(format!("{name}: missing")),
        }
    });
    match all.documents.is_empty() && all.failed.is_empty() {
        true => Err(CodeFailure::NoCode("no code in it".to_owned())),
        false => Ok(all),
    }
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
        documents: vec![document(&facts, coverage.as_ref(), Units::Si)],
        map: coverage.map(|coverage| CodeMap::of(&coverage, &verification, CELLS_MAX)),
        ..CodePage::default()
    })
}

fn shown(verified: &CodePage) -> Markup {
    html! {
        @if let Some(map) = &verified.map {
            section aria-labelledby="map" {
                h2 #map { "Byte by byte" }
                (map_of(map))
            }
        }
        @for failed in &verified.failed {
            p .wrong role="alert" { (failed) }
        }
        @if verified.is_cut {
            p .wrong role="alert" {
                "There is more code, which was not verified. " code { "steadfast code verify" }
                " verifies all of it."
            }
        }
        (documents(&verified.documents))
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
