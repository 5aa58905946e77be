//! Verifies RFC 3161 time-stamp tokens, which prove that a signature existed at a time.
//!
//! A token covers the signature's value, so it proves nothing if the signature is wrong. Apple's
//! authority has always signed with SHA-1.
//!
//! Source: RFC 3161, section 2.4.2 and appendix A.

use strum::IntoStaticStr;

use steadfast_digest::Algorithm;

use crate::apple::AppleError;
use crate::ber::{BerReader, SEQUENCE};
use crate::ber::{Element, GENERALIZED_TIME, INTEGER, Malformed, OBJECT_IDENTIFIER, OCTET_STRING};
use crate::certificate::{Certificate, algorithm};
use crate::chain::{Chain, ChainEnd, invalid_at};
use crate::cms::{SignedData, Signer, oid};
use crate::finding::{CodeFinding, FindingKind};
use crate::key::{SignatureCheck, digest, hash_of};
use crate::roots::AppleRoot;

/// The extended key usage of an authority's certificate.
const TIME_STAMPING: &str = "1.3.6.1.5.5.7.3.8";

/// The result of verifying a time stamp.
#[derive(Clone, Copy, Debug, PartialEq, Eq, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum TimestampState {
    /// Valid, and from Apple's authority or one that the user trusts.
    Valid,
    /// Valid, and from an authority that is not trusted here.
    Untrusted,
    /// It cannot be verified: an algorithm is not supported, or a certificate is missing.
    Unverifiable,
    /// Wrong, or for another signature.
    Invalid,
}

/// A time stamp.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TimestampToken {
    /// The result of verifying it.
    pub state: TimestampState,
    /// The time, in seconds since 1970, even of an invalid token.
    pub time: Option<i64>,
    /// The authority's certificates, its own first.
    pub chain: Vec<Certificate>,
    /// The root of Apple's that the chain ends at.
    pub root: Option<AppleRoot>,
    /// The hash that the authority's signature is over.
    pub hash: Option<Algorithm>,
}

/// Why a token is not accepted.
enum TokenFault {
    /// It is wrong.
    Wrong(String),
    /// It could not be verified.
    Unknown(String),
}

impl TokenFault {
    fn unknown(algorithm: &str) -> TokenFault {
        TokenFault::Unknown(format!("the time stamp's algorithm {algorithm} is not known here"))
    }
}

impl<T: Into<String>> From<T> for TokenFault {
    fn from(text: T) -> TokenFault {
        TokenFault::Wrong(text.into())
    }
}

/// The content of a token.
struct TokenInfo {
    hash_oid: String,
    imprint: Vec<u8>,
    time: i64,
}

impl TokenInfo {
    fn parse(bytes: &[u8]) -> Result<TokenInfo, Malformed> {
        let mut fields = BerReader::new(bytes).expect(SEQUENCE)?.children();
        fields.expect(INTEGER)?;
        fields.expect(OBJECT_IDENTIFIER)?;
        let mut imprint = fields.expect(SEQUENCE)?.children();
        let hash_oid = algorithm(&mut imprint)?;
        let imprint = imprint.expect(OCTET_STRING)?.octets()?.into_owned();
        fields.expect(INTEGER)?;
        let time = fields.expect(GENERALIZED_TIME)?.time()?;
        Ok(TokenInfo { hash_oid, imprint, time })
    }
}

impl TimestampToken {
    /// Verifies the token of a signature, and adds findings for what is wrong.
    pub(crate) fn of(
        token: &Element<'_>,
        signer: &Signer<'_>,
        trusted: &[Certificate],
        findings: &mut Vec<CodeFinding>,
    ) -> TimestampToken {
        let mut stamp = TimestampToken {
            state: TimestampState::Invalid,
            time: None,
            chain: Vec::new(),
            root: None,
            hash: None,
        };
        match stamp.read(token, signer, trusted) {
            Ok(end) => stamp.judge_end(&end, findings),
            Err(TokenFault::Wrong(text)) => findings.push(damaged(text)),
            Err(TokenFault::Unknown(text)) => stamp.doubt(text, findings),
        }
        stamp
    }

