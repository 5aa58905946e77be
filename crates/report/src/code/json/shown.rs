//! What a signature says, as JSON: an object for each part, then one for the coverage.

use std::path::Path;

use base64::Engine as _;
use serde::{Serialize, Serializer};
use steadfast_codesign::{
    CodeDirectory, CodePart, Constraint, Coverage, Entitlements, Requirements, Signature,
    SignerVerdict, Slot, Value,
};
use steadfast_events::PathText;

use super::super::signer::SignerObject;
use super::super::{ShownCode, words};
use crate::json::write_object;

/// Appends the lines about one piece of code.
pub fn write_shown_json(shown: &ShownCode<'_>, out: &mut Vec<u8>) {
    let kind = shown.code.kind().name();
    for part in shown.code.parts() {
        write_object(&ShownPartObject::of(shown.path, kind, &part), out);
    }
    if let Some(coverage) = shown.coverage {
        write_object(&CoverageObject::of(shown.path, coverage), out);
    }
}

#[derive(Serialize)]
struct ShownPartObject<'a> {
    #[serde(flatten)]
    path: PathText,
    code: &'static str,
    architecture: Option<String>,
    offset: u64,
    length: u64,
    signature: Option<SignatureObject<'a>>,
}

impl<'a> ShownPartObject<'a> {
    fn of(path: &Path, code: &'static str, part: &CodePart<'a>) -> ShownPartObject<'a> {
        ShownPartObject {
            path: PathText::of(path),
            code,
            architecture: part.architecture(),
            offset: part.offset,
            length: part.len_bytes,
            signature: part.signature.map(SignatureObject::of),
        }
    }
}

#[derive(Serialize)]
struct SignatureObject<'a> {
    identifier: String,
    team: Option<String>,
    cdhash: String,
    directories: Vec<ShownDirectoryObject>,
    signer: SignerObject,
    requirements: Vec<String>,
    entitlements: Option<PlistJson>,
    constraints: Vec<ConstraintObject>,
    ticket: bool,
    blobs: Vec<BlobObject<'a>>,
}

#[derive(Serialize)]
struct ConstraintObject {
    slot: u32,
    value: PlistJson,
}

#[derive(Serialize)]
struct BlobObject<'a> {
    slot: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    magic: String,
    length: usize,
}

impl SignatureObject<'_> {
    fn of(signature: &Signature) -> SignatureObject<'_> {
        let requirements = signature.requirements();
        let requirements = requirements.and_then(|blob| Requirements::from_blob(blob.bytes).ok());
        let requirements = requirements.map(|requirements| requirements.entries);
        let blobs = signature.superblob.entries().iter().map(|entry| BlobObject {
            slot: entry.slot.0,
            name: entry.slot.name(),
            magic: format!("{:08x}", entry.magic),
            length: entry.range.len(),
        });
        let constraints = Constraint::all(signature).0.into_iter();
        SignatureObject {
            identifier: signature.identifier().into_owned(),
            team: signature.team().map(|team| team.into_owned()),
            cdhash: signature.chosen_directory().cdhash().to_string(),
            directories: signature.directories().iter().map(ShownDirectoryObject::of).collect(),
            signer: SignerObject::of(&SignerVerdict::of(signature)),
            requirements: requirements
                .unwrap_or_default()
                .iter()
                .map(|(kind, requirement)| format!("{kind} => {requirement}"))
                .collect(),
            entitlements: Entitlements::of(signature).value().cloned().map(PlistJson),
            constraints: constraints
                .map(|constraint| ConstraintObject {
                    slot: constraint.slot.0,
                    value: PlistJson(constraint.value),
                })
                .collect(),
            ticket: signature.blob(Slot::TICKET).is_some(),
            blobs: blobs.collect(),
        }
    }
}

#[derive(Serialize)]
struct ShownDirectoryObject {
    slot: u32,
    hash: &'static str,
    cdhash: String,
    cdhash_full: String,
    version: u32,
    flags: u32,
    flag_names: Vec<String>,
    page_length: Option<u64>,
    pages: u64,
    code_limit: u64,
    runtime: Option<String>,
    platform: u8,
    exec_segment_flags: Option<u64>,
    special_slots: Vec<SpecialObject>,
}

#[derive(Serialize)]
struct SpecialObject {
    slot: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'static str>,
    digest: String,
}

impl ShownDirectoryObject {
    fn of(directory: &CodeDirectory) -> ShownDirectoryObject {
        let special = directory.special_digests().map(|(slot, digest)| SpecialObject {
            slot: slot.0,
            name: slot.name(),
            digest: words::hex(digest),
        });
        ShownDirectoryObject {
            slot: directory.slot().0,
            hash: directory.hash_type().name(),
            cdhash: directory.cdhash().to_string(),
            cdhash_full: directory.cdhash_full().to_string(),
            version: directory.version(),
            flags: directory.flags(),
            flag_names: words::flag_names(directory.flags()),
            page_length: directory.page_len(),
            pages: directory.page_count(),
            code_limit: directory.code_limit(),
            runtime: directory.runtime().filter(|version| *version != 0).map(words::packed_version),
            platform: directory.platform(),
            exec_segment_flags: directory.exec_segment().map(|segment| segment.flags),
            special_slots: special.collect(),
        }
    }
}

#[derive(Serialize)]
struct CoverageObject {
    #[serde(flatten)]
    path: PathText,
    coverage: Vec<CoveredObject>,
}

#[derive(Serialize)]
struct CoveredObject {
    bytes: [u64; 2],
    cover: &'static str,
    what: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    architecture: Option<String>,
}

impl CoverageObject {
    fn of(path: &Path, coverage: &Coverage) -> CoverageObject {
        let covered = coverage.ranges.iter().map(|covered| CoveredObject {
            bytes: [covered.bytes.start, covered.bytes.end],
            cover: covered.cover.name(),
            what: covered.what.clone(),
            architecture: covered.slice.clone(),
        });
        CoverageObject { path: PathText::of(path), coverage: covered.collect() }
    }
}

/// A value of a property list: data as base64, numbers beyond 64 bits as text.
struct PlistJson(Value);

impl Serialize for PlistJson {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        write(&self.0, serializer)
    }
}

struct PlistJsonOf<'a>(&'a Value);

impl Serialize for PlistJsonOf<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        write(self.0, serializer)
    }
}

fn write<S: Serializer>(value: &Value, serializer: S) -> Result<S::Ok, S::Error> {
    match value {
        Value::Boolean(truth) => serializer.serialize_bool(*truth),
        Value::Integer(number) => match i64::try_from(*number) {
            Ok(number) => serializer.serialize_i64(number),
            Err(_) => serializer.collect_str(number),
        },
        Value::Real(number) => serializer.serialize_f64(*number),
        Value::Text(text) | Value::Date(text) => serializer.serialize_str(text),
        Value::Data(bytes) => {
            serializer.serialize_str(&base64::engine::general_purpose::STANDARD.encode(bytes))
        }
        Value::List(values) => serializer.collect_seq(values.iter().map(PlistJsonOf)),
        Value::Map(entries) => {
            serializer.collect_map(entries.iter().map(|(name, value)| (name, PlistJsonOf(value))))
        }
    }
}
