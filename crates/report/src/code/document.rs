//! What became of some code as a document: the verdicts of each part, what was found, what covers
//! its bytes.

use std::path::Path;

use steadfast_codesign::{CodeVerification, Coverage, PartVerification, SignerVerdict};

use super::statement::statement;
use super::text::{pages, place};
use super::{VerifiedCode, within, words};
use crate::document::{Cell, Document, Quantity, Section, Table};
use crate::escape;
use crate::units::{self, Units};

/// Rows of nested code and of findings that a document shows.
const ROWS_MAX: usize = 400;

/// Makes the document. `coverage` is that of the file, if it is Mach-O.
pub fn document(
    verified: &VerifiedCode<'_>,
    coverage: Option<&Coverage>,
    units: Units,
) -> Document {
    let verification = verified.verification;
    let (size, time) =
        (units.bytes(verification.read_bytes()), units::duration(verified.elapsed_ns));
    let mut facts = vec![("kind".to_owned(), verification.kind.name().to_owned())];
    if let Some(part) = verification.parts.first() {
        let named = |name: &str, value: Option<String>| value.map(|value| (name.to_owned(), value));
        facts.extend(named("identifier", part.identifier.as_deref().map(escape::text)));
        facts.extend(named("team", part.team.as_deref().map(escape::text)));
        facts.extend(named("CDHash", part.cdhash.as_ref().map(ToString::to_string)));
    }
    facts.push(("read".to_owned(), format!("{size} hashed in {time}")));
    let mut sections = vec![verdicts(verified.path, verification)];
    sections.extend(findings(verified.path, verification));
    sections.extend(coverage.map(covered));
    Document { title: escape::path(verified.path), facts, warnings: Vec::new(), sections }
}

/// The three verdicts, never one.
fn verdicts(path: &Path, verification: &CodeVerification) -> Section {
    let columns = ["code", "bytes", "pages", "signer", "policy"];
    let mut table = Table::new("verdicts", "The three verdicts", &columns);
    let mut more = 0;
    rows(path, verification, &mut table, &mut more);
    let mut sentences = vec![statement(verification)];
    if let Some(resources) = &verification.resources {
        let state = match verification.resources_sealed() {
            Some(true) => "are as sealed",
            _ => "are not as sealed",
        };
        let files = units::counted(resources.files, "file", "files");
        sentences.push(format!("Resources {state}: {files}."));
        if resources.ticket {
            sentences.push("There is a stapled ticket, which is not verified.".to_owned());
        }
    }
    let mut notes = Vec::new();
    if more > 0 {
        notes.push(format!("{} further parts are not shown.", units::count(more)));
    }
    Section {
        title: "The three verdicts".to_owned(),
        sentences,
        tables: vec![table],
        notes,
        ..Section::default()
    }
}

fn rows(path: &Path, verification: &CodeVerification, table: &mut Table, more: &mut u64) {
    for part in &verification.parts {
        if table.rows.len() >= ROWS_MAX {
            *more += 1;
            continue;
        }
        let architecture = part.architecture.as_deref().map(escape::text);
        let name = match architecture {
            Some(architecture) => format!("{}, {architecture}", escape::path(path)),
            None => escape::path(path),
        };
        table.push(vec![
            Cell::text(name),
            Cell::text(words::bytes_state(part.bytes.state)),
            Cell::text(pages(part)),
            part.signer.as_ref().map_or(Cell::Empty, |signer| Cell::text(signer_of(signer))),
            policy_of(part),
        ]);
    }
    for nested in &verification.nested {
        if let Some(code) = &nested.code {
            rows(&within(path, &nested.item.path), code, table, more);
        }
    }
}

fn signer_of(signer: &SignerVerdict) -> String {
    let state = words::signer_state(signer.state);
    let name = signer.leaf().and_then(|leaf| leaf.subject().common_name());
    match name {
        Some(name) => format!("{state}: {}", escape::text(name)),
        None => state.to_owned(),
    }
}

fn policy_of(part: &PartVerification) -> Cell {
    part.policy.as_ref().map_or(Cell::Empty, |policy| Cell::text(policy.state.name()))
}

/// What was found, the failures first.
fn findings(path: &Path, verification: &CodeVerification) -> Option<Section> {
    let mut findings = verification.all_findings();
    findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    let columns = ["finding", "severity", "where", "what"];
    let mut table = Table::new("findings", "What was found", &columns);
    for finding in findings.iter().take(ROWS_MAX) {
        let place = place(path, finding);
        let place = place.trim_end_matches(": ");
        let mut said = escape::text(&finding.text);
        if let Some(apple) = words::apple(finding) {
            said = format!("{said}; {apple}");
        }
        table.push(vec![
            Cell::text(finding.kind.name()),
            Cell::text(words::severity(finding.severity)),
            if place.is_empty() { Cell::Empty } else { Cell::text(place) },
            Cell::text(said),
        ]);
    }
    let more = findings.len().saturating_sub(ROWS_MAX) as u64;
    let notes = match more {
        0 => Vec::new(),
        more => vec![format!("{} more are not shown.", units::count(more))],
    };
    (!findings.is_empty()).then(|| Section {
        title: "What was found".to_owned(),
        tables: vec![table],
        notes,
        ..Section::default()
    })
}

/// Which bytes are covered by what.
fn covered(coverage: &Coverage) -> Section {
    let mut table = Table::new("coverage", "What covers its bytes", &["cover", ">bytes"]);
    for cover in words::COVERS {
        let bytes = coverage.len_bytes(cover);
        if bytes > 0 {
            table.push(vec![Cell::text(cover.name()), Cell::Number(Quantity::Bytes(bytes))]);
        }
    }
    let mut ranges =
        Table::new("ranges", "Range by range", &["what", "cover", "code", ">first", ">length"]);
    for range in coverage.ranges.iter().take(ROWS_MAX) {
        let len = range.bytes.end - range.bytes.start;
        ranges.push(vec![
            Cell::text(escape::text(&range.what)),
            Cell::text(range.cover.name()),
            range.slice.as_deref().map_or(Cell::Empty, |slice| Cell::text(escape::text(slice))),
            Cell::Number(Quantity::Count(range.bytes.start)),
            Cell::Number(Quantity::Bytes(len)),
        ]);
    }
    Section {
        title: "What covers its bytes".to_owned(),
        tables: vec![table, ranges],
        ..Section::default()
    }
}
