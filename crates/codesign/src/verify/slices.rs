//! Compares the slices of a fat file with each other.
//!
//! A processor runs one slice, and the same name stands for all of them. So a file that holds one
//! signer's slice beside another's is not what either of them gave out, however intact each is.

use std::collections::BTreeMap;

use super::PartVerification;
use crate::apple::AppleError;
use crate::binary::Binary;
use crate::finding::{CodeFinding, FindingKind};
use crate::signer::{SignerKind, SignerState, SignerVerdict};

/// Who signed a slice, as far as the slices of one file have that in common.
#[derive(PartialEq, Eq)]
struct SliceSigner<'a> {
    state: SignerState,
    kind: Option<SignerKind>,
    /// The team that the directory names, and that of the certificate: old directories name none.
    team: (Option<&'a str>, Option<&'a str>),
    /// The name of a signer who is none of Apple's kinds.
    name: Option<&'a str>,
}

/// Returns a finding for each slice whose signer is of another kind or team than that of the first
/// signed slice. A slice without a signature is reported as unsigned.
pub(super) fn disagreements(parts: &[PartVerification]) -> Vec<CodeFinding> {
    let mut signed = parts.iter().filter_map(|part| Some((part, part.signer.as_ref()?)));
    let Some((first, signer)) = signed.next() else { return Vec::new() };
    let expected = SliceSigner::of(first, signer);
    let others = signed.filter(|(part, signer)| SliceSigner::of(part, signer) != expected);
    let findings = others.map(|(part, signer)| {
        let text = format!(
            "signed by {}, and {} by {}: the slices of one file have one signer",
            SliceSigner::of(part, signer).words(signer),
            first.architecture.as_deref().unwrap_or("the first slice"),
            expected.words(first.signer.as_ref().expect("the first slice is signed")),
        );
        disagreement(text, part.architecture.clone())
    });
    findings.collect()
}

/// Returns a finding for each slice that is for the same processor as an earlier one, and for each
/// whose line in the index names another processor than the slice itself.
pub(super) fn mislabelled(binary: &Binary) -> Vec<CodeFinding> {
    let mut found = Vec::new();
    let mut first = BTreeMap::new();
    for (index, slice) in binary.slices.iter().enumerate() {
        let label = slice.architecture;
        let name = Some(label.to_string());
        let earlier = first.entry(label.processor()).or_insert(index);
        if *earlier != index {
            let text = "a second slice for the same processor: which of them runs is not defined";
            found.push(disagreement(text.to_owned(), name.clone()));
        }
        let Some(macho) = &slice.macho else { continue };
        let own = macho.architecture;
        if (own.cpu_type, own.member()) != (label.cpu_type, label.member()) {
            let text = format!("the slice itself says that it is for {own}");
            found.push(disagreement(text, name));
        }
    }
    found
}

fn disagreement(text: String, slice: Option<String>) -> CodeFinding {
    let finding =
        CodeFinding::failure(FindingKind::SlicesDisagree, AppleError::BadObjectFormat, text);
    CodeFinding { apple: None, ..finding }.at(|place| place.slice = slice)
}

impl<'a> SliceSigner<'a> {
    fn of(part: &'a PartVerification, signer: &'a SignerVerdict) -> SliceSigner<'a> {
        let subject = signer.leaf().map(|leaf| leaf.subject());
        let unit = subject.and_then(|subject| subject.organisational_unit());
        let name = subject.filter(|_| signer.kind.is_none());
        SliceSigner {
            state: signer.state,
            kind: signer.kind,
            team: (part.team.as_deref(), unit),
            name: name.and_then(|name| name.common_name()),
        }
    }

    fn words(&self, signer: &SignerVerdict) -> String {
        let name = signer.leaf().map(|leaf| leaf.subject().to_string());
        match (self.state, name, self.team.0) {
            (SignerState::AdHoc | SignerState::Missing, ..) => "nobody".to_owned(),
            (state, Some(name), Some(team)) => format!("{name}, team {team} ({})", state.name()),
            (state, Some(name), None) => format!("{name} ({})", state.name()),
            (state, None, _) => format!("an unknown signer ({})", state.name()),
        }
    }
}
