//! The verdict on policy: whether to accept a signature of this form by this signer.
//!
//! A failure is what Apple's check would reject. Unverified is what Apple's check accepts and what
//! cannot be verified here: a certificate that expired without proof of an earlier signature, or a
//! requirement that only a Mac can evaluate. Hashes with known collisions are warnings. Whether the
//! bytes are intact is not considered.

use steadfast_digest::Algorithm;
use strum::IntoStaticStr;

use crate::apple::AppleError;
use crate::certificate::Certificate;
use crate::chain::invalid_at;
use crate::directory::flags;
use crate::error::ErrorKind;
use crate::finding::{CodeFinding, FindingKind, Severity};
use crate::hash::HashType;
use crate::key::PublicKey;
use crate::plist::Value;
use crate::requirement::{CodeSubject, Requirements};
use crate::roots::AppleRoot;
use crate::signature::Signature;
use crate::signer::{SignerState, SignerVerdict};
use crate::superblob::{Blob, Slot};

/// RSA keys shorter than this can be broken (NIST SP 800-57 part 1, table 2).
const RSA_BITS_MIN: u32 = 2048;

/// The state of the policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum PolicyState {
    /// Nothing was found.
    Clear,
    /// Apple's check accepts it, with warnings.
    Doubtful,
    /// Whether it should be accepted cannot be verified.
    Unverifiable,
    /// Apple's check would refuse it.
    Refused,
}

impl PolicyState {
    /// Returns the name in documents.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// The context of a policy check.
#[derive(Clone, Copy, Debug, Default)]
pub struct PolicyOptions<'a> {
    /// The present time, in seconds since 1970. Without it, expiry until now is not checked.
    pub now: Option<i64>,
    /// The code's `Info.plist`, which a requirement may ask for.
    pub info: Option<&'a Value>,
}

/// The verdict on policy.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PolicyVerdict {
    /// The verdict. It is never better than that on the signer: a policy cannot accept a signature
    /// that is wrong or not verified.
    pub state: PolicyState,
    /// The findings.
    pub findings: Vec<CodeFinding>,
}

impl PolicyVerdict {
    /// Judges a signature. Where files and bundles are read, other code applies the strict rules
    /// to them.
    pub fn of(
        signature: &Signature,
        signer: &SignerVerdict,
        options: &PolicyOptions<'_>,
    ) -> PolicyVerdict {
        let mut findings = Vec::new();
        if !signer.chain.is_empty() {
            let refuses_expired = signature.chosen_directory().flags() & flags::EXPIRES != 0;
            expiry(refuses_expired, signer, options.now, &mut findings);
            weak_signer(signer, &mut findings);
        }
        if signature.chosen_directory().hash_type() == HashType::Sha1 {
            let text = "the code is sealed with SHA-1 alone, which can be made to collide";
            findings.push(CodeFinding::warning(FindingKind::WeakHash, text));
        }
        own_requirement(signature, signer, options.info, &mut findings);
        PolicyVerdict::settled(signer, findings)
    }

    /// Judges the signature of a package whose table has a checksum by this algorithm.
    pub(crate) fn of_package(
        checksum: Algorithm,
        signer: &SignerVerdict,
        now: Option<i64>,
    ) -> PolicyVerdict {
        let mut findings = Vec::new();
        expiry(false, signer, now, &mut findings);
        weak_signer(signer, &mut findings);
        if is_weak(checksum) {
            let text =
                format!("it is sealed with {}, which can be made to collide", checksum.name());
            findings.push(CodeFinding::warning(FindingKind::WeakHash, text));
        }
        PolicyVerdict::settled(signer, findings)
    }

    fn settled(signer: &SignerVerdict, findings: Vec<CodeFinding>) -> PolicyVerdict {
        let of_signer = match signer.state {
            SignerState::AdHoc | SignerState::Valid => PolicyState::Clear,
            SignerState::Untrusted | SignerState::Unverifiable => PolicyState::Unverifiable,
            SignerState::Missing | SignerState::Invalid => PolicyState::Refused,
        };
        let of_findings = match findings.iter().map(|finding| finding.severity).max() {
            Some(Severity::Failure) => PolicyState::Refused,
            Some(Severity::Unverified) => PolicyState::Unverifiable,
            Some(Severity::Warning) => PolicyState::Doubtful,
            Some(Severity::Note) | None => PolicyState::Clear,
        };
        PolicyVerdict { state: of_signer.max(of_findings), findings }
    }
}

