//! Reads signed data (CMS): certificates, signers, attributes, and whether a signature matches a
//! key.
//!
//! Certificates of other kinds and revocation lists are skipped.
//!
//! Source: RFC 5652, sections 3, 5 and 11.

use std::borrow::Cow;

use steadfast_digest::Algorithm;

use crate::ber::{
    BerReader, Element, INTEGER, Malformed, OBJECT_IDENTIFIER, OCTET_STRING, SEQUENCE,
};
use crate::ber::{SET, context, context_primitive};
use crate::certificate::{Certificate, algorithm};
use crate::key::{Scheme, SignatureCheck, digest, hash_of};

/// Object identifiers of contents and attributes.
pub(crate) mod oid {
    pub(crate) const SIGNED_DATA: &str = "1.2.840.113549.1.7.2";
    pub(crate) const TIMESTAMP_INFO: &str = "1.2.840.113549.1.9.16.1.4";
    pub(crate) const CONTENT_TYPE: &str = "1.2.840.113549.1.9.3";
    pub(crate) const MESSAGE_DIGEST: &str = "1.2.840.113549.1.9.4";
    pub(crate) const SIGNING_TIME: &str = "1.2.840.113549.1.9.5";
    pub(crate) const TIMESTAMP_TOKEN: &str = "1.2.840.113549.1.9.16.2.14";
    /// A property list of code directories' hashes, cut to 20 bytes.
    pub(crate) const AGILITY_LIST: &str = "1.2.840.113635.100.9.1";
    /// Code directories' hashes by algorithm, not cut.
    pub(crate) const AGILITY_SET: &str = "1.2.840.113635.100.9.2";
}

/// The longest message. Apple's have 9 KiB; in memory a message takes about twenty times its
/// length.
const LEN_MAX: usize = 1 << 20;

/// The most certificates that are read. Apple's chains need fewer.
const CERTIFICATES_MAX: usize = 32;
const SIGNERS_MAX: usize = 8;
const SUBJECT_KEY_IDENTIFIER: &str = "2.5.29.14";

/// A message with signatures.
#[derive(Debug)]
pub(crate) struct SignedData<'a> {
    /// The content type.
    pub(crate) content_type: String,
    /// The content, if it is in the message.
    pub(crate) content: Option<Cow<'a, [u8]>>,
    /// The certificates, in the order of the message.
    pub(crate) certificates: Vec<Certificate>,
    pub(crate) signers: Vec<Signer<'a>>,
    /// The number of bytes after the message, unless they are all zero.
    pub(crate) trailing_len_bytes: usize,
}

/// One signature with its attributes.
#[derive(Debug)]
pub(crate) struct Signer<'a> {
    identity: SignerIdentity<'a>,
    /// The hash of the content, if it is supported, and its dotted identifier.
    pub(crate) hash: Option<Algorithm>,
    pub(crate) hash_oid: String,
    scheme: Option<Scheme>,
    scheme_oid: String,
    /// The signed attributes with the tag of a set, as they are signed.
    signed_bytes: Option<Vec<u8>>,
    signed: Vec<CmsAttribute<'a>>,
    unsigned: Vec<CmsAttribute<'a>>,
    pub(crate) signature: Cow<'a, [u8]>,
}

/// How a signer identifies its certificate.
#[derive(Debug)]
enum SignerIdentity<'a> {
    IssuerSerial { issuer: &'a [u8], serial: &'a [u8] },
    KeyIdentifier(&'a [u8]),
}

/// An attribute: its identifier and its values.
#[derive(Debug)]
struct CmsAttribute<'a> {
    oid: String,
    values: Vec<Element<'a>>,
}

