//! The verdict on the signer: who signed the code directories, and whether that can be verified.
//!
//! The signature covers the directory in slot 0. Two signed attributes cover the others: a list of
//! hashes, and a set that also gives their number. Without these attributes nothing covers an
//! alternate directory; that is a finding here and not in Apple's check.
//!
//! Source: `SecStaticCode::verifySignature` of Apple's Security framework.

mod binding;
mod installer;

use std::borrow::Cow;

use steadfast_digest::Algorithm;
use strum::IntoStaticStr;

pub use self::binding::{Binding, Bindings};
pub(crate) use self::installer::PackageSeal;
use crate::apple::AppleError;
use crate::certificate::Certificate;
use crate::chain::{Chain, ChainEnd};
use crate::cms::{SignedData, Signer, oid};
use crate::directory::CodeDirectory;
use crate::finding::{CodeFinding, FindingKind, Severity};
use crate::key::SignatureCheck;
use crate::roots::AppleRoot;
use crate::signature::Signature;
use crate::timestamp::{TimestampState, TimestampToken};

/// The purpose a certificate that signs code must have.
const CODE_SIGNING: &str = "1.3.6.1.5.5.7.3.3";

/// The state of the signer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub enum SignerState {
    /// There is no signature, and the directory is marked as ad-hoc: anyone can make such digests.
    AdHoc,
    /// There is no signature, and the directory is not marked as ad-hoc.
    Missing,
    /// Valid, with a chain to a root of Apple's or to a certificate that the user trusts.
    Valid,
    /// Valid, with a chain that does not lead to a root of Apple's.
    Untrusted,
    /// Not verified: an algorithm is not supported, or the signer's certificate is missing.
    Unverifiable,
    /// The signature is wrong, or covers something else.
    Invalid,
}

impl SignerState {
    /// Returns the name in documents.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// The kind of signer, by the extensions of Apple's certificates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SignerKind {
    /// Software given out by its developer.
    DeveloperId,
    /// Software being developed, for the Mac.
    MacDevelopment,
    /// Software being developed, for other systems.
    IosDevelopment,
    /// Software handed in to Apple, for the Mac.
    MacDistribution,
    /// Software handed in to Apple or given out in a company, for other systems.
    IosDistribution,
    /// Software given out by Apple's store, for the Mac.
    AppStore,
    /// Software given out by Apple's store, for other systems.
    IosAppStore,
    /// Apple's own software.
    AppleSoftware,
    /// An installer package given out by its developer.
    DeveloperIdInstaller,
    /// An installer package handed in to Apple.
    MacInstaller,
    /// An installer package given out by Apple's store.
    AppStoreInstaller,
}

impl SignerKind {
    /// Returns the name, as Apple has it in certificates where it has one.
    pub fn name(self) -> &'static str {
        match self {
            SignerKind::DeveloperId => "Developer ID Application",
            SignerKind::MacDevelopment => "Mac Developer",
            SignerKind::IosDevelopment => "Apple Developer",
            SignerKind::MacDistribution => "3rd Party Mac Developer Application",
            SignerKind::IosDistribution => "Apple Distribution",
            SignerKind::AppStore => "Apple Mac OS Application Signing",
            SignerKind::IosAppStore => "Apple iPhone OS Application Signing",
            SignerKind::AppleSoftware => "Software Signing",
            SignerKind::DeveloperIdInstaller => "Developer ID Installer",
            SignerKind::MacInstaller => "3rd Party Mac Developer Installer",
            SignerKind::AppStoreInstaller => "Apple Mac OS Installer Signing",
        }
    }

    /// Returns whether it is Apple, who signs for others and puts their team into the directory
    /// alone.
    fn signs_for_others(self) -> bool {
        use SignerKind::{AppStore, AppleSoftware, IosAppStore};
        matches!(self, AppStore | IosAppStore | AppleSoftware)
    }

    /// Returns the kind of signer of a chain. More specific extensions come first.
    fn of(chain: &[Certificate]) -> Option<SignerKind> {
        let leaf = chain.first()?;
        let has = |number: &str| leaf.extension(&format!("1.2.840.113635.100.6.{number}"));
        let developer_id_authority = chain
            .get(1)
            .is_some_and(|issuer| issuer.extension("1.2.840.113635.100.6.2.6").is_some());
        if developer_id_authority && has("1.13").is_some() {
            return Some(SignerKind::DeveloperId);
        }
        if developer_id_authority && has("1.14").is_some() {
            return Some(SignerKind::DeveloperIdInstaller);
        }
        let table = [
            ("22", SignerKind::AppleSoftware),
            ("1.9", SignerKind::AppStore),
            ("1.3", SignerKind::IosAppStore),
            ("1.7", SignerKind::MacDistribution),
            ("1.12", SignerKind::MacDevelopment),
            ("1.4", SignerKind::IosDistribution),
            ("1.2", SignerKind::IosDevelopment),
            ("1.8", SignerKind::MacInstaller),
            ("1.10", SignerKind::AppStoreInstaller),
        ];
        table.into_iter().find(|(number, _)| has(number).is_some()).map(|(_, kind)| kind)
    }
}