/// Checks the dates of the certificates.
///
/// If the time of signing is proven, they must have been valid then. Otherwise Apple's check uses
/// the present time and ignores expiry, unless the directory forbids that.
fn expiry(
    refuses_expired: bool,
    signer: &SignerVerdict,
    now: Option<i64>,
    findings: &mut Vec<CodeFinding>,
) {
    let kind = FindingKind::CertificateExpired;
    if let Some(proved) = signer.proved_time() {
        if let Some(ended) = invalid_at(&signer.chain, proved) {
            let text = format!("{} was not valid when it was used", ended.subject());
            findings.push(CodeFinding::failure(kind, AppleError::CertificateExpired, text));
        }
        return;
    }
    if let Some(ended) = signer.signed_at.and_then(|time| invalid_at(&signer.chain, time)) {
        let text = format!("{} was not valid when the signer says it was used", ended.subject());
        findings.push(CodeFinding::unverified(kind, None, text));
    }
    let Some(ended) = now.and_then(|now| invalid_at(&signer.chain, now)) else { return };
    if refuses_expired {
        let text = format!(
            "{} is not valid now, and the directory asks to refuse it then",
            ended.subject()
        );
        findings.push(CodeFinding::failure(kind, AppleError::CertificateExpired, text));
    } else {
        let text = format!(
            "{} is not valid now, and nothing proves that it was valid when it signed",
            ended.subject()
        );
        findings.push(CodeFinding::unverified(kind, None, text));
    }
}

/// Checks the hashes and keys of the signature, the certificates and the time stamp.
fn weak_signer(signer: &SignerVerdict, findings: &mut Vec<CodeFinding>) {
    let kind = FindingKind::WeakHash;
    if let Some(hash) = signer.signature_hash.filter(|hash| is_weak(*hash)) {
        let text = format!("the signature is over {}, which can be made to collide", hash.name());
        findings.push(CodeFinding::warning(kind, text));
    }
    // A root is trusted as such, so its own signature does not matter.
    let below = |one: &&Certificate| AppleRoot::of(one).is_none();
    for certificate in signer.chain.iter().filter(below) {
        if let Some(hash) = certificate.signature_hash().filter(|hash| is_weak(*hash)) {
            let name = certificate.subject();
            let text =
                format!("{name} was issued over {}, which can be made to collide", hash.name());
            findings.push(CodeFinding::warning(kind, text));
        }
        if let key @ PublicKey::Rsa { .. } = certificate.key()
            && key.bits().is_some_and(|bits| bits < RSA_BITS_MIN)
        {
            let text = format!("the key of {} is short: {}", certificate.subject(), key.name());
            findings.push(CodeFinding::warning(kind, text));
        }
    }
    let stamped = signer.timestamp.as_ref().and_then(|stamp| stamp.hash);
    if let Some(hash) = stamped.filter(|hash| is_weak(*hash)) {
        // Nothing to be done about it: all of Apple's are.
        let text = format!("the time stamp is over {}, as all of Apple's are", hash.name());
        findings.push(CodeFinding::note(kind, text));
    }
}

fn is_weak(hash: Algorithm) -> bool {
    matches!(hash, Algorithm::Sha1 | Algorithm::Md5)
}

/// Asks whether the code meets the requirement by which it wants to be known.
fn own_requirement(
    signature: &Signature,
    signer: &SignerVerdict,
    info: Option<&Value>,
    findings: &mut Vec<CodeFinding>,
) {
    let Some(blob) = signature.requirements() else { return };
    let requirements = match Requirements::from_blob(blob.bytes) {
        Ok(requirements) => requirements,
        Err(error) => {
            let apple = match error.kind() {
                ErrorKind::Unsupported => AppleError::ReqUnsupported,
                _ => AppleError::ReqInvalid,
            };
            let text = format!("its requirements cannot be read: {error}");
            let kind = FindingKind::RequirementUnsupported;
            return findings.push(CodeFinding::unverified(kind, apple, text));
        }
    };
    let Some(designated) = requirements.designated() else { return };
    // A wrong signature is reported by the verdict on the signer, and not a second time here.
    if matches!(signer.state, SignerState::Invalid | SignerState::Unverifiable) {
        return;
    }
    let entitlements = signature.blob(Slot::ENTITLEMENTS).map(Blob::payload);
    let entitlements = entitlements.and_then(|bytes| Value::parse(bytes).ok());
    let mut subject = CodeSubject::of(signature, signer);
    subject.info = info;
    subject.entitlements = entitlements.as_ref();
    let met = designated.holds_for(&subject);
    if met != Ok(true) && signer.state == SignerState::AdHoc && designated.names_whom_or_what() {
        let text = "its own designated requirement asks for a signer, and nobody signed it: this \
                    code can never meet it";
        let mut finding =
            CodeFinding::failure(FindingKind::Requirement, AppleError::ReqFailed, text);
        if met.is_err() {
            finding.severity = Severity::Unverified;
        }
        return findings.push(finding);
    }
    match met {
        Ok(true) => {}
        Ok(false) => {
            let text = "the code does not meet its own designated requirement";
            findings.push(CodeFinding::failure(
                FindingKind::Requirement,
                AppleError::ReqFailed,
                text,
            ));
        }
        Err(unknown) => {
            let text = format!("its own designated requirement asks what is not known: {unknown}");
            let kind = FindingKind::RequirementUnsupported;
            findings.push(CodeFinding::unverified(kind, None, text));
        }
    }
}
