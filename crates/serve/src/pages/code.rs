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
use steadfast::names::NameBytes as _;
use steadfast_codesign::bundle::{self, FolderTree};
use steadfast_codesign::{
    Aspect, Code, CodeOutcome, CodeVerification, Coverage, Error, FileSource, OpenedCode,
    RangeCover, VerifyOptions, each_code, each_code_in,
};
use steadfast_report::code::{CodeMap, MapMark, VerifiedCode, document};
use steadfast_report::document::Document;
use steadfast_report::{Units, escape, units};

use super::browse::{Goal, choice, way};
use crate::app::App;
use crate::folders::name_of;
use crate::icons::{disc, drawn, icon, small_icon};
use crate::layout::{Tab, documents, framed};
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
            div .head { div {
                h1 { "Is an app as it was signed?" }
                p .soft {
                    "For applications, programs and disk images that were signed with Apple's \
                     tools, also in a folder or an archive: was anything changed, and who signed \
                     it? Apple is not asked."
                }
            } }
            (choice(&app, Goal::Code, "Choose an application or a program"))
        },
        Some(place) => {
            let at = place.clone();
            let verified = match app.heavy(move |app| verify_at(app, &at)).await? {
                Err(CodeFailure::Gone) => return Err(Refusal::NotFound),
                Err(CodeFailure::NoCode(why)) => html! {
                    h1 { "This is no signed code" }
                    p .note role="alert" { "This cannot be read as signed code: " (why) }
                },
                Ok(verified) => shown(&verified),
            };
            html! {
                (way(&app, &place, Goal::Code))
                (verified)
            }
        }
    };
    Ok(framed(&visitor, Some(Tab::Code), "Signed apps", &html! {}, &content))
}

/// The documents of verified code, the map of a single one, and what could not be verified.
#[derive(Default)]
struct CodePage {
    documents: Vec<Document>,
    /// The answers of each, in the same order.
    answers: Vec<CodeAnswers>,
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
        return verify_each(&path, |visit| each_code_in(Box::new(source), ARCHIVE_LEN_MAX, visit));
    }
    let tree = FolderTree::of(beneath::directory(&root, &place.below)?, &path);
    let called = path.file_name().unwrap_or_default().as_encoded_bytes();
    match bundle::is_bundle(&tree, called)? {
        true => verify(&Code::bundle(&tree, called)?, &path, begun),
        false => verify_each(&path, |visit| {
            each_code(&tree, visit);
            Ok(())
        }),
    }
}

/// Verifies the code that is found at a path: a file, or what a folder or an archive contains.
fn verify_each(
    path: &Path,
    find: impl FnOnce(&mut dyn FnMut(&[u8], OpenedCode<'_>)) -> Result<(), Error>,
) -> Result<CodePage, CodeFailure> {
    let mut all = CodePage::default();
    let mut begun = Instant::now();
    find(&mut |inner, code| {
        let path = match inner {
            [] => path.to_owned(),
            inner => path.join(Path::from_bytes(inner)),
        };
        let name = escape::path(&path);
        if all.documents.len() + all.failed.len() >= CODES_MAX {
            all.is_cut = true;
            return;
        }
        match code.map_err(CodeFailure::from).and_then(|code| verify(&code, &path, begun)) {
            Ok(page) => {
                all.map = page.map.filter(|_| all.documents.is_empty());
                all.documents.extend(page.documents);
                all.answers.extend(page.answers);
            }
            Err(CodeFailure::NoCode(why)) => all.failed.push(format!("{name}: {why}")),
            Err(CodeFailure::Gone) => all.failed.push(format!("{name}: missing")),
        }
        begun = Instant::now();
    })?;
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
        answers: vec![CodeAnswers::of(path, &verification)],
        map: coverage.map(|coverage| CodeMap::of(&coverage, &verification, CELLS_MAX)),
        ..CodePage::default()
    })
}

/// What was found of some code, by the three questions.
struct CodeAnswers {
    name: String,
    outcome: CodeOutcome,
    /// The worst outcome of each aspect.
    bytes: CodeOutcome,
    signer: CodeOutcome,
    policy: CodeOutcome,
    signers: Vec<String>,
}

impl CodeAnswers {
    fn of(path: &Path, verification: &CodeVerification) -> CodeAnswers {
        let findings = verification.all_findings();
        let of =
            |aspect| CodeOutcome::of(findings.iter().filter(|finding| finding.aspect() == aspect));
        CodeAnswers {
            name: name_of(path),
            outcome: verification.outcome(),
            bytes: of(Aspect::Bytes),
            signer: of(Aspect::Signer),
            policy: of(Aspect::Policy),
            signers: verification.signers().into_iter().map(escape::text).collect(),
        }
    }
}

/// Returns the colour of an outcome.
fn class_of(outcome: CodeOutcome) -> &'static str {
    match outcome {
        CodeOutcome::Good => "good",
        CodeOutcome::Unverified => "warn",
        CodeOutcome::Refused | CodeOutcome::Unmet | CodeOutcome::Damaged => "bad",
    }
}

