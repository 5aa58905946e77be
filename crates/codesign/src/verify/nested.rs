//! Code in a bundle that has a signature of its own: verified by itself, and as what was sealed.
//!
//! In: an item of the seal, and the bundle it is in. Out: what became of it, whether it meets the
//! requirement that was sealed, whether it is exactly that code. Must not know: what the bundle is
//! in itself.

use super::{CodeVerification, PartVerification, VerifyOptions};
use crate::apple::AppleError;
use crate::bundle::{Bundle, NestedItem, Subtree};
use crate::code::{Code, CodePart};
use crate::error::{Error, ErrorKind};
use crate::finding::{CodeFinding, FindingKind, Severity};
use crate::meter::Meter;
use crate::pages::{BytesState, PageChoice};
use crate::plist::Value;
use crate::requirement::{Requirement, Subject};
use crate::signature::Signature;
use crate::signer::SignerVerdict;
use crate::superblob::Slot;

/// How deep bundles within bundles are opened.
const DEPTH_MAX: usize = 16;

/// What became of code in a bundle that has a signature of its own.
#[derive(Clone, Debug)]
pub struct NestedVerification {
    /// What was sealed.
    pub item: NestedItem,
    /// Whether the requirement that was sealed is met, which is what Apple's check asks; or why it
    /// cannot be told.
    pub requirement: Result<bool, String>,
    /// Whether every slice is exactly the code that was sealed; `None` if the seal does not say.
    pub exact: Option<bool>,
    /// What became of the code itself; `None` if it could not be opened.
    pub code: Option<Box<CodeVerification>>,
    /// What was found of its place in the bundle.
    pub findings: Vec<CodeFinding>,
}

/// Verifies nested code, by itself and as what was sealed.
pub(super) fn verify_nested(
    bundle: &Bundle<'_>,
    item: &NestedItem,
    options: &VerifyOptions,
    meter: Option<&Meter>,
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
        // Without `deep` the form of the signature and what its slots bind, and no page.
        pages: if options.deep { PageChoice::All } else { PageChoice::Sample(0) },
        ..options.clone()
    };
    match opened.and_then(|code| {
        let verification = code.verify_at(&of_item, meter, depth)?;
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
    /// Holds the code against what was sealed.
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

    /// Tells which slices are the code that was sealed. The seal has the CDHash of one slice only,
    /// so that for others their requirement vouches; one that anybody's code meets does not.
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
        // A slice without a signature is told as that.
        for part in others.into_iter().filter(|part| part.signature.is_some()) {
            let slice = part.architecture();
            let finding = match vouched {
                true => {
                    let text = "which code this slice was the seal does not say; its requirement \
                                alone vouches for it";
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

    /// Says what the comparison means.
    fn judge(&mut self, verification: &CodeVerification) {
        let is_unsigned = |part: &PartVerification| part.bytes.state == BytesState::Unsigned;
        if verification.parts.iter().all(is_unsigned) {
            self.tell(FindingKind::NestedUnsigned, "not signed".to_owned());
            return;
        }
        match self.requirement.clone() {
            Ok(true) => {}
            Ok(false) => {
                let text = format!("does not meet `{}`", self.item.requirement);
                self.tell(FindingKind::NestedDamaged, text);
            }
            Err(unknown) => {
                let text = format!(
                    "whether it meets `{}` cannot be told: {unknown}",
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
            // Apple's check is content. A keeper of files is not.
            finding.severity = Severity::Failure;
            self.push(finding);
        }
    }

    fn tell(&mut self, kind: FindingKind, text: String) {
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

/// Whether a signature meets a requirement.
fn holds(
    requirement: &Requirement,
    signature: &Signature,
    info: Option<&Value>,
) -> Result<bool, String> {
    let signer = SignerVerdict::of(signature);
    let entitlements = signature.blob(Slot::ENTITLEMENTS);
    let entitlements = entitlements.and_then(|blob| Value::parse(blob.payload()).ok());
    let mut subject = Subject::of(signature, &signer);
    if let Some(info) = info {
        subject = subject.info(info);
    }
    if let Some(entitlements) = &entitlements {
        subject = subject.entitlements(entitlements);
    }
    requirement.holds_for(&subject).map_err(|unknown| unknown.to_string())
}
