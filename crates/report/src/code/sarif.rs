//! Writes findings about signed code as SARIF, which services that show the results of checks read.
//!
//! Source: OASIS, Static Analysis Results Interchange Format (SARIF) 2.1.0.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::{Value, json};
use steadfast::ExitStatus;
use steadfast::names::NameBytes as _;
use steadfast_codesign::{CodeFinding, Severity};

use super::{VerifiedCode, within};

/// The rule of what could not be opened or was not looked into, which is no finding about code.
const NOT_OPENED: &str = "not-opened";

/// The results of one command.
#[derive(Debug, Default)]
pub struct SarifLog {
    results: Vec<Value>,
    rules: BTreeSet<&'static str>,
}

impl SarifLog {
    /// Returns whether a file begins as one that [`SarifLog::finish`] wrote.
    pub fn is_beginning(bytes: &[u8]) -> bool {
        bytes.starts_with(br#"{"$schema":"#)
    }

    /// Adds the findings about some code and the code that it nests.
    pub fn add(&mut self, verified: &VerifiedCode<'_>) {
        for finding in verified.verification.all_findings() {
            let name = finding.kind.name();
            self.rules.insert(name);
            self.results.push(result(name, verified.path, &finding));
        }
    }

    /// Adds a path that could not be opened or was not looked into.
    pub fn add_failed(&mut self, path: &Path, why: &str) {
        self.rules.insert(NOT_OPENED);
        self.results.push(json!({
            "ruleId": NOT_OPENED,
            "level": "error",
            "message": { "text": why },
            "locations": [{ "physicalLocation": { "artifactLocation": { "uri": uri(path) } } }],
        }));
    }

    /// Returns the document.
    pub fn finish(self, status: ExitStatus) -> Vec<u8> {
        let rules: Vec<Value> = self.rules.iter().map(|name| json!({ "id": name })).collect();
        let document = json!({
            "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
            "version": "2.1.0",
            "runs": [{
                "tool": { "driver": {
                    "name": "Steadfast",
                    "version": env!("CARGO_PKG_VERSION"),
                    "rules": rules,
                } },
                "invocations": [{ "executionSuccessful": true, "exitCode": u8::from(status) }],
                "results": self.results,
            }],
        });
        let mut bytes = document.to_string().into_bytes();
        bytes.push(b'\n');
        bytes
    }
}

fn result(name: &str, path: &Path, finding: &CodeFinding) -> Value {
    let place = &finding.place;
    let path = within(path, place.path.as_deref().unwrap_or_default());
    let mut physical = json!({ "artifactLocation": { "uri": uri(&path) } });
    if let Some(bytes) = &place.bytes {
        let len_bytes = bytes.end.saturating_sub(bytes.start);
        physical["region"] = json!({ "byteOffset": bytes.start, "byteLength": len_bytes });
    }
    // What could not be verified is not accepted either.
    let level = match finding.severity {
        Severity::Note => "note",
        Severity::Warning => "warning",
        Severity::Unverified | Severity::Failure => "error",
    };
    json!({
        "ruleId": name,
        "level": level,
        "message": { "text": finding.text },
        "locations": [{ "physicalLocation": physical }],
    })
}

/// Returns a path as a relative reference (RFC 3986), or one with a scheme if it is absolute.
fn uri(path: &Path) -> String {
    let mut uri = if path.is_absolute() { "file://".to_owned() } else { String::new() };
    for &byte in path.as_bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'/' | b'-' | b'.' | b'_' | b'~' => {
                uri.push(char::from(byte));
            }
            byte => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri
}
