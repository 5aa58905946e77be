//! Who signed, as lines and as an object: certificates, moments, what binds the directories.

use serde::Serialize;
use steadfast::Timestamp as Moment;
use steadfast_codesign::{Certificate, SignerState, SignerVerdict};

use super::words;
use crate::escape;
use crate::units;

/// Labelled lines about a signer.
pub(super) fn signer_lines(signer: &SignerVerdict) -> Vec<(&'static str, String)> {
    let mut lines = Vec::new();
    if matches!(signer.state, SignerState::AdHoc | SignerState::Missing) {
        lines.push(("signer", words::signer_state(signer.state).to_owned()));
        return lines;
    }
    for (index, certificate) in signer.chain.iter().enumerate() {
        let label = if index == 0 { "signer" } else { "issued by" };
        lines.push((label, escape::text(&certificate.subject().to_string())));
    }
    lines.push(("signature", words::signer_state(signer.state).to_owned()));
    if let Some(kind) = signer.kind {
        lines.push(("purpose", kind.name().to_owned()));
    }
    if let Some(signed_at) = signer.signed_at {
        lines.push(("signed", format!("{}, as the signer says", moment(signed_at))));
    }
    if let Some(timestamp) = &signer.timestamp {
        let state = words::timestamp_state(timestamp.state);
        let time = timestamp.time.map_or_else(|| "no time".to_owned(), moment);
        lines.push(("time stamp", format!("{time}, {state}")));
    }
    if let Some(leaf) = signer.leaf() {
        let (from, until) = leaf.validity();
        lines.push(("valid", format!("{} to {}", moment(from), moment(until))));
    }
    lines
}

fn moment(seconds: i64) -> String {
    units::moment(Moment { seconds, nanoseconds: 0 })
}

/// What JSON carries of a signer.
#[derive(Serialize)]
pub(super) struct SignerObject {
    state: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    chain: Vec<CertificateObject>,
    #[serde(skip_serializing_if = "Option::is_none")]
    signed_s: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    timestamp: Option<TimestampObject>,
}

#[derive(Serialize)]
struct TimestampObject {
    state: &'static str,
    time_s: Option<i64>,
}

#[derive(Serialize)]
struct CertificateObject {
    subject: String,
    serial: String,
    sha256: String,
    valid_from_s: i64,
    valid_until_s: i64,
    key: String,
}

impl CertificateObject {
    fn of(certificate: &Certificate) -> CertificateObject {
        let (valid_from_s, valid_until_s) = certificate.validity();
        CertificateObject {
            subject: certificate.subject().to_string(),
            serial: words::hex(certificate.serial()),
            sha256: words::hex(&certificate.digest(steadfast::Algorithm::Sha256)),
            valid_from_s,
            valid_until_s,
            key: certificate.key().name(),
        }
    }
}

impl SignerObject {
    pub(super) fn of(signer: &SignerVerdict) -> SignerObject {
        let name = signer.leaf().map(|leaf| leaf.subject().to_string());
        let timestamp = signer.timestamp.as_ref().map(|timestamp| TimestampObject {
            state: words::timestamp_state(timestamp.state),
            time_s: timestamp.time,
        });
        SignerObject {
            state: signer.state.name(),
            kind: signer.kind.map(|kind| kind.name()),
            name,
            chain: signer.chain.iter().map(CertificateObject::of).collect(),
            signed_s: signer.signed_at,
            timestamp,
        }
    }
}