/// The verdict on the signer of the code directories.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SignerVerdict {
    /// The verdict.
    pub state: SignerState,
    /// The kind of the signer's certificate, if Apple issued it.
    pub kind: Option<SignerKind>,
    /// The certificates, the signer's first.
    pub chain: Vec<Certificate>,
    /// The root of Apple's that the chain ends at.
    pub root: Option<AppleRoot>,
    /// When the signer says it was signed, in seconds since 1970.
    pub signed_at: Option<i64>,
    /// The time stamp, if there is one.
    pub timestamp: Option<TimestampToken>,
    /// Whether the signed attributes match the directories.
    pub bindings: Bindings,
    /// The hash that is signed.
    pub signature_hash: Option<Algorithm>,
    /// The findings.
    pub findings: Vec<CodeFinding>,
}

impl SignerVerdict {
    /// Verifies the signer of a signature.
    pub fn of(signature: &Signature) -> SignerVerdict {
        SignerVerdict::trusting(signature, &[])
    }

    /// Verifies the signer of a signature. Its chain may end at one of these certificates, too.
    pub fn trusting(signature: &Signature, trusted: &[Certificate]) -> SignerVerdict {
        let mut verdict = SignerVerdict::new(SignerState::AdHoc);
        match signature.cms() {
            None if signature.is_adhoc() => verdict.note_adhoc(),
            None => {
                let text = "there is no signature, and a code directory says that there is one";
                verdict.fail(FindingKind::SignerMissing, AppleError::Unsigned, text);
                verdict.state = SignerState::Missing;
            }
            Some(cms) => verdict.judge(signature, cms, trusted),
        }
        verdict
    }

    fn new(state: SignerState) -> SignerVerdict {
        SignerVerdict {
            state,
            kind: None,
            chain: Vec::new(),
            root: None,
            signed_at: None,
            timestamp: None,
            bindings: Bindings::default(),
            signature_hash: None,
            findings: Vec::new(),
        }
    }

    /// Hashes the directories, which others will ask for, and judges the signer.
    pub(crate) fn prepared(signature: &Signature, trusted: &[Certificate]) -> SignerVerdict {
        for directory in signature.directories() {
            directory.cdhash_full();
        }
        SignerVerdict::trusting(signature, trusted)
    }

    /// Returns the signer's certificate.
    pub fn leaf(&self) -> Option<&Certificate> {
        self.chain.first()
    }

    /// Returns the proven time of signing: that of a valid time stamp.
    pub fn proved_time(&self) -> Option<i64> {
        let stamp = self.timestamp.as_ref()?;
        stamp.time.filter(|_| stamp.state == TimestampState::Valid)
    }

    /// Returns the team that the signer belongs to, if the signature proves one. Packages have no
    /// code directory that names one.
    pub fn team<'a>(&'a self, signature: Option<&'a Signature>) -> Option<Cow<'a, str>> {
        match self.kind {
            _ if self.state != SignerState::Valid => None,
            Some(kind) if kind.signs_for_others() => signature?.team(),
            _ => self.leaf()?.subject().organisational_unit().map(Cow::Borrowed),
        }
    }