/// The answer in a sentence: of one piece of code, or of the worst of many.
fn verdict(answers: &[CodeAnswers]) -> Markup {
    let Some(worst) = answers.iter().max_by_key(|one| one.outcome) else { return html! {} };
    let name = &worst.name;
    let title = match worst.outcome {
        CodeOutcome::Good if answers.len() > 1 => {
            format!("All {} parts are exactly as signed", units::count(answers.len() as u64))
        }
        CodeOutcome::Good => format!("{name} is exactly as it was signed"),
        CodeOutcome::Unverified => format!("{name}: not all of it could be verified"),
        CodeOutcome::Damaged => format!("{name} is not as it was signed"),
        _ => format!("{name} is not accepted"),
    };
    let signers = match worst.signers.as_slice() {
        [] => "No signer could be verified.".to_owned(),
        signers => format!("Signed by {}.", signers.join(", ")),
    };
    html! {
        div .verdict {
            (disc("seal", &format!("{} big", class_of(worst.outcome))))
            div {
                h1 { (title) }
                p .soft { (signers) }
                div .row { a .button href="/code" { (icon("app")) "Look at another app" } }
            }
        }
        @if answers.len() == 1 { (three(worst)) }
    }
}

/// The three questions, each with its answer.
fn three(one: &CodeAnswers) -> Markup {
    let bytes = match one.bytes {
        CodeOutcome::Good => ("No.", "Every byte that was sealed is as it was sealed."),
        CodeOutcome::Unverified => ("Not known.", "A part could not be compared with its seal."),
        _ => ("Yes.", "Something is not as it was sealed, or was added or taken away."),
    };
    let signer = match one.signer {
        _ if one.signers.is_empty() => ("Nobody that can be verified.", ""),
        CodeOutcome::Good => (&*one.signers[0], "The signature and its certificate are valid."),
        _ => (&*one.signers[0], "Not all about the signature could be verified."),
    };
    let (opens, opening) = opening(one);
    let questions = [
        ("Was anything changed?", "intact", one.bytes, bytes),
        ("Who signed it?", "lock", one.signer, signer),
        ("Would a Mac open it?", "app", opens, opening),
    ];
    html! {
        div .three {
            @for (question, sign, outcome, (answer, more)) in questions {
                section .panel {
                    (drawn(sign, &format!("icon {}", class_of(outcome))))
                    h2 { (question) }
                    p { b .(class_of(outcome)) { (answer) } " " (more) }
                }
            }
        }
    }
}

/// Whether a Mac would open it, which depends on all that was found.
fn opening(one: &CodeAnswers) -> (CodeOutcome, (&'static str, &'static str)) {
    let asks = "A Mac may refuse what nobody answers for.";
    match (one.bytes, one.policy) {
        (CodeOutcome::Good, CodeOutcome::Good) if one.signers.is_empty() => {
            (CodeOutcome::Unverified, ("Perhaps not.", asks))
        }
        (CodeOutcome::Good, CodeOutcome::Good) if one.signer != CodeOutcome::Good => {
            (one.signer, ("Perhaps not.", "Not all about the signature could be verified."))
        }
        (CodeOutcome::Good, CodeOutcome::Good) => {
            let asked = "Apple was not asked: that needs a network.";
            (CodeOutcome::Good, ("Nothing speaks against it.", asked))
        }
        (CodeOutcome::Good, policy) => {
            (policy, ("Perhaps not.", "Its signature has a form that a Mac may refuse."))
        }
        (CodeOutcome::Unverified, _) => {
            (CodeOutcome::Unverified, ("Not known.", "Not all of it could be verified."))
        }
        (bytes, _) => (bytes, ("No.", "A Mac refuses what is not as it was signed.")),
    }
}

fn shown(verified: &CodePage) -> Markup {
    html! {
        (verdict(&verified.answers))
        @for failed in &verified.failed {
            p .note.bad role="alert" { (failed) }
        }
        @if verified.is_cut {
            p .wrong role="alert" {
                "There is more code, which was not verified. " code { "steadfast code verify" }
                " verifies all of it."
            }
        }
        @if let Some(map) = &verified.map {
            details .fold {
                summary {
                    (small_icon("chevron")) "What the seals cover"
                    span .soft { "byte by byte" }
                }
                div .body {
                    section aria-labelledby="map" { h2 #map { "Byte by byte" } (map_of(map)) }
                }
            }
        }
        details .fold open[verified.answers.len() != 1] {
            summary {
                (small_icon("chevron")) "Technical details"
                span .soft { "identity, certificates, every part" }
            }
            div .body { (documents(&verified.documents)) }
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_changed_is_not_said_to_open() {
        use CodeOutcome::{Damaged, Good, Refused, Unverified};
        let outcomes = [Good, Unverified, Refused, Damaged];
        for (bytes, signer) in outcomes.iter().flat_map(|one| outcomes.map(|two| (*one, two))) {
            for (policy, is_signed) in
                outcomes.iter().flat_map(|one| [true, false].map(|two| (*one, two)))
            {
                let signers = if is_signed { vec!["Somebody".to_owned()] } else { Vec::new() };
                let name = "tool".to_owned();
                let one = CodeAnswers { name, outcome: Good, bytes, signer, policy, signers };
                let (outcome, (answer, _)) = opening(&one);
                let is_well = [bytes, signer, policy] == [Good; 3] && is_signed;
                assert_eq!(outcome == Good, is_well, "{answer}");
                assert_eq!(answer == "Nothing speaks against it.", is_well);
                assert_eq!(answer == "No.", matches!(bytes, Refused | Damaged));
            }
        }
    }
}
