//! Writes a check of objects as JSON lines: one JSON object on each line, the summary last.

use std::collections::BTreeMap;

use steadfast_objects::{Extent, Judged, ObjectDigest, ObjectFinding, ObjectsSummary};

use crate::json::{JsonObject, write_object, write_summary};

pub(super) fn write_finding(finding: &ObjectFinding, out: &mut Vec<u8>) {
    let object = finding.object.as_ref();
    let (verdict, other) = match finding.judged {
        Judged::Verdict(verdict) => (Some(verdict.name()), None),
        Judged::NotComparable => (None, Some("not_comparable")),
    };
    let kept = object.map(|object| object.digests.iter().map(kept_object).collect::<Vec<_>>());
    let reference = finding.reference.as_ref().map(|reference| {
        let digests = reference.digests.iter();
        let digests = digests.map(|(by, digest)| (by.name(), digest.to_string()));
        JsonObject::default()
            .field("source", reference.source)
            .field("digests", digests.collect::<BTreeMap<_, _>>())
            .optional("length", reference.length)
    });
    let line = JsonObject::at(&finding.path)
        .optional("object", finding.key.as_deref())
        .optional("version", object.and_then(|object| object.version.as_deref()))
        // Absent if nothing could be compared.
        .optional("verdict", verdict)
        .optional("finding", other)
        .optional("by", finding.by.map(|by| by.to_string()))
        .optional("length", object.and_then(|object| object.length))
        .optional("kept", kept.filter(|kept| !kept.is_empty()))
        .optional("reference", reference)
        .optional("bytes_read", (finding.bytes_read > 0).then_some(finding.bytes_read))
        .optional("detail", finding.detail.as_deref());
    write_object(&line, out);
}

/// A digest that the store reports.
fn kept_object<'a>(kept: &ObjectDigest) -> JsonObject<'a> {
    let (extent, parts) = match kept.extent {
        Extent::Whole => ("whole", None),
        Extent::Composite(parts) => ("composite", parts),
        Extent::Unknown => ("unknown", None),
    };
    JsonObject::default()
        .field("algorithm", kept.algorithm.name())
        .field("extent", extent)
        .optional("parts", parts)
        .field("digest", kept.digest.to_string())
        .optional("etag", kept.etag.then_some(true))
}

pub(super) fn write_end(summary: &ObjectsSummary, elapsed_ns: u64, out: &mut Vec<u8>) {
    let found = summary.counts.iter().map(|(name, number)| (name.replace(' ', "_"), *number));
    let by = summary.by.iter().map(|(by, number)| (by.to_string(), *number));
    let end = JsonObject::default()
        .field("objects", summary.objects)
        .field("interrupted", summary.interrupted)
        .field("exit_status", summary.exit_status())
        .field("found", found.collect::<BTreeMap<_, _>>())
        .field("by", by.collect::<BTreeMap<_, _>>())
        .field("passed", summary.passed)
        .field("bytes_compared", summary.bytes_compared)
        .field("bytes_read", summary.bytes_read)
        .field("bytes_downloaded", 0)
        .field("requests", summary.requests)
        .field("elapsed_ns", elapsed_ns);
    write_summary(&end, out);
}
