//! Signed code, as programs read it: one JSON object on each line, the summary last.

mod shown;

use std::path::Path;

use serde::Serialize;
use steadfast_codesign::bundle::Resources;
use steadfast_codesign::{
    BytesVerdict, CodeFinding, CodeKind, CodeVerification, NestedVerification, PartVerification,
};
use steadfast_events::PathText;

use super::signer::SignerObject;
use super::statement::{outcome_name, statement};
use super::{VerifiedCode, within, words};
use crate::json::{write_object, write_summary};

pub use shown::write_shown_json;

/// What a command about code came to.
#[derive(Clone, Debug, Default, Serialize)]
pub struct CodeCounts {
    /// The verb, as in `code verify`.
    pub verb: &'static str,
    /// The status that the command ends with.
    pub exit_status: u8,
    /// How many things were asked for.
    pub paths: u64,
    /// How many of them could not be looked at.
    pub failed: u64,
    /// How many bytes were read to be hashed.
    pub read_bytes: u64,
    /// How long it took.
    pub elapsed_ns: u64,
}

/// Appends the last line.
pub fn write_end_json(counts: &CodeCounts, out: &mut Vec<u8>) {
    write_summary(counts, out);
}

/// Appends the line about a path that could not be looked at.
pub fn write_failed_json(path: &Path, error: &str, out: &mut Vec<u8>) {
    #[derive(Serialize)]
    struct FailedPath<'a> {
        #[serde(flatten)]
        path: PathText,
        error: &'a str,
    }
    write_object(&FailedPath { path: PathText::of(path), error }, out);
}

/// Appends the lines about one piece of code that was verified, and about what it nests.
pub fn write_verified_json(verified: &VerifiedCode<'_>, out: &mut Vec<u8>) {
    let verification = verified.verification;
    write_code(verified.path, verification, out);
    for finding in verification.all_findings() {
        write_object(&CodeFindingObject::of(verified.path, &finding), out);
    }
}

fn write_code(path: &Path, verification: &CodeVerification, out: &mut Vec<u8>) {
    write_object(&WholeObject::of(path, verification), out);
    for part in &verification.parts {
        write_object(&VerifiedPartObject::of(path, part), out);
    }
    for nested in &verification.nested {
        write_object(&NestedObject::of(path, nested), out);
        if let Some(code) = &nested.code {
            write_code(&within(path, &nested.item.path), code, out);
        }
    }
}

/// What some code is, and the state of its resources.
#[derive(Serialize)]
struct WholeObject {
    #[serde(flatten)]
    path: PathText,
    code: &'static str,
    outcome: &'static str,
    statement: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    shape: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    resources: Option<ResourcesObject>,
}

impl WholeObject {
    fn of(path: &Path, verification: &CodeVerification) -> WholeObject {
        WholeObject {
            path: PathText::of(path),
            code: verification.kind.name(),
            outcome: outcome_name(verification.outcome()),
            statement: statement(verification),
            shape: match verification.kind {
                CodeKind::Bundle(shape) => Some(shape.name()),
                _ => None,
            },
            resources: verification.resources.as_ref().map(|resources| {
                ResourcesObject::of(resources, verification.resources_sealed() == Some(true))
            }),
        }
    }
}

#[derive(Serialize)]
struct ResourcesObject {
    intact: bool,
    ticket: bool,
    files: u64,
    symlinks: u64,
    nested: usize,
    absent: u64,
    omitted: u64,
    read_bytes: u64,
}

impl ResourcesObject {
    fn of(resources: &Resources, intact: bool) -> ResourcesObject {
        ResourcesObject {
            intact,
            ticket: resources.ticket,
            files: resources.files,
            symlinks: resources.symlinks,
            nested: resources.nested.len(),
            absent: resources.absent,
            omitted: resources.omitted,
            read_bytes: resources.read_bytes,
        }
    }
}

/// The three verdicts on one part.
#[derive(Serialize)]
struct VerifiedPartObject<'a> {
    #[serde(flatten)]
    path: PathText,
    #[serde(skip_serializing_if = "Option::is_none")]
    architecture: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    identifier: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    team: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cdhash: Option<String>,
    bytes: BytesObject,
    #[serde(skip_serializing_if = "Option::is_none")]
    signer: Option<SignerObject>,
    #[serde(skip_serializing_if = "Option::is_none")]
    policy: Option<&'static str>,
}

