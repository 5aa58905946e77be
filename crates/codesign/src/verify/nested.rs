//! Verifies nested code: by itself, and as the code that the seal of its bundle names.

use super::{CodeVerification, PartVerification, VerifyOptions};
use crate::apple::AppleError;
use crate::bundle::{Bundle, NestedItem, Subtree};
use crate::code::{Code, CodePart};
use crate::error::{Error, ErrorKind};
use crate::finding::{CodeFinding, FindingKind, Severity};
use crate::pages::{BytesState, PageChoice};
use crate::plist::Value;
use crate::requirement::{CodeSubject, Requirement};
use crate::signature::Signature;
use crate::signer::SignerVerdict;
use crate::superblob::Slot;

/// The deepest nesting of bundles that is opened.
const DEPTH_MAX: usize = 16;

/// The result of verifying nested code.
#[derive(Clone, Debug)]
pub struct NestedVerification {
    /// The entry in the seal.
    pub item: NestedItem,
    /// Whether the sealed requirement is met, which is what Apple's check asks; or why that is
    /// unknown.
    pub requirement: Result<bool, String>,
    /// Whether every slice is exactly the code that was sealed; `None` if the seal does not say
    /// which code it was.
    pub exact: Option<bool>,
    /// The result for the code itself; `None` if it could not be opened.
    pub code: Option<Box<CodeVerification>>,
    /// Findings about the code as an entry of the seal.
    pub findings: Vec<CodeFinding>,
}

/// Verifies nested code, by itself and against the entry in the seal.
pub(super) fn verify_nested(
    bundle: &Bundle<'_>,
    item: &NestedItem,
    options: &VerifyOptions,
    depth: usize,
) -> NestedVerification {
    let mut nested = NestedVerification {
        item: item.clone(),
        requirement: Err("it could not be opened".to_owned()),
        exact: None,
        code: None,
        findings: Vec::new(),
    };
    let tree = Subtree::new(bundle.tree(), &item.path);
    let opened = match depth > DEPTH_MAX {
        true => Err(Error::new(ErrorKind::Unsupported, "nested too deep")),
        false => Code::nested(&tree, item.folder),
    };
    let of_item = VerifyOptions {
        // Without `deep`, only the form of the signature and its slots are checked.
        pages: if options.deep { PageChoice::All } else { PageChoice::Sample(0) },
        ..options.clone()
    };
    match opened.and_then(|code| {
        let verification = code.verify_at(&of_item, depth)?;
        nested.compare(&code);
        Ok(verification)
    }) {
        Ok(verification) => {
            nested.judge(&verification);
            nested.code = Some(Box::new(verification));
        }
        Err(error) => {
            let (text, apple) = (error.to_string(), AppleError::BadNestedCode);
            nested.push(match error.kind() {
                ErrorKind::System => {
                    CodeFinding::unverified(FindingKind::ResourceUnreadable, apple, text)
                }
                ErrorKind::Unsupported => {
                    CodeFinding::unverified(FindingKind::Unsupported, apple, text)
                }
                _ => CodeFinding::failure(FindingKind::NestedDamaged, apple, text),
            });
        }
    }
    nested
}

impl NestedVerification {
    /// Compares the code with the entry in the seal.
    fn compare(&mut self, code: &Code<'_>) {
        let parts = code.parts();
        let signed = || parts.iter().filter_map(|part| part.signature);
        let requirement = Requirement::parse(&self.item.requirement);
        self.exact = None;
        let vouched = requirement.as_ref().is_ok_and(Requirement::names_whom_or_what);
        match self.item.cdhash.clone() {
            Some(sealed) => self.compare_slices(&parts, &sealed, vouched),
            None if vouched => {}
            None => {
                let text = "no seal says which code this is, and anybody's code could meet its \
                            requirement";
                self.push(CodeFinding::unverified(FindingKind::NestedReplaced, None, text));
            }
        }
        self.requirement = match requirement {
            Err(error) => Err(error.to_string()),
            Ok(requirement) => {
                let info = code.surroundings().info_plist.and_then(|info| Value::parse(info).ok());
                let mut outcome = Ok(signed().next().is_some());
                for signature in signed() {
                    let one = holds(&requirement, signature, info.as_ref());
                    outcome = match (outcome, one) {
                        (Ok(false), _) | (_, Ok(false)) => Ok(false),
                        (Err(unknown), _) | (_, Err(unknown)) => Err(unknown),
                        (Ok(true), Ok(true)) => Ok(true),
                    };
                }
                outcome
            }
        };
    }

