//! States the overall result in one or two sentences, which are the same in every document.
//!
//! The result follows from the findings alone, through [`CodeVerification::outcome`], so it cannot
//! contradict them.

use steadfast_codesign::{
    BytesState, CodeFinding, CodeKind, CodeOutcome, CodeVerification, FindingKind, Severity,
    SlotState,
};

use crate::escape;
use crate::view::counted_parts;

/// States the result of the verification: who signed the code, or the gravest finding.
pub(super) fn statement(verification: &CodeVerification) -> String {
    let findings = verification.all_findings();
    let outcome = verification.outcome();
    let mut graves = findings.iter().filter(|finding| finding.outcome() == outcome);
    let verdict = match outcome {
        CodeOutcome::Good => return format!("{} {}", signed(verification), checked(verification)),
        CodeOutcome::Unverified => "Not verified",
        CodeOutcome::Refused | CodeOutcome::Unmet | CodeOutcome::Damaged => "Refused",
    };
    let gravest = graves.next().map(|finding| words_of(finding, verification));
    let count = |severity| findings.iter().filter(|one| one.severity == severity).count() as u64;
    let (failures, unverified) = (count(Severity::Failure), count(Severity::Unverified));
    let counts = counted_parts(&[
        ("failure", "failures", failures),
        ("unverified", "unverified", unverified),
    ]);
    let counts = match failures + unverified {
        0 | 1 => String::new(),
        _ => format!(" ({} in all)", counts.join(", ")),
    };
    format!("{verdict}: {}{counts}.", gravest.unwrap_or_default())
}

/// Says what a finding means for the code.
fn words_of(finding: &CodeFinding, verification: &CodeVerification) -> String {
    let place = &finding.place;
    let file = place.path.as_ref().map(|path| String::from_utf8_lossy(path).into_owned());
    let slice = place.slice.as_ref().filter(|_| verification.parts.len() > 1);
    let subject = match (file, slice) {
        (Some(file), _) => Some(format!("`{}`", escape::text(&file))),
        (None, slice) => slice.map(|slice| format!("the slice for {}", escape::text(slice))),
    };
    match finding.kind {
        FindingKind::PageDamaged | FindingKind::ResourceModified => {
            let made = match signers(verification) {
                Some(names) => format!("it was signed by {names}"),
                None => "it was sealed".to_owned(),
            };
            format!("{} was changed after {made}", subject.as_deref().unwrap_or("it"))
        }
        _ => {
            let text = escape::text(&finding.text);
            subject.map_or(text.clone(), |subject| format!("{subject}: {text}"))
        }
    }
}

/// Returns the names of the verified signers, joined.
fn signers(verification: &CodeVerification) -> Option<String> {
    let names = verification.signers().join(" and ");
    (!names.is_empty()).then(|| escape::text(&names))
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
    match signers(verification) {
        Some(names) => format!("Signed by {names}."),
        None => "Nobody signed it: anyone can make such a seal.".to_owned(),
    }
}
