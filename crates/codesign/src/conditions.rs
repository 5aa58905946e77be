//! Conditions that a user sets on code beyond that it is whole: who signed it, which code it is,
//! and whether Apple notarized it.
//!
//! A condition about the signer is met only if the signature was verified: whatever an ad-hoc
//! directory says of a team, nobody vouches for it.

use strum::{EnumMessage, IntoStaticStr, VariantArray};

use crate::apple::AppleError;
use crate::finding::{CodeFinding, FindingKind};
use crate::hash::CdHash;
use crate::plist::Value;
use crate::requirement::{CodeSubject, Requirement};
use crate::signature::Signature;
use crate::signer::{SignerState, SignerVerdict};
use crate::superblob::Slot;
use crate::ticket::Ticket;

/// One condition on code. Each slice must meet it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Condition {
    /// Signed by somebody whose certificate leads to a root of Apple's, or one that is trusted.
    Signed,
    /// Signed by this team.
    Team(String),
    /// With this identifier.
    Identifier(String),
    /// Exactly one of these.
    CdHash(Vec<CdHash>),
    /// Issued by one of Apple's authorities.
    SignerAnchor(SignerAnchor),
    /// Listed by a ticket that is stapled to it.
    Notarized,
    /// Any requirement.
    Requirement(Requirement),
}

/// Which of Apple's authorities must have issued the signer's certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumMessage, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "kebab-case")]
pub enum SignerAnchor {
    /// Apple's own software.
    Apple,
    /// Software given out by its developer.
    DeveloperId,
    /// Software from one of Apple's stores.
    AppStore,
}

impl SignerAnchor {
    /// Returns the requirement, in the language of Apple's tools.
    fn requirement(self) -> Requirement {
        let text = match self {
            SignerAnchor::Apple => "anchor apple",
            SignerAnchor::DeveloperId => {
                "anchor apple generic and certificate 1[field.1.2.840.113635.100.6.2.6] exists \
                 and (certificate leaf[field.1.2.840.113635.100.6.1.13] exists or \
                 certificate leaf[field.1.2.840.113635.100.6.1.14] exists)"
            }
            SignerAnchor::AppStore => {
                "anchor apple generic and (certificate leaf[field.1.2.840.113635.100.6.1.9] exists \
                 or certificate leaf[field.1.2.840.113635.100.6.1.3] exists \
                 or certificate leaf[field.1.2.840.113635.100.6.1.10] exists)"
            }
        };
        Requirement::parse(text).expect("a requirement that a test reads")
    }

    fn words(self) -> &'static str {
        match self {
            SignerAnchor::Apple => "signed as Apple's own software",
            SignerAnchor::DeveloperId => "signed with a Developer ID",
            SignerAnchor::AppStore => "signed for the App Store",
        }
    }
}

/// Whether a condition is met.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Met {
    Yes,
    No(String),
    Unknown(String),
}

/// What a condition is asked of: one slice, or the whole file.
pub(crate) struct ConditionSubject<'a> {
    /// Absent of a package.
    pub(crate) signature: Option<&'a Signature>,
    /// The chosen CDHash first.
    pub(crate) cdhashes: Vec<CdHash>,
    pub(crate) signer: &'a SignerVerdict,
    pub(crate) info: Option<&'a Value>,
    pub(crate) ticket: Option<&'a Result<Ticket, String>>,
}

impl Condition {
    /// Returns the condition in words that complete "it is not".
    pub fn words(&self) -> String {
        match self {
            Condition::Signed => "signed".to_owned(),
            Condition::Team(team) => format!("signed by team {team}"),
            Condition::Identifier(identifier) => format!("`{identifier}`"),
            Condition::CdHash(_) => "the code with the CDHash that was given".to_owned(),
            Condition::SignerAnchor(anchor) => anchor.words().to_owned(),
            Condition::Notarized => "listed by a ticket of notarization".to_owned(),
            Condition::Requirement(requirement) => format!("code that meets `{requirement}`"),
        }
    }