    /// Decides which slices are the code that was sealed. The seal has the CDHash of one slice
    /// only; the others are accepted by their requirement, unless anyone's code could meet it.
    fn compare_slices(&mut self, parts: &[CodePart<'_>], sealed: &[u8], vouched: bool) {
        let is_sealed = |part: &&CodePart<'_>| {
            let directories = part.signature.map_or(&[][..], Signature::directories);
            directories.iter().any(|directory| directory.cdhash().as_bytes()[..] == *sealed)
        };
        let others: Vec<&CodePart<'_>> = parts.iter().filter(|part| !is_sealed(part)).collect();
        self.exact = match others.len() {
            0 => Some(!parts.is_empty()),
            all if all == parts.len() => Some(false),
            _ => None,
        };
        if self.exact.is_some() {
            return;
        }
        if !vouched {
            self.exact = Some(false);
        }
        // A slice without a signature is reported as such.
        for part in others.into_iter().filter(|part| part.signature.is_some()) {
            let slice = part.architecture();
            let finding = match vouched {
                true => {
                    let text = "the seal does not say which code this slice was; only its \
                                requirement was checked";
                    CodeFinding::warning(FindingKind::NestedReplaced, text)
                }
                false => {
                    let text = "not the code that was sealed, and anybody's code could meet its \
                                requirement";
                    let error = AppleError::BadNestedCode;
                    CodeFinding {
                        apple: None,
                        ..CodeFinding::failure(FindingKind::NestedReplaced, error, text)
                    }
                }
            };
            self.push(finding.at(|place| place.slice = slice));
        }
    }

    /// Adds the findings of the comparison.
    fn judge(&mut self, verification: &CodeVerification) {
        let is_unsigned = |part: &PartVerification| part.bytes.state == BytesState::Unsigned;
        if verification.parts.iter().all(is_unsigned) {
            self.add_finding(FindingKind::NestedUnsigned, "not signed".to_owned());
            return;
        }
        match self.requirement.clone() {
            Ok(true) => {}
            Ok(false) => {
                let text = format!("does not meet `{}`", self.item.requirement);
                self.add_finding(FindingKind::NestedDamaged, text);
            }
            Err(unknown) => {
                let text = format!(
                    "it is unknown whether it meets `{}`: {unknown}",
                    self.item.requirement
                );
                let kind = FindingKind::RequirementUnsupported;
                self.push(CodeFinding::unverified(kind, None, text));
            }
        }
        let told = self.findings.iter().any(|found| found.kind == FindingKind::NestedReplaced);
        if self.exact == Some(false) && self.requirement != Ok(false) && !told {
            let text = "meets its requirement, and is not the code that was sealed";
            let mut finding = CodeFinding::warning(FindingKind::NestedReplaced, text);
            // Apple's check accepts replaced code that meets the requirement. A fixity check must
            // not.
            finding.severity = Severity::Failure;
            self.push(finding);
        }
    }

    fn add_finding(&mut self, kind: FindingKind, text: String) {
        let error = match kind {
            FindingKind::NestedUnsigned => AppleError::UnsignedNestedCode,
            _ => AppleError::BadNestedCode,
        };
        self.push(CodeFinding::failure(kind, error, text));
    }

    fn push(&mut self, finding: CodeFinding) {
        let path = self.item.path.clone();
        self.findings.push(finding.at(|place| place.path = Some(path)));
    }
}

/// Returns whether a signature meets a requirement.
fn holds(
    requirement: &Requirement,
    signature: &Signature,
    info: Option<&Value>,
) -> Result<bool, String> {
    let signer = SignerVerdict::of(signature);
    let entitlements = signature.blob(Slot::ENTITLEMENTS);
    let entitlements = entitlements.and_then(|blob| Value::parse(blob.payload()).ok());
    let mut subject = CodeSubject::of(signature, &signer);
    if let Some(info) = info {
        subject = subject.info(info);
    }
    if let Some(entitlements) = &entitlements {
        subject = subject.entitlements(entitlements);
    }
    requirement.holds_for(&subject).map_err(|unknown| unknown.to_string())
}
