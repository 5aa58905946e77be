//! Writes a check of objects as text: a line for each finding, then the result.

use std::fmt::Write as _;

use steadfast_objects::{ObjectFinding, ObjectsSummary};

use crate::escape;
use crate::text::finding_line;
use crate::units::{self, Units};

/// "not comparable" is the longest label.
const LABEL_WIDTH: usize = 14;

pub(super) fn write_finding(finding: &ObjectFinding, out: &mut Vec<u8>) {
    let path = escape::path(&finding.path);
    let label = format!("{:<LABEL_WIDTH$}", finding.judged.name());
    let version = finding.object.as_ref().and_then(|object| object.version.as_deref());
    let said = [
        version.map(|version| format!("version {}", escape::text(version))),
        finding.by.map(|by| format!("by {by}")),
        finding.detail.as_deref().map(escape::text),
    ];
    let said: Vec<String> = said.into_iter().flatten().collect();
    out.extend_from_slice(finding_line(&label, &path, &said).as_bytes());
}

pub(super) fn write_end(summary: &ObjectsSummary, elapsed_ns: u64, size: Units, out: &mut Vec<u8>) {
    let interrupted = if summary.interrupted { "interrupted: " } else { "" };
    let objects = units::counted(summary.objects, "object", "objects");
    let elapsed = units::duration(elapsed_ns);
    let mut text = if out.is_empty() { String::new() } else { "\n".to_owned() };
    let _ = write!(text, "{interrupted}looked at {objects} in {elapsed}, none was downloaded");
    if summary.requests > 0 {
        let _ = write!(text, "; {}", units::counted(summary.requests, "request", "requests"));
    }
    text.push('\n');
    for (name, number) in &summary.counts {
        let _ = writeln!(text, "  {name:<LABEL_WIDTH$}  {}", units::count(*number));
    }
    for (at, (by, number)) in summary.by.iter().enumerate() {
        let begin = if at == 0 { "compared by " } else { ", by " };
        let _ = write!(text, "{begin}{by}: {}", units::count(*number));
    }
    if !summary.by.is_empty() {
        let _ = writeln!(text, "; {} in all", size.bytes(summary.bytes_compared));
    }
    if summary.bytes_read > 0 {
        let bytes = size.bytes(summary.bytes_read);
        let _ = writeln!(text, "read {bytes} of files here, whose records are of other kinds");
    }
    if summary.passed > 0 {
        let passed = units::counted(summary.passed, "object", "objects");
        let _ = writeln!(text, "skipped {passed}: folders, other prefixes, earlier versions");
    }
    out.extend_from_slice(text.as_bytes());
}
