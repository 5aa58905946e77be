//! Writes signed code as JSON lines: one object on each line, the summary last.

mod shown;

use std::path::Path;

use serde::Serialize;
use steadfast::ExitStatus;
use steadfast::json::PathText;
use steadfast_codesign::{
    BytesVerdict, CodeFinding, CodeKind, CodeVerification, NestedVerification, PartVerification,
};

use super::signer::signer_object;
use super::statement::statement;
use super::{VerifiedCode, within, words};
use crate::json::{JsonObject, write_object, write_summary};

pub use shown::write_shown_json;

/// The summary of a command about code.
#[derive(Clone, Debug, Default, Serialize)]
pub struct CodeCounts {
    /// The verb, as in `code verify`.
    pub verb: &'static str,
    /// The status that the command ends with.
    pub exit_status: ExitStatus,
    /// Number of paths.
    pub paths: u64,
    /// Number of pieces of code that were found there.
    pub codes: u64,
    /// Number of files that may hold code and were not looked into.
    pub not_read: u64,
    /// Number of paths that could not be read.
    pub failed: u64,
    /// Bytes that were read and hashed.
    pub read_bytes: u64,
    /// Duration in nanoseconds.
    pub elapsed_ns: u64,
}

/// Appends the last line.
pub fn write_end_json(counts: &CodeCounts, out: &mut Vec<u8>) {
    write_summary(counts, out);
}

/// Appends the line about a path that could not be read.
pub fn write_failed_json(path: &Path, error: &str, out: &mut Vec<u8>) {
    write_object(&JsonObject::at(path).field("error", error), out);
}

/// Appends the lines about verified code and the code that it nests.
pub fn write_verified_json(verified: &VerifiedCode<'_>, out: &mut Vec<u8>) {
    let verification = verified.verification;
    write_code(verified.path, verification, out);
    for finding in verification.all_findings() {
        write_object(&finding_object(verified.path, &finding), out);
    }
}

fn write_code(path: &Path, verification: &CodeVerification, out: &mut Vec<u8>) {
    write_object(&code_object(path, verification), out);
    for part in &verification.parts {
        write_object(&part_object(path, part), out);
    }
    for nested in &verification.nested {
        write_object(&nested_object(path, nested), out);
        if let Some(code) = &nested.code {
            write_code(&within(path, &nested.item.path), code, out);
        }
    }
}

/// The kind of some code, and the state of its resources.
fn code_object<'a>(path: &Path, verification: &'a CodeVerification) -> JsonObject<'a> {
    let shape = match verification.kind {
        CodeKind::Bundle(shape) => Some(shape.name()),
        _ => None,
    };
    let resources = verification.resources.as_ref().map(|resources| {
        JsonObject::default()
            .field("intact", verification.resources_sealed() == Some(true))
            .field("files", resources.files)
            .field("symlinks", resources.symlinks)
            .field("nested", resources.nested.len())
            .field("absent", resources.absent)
            .field("omitted", resources.omitted)
            .field("read_bytes", resources.read_bytes)
    });
    let ticket = verification.ticket.as_ref().map(|ticket| {
        let issued_at = ticket.as_ref().ok().map(|ticket| ticket.issued_at);
        JsonObject::default()
            .field("valid", ticket.is_ok())
            .optional("issued_s", issued_at)
            .field("lists_code", verification.is_notarized() == Some(true))
    });
    JsonObject::at(path)
        .field("code", verification.kind.name())
        .field("outcome", <&str>::from(verification.outcome()))
        .field("statement", statement(verification))
        .optional("shape", shape)
        .optional("resources", resources)
        .optional("ticket", ticket)
}

/// The three verdicts on one part.
fn part_object<'a>(path: &Path, part: &'a PartVerification) -> JsonObject<'a> {
    JsonObject::at(path)
        .optional("architecture", part.architecture.as_deref())
        .optional("identifier", part.identifier.as_deref())
        .optional("team", part.team.as_deref())
        .optional("cdhash", part.cdhash.map(|cdhash| cdhash.to_string()))
        .field("bytes", bytes_object(&part.bytes))
        .optional("signer", part.signer.as_ref().map(signer_object))
        .optional("policy", part.policy.as_ref().map(|policy| policy.state.name()))
}

fn bytes_object(bytes: &BytesVerdict) -> JsonObject<'_> {
    let directories = bytes.directories.iter().map(|check| {
        JsonObject::default()
            .field("slot", check.directory.0)
            .field("hash", check.hash.name())
            .field("cdhash", check.cdhash.to_string())
            .field("pages", check.pages_total)
            .field("pages_checked", check.pages_checked)
            .field("pages_damaged", check.pages_damaged)
    });
    let slots = bytes.slots.iter().map(|check| {
        JsonObject::default()
            .field("directory", check.directory.0)
            .field("slot", check.slot.0)
            .field("state", <&str>::from(check.state))
    });
    JsonObject::default()
        .field("state", <&str>::from(bytes.state))
        .field("directories", directories.collect::<Vec<_>>())
        .field("slots", slots.collect::<Vec<_>>())
        .field("read_bytes", bytes.read_bytes)
}

/// Nested code as the seal describes it; the objects after it are about the code itself.
fn nested_object<'a>(path: &Path, nested: &'a NestedVerification) -> JsonObject<'a> {
    JsonObject::at(path)
        .field("nested", PathText::of(&within(Path::new(""), &nested.item.path)))
        .field("requirement", &nested.item.requirement)
        .field("requirement_met", nested.requirement.as_ref().ok().copied())
        .optional("cdhash", nested.item.cdhash.as_deref().map(words::hex))
        .field("exact", nested.exact)
}

fn finding_object<'a>(path: &Path, finding: &'a CodeFinding) -> JsonObject<'a> {
    let place = &finding.place;
    let inner = |inner: &Vec<u8>| PathText::of(&within(Path::new(""), inner));
    let apple = finding.apple.map(|error| {
        JsonObject::default()
            .field("code", error.code())
            .field("name", error.name())
            .field("text", error.text())
    });
    JsonObject::at(path)
        .field("finding", finding.kind.name())
        .field("aspect", <&str>::from(finding.aspect()))
        .field("severity", <&str>::from(finding.severity))
        .optional("within", place.path.as_ref().map(inner))
        .optional("architecture", place.slice.as_deref())
        .optional("directory", place.directory.map(|slot| slot.0))
        .optional("slot", place.slot.map(|slot| slot.0))
        .optional("pages", place.pages.as_ref().map(|pages| [pages.start, pages.end]))
        .optional("bytes", place.bytes.as_ref().map(|bytes| [bytes.start, bytes.end]))
        .optional("section", place.section.as_deref())
        .field("text", &finding.text)
        .optional("apple", apple)
}