    fn note_adhoc(&mut self) {
        let text = "signed by nobody: anyone can make such a seal";
        self.findings.push(CodeFinding::note(FindingKind::AdHoc, text));
    }

    fn judge(&mut self, signature: &Signature, cms: &[u8], trusted: &[Certificate]) {
        let content = signature.base_directory().bytes();
        self.judge_message(cms, content, &[CODE_SIGNING], trusted, |verdict, signer, message| {
            // Apple's check stops at the flag and accepts any signature.
            if signature.directories().iter().any(CodeDirectory::is_adhoc) {
                let text = "a code directory says that nobody signed, and there is a signature";
                verdict.fail(FindingKind::AdHoc, AppleError::SignatureFailed, text);
            }
            verdict.bindings = Bindings::of(signer, message, signature, &mut verdict.findings);
        });
        self.judge_team(signature);
        self.settle();
    }

    /// Judges a message over some content, except for what it binds besides.
    fn judge_message(
        &mut self,
        cms: &[u8],
        content: &[u8],
        purposes: &[&str],
        trusted: &[Certificate],
        bind: impl FnOnce(&mut Self, &Signer<'_>, &SignedData<'_>),
    ) {
        let message = match SignedData::parse(cms) {
            Ok(message) => message,
            Err(fault) => {
                let text = format!("the signature cannot be read: {fault}");
                return self.malformed(text);
            }
        };
        let Some(signer) = message.signers.first() else {
            return self.malformed("the signature has no signer");
        };
        if message.signers.len() > 1 {
            let text = "there is more than one signer, and only the first was verified";
            self.doubt(FindingKind::SignerMalformed, None, text);
        }
        if message.trailing_len_bytes > 0 {
            let count = message.trailing_len_bytes;
            let text = format!("{count} bytes follow the signature in its blob, signed by nobody");
            self.findings.push(CodeFinding::warning(FindingKind::SignerMalformed, text));
        }
        self.signed_at = signer.signing_time();
        self.signature_hash = signer.hash;
        bind(self, signer, &message);
        // Without the digest it is unknown what was signed.
        self.state = match signer.has_signed_attributes() && signer.hash.is_none() {
            true => SignerState::Unverifiable,
            false => SignerState::Valid,
        };
        match message.certificate_of(signer) {
            Some(certificate) => {
                self.try_signature(signer, certificate, content);
                self.follow(certificate, &message.certificates, purposes, trusted);
            }
            None => {
                let text = "the certificate of the signer is not in the signature";
                self.doubt(FindingKind::SignerChain, Some(AppleError::SignatureFailed), text);
                self.state = SignerState::Unverifiable;
            }
        }
        self.judge_timestamp(signer, trusted);
    }

    /// Derives the state from the findings.
    fn settle(&mut self) {
        match self.findings.iter().map(|finding| finding.severity).max() {
            Some(Severity::Failure) => self.state = SignerState::Invalid,
            Some(Severity::Unverified) if self.state == SignerState::Valid => {
                self.state = SignerState::Unverifiable;
            }
            _ => {}
        }
    }

    /// Checks the signature itself.
    fn try_signature(&mut self, signer: &Signer<'_>, certificate: &Certificate, content: &[u8]) {
        match signer.verify(certificate, content) {
            SignatureCheck::Good => {}
            SignatureCheck::Bad => {
                let text = format!("{} did not make this signature", certificate.subject());
                self.fail(FindingKind::SignerSignature, AppleError::SignatureFailed, text);
            }
            SignatureCheck::Unknown(algorithm) => {
                let text = format!("algorithm {algorithm} is not known here: not verified");
                self.doubt(FindingKind::SignerSignature, None, text);
                self.state = SignerState::Unverifiable;
            }
        }
    }

