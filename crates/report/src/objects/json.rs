//! Objects as programs read of them: one JSON object on each line, the summary last.

use std::collections::BTreeMap;

use serde::Serialize;
use steadfast_events::PathText;
use steadfast_objects::{Extent, Judged, ObjectDigest, ObjectFinding, ObjectsSummary};

use crate::json::{write_object, write_summary};

#[derive(Serialize)]
struct ObjectLine<'a> {
    #[serde(flatten)]
    path: PathText,
    #[serde(skip_serializing_if = "Option::is_none")]
    object: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<&'a str>,
    /// Not there where nothing could be compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    verdict: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    finding: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    by: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    length: Option<u64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    kept: Vec<KeptObject>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reference: Option<ObjectReference>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes_read: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<&'a str>,
}

/// A digest that the store keeps.
#[derive(Serialize)]
struct KeptObject {
    algorithm: &'static str,
    extent: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    parts: Option<u32>,
    digest: String,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    etag: bool,
}

impl KeptObject {
    fn of(kept: &ObjectDigest) -> KeptObject {
        let (extent, parts) = match kept.extent {
            Extent::Whole => ("whole", None),
            Extent::Composite(parts) => ("composite", parts),
            Extent::Unknown => ("unknown", None),
        };
        let (algorithm, digest) = (kept.algorithm.name(), kept.digest.to_string());
        KeptObject { algorithm, extent, parts, digest, etag: kept.etag }
    }
}

#[derive(Serialize)]
struct ObjectReference {
    source: &'static str,
    digests: BTreeMap<&'static str, String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    length: Option<u64>,
}

pub(super) fn write_finding(finding: &ObjectFinding, out: &mut Vec<u8>) {
    let object = finding.object.as_ref();
    let (verdict, other) = match finding.judged {
        Judged::Verdict(verdict) => (Some(verdict.name()), None),
        Judged::NotComparable => (None, Some("not_comparable")),
    };
    let reference = finding.reference.as_ref().map(|reference| {
        let digests = reference.digests.iter();
        ObjectReference {
            source: reference.source,
            digests: digests.map(|(by, digest)| (by.name(), digest.to_string())).collect(),
            length: reference.length,
        }
    });
    let line = ObjectLine {
        path: PathText::of(&finding.path),
        object: finding.key.as_deref(),
        version: object.and_then(|object| object.version.as_deref()),
        verdict,
        finding: other,
        by: finding.by.map(|by| by.to_string()),
        length: object.and_then(|object| object.length),
        kept: object.map(|o| o.digests.iter().map(KeptObject::of).collect()).unwrap_or_default(),
        reference,
        bytes_read: (finding.bytes_read > 0).then_some(finding.bytes_read),
        detail: finding.detail.as_deref(),
    };
    write_object(&line, out);
}

#[derive(Serialize)]
struct SummaryObject {
    objects: u64,
    interrupted: bool,
    exit_status: u8,
    found: BTreeMap<String, u64>,
    by: BTreeMap<String, u64>,
    passed: u64,
    bytes_compared: u64,
    bytes_read: u64,
    bytes_downloaded: u64,
    requests: u64,
    elapsed_ns: u64,
}

pub(super) fn write_end(summary: &ObjectsSummary, elapsed_ns: u64, out: &mut Vec<u8>) {
    let end = SummaryObject {
        objects: summary.objects,
        interrupted: summary.interrupted,
        exit_status: summary.exit_status(),
        found: summary.counts.iter().map(|(name, n)| (name.replace(' ', "_"), *n)).collect(),
        by: summary.by.iter().map(|(by, number)| (by.to_string(), *number)).collect(),
        passed: summary.passed,
        bytes_compared: summary.bytes_compared,
        bytes_read: summary.bytes_read,
        bytes_downloaded: 0,
        requests: summary.requests,
        elapsed_ns,
    };
    write_summary(&end, out);
}