impl<'a> SignedData<'a> {
    /// Reads a message.
    pub(crate) fn parse(bytes: &'a [u8]) -> Result<SignedData<'a>, Malformed> {
        if bytes.len() > LEN_MAX {
            return Err(Malformed("the message is longer than a mebibyte"));
        }
        let message = BerReader::new(bytes).expect(SEQUENCE)?;
        let mut info = message.children();
        let after = &bytes[message.whole.len()..];
        if info.expect(OBJECT_IDENTIFIER)?.oid()? != oid::SIGNED_DATA {
            return Err(Malformed("the message is not signed data"));
        }
        let mut fields = info.expect(context(0))?.children().expect(SEQUENCE)?.children();
        fields.expect(INTEGER)?;
        fields.expect(SET)?;
        let mut content_info = fields.expect(SEQUENCE)?.children();
        let content_type = content_info.expect(OBJECT_IDENTIFIER)?.oid()?;
        let content = match content_info.optional(context(0))? {
            Some(content) => Some(content.children().expect(OCTET_STRING)?.octets()?),
            None => None,
        };
        let certificates = match fields.optional(context(0))? {
            Some(set) => certificates(&set)?,
            None => Vec::new(),
        };
        fields.optional(context(1))?;
        let mut signers = Vec::new();
        let mut infos = fields.expect(SET)?.children();
        while !infos.is_empty() {
            if signers.len() == SIGNERS_MAX {
                return Err(Malformed("the message has more signers than are looked at"));
            }
            signers.push(Signer::parse(&infos.expect(SEQUENCE)?)?);
        }
        let trailing_len_bytes = if after.iter().all(|byte| *byte == 0) { 0 } else { after.len() };
        Ok(SignedData { content_type, content, certificates, signers, trailing_len_bytes })
    }

    /// Returns the certificate that a signer names.
    pub(crate) fn certificate_of(&self, signer: &Signer<'_>) -> Option<&Certificate> {
        self.certificates.iter().find(|certificate| signer.identity.is_of(certificate))
    }
}

impl<'a> Signer<'a> {
    fn parse(info: &Element<'a>) -> Result<Signer<'a>, Malformed> {
        let mut fields = info.children();
        fields.expect(INTEGER)?;
        let identity = match fields.optional(context_primitive(0))? {
            Some(key) => SignerIdentity::KeyIdentifier(key.content),
            None => {
                let mut pair = fields.expect(SEQUENCE)?.children();
                let issuer = pair.expect(SEQUENCE)?.whole;
                SignerIdentity::IssuerSerial { issuer, serial: pair.expect(INTEGER)?.content }
            }
        };
        let hash_oid = algorithm(&mut fields)?;
        let (signed_bytes, signed) = match fields.optional(context(0))? {
            Some(set) => (Some(retagged(&set)), attributes(&set)?),
            None => (None, Vec::new()),
        };
        let scheme_oid = algorithm(&mut fields)?;
        let signature = fields.expect(OCTET_STRING)?.octets()?;
        let unsigned = match fields.optional(context(1))? {
            Some(set) => attributes(&set)?,
            None => Vec::new(),
        };
        Ok(Signer {
            identity,
            hash: hash_of(&hash_oid),
            hash_oid,
            scheme: Scheme::of(&scheme_oid),
            scheme_oid,
            signed_bytes,
            signed,
            unsigned,
            signature,
        })
    }

    /// Returns whether there are signed attributes.
    pub(crate) fn has_signed_attributes(&self) -> bool {
        self.signed_bytes.is_some()
    }

    /// Returns the values of a signed attribute.
    ///
    /// An attribute that occurs twice is ambiguous, so it counts as absent.
    pub(crate) fn signed_values(&self, oid: &str) -> Option<&[Element<'a>]> {
        one(&self.signed, oid)
    }

    /// Returns the only value of a signed attribute.
    pub(crate) fn signed_value(&self, oid: &str) -> Option<&Element<'a>> {
        match self.signed_values(oid)? {
            [value] => Some(value),
            _ => None,
        }
    }

    /// Returns whether a signed attribute occurs, once or more.
    pub(crate) fn has_signed(&self, oid: &str) -> bool {
        self.signed.iter().any(|attribute| attribute.oid == oid)
    }