    /// Verifies everything except where the chain ends.
    fn read(
        &mut self,
        token: &Element<'_>,
        signer: &Signer<'_>,
        trusted: &[Certificate],
    ) -> Result<ChainEnd, TokenFault> {
        let unreadable = |fault: Malformed| format!("the time stamp cannot be read: {fault}");
        let token = SignedData::parse(token.whole).map_err(unreadable)?;
        if token.content_type != oid::TIMESTAMP_INFO {
            return Err("the time stamp is another kind of message".into());
        }
        let content = token.content.as_deref().ok_or("the time stamp has no content")?;
        let info = TokenInfo::parse(content).map_err(unreadable)?;
        self.time = Some(info.time);
        let hash = hash_of(&info.hash_oid).ok_or_else(|| TokenFault::unknown(&info.hash_oid))?;
        if digest(hash, &[&signer.signature]) != info.imprint {
            return Err("the time stamp is of another signature".into());
        }
        let [authority] = &token.signers[..] else {
            return Err("the time stamp does not have exactly one signer".into());
        };
        self.hash = authority.hash;
        let certificate = token
            .certificate_of(authority)
            .ok_or("the certificate of the time stamp's signer is missing")
            .map_err(|text| TokenFault::Unknown(text.to_owned()))?;
        check_signer(authority, certificate, &token.content_type, content)?;
        let chain = Chain::build(certificate, &token.certificates, &[TIME_STAMPING], trusted);
        self.root = chain.root();
        self.chain = chain.certificates;
        if let Some(fault) = chain.faults.first() {
            return Err(format!("the time stamp's chain: {fault}").into());
        }
        if let Some(expired) = invalid_at(&self.chain, info.time) {
            let name = expired.subject();
            return Err(format!("{name} was not valid at the time of the time stamp").into());
        }
        Ok(chain.end)
    }

    fn judge_end(&mut self, end: &ChainEnd, findings: &mut Vec<CodeFinding>) {
        match end {
            ChainEnd::Apple(_) | ChainEnd::Trusted => self.state = TimestampState::Valid,
            ChainEnd::Other | ChainEnd::Missing(_) => {
                self.state = TimestampState::Untrusted;
                let text = "the time stamp is from an authority that is not known here";
                let kind = FindingKind::TimestampUntrusted;
                findings.push(CodeFinding::unverified(kind, None, text));
            }
            ChainEnd::Forged(name) => {
                findings.push(damaged(format!("{name} was not signed by the issuer it names")));
            }
            ChainEnd::Unknown(algorithm) => {
                let text = format!("the time stamp's algorithm {algorithm} is not known here");
                self.doubt(text, findings);
            }
        }
    }

    fn doubt(&mut self, text: String, findings: &mut Vec<CodeFinding>) {
        self.state = TimestampState::Unverifiable;
        let kind = FindingKind::TimestampUntrusted;
        findings.push(CodeFinding::unverified(kind, None, text));
    }
}

/// Checks the signature of a message, and that its signed attributes match its content.
fn check_signer(
    signer: &Signer<'_>,
    certificate: &Certificate,
    content_type: &str,
    content: &[u8],
) -> Result<(), TokenFault> {
    let named = signer.signed_value(oid::CONTENT_TYPE).and_then(|value| value.oid().ok());
    if named.as_deref() != Some(content_type) {
        return Err("the time stamp's attributes are of another kind of message".into());
    }
    let hash = signer.hash.ok_or_else(|| TokenFault::unknown(&signer.hash_oid))?;
    if signer.message_digest() != Some(&digest(hash, &[content])[..]) {
        return Err("the time stamp's attributes are of another content".into());
    }
    match signer.verify(certificate, content) {
        SignatureCheck::Good => Ok(()),
        SignatureCheck::Bad => Err("the signature of the time stamp is wrong".into()),
        SignatureCheck::Unknown(algorithm) => Err(TokenFault::unknown(&algorithm)),
    }
}

fn damaged(text: impl Into<String>) -> CodeFinding {
    CodeFinding::failure(FindingKind::TimestampDamaged, AppleError::SignatureFailed, text)
}
