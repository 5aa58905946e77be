//! States the overall result in one or two sentences, which are the same in every document.
//!
//! The result follows from the findings alone, through [`CodeVerification::outcome`], so it cannot
//! contradict them.

use steadfast_codesign::{
    BytesState, CodeKind, CodeOutcome, CodeVerification, Severity, SignerState, SlotState,
};

use crate::escape;
use crate::view::told;

/// Returns the name of an outcome in documents.
pub(super) fn outcome_name(outcome: CodeOutcome) -> &'static str {
    match outcome {
        CodeOutcome::Good => "good",
        CodeOutcome::Unverified => "unverified",
        CodeOutcome::Refused => "refused",
        CodeOutcome::Damaged => "damaged",
    }
}

/// States the result of the verification.
pub(super) fn statement(verification: &CodeVerification) -> String {
    let bad = match verification.outcome() {
        CodeOutcome::Good => return format!("{} {}", checked(verification), signed(verification)),
        CodeOutcome::Unverified => "Not verified: something could not be checked",
        CodeOutcome::Refused => {
            "Refused: something is unsigned, missing, added, replaced or refused"
        }
        CodeOutcome::Damaged => "Damaged or forged: something is not as it was sealed or signed",
    };
    let findings = verification.all_findings();
    let count = |severity| findings.iter().filter(|one| one.severity == severity).count() as u64;
    let counts = told(&[
        ("failure", "failures", count(Severity::Failure)),
        ("unverified", "unverified", count(Severity::Unverified)),
    ]);
    format!("{bad} ({}).", counts.join(", "))
}

/// States how much was checked, if nothing is wrong.
fn checked(verification: &CodeVerification) -> &'static str {
    let parts = &verification.parts;
    let all_read = parts.iter().all(|part| part.bytes.is_complete());
    let is_bundle = matches!(verification.kind, CodeKind::Bundle(_));
    let unchecked = parts.iter().flat_map(|part| &part.bytes.slots);
    let unchecked = unchecked.filter(|check| check.state == SlotState::Unchecked).count() > 0;
    let code = verification.nested.iter().filter_map(|nested| nested.code.as_ref());
    let nested_read = code.clone().all(|code| is_read(code));
    match (all_read, nested_read) {
        (false, _) => "The pages that were checked are as they were sealed. Others were not read.",
        (true, false) => {
            "What was checked is as it was sealed. Pages of nested code were not read: use --deep."
        }
        (true, true) if unchecked || (is_bundle && verification.resources.is_none()) => {
            "What was checked is as it was sealed. Files that are sealed with it were not checked."
        }
        (true, true) => "Everything that was sealed is as it was sealed.",
    }
}

/// Returns whether every page of some code and of the code that it nests was read.
pub(super) fn is_read(code: &CodeVerification) -> bool {
    let mut nested = code.nested.iter().filter_map(|nested| nested.code.as_ref());
    code.parts.iter().all(|part| part.bytes.state != BytesState::Unread)
        && nested.all(|code| is_read(code))
}

/// States who signed, if nothing is wrong.
fn signed(verification: &CodeVerification) -> String {
    let signers = || verification.parts.iter().filter_map(|part| part.signer.as_ref());
    let is_adhoc = |state| state == SignerState::AdHoc;
    if signers().all(|signer| is_adhoc(signer.state)) {
        return "Nobody signed it: anyone can make such a seal.".to_owned();
    }
    let mut names: Vec<String> = Vec::new();
    for signer in signers() {
        let name = signer.leaf().and_then(|leaf| leaf.subject().common_name());
        let name = escape::text(name.unwrap_or("a certificate without a name"));
        if !is_adhoc(signer.state) && !names.contains(&name) {
            names.push(name);
        }
    }
    match signers().any(|signer| is_adhoc(signer.state)) {
        true => {
            format!("Signed by {}, except for a slice that nobody signed.", names.join(" and "))
        }
        false => format!("Signed by {}.", names.join(" and ")),
    }
}