    /// Returns the only value of an unsigned attribute.
    pub(crate) fn unsigned_value(&self, oid: &str) -> Option<&Element<'a>> {
        match one(&self.unsigned, oid)? {
            [value] => Some(value),
            _ => None,
        }
    }

    /// Returns whether an unsigned attribute occurs, once or more.
    pub(crate) fn has_unsigned(&self, oid: &str) -> bool {
        self.unsigned.iter().any(|attribute| attribute.oid == oid)
    }

    /// Returns the digest of the content, as the signer states it.
    pub(crate) fn message_digest(&self) -> Option<&'a [u8]> {
        let value = self.signed_value(oid::MESSAGE_DIGEST)?;
        (value.tag == OCTET_STRING).then_some(value.content)
    }

    /// Returns the time of signing, as the signer states it.
    pub(crate) fn signing_time(&self) -> Option<i64> {
        self.signed_value(oid::SIGNING_TIME)?.time().ok()
    }

    /// Checks the signature: over the attributes, or over the content if there are none.
    pub(crate) fn verify(&self, certificate: &Certificate, content: &[u8]) -> SignatureCheck {
        let Some(scheme) = self.scheme else {
            return SignatureCheck::Unknown(self.scheme_oid.clone());
        };
        // Both the signer and the scheme may name a hash; the scheme's is used.
        let Some(hash) = scheme.hash.or(self.hash) else {
            return SignatureCheck::Unknown(self.hash_oid.clone());
        };
        let message = self.signed_bytes.as_deref().unwrap_or(content);
        certificate.key().verify(scheme, hash, &digest(hash, &[message]), &self.signature)
    }
}

impl SignerIdentity<'_> {
    fn is_of(&self, certificate: &Certificate) -> bool {
        match self {
            SignerIdentity::IssuerSerial { issuer, serial } => {
                certificate.issuer().der() == *issuer && certificate.serial() == *serial
            }
            SignerIdentity::KeyIdentifier(key) => {
                let value = certificate.extension(SUBJECT_KEY_IDENTIFIER);
                let value = value.and_then(|value| BerReader::new(value).expect(OCTET_STRING).ok());
                value.is_some_and(|value| value.content == *key)
            }
        }
    }
}

/// Returns the values of the only attribute of a kind.
fn one<'s, 'a>(attributes: &'s [CmsAttribute<'a>], oid: &str) -> Option<&'s [Element<'a>]> {
    let mut found = attributes.iter().filter(|attribute| attribute.oid == oid);
    let first = found.next()?;
    found.next().is_none().then_some(&first.values)
}

/// Returns the bytes of implicitly tagged attributes with the tag of a set, as they are signed.
fn retagged(set: &Element<'_>) -> Vec<u8> {
    let mut bytes = set.whole.to_vec();
    bytes[0] = SET;
    bytes
}

fn attributes<'a>(set: &Element<'a>) -> Result<Vec<CmsAttribute<'a>>, Malformed> {
    let mut attributes = Vec::new();
    let mut list = set.children();
    while !list.is_empty() {
        let mut pair = list.expect(SEQUENCE)?.children();
        let oid = pair.expect(OBJECT_IDENTIFIER)?.oid()?;
        let mut elements = pair.expect(SET)?.children();
        let mut values = Vec::new();
        while !elements.is_empty() {
            values.push(elements.any()?);
        }
        attributes.push(CmsAttribute { oid, values });
    }
    Ok(attributes)
}

fn certificates(set: &Element<'_>) -> Result<Vec<Certificate>, Malformed> {
    let mut certificates = Vec::new();
    let mut list = set.children();
    while !list.is_empty() && certificates.len() < CERTIFICATES_MAX {
        let element = list.any()?;
        // Certificates of other kinds have other tags.
        if element.tag == SEQUENCE {
            certificates.push(Certificate::parse(element.whole)?);
        }
    }
    Ok(certificates)
}