impl<'a> VerifiedPartObject<'a> {
    fn of(path: &Path, part: &'a PartVerification) -> VerifiedPartObject<'a> {
        VerifiedPartObject {
            path: PathText::of(path),
            architecture: part.architecture.as_deref(),
            identifier: part.identifier.as_deref(),
            team: part.team.as_deref(),
            cdhash: part.cdhash.map(|cdhash| cdhash.to_string()),
            bytes: BytesObject::of(&part.bytes),
            signer: part.signer.as_ref().map(SignerObject::of),
            policy: part.policy.as_ref().map(|policy| policy.state.name()),
        }
    }
}

#[derive(Serialize)]
struct BytesObject {
    state: &'static str,
    directories: Vec<VerifiedDirectoryObject>,
    slots: Vec<SlotObject>,
    read_bytes: u64,
}

#[derive(Serialize)]
struct VerifiedDirectoryObject {
    slot: u32,
    hash: &'static str,
    cdhash: String,
    pages: u64,
    pages_checked: u64,
    pages_damaged: u64,
}

#[derive(Serialize)]
struct SlotObject {
    directory: u32,
    slot: u32,
    state: &'static str,
}

impl BytesObject {
    fn of(bytes: &BytesVerdict) -> BytesObject {
        let directories = bytes.directories.iter().map(|check| VerifiedDirectoryObject {
            slot: check.directory.0,
            hash: check.hash.name(),
            cdhash: check.cdhash.to_string(),
            pages: check.pages_total,
            pages_checked: check.pages_checked,
            pages_damaged: check.pages_damaged,
        });
        let slots = bytes.slots.iter().map(|check| SlotObject {
            directory: check.directory.0,
            slot: check.slot.0,
            state: words::slot_state(check.state),
        });
        BytesObject {
            state: words::bytes_state(bytes.state),
            directories: directories.collect(),
            slots: slots.collect(),
            read_bytes: bytes.read_bytes,
        }
    }
}

/// Nested code as what was sealed; the objects after it are about the code itself.
#[derive(Serialize)]
struct NestedObject<'a> {
    #[serde(flatten)]
    path: PathText,
    nested: PathText,
    requirement: &'a str,
    requirement_met: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cdhash: Option<String>,
    exact: Option<bool>,
}

impl<'a> NestedObject<'a> {
    fn of(path: &Path, nested: &'a NestedVerification) -> NestedObject<'a> {
        NestedObject {
            path: PathText::of(path),
            nested: PathText::of(&within(Path::new(""), &nested.item.path)),
            requirement: &nested.item.requirement,
            requirement_met: nested.requirement.as_ref().ok().copied(),
            cdhash: nested.item.cdhash.as_deref().map(words::hex),
            exact: nested.exact,
        }
    }
}

#[derive(Serialize)]
struct CodeFindingObject<'a> {
    #[serde(flatten)]
    path: PathText,
    finding: String,
    aspect: String,
    severity: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    within: Option<PathText>,
    #[serde(skip_serializing_if = "Option::is_none")]
    architecture: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    directory: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    slot: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pages: Option<[u64; 2]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes: Option<[u64; 2]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    section: Option<&'a str>,
    text: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    apple: Option<AppleObject>,
}

#[derive(Serialize)]
struct AppleObject {
    code: i32,
    name: &'static str,
    text: &'static str,
}

impl<'a> CodeFindingObject<'a> {
    fn of(path: &Path, finding: &'a CodeFinding) -> CodeFindingObject<'a> {
        let place = &finding.place;
        let inner = |inner: &Vec<u8>| PathText::of(&within(Path::new(""), inner));
        CodeFindingObject {
            path: PathText::of(path),
            finding: finding.kind.name(),
            aspect: format!("{:?}", finding.aspect()).to_lowercase(),
            severity: words::severity(finding.severity),
            within: place.path.as_ref().map(inner),
            architecture: place.slice.as_deref(),
            directory: place.directory.map(|slot| slot.0),
            slot: place.slot.map(|slot| slot.0),
            pages: place.pages.as_ref().map(|pages| [pages.start, pages.end]),
            bytes: place.bytes.as_ref().map(|bytes| [bytes.start, bytes.end]),
            section: place.section.as_deref(),
            text: &finding.text,
            apple: finding.apple.map(|error| AppleObject {
                code: error.code(),
                name: error.name(),
                text: error.text(),
            }),
        }
    }
}
