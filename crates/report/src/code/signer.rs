//! Writes who signed some code, as lines of text and as a JSON object: certificates and times.

use steadfast::Timestamp as Moment;
use steadfast_codesign::{Certificate, SignerState, SignerVerdict};

use super::words;
use crate::escape;
use crate::json::JsonObject;
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
        let state = <&str>::from(timestamp.state);
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

/// A signer, as JSON.
pub(super) fn signer_object<'a>(signer: &SignerVerdict) -> JsonObject<'a> {
    let timestamp = signer.timestamp.as_ref().map(|timestamp| {
        JsonObject::default()
            .field("state", <&str>::from(timestamp.state))
            .field("time_s", timestamp.time)
    });
    let chain = signer.chain.iter().map(certificate_object);
    JsonObject::default()
        .field("state", signer.state.name())
        .optional("kind", signer.kind.map(|kind| kind.name()))
        .optional("name", signer.leaf().map(|leaf| leaf.subject().to_string()))
        .field("chain", chain.collect::<Vec<_>>())
        .optional("signed_s", signer.signed_at)
        .optional("timestamp", timestamp)
}

fn certificate_object<'a>(certificate: &Certificate) -> JsonObject<'a> {
    let (valid_from_s, valid_until_s) = certificate.validity();
    JsonObject::default()
        .field("subject", certificate.subject().to_string())
        .field("serial", words::hex(certificate.serial()))
        .field("sha256", words::hex(&certificate.digest(steadfast::Algorithm::Sha256)))
        .field("valid_from_s", valid_from_s)
        .field("valid_until_s", valid_until_s)
        .field("key", certificate.key().name())
}