    /// Returns the finding if some code does not meet the condition, or it cannot be decided. Code
    /// without a signature meets none.
    pub(crate) fn finding(&self, subject: Option<&ConditionSubject<'_>>) -> Option<CodeFinding> {
        let met = match subject {
            Some(subject) => self.is_met(subject),
            None => Met::No("it has no signature that can be read".to_owned()),
        };
        let kind = FindingKind::Condition;
        let text = |reason| format!("it is not {}: {reason}", self.words());
        match met {
            Met::Yes => None,
            Met::No(reason) => {
                Some(CodeFinding::failure(kind, AppleError::ReqFailed, text(reason)))
            }
            Met::Unknown(reason) => {
                let text = format!("whether it is {} is unknown: {reason}", self.words());
                Some(CodeFinding::unverified(kind, None, text))
            }
        }
    }

    fn is_met(&self, subject: &ConditionSubject<'_>) -> Met {
        let ConditionSubject { signature, signer, .. } = *subject;
        let hash = subject.cdhashes.first();
        match self {
            Condition::Signed => verified(signer),
            Condition::Team(team) => verified(signer).and(|| match signer.team(signature) {
                Some(own) if own == **team => Met::Yes,
                Some(own) => Met::No(format!("its team is {own}")),
                None => Met::No("its certificate names no team".to_owned()),
            }),
            Condition::Identifier(expected) => match signature.map(Signature::identifier) {
                Some(own) if own == **expected => Met::Yes,
                Some(own) => Met::No(format!("it is `{own}`")),
                None => Met::No("a package has none".to_owned()),
            },
            Condition::CdHash(expected) => match hash {
                _ if subject.cdhashes.iter().any(|hash| expected.contains(hash)) => Met::Yes,
                Some(hash) => Met::No(format!("it has {hash}")),
                None => Met::No("it has none".to_owned()),
            },
            Condition::SignerAnchor(anchor) => verified(signer).and(|| {
                let by = signer.kind.map_or("somebody else", |kind| kind.name());
                match subject.meets(&anchor.requirement()) {
                    Met::No(_) => Met::No(format!("its signer is {by}")),
                    met => met,
                }
            }),
            Condition::Notarized => match subject.ticket {
                None => Met::No(
                    "no ticket is stapled to it, though Apple may have issued one".to_owned(),
                ),
                Some(Err(reason)) => Met::No(format!("its ticket is not valid: {reason}")),
                Some(Ok(_)) if subject.is_listed() => Met::Yes,
                Some(Ok(_)) => Met::No("its ticket is for other code".to_owned()),
            },
            Condition::Requirement(requirement) => subject.meets(requirement),
        }
    }
}

impl Met {
    fn and(self, other: impl FnOnce() -> Met) -> Met {
        if self == Met::Yes { other() } else { self }
    }
}

impl ConditionSubject<'_> {
    /// Returns whether a valid ticket lists the code.
    fn is_listed(&self) -> bool {
        let listed = |ticket: &Ticket| self.cdhashes.iter().any(|hash| ticket.lists(hash));
        self.ticket.and_then(|ticket| ticket.as_ref().ok()).is_some_and(listed)
    }

    fn meets(&self, requirement: &Requirement) -> Met {
        let entitlements = self.signature.and_then(|of| of.blob(Slot::ENTITLEMENTS));
        let entitlements = entitlements.and_then(|blob| Value::parse(blob.payload()).ok());
        let mut subject = match (self.signature, self.cdhashes.first()) {
            (Some(signature), _) => CodeSubject::of(signature, self.signer),
            (None, Some(hash)) => CodeSubject::of_package(*hash, self.signer),
            (None, None) => return Met::Unknown("it has no CDHash".to_owned()),
        };
        (subject.info, subject.entitlements) = (self.info, entitlements.as_ref());
        // Apple may have notarized code without a ticket here.
        subject.notarized = self.is_listed().then_some(true);
        match requirement.holds_for(&subject) {
            Ok(true) => Met::Yes,
            Ok(false) => Met::No("it does not meet that".to_owned()),
            Err(unknown) => Met::Unknown(unknown.to_string()),
        }
    }
}

/// Returns whether the signer was verified.
fn verified(signer: &SignerVerdict) -> Met {
    match signer.state {
        SignerState::Valid => Met::Yes,
        SignerState::AdHoc | SignerState::Missing => Met::No("nobody signed it".to_owned()),
        SignerState::Untrusted => Met::No("its certificate leads to no trusted root".to_owned()),
        SignerState::Invalid => Met::No("its signature is not valid".to_owned()),
        SignerState::Unverifiable => Met::Unknown("its signer cannot be verified".to_owned()),
    }
}
