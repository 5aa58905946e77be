//! Verifies the signatures of an installer package: both are over the checksum of its table of
//! contents.
//!
//! Older systems look at the RSA signature and newer ones at the message. Here a package needs
//! one, and each that it has must be valid and by the same signer.

use steadfast_digest::Algorithm;

use super::{SignerState, SignerVerdict};
use crate::apple::AppleError;
use crate::certificate::Certificate;
use crate::cms::{SignedData, Signer, oid};
use crate::finding::FindingKind;
use crate::key::{Scheme, SignatureCheck, digest};

/// The purposes of certificates that sign packages: of developers with a Developer ID, of
/// developers for the store, and of Apple's software updates.
const PURPOSES: &[&str] =
    &["1.2.840.113635.100.4.13", "1.2.840.113635.100.4.9", "1.2.840.113635.100.4.1"];

/// RSA, with the hash named elsewhere.
const RSA: &str = "1.2.840.113549.1.1.1";

/// What signs a package, and what is signed.
pub(crate) struct PackageSeal<'a> {
    /// The checksum of the table, computed from the table.
    pub(crate) checksum: &'a [u8],
    pub(crate) algorithm: Algorithm,
    /// The RSA signature, and its certificates, the signer's first.
    pub(crate) rsa: Option<&'a [u8]>,
    pub(crate) certificates: &'a [Certificate],
    /// The message.
    pub(crate) cms: Option<&'a [u8]>,
}

impl SignerVerdict {
    /// Verifies the signer of a package that has a signature.
    pub(crate) fn of_package(seal: &PackageSeal<'_>, trusted: &[Certificate]) -> SignerVerdict {
        let mut verdict = SignerVerdict::new(SignerState::Valid);
        if let Some(cms) = seal.cms {
            let checksum = seal.checksum;
            verdict.judge_message(cms, checksum, PURPOSES, trusted, |verdict, signer, message| {
                verdict.judge_checksum(signer, message, checksum);
            });
        }
        if let Some(rsa) = seal.rsa {
            verdict.judge_rsa(seal, rsa, trusted);
        }
        verdict.settle();
        verdict
    }

    /// Compares the attributes of a message with the checksum.
    fn judge_checksum(&mut self, signer: &Signer<'_>, message: &SignedData<'_>, checksum: &[u8]) {
        // Without attributes the signature covers the checksum itself.
        if !signer.has_signed_attributes() {
            return;
        }
        let error = AppleError::SignatureFailed;
        match signer.hash {
            None => {
                let text = format!("digest algorithm {} is not known here", signer.hash_oid);
                self.doubt(FindingKind::SignerDigest, None, text);
            }
            Some(hash) if signer.message_digest() != Some(&digest(hash, &[checksum])[..]) => {
                let text = "the signature is over another table of contents than the one there is";
                self.fail(FindingKind::SignerDigest, error, text);
            }
            Some(_) => {}
        }
        let named = signer.signed_value(oid::CONTENT_TYPE).and_then(|value| value.oid().ok());
        if named.as_ref() != Some(&message.content_type) {
            let text = "the signature names another kind of content";
            self.fail(FindingKind::SignerMalformed, error, text);
        }
    }

    fn judge_rsa(&mut self, seal: &PackageSeal<'_>, signature: &[u8], trusted: &[Certificate]) {
        let Some(leaf) = seal.certificates.first() else {
            return self.malformed("the RSA signature has no certificate");
        };
        match self.chain.first() {
            None if seal.cms.is_none() => {
                self.signature_hash = Some(seal.algorithm);
                self.follow(leaf, seal.certificates, PURPOSES, trusted);
            }
            Some(other) if other.der() == leaf.der() => {}
            _ => {
                let text = "the two signatures are not by the same signer";
                self.fail(FindingKind::SignerChain, AppleError::SignatureFailed, text);
            }
        }
        let scheme = Scheme::of(RSA).expect("the scheme is supported");
        // Some older packages sign the hash of the checksum.
        let hashed = digest(seal.algorithm, &[seal.checksum]);
        let check = |signed| leaf.key().verify(scheme, seal.algorithm, signed, signature);
        match (check(seal.checksum), check(&hashed)) {
            (SignatureCheck::Good, _) | (_, SignatureCheck::Good) => {}
            (SignatureCheck::Unknown(algorithm), _) => {
                let text = format!("algorithm {algorithm} is not known here: not verified");
                self.doubt(FindingKind::SignerSignature, None, text);
            }
            (SignatureCheck::Bad, _) => {
                let text = format!("{} did not make the RSA signature", leaf.subject());
                self.fail(FindingKind::SignerSignature, AppleError::SignatureFailed, text);
            }
        }
    }
}