    /// Follows the certificates up to a root.
    fn follow(
        &mut self,
        certificate: &Certificate,
        others: &[Certificate],
        purposes: &[&str],
        trusted: &[Certificate],
    ) {
        let chain = Chain::build(certificate, others, purposes, trusted);
        for fault in &chain.faults {
            self.fail(FindingKind::SignerChain, AppleError::NotTrusted, fault);
        }
        let doubt = match &chain.end {
            ChainEnd::Apple(root) if root.is_current() => None,
            ChainEnd::Trusted => None,
            ChainEnd::Apple(_) => {
                let text =
                    "the chain ends at Apple's root of 2005, which Apple's check has dropped";
                Some((FindingKind::SignerRoot, text.to_owned(), SignerState::Untrusted))
            }
            ChainEnd::Other => {
                let name = chain.certificates.last().map(|last| last.subject().to_string());
                let text = format!("the chain ends at {}, not at Apple", name.unwrap_or_default());
                Some((FindingKind::SignerRoot, text, SignerState::Untrusted))
            }
            ChainEnd::Missing(name) => {
                let text = format!("the certificate of {name} is not in the signature");
                Some((FindingKind::SignerChain, text, SignerState::Untrusted))
            }
            ChainEnd::Forged(name) => {
                let text = format!("{name} was not signed by the issuer it names");
                self.fail(FindingKind::SignerChain, AppleError::NotTrusted, text);
                None
            }
            ChainEnd::Unknown(algorithm) => {
                let text = format!("the chain uses algorithm {algorithm}, which is not supported");
                Some((FindingKind::SignerChain, text, SignerState::Unverifiable))
            }
        };
        if let Some((kind, text, state)) = doubt {
            self.doubt(kind, Some(AppleError::NotTrusted), text);
            if self.state == SignerState::Valid {
                self.state = state;
            }
        }
        self.root = chain.root();
        self.kind = self.root.and_then(|_| SignerKind::of(&chain.certificates));
        self.chain = chain.certificates;
    }

    fn judge_timestamp(&mut self, signer: &Signer<'_>, trusted: &[Certificate]) {
        let Some(token) = signer.unsigned_value(oid::TIMESTAMP_TOKEN) else {
            if signer.has_unsigned(oid::TIMESTAMP_TOKEN) {
                let text = "there is not exactly one time stamp";
                self.fail(FindingKind::TimestampDamaged, AppleError::SignatureFailed, text);
            } else {
                let text = "there is no time stamp: the time of signing is not proven";
                self.findings.push(CodeFinding::note(FindingKind::TimestampMissing, text));
            }
            return;
        };
        let stamp = TimestampToken::of(token, signer, trusted, &mut self.findings);
        // A chain that ends at Apple must have Apple's time stamp.
        if self.root.is_some() && stamp.state == TimestampState::Untrusted {
            let text = "the chain ends at Apple, but that of the time stamp does not";
            self.fail(FindingKind::TimestampDamaged, AppleError::NotTrusted, text);
        }
        self.timestamp = Some(stamp);
    }

    /// Compares the team of the directory with that of a developer's certificate.
    fn judge_team(&mut self, signature: &Signature) {
        let (Some(team), Some(leaf)) = (signature.team(), self.chain.first()) else { return };
        let Some(kind) = self.kind else { return };
        if kind.signs_for_others() {
            return;
        }
        if let Some(unit) = leaf.subject().organisational_unit().filter(|unit| *unit != team) {
            let text = format!("the directory names team {team}, the certificate {unit}");
            self.fail(FindingKind::SignerTeam, AppleError::BadTeamIdentifier, text);
        }
    }

    fn malformed(&mut self, text: impl Into<String>) {
        self.fail(FindingKind::SignerMalformed, AppleError::SignatureFailed, text);
        self.state = SignerState::Invalid;
    }

    fn doubt(&mut self, kind: FindingKind, apple: Option<AppleError>, text: impl Into<String>) {
        self.findings.push(CodeFinding::unverified(kind, apple, text));
    }

    fn fail(&mut self, kind: FindingKind, apple: AppleError, text: impl Into<String>) {
        self.findings.push(CodeFinding::failure(kind, apple, text));
    }
}
