//! Makes a document of a verification: the verdicts on each part, the findings, and the coverage of
//! the bytes.

use std::path::Path;

use steadfast_codesign::{
    CodeFinding, CodeVerification, Coverage, CoveredRange, PartVerification, PolicyState,
    RangeCover, SignerVerdict,
};

use super::statement::statement;
use super::text::{named_place, pages, part_of_code};
use super::{VerifiedCode, within, words};
use crate::document::{Cell, Document, Field, Section, Table, labelled};
use crate::escape;
use crate::units::{self, Units};

/// Most rows of nested code and of findings in a document.
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
    let first = verification.parts.first();
    let named = |name: Option<&String>| name.map(|name| escape::text(name));
    let facts = [
        ("kind", Some(verification.kind.name().to_owned())),
        ("identifier", named(first.and_then(|part| part.identifier.as_ref()))),
        ("team", named(first.and_then(|part| part.team.as_ref()))),
        ("CDHash", first.and_then(|part| part.cdhash.as_ref()).map(ToString::to_string)),
        ("hashed", Some(format!("{size} in {time}"))),
    ];
    let facts = labelled(facts.into_iter().filter_map(|(label, value)| Some((label, value?))));
    let mut sections = vec![verdicts(verified.path, verification)];
    sections.extend(findings(verified.path, verification));
    sections.extend(coverage.map(covered));
    Document { title: escape::path(verified.path), facts, sections, ..Document::default() }
}

/// The three verdicts, which are never combined into one.
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
    }
    sentences.extend(words::notarized(verification).map(|words| format!("It is {words}.")));
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
            Cell::text(<&str>::from(part.bytes.state)),
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
    let policy = part.policy.as_ref().filter(|policy| policy.state != PolicyState::Clear);
    policy.map_or(Cell::Empty, |policy| Cell::text(policy.state.name()))
}

/// The findings, failures first.
fn findings(path: &Path, verification: &CodeVerification) -> Option<Section> {
    let mut findings = verification.all_findings();
    findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    let shown = &findings[..findings.len().min(ROWS_MAX)];
    let said = |finding: &CodeFinding| match words::apple(finding) {
        Some(apple) => format!("{}; {apple}", escape::text(&finding.text)),
        None => escape::text(&finding.text),
    };
    let named = |names: &[String]| match names {
        [] => Cell::Empty,
        names => Cell::text(names.join(", ")),
    };
    let fields: &[Field<'_, CodeFinding>] = &[
        ("finding", &|of| Cell::text(of.kind.name())),
        ("severity", &|of| Cell::text(<&str>::from(of.severity))),
        ("where", &|of| named(&named_place(path, of))),
        ("part", &|of| Cell::words(part_of_code(of).join(", "))),
        ("what", &|of| Cell::text(said(of))),
    ];
    let table = Table::of("findings", "What was found", 1, shown, fields);
    let more = (findings.len() - shown.len()) as u64;
    let more = (more > 0).then(|| format!("{} more are not shown.", units::count(more)));
    (!findings.is_empty()).then(|| Section {
        title: "What was found".to_owned(),
        tables: vec![table],
        notes: more.into_iter().collect(),
        ..Section::default()
    })
}

/// The coverage of the bytes.
fn covered(coverage: &Coverage) -> Section {
    let present = |cover: &RangeCover| coverage.len_bytes(*cover) > 0;
    let covers: Vec<RangeCover> = words::COVERS.into_iter().filter(present).collect();
    let fields: &[Field<'_, RangeCover>] = &[
        ("cover", &|cover| Cell::text(cover.name())),
        (">bytes", &|cover| Cell::bytes(coverage.len_bytes(*cover))),
    ];
    let table = Table::of("coverage", "What covers its bytes", 1, &covers, fields);
    let shown = &coverage.ranges[..coverage.ranges.len().min(ROWS_MAX)];
    let fields: &[Field<'_, CoveredRange>] = &[
        ("what", &|of| Cell::text(escape::text(&of.what))),
        ("cover", &|of| Cell::text(of.cover.name())),
        ("code", &|of| of.slice.as_deref().map_or(Cell::Empty, |of| Cell::text(escape::text(of)))),
        (">first", &|of| Cell::count(of.bytes.start)),
        (">length", &|of| Cell::bytes(of.bytes.end - of.bytes.start)),
    ];
    let ranges = Table::of("ranges", "Range by range", 1, shown, fields);
    Section {
        title: "What covers its bytes".to_owned(),
        tables: vec![table, ranges],
        ..Section::default()
    }
}
