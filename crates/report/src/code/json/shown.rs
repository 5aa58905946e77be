//! Writes signatures as JSON: an object for each part, then one for the coverage.

use std::borrow::Borrow;

use base64::Engine as _;
use serde::{Serialize, Serializer};
use steadfast_codesign::{
    CodeDirectory, Constraint, Entitlements, Package, Requirements, Signature, SignerVerdict, Slot,
    Value,
};

use super::super::signer::signer_object;
use super::super::{ShownCode, words};
use crate::json::{JsonObject, write_object};

/// Appends the lines about one piece of code.
pub fn write_shown_json(shown: &ShownCode<'_>, out: &mut Vec<u8>) {
    let kind = shown.code.kind().name();
    for part in shown.code.parts() {
        let object = JsonObject::at(shown.path)
            .field("code", kind)
            .field("architecture", part.architecture())
            .field("offset", part.offset)
            .field("length", part.len_bytes)
            .field("signature", part.signature.map(signature_object))
            .optional("package", shown.code.as_package().map(package_object));
        write_object(&object, out);
    }
    if let Some(coverage) = shown.coverage {
        let covered = coverage.ranges.iter().map(|covered| {
            JsonObject::default()
                .field("bytes", [covered.bytes.start, covered.bytes.end])
                .field("cover", covered.cover.name())
                .field("what", &covered.what)
                .optional("architecture", covered.slice.as_deref())
        });
        let covered: Vec<_> = covered.collect();
        write_object(&JsonObject::at(shown.path).field("coverage", covered), out);
    }
}

fn package_object<'a>(package: &Package) -> JsonObject<'a> {
    JsonObject::default()
        .field("files", package.files)
        .field("algorithm", package.algorithm.name())
        .optional("cdhash", package.cdhash().map(|hash| hash.to_string()))
        .optional("signer", package.signer(&[]).as_ref().map(signer_object))
}

fn signature_object(signature: &Signature) -> JsonObject<'_> {
    let requirements = signature.requirements();
    let requirements = requirements.and_then(|blob| Requirements::from_blob(blob.bytes).ok());
    let requirements = requirements.map(|requirements| requirements.entries).unwrap_or_default();
    let requirements =
        requirements.iter().map(|(kind, requirement)| format!("{kind} => {requirement}"));
    let directories = signature.directories().iter().map(directory_object);
    let constraints = Constraint::all(signature).0.into_iter().map(|constraint| {
        JsonObject::default()
            .field("slot", constraint.slot.0)
            .field("value", PlistJson(constraint.value))
    });
    let blobs = signature.superblob.entries().iter().map(|entry| {
        JsonObject::default()
            .field("slot", entry.slot.0)
            .optional("name", entry.slot.name())
            .field("magic", format!("{:08x}", entry.magic))
            .field("length", entry.range.len())
    });
    JsonObject::default()
        .field("identifier", signature.identifier().into_owned())
        .field("team", signature.team().map(|team| team.into_owned()))
        .field("cdhash", signature.chosen_directory().cdhash().to_string())
        .field("directories", directories.collect::<Vec<_>>())
        .field("signer", signer_object(&SignerVerdict::of(signature)))
        .field("requirements", requirements.collect::<Vec<_>>())
        .field("entitlements", Entitlements::of(signature).value().cloned().map(PlistJson))
        .field("constraints", constraints.collect::<Vec<_>>())
        .field("ticket", signature.blob(Slot::TICKET).is_some())
        .field("blobs", blobs.collect::<Vec<_>>())
}

fn directory_object<'a>(directory: &CodeDirectory) -> JsonObject<'a> {
    let special = directory.special_digests().map(|(slot, digest)| {
        JsonObject::default()
            .field("slot", slot.0)
            .optional("name", slot.name())
            .field("digest", words::hex(digest))
    });
    let runtime = directory.runtime().filter(|version| *version != 0).map(words::packed_version);
    JsonObject::default()
        .field("slot", directory.slot().0)
        .field("hash", directory.hash_type().name())
        .field("cdhash", directory.cdhash().to_string())
        .field("cdhash_full", directory.cdhash_full().to_string())
        .field("version", directory.version())
        .field("flags", directory.flags())
        .field("flag_names", words::flag_names(directory.flags()))
        .field("page_length", directory.page_len())
        .field("pages", directory.page_count())
        .field("code_limit", directory.code_limit())
        .field("runtime", runtime)
        .field("platform", directory.platform())
        .field("exec_segment_flags", directory.exec_segment().map(|segment| segment.flags))
        .field("special_slots", special.collect::<Vec<_>>())
}

/// A value of a property list: data as base64, numbers beyond 64 bits as text.
struct PlistJson<V>(V);

impl<V: Borrow<Value>> Serialize for PlistJson<V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0.borrow() {
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
            Value::List(values) => serializer.collect_seq(values.iter().map(PlistJson)),
            Value::Map(entries) => {
                serializer.collect_map(entries.iter().map(|(name, value)| (name, PlistJson(value))))
            }
        }
    }
}
