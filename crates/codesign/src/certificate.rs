//! Reads X.509 certificates, as far as code signatures and time stamps need them.
//!
//! Source: RFC 5280, section 4. Names are not normalised: two are the same if their bytes are.

use std::fmt;
use std::ops::Range;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use steadfast_digest::Algorithm;

use crate::ber::{BIT_STRING, BOOLEAN, INTEGER, OBJECT_IDENTIFIER, OCTET_STRING, SEQUENCE, SET};
use crate::ber::{BerReader, Element, Malformed, UTF8_STRING};
use crate::ber::{context, context_primitive, generalized_time};
use crate::error::Error;
use crate::key::{PublicKey, Scheme, SignatureCheck, digest};

/// Object identifiers of attributes and extensions.
pub(crate) mod oid {
    pub(crate) const COMMON_NAME: &str = "2.5.4.3";
    pub(crate) const ORGANISATION: &str = "2.5.4.10";
    pub(crate) const ORGANISATIONAL_UNIT: &str = "2.5.4.11";
    pub(crate) const KEY_USAGE: &str = "2.5.29.15";
    pub(crate) const SUBJECT_ALTERNATIVE_NAME: &str = "2.5.29.17";
    pub(crate) const BASIC_CONSTRAINTS: &str = "2.5.29.19";
    pub(crate) const POLICIES: &str = "2.5.29.32";
    pub(crate) const EXTENDED_KEY_USAGE: &str = "2.5.29.37";
    pub(crate) const EMAIL: &str = "1.2.840.113549.1.9.1";
    /// Apple's own extensions are below this one.
    pub(crate) const APPLE_EXTENSIONS: &str = "1.2.840.113635.100.6.";
}

/// A name: attributes in the order of the certificate.
#[derive(Clone, PartialEq, Eq)]
pub struct DistinguishedName {
    der: Vec<u8>,
    attributes: Vec<(String, String)>,
}

/// An extension: its identifier, whether it is critical, and its value.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Extension {
    /// The dotted object identifier.
    pub oid: String,
    /// Whether software that does not support it must reject the certificate.
    pub critical: bool,
    /// The value, DER.
    pub value: Vec<u8>,
}

/// A certificate.
#[derive(Clone, PartialEq, Eq)]
pub struct Certificate {
    der: Vec<u8>,
    signed: Range<usize>,
    serial: Vec<u8>,
    issuer: DistinguishedName,
    subject: DistinguishedName,
    not_before: i64,
    not_after: i64,
    key: PublicKey,
    signature_algorithm: String,
    signature: Vec<u8>,
    extensions: Vec<Extension>,
}

impl Certificate {
    /// Reads a certificate.
    pub(crate) fn parse(der: &[u8]) -> Result<Certificate, Malformed> {
        let whole = BerReader::new(der).expect(SEQUENCE)?;
        let mut parts = whole.children();
        let signed = parts.expect(SEQUENCE)?;
        let signature_algorithm = algorithm(&mut parts)?;
        let signature = parts.expect(BIT_STRING)?.bits()?.to_vec();

        let mut fields = signed.children();
        fields.optional(context(0))?;
        let serial = fields.expect(INTEGER)?.content.to_vec();
        if algorithm(&mut fields)? != signature_algorithm {
            return Err(Malformed("a certificate names two algorithms of its signature"));
        }
        let issuer = DistinguishedName::parse(&fields.expect(SEQUENCE)?)?;
        let mut validity = fields.expect(SEQUENCE)?.children();
        let (not_before, not_after) = (validity.any()?.time()?, validity.any()?.time()?);
        let subject = DistinguishedName::parse(&fields.expect(SEQUENCE)?)?;
        let key = PublicKey::parse(&fields.expect(SEQUENCE)?)?;
        let mut extensions = Vec::new();
        while !fields.is_empty() {
            let field = fields.any()?;
            if field.tag == context(3) {
                extensions = extensions_of(&field)?;
            }
        }
        // The elements borrow from `whole`, so the distance of their beginnings is an offset.
        let start = signed.whole.as_ptr() as usize - whole.whole.as_ptr() as usize;
        Ok(Certificate {
            der: whole.whole.to_vec(),
            signed: start..start + signed.whole.len(),
            serial,
            issuer,
            subject,
            not_before,
            not_after,
            key,
            signature_algorithm,
            signature,
            extensions,
        })
    }

    /// Reads the certificates of a file: PEM, or one in DER.
    ///
    /// # Errors
    /// If there is none, or one cannot be read.
    pub fn all_of(file: &[u8]) -> Result<Vec<Certificate>, Error> {
        let malformed = |fault| Error::malformed(format!("a certificate: {fault}"));
        let text = str::from_utf8(file).unwrap_or_default();
        let mut found = Vec::new();
        for piece in text.split("-----BEGIN CERTIFICATE-----").skip(1) {
            let letters = piece.split("-----END").next().unwrap_or_default();
            let letters: String = letters.split_ascii_whitespace().collect();
            let der = STANDARD.decode(letters);
            let der = der.map_err(|_| malformed(Malformed("its letters are not base64")))?;
            found.push(Certificate::parse(&der).map_err(malformed)?);
        }
        if found.is_empty() {
            found.push(Certificate::parse(file).map_err(malformed)?);
        }
        Ok(found)
    }

    /// Returns all of the certificate, DER.
    pub fn der(&self) -> &[u8] {
        &self.der
    }

    /// Returns the serial number, big-endian, as its issuer wrote it.
    pub fn serial(&self) -> &[u8] {
        &self.serial
    }

    /// Returns the issuer.
    pub fn issuer(&self) -> &DistinguishedName {
        &self.issuer
    }

    /// Returns the subject.
    pub fn subject(&self) -> &DistinguishedName {
        &self.subject
    }

    /// Returns the seconds since 1970 from and up to which it is valid, both included.
    pub fn validity(&self) -> (i64, i64) {
        (self.not_before, self.not_after)
    }

    /// Returns the public key.
    pub fn key(&self) -> &PublicKey {
        &self.key
    }

    /// Returns the dotted object identifier of the algorithm its issuer signed it with.
    pub fn signature_algorithm(&self) -> &str {
        &self.signature_algorithm
    }

    /// Returns the hash its issuer signed it with, if that is supported.
    pub fn signature_hash(&self) -> Option<Algorithm> {
        Scheme::of(&self.signature_algorithm)?.hash
    }

    /// Returns the extensions, in the order of the certificate.
    pub fn extensions(&self) -> &[Extension] {
        &self.extensions
    }

    /// Returns the digest that identifies the certificate.
    pub fn digest(&self, hash: Algorithm) -> Vec<u8> {
        digest(hash, &[&self.der])
    }

    /// Returns the value of an extension.
    pub fn extension(&self, oid: &str) -> Option<&[u8]> {
        let extension = self.extensions.iter().find(|extension| extension.oid == oid)?;
        Some(&extension.value)
    }

    /// Returns the path length limit if it is a certification authority; `None` if it is not one.
    pub(crate) fn authority(&self) -> Option<Option<u64>> {
        let value = self.extension(oid::BASIC_CONSTRAINTS)?;
        let mut fields = BerReader::new(value).expect(SEQUENCE).ok()?.children();
        let is_authority = fields.optional(BOOLEAN).ok()??;
        (is_authority.content != [0]).then_some(())?;
        match fields.optional(INTEGER).ok()? {
            Some(length) => Some(Some(length.number().ok()?)),
            None => Some(None),
        }
    }

    /// Returns whether its key may sign certificates; it may without a key usage extension.
    pub(crate) fn may_sign_certificates(&self) -> bool {
        self.key_usage().is_none_or(|usage| usage & 0x04 != 0)
    }

    /// Returns whether its key may sign other data; it may without a key usage extension.
    pub(crate) fn may_sign(&self) -> bool {
        self.key_usage().is_none_or(|usage| usage & (0x80 | 0x40) != 0)
    }

    /// Returns the first eight of the bits of key usage, the first of them highest.
    fn key_usage(&self) -> Option<u8> {
        let value = self.extension(oid::KEY_USAGE)?;
        let bits = BerReader::new(value).expect(BIT_STRING).ok()?;
        bits.content.get(1).copied()
    }

    /// Returns the dotted purposes of extended key usage.
    pub fn purposes(&self) -> Vec<String> {
        self.oids_in(oid::EXTENDED_KEY_USAGE, dotted_of)
    }

    /// Returns the dotted policies it was issued under.
    pub fn policies(&self) -> Vec<String> {
        self.oids_in(oid::POLICIES, |policy| dotted_of(&policy.children().any().ok()?))
    }

    /// Returns the identifiers in the sequence that an extension is.
    fn oids_in(
        &self,
        extension: &str,
        oid: impl Fn(&Element<'_>) -> Option<String>,
    ) -> Vec<String> {
        let mut found = Vec::new();
        let Some(value) = self.extension(extension) else { return found };
        let Ok(list) = BerReader::new(value).expect(SEQUENCE) else { return found };
        let mut elements = list.children();
        while let Ok(element) = elements.any() {
            found.extend(oid(&element));
        }
        found
    }

    /// Returns the addresses of electronic mail in the subject and its alternative names.
    pub(crate) fn emails(&self) -> Vec<String> {
        let mut emails: Vec<String> = self.subject.all(oid::EMAIL).map(str::to_owned).collect();
        let names = self.extension(oid::SUBJECT_ALTERNATIVE_NAME);
        let names = names.and_then(|value| BerReader::new(value).expect(SEQUENCE).ok());
        if let Some(names) = names {
            let mut names = names.children();
            while let Ok(name) = names.any() {
                if name.tag == context_primitive(1) {
                    emails.push(name.text());
                }
            }
        }
        emails
    }

    /// Returns the date that an extension holds as text, in seconds since 1970.
    pub(crate) fn date_extension(&self, oid: &str) -> Option<i64> {
        let text = BerReader::new(self.extension(oid)?).expect(UTF8_STRING).ok()?.text();
        generalized_time(&text)
    }

    /// Checks its signature with the key of another certificate.
    pub(crate) fn verify_with(&self, issuer: &Certificate) -> SignatureCheck {
        let scheme = Scheme::of(&self.signature_algorithm);
        let Some((scheme, hash)) = scheme.and_then(|scheme| Some((scheme, scheme.hash?))) else {
            return SignatureCheck::Unknown(self.signature_algorithm.clone());
        };
        let digest = digest(hash, &[&self.der[self.signed.clone()]]);
        issuer.key.verify(scheme, hash, &digest, &self.signature)
    }
}

impl fmt::Debug for Certificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Certificate").field(&self.subject).finish()
    }
}

impl DistinguishedName {
    fn parse(name: &Element<'_>) -> Result<DistinguishedName, Malformed> {
        let mut attributes = Vec::new();
        let mut sets = name.children();
        while !sets.is_empty() {
            let mut set = sets.expect(SET)?.children();
            while !set.is_empty() {
                let mut pair = set.expect(SEQUENCE)?.children();
                let oid = pair.expect(OBJECT_IDENTIFIER)?.oid()?;
                attributes.push((oid, pair.any()?.text()));
            }
        }
        Ok(DistinguishedName { der: name.whole.to_vec(), attributes })
    }

    /// Returns the name's bytes, by which it is compared.
    pub(crate) fn der(&self) -> &[u8] {
        &self.der
    }

    /// Returns the attributes, each a dotted object identifier and its value.
    pub fn attributes(&self) -> &[(String, String)] {
        &self.attributes
    }

    /// Returns the values of one attribute, in order.
    pub(crate) fn all(&self, oid: &str) -> impl Iterator<Item = &str> {
        self.attributes.iter().filter(move |(key, _)| key == oid).map(|(_, value)| value.as_str())
    }

    /// Returns the last value of an attribute, which is the most specific one.
    pub(crate) fn last(&self, oid: &str) -> Option<&str> {
        self.all(oid).last()
    }

    /// Returns the common name.
    pub fn common_name(&self) -> Option<&str> {
        self.last(oid::COMMON_NAME)
    }

    /// Returns the organisation.
    pub fn organisation(&self) -> Option<&str> {
        self.last(oid::ORGANISATION)
    }

    /// Returns the first organisational unit; of Apple's developers, it is their team.
    pub fn organisational_unit(&self) -> Option<&str> {
        self.all(oid::ORGANISATIONAL_UNIT).next()
    }
}

/// The common name if there is one, else all attributes.
impl fmt::Display for DistinguishedName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(name) = self.common_name() {
            return f.write_str(name);
        }
        let values: Vec<&str> = self.attributes.iter().map(|(_, value)| value.as_str()).collect();
        f.write_str(&values.join(", "))
    }
}

impl fmt::Debug for DistinguishedName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{self}`")
    }
}

/// Reads an AlgorithmIdentifier. Parameters do not matter for the supported algorithms.
pub(crate) fn algorithm(fields: &mut BerReader<'_>) -> Result<String, Malformed> {
    fields.expect(SEQUENCE)?.children().expect(OBJECT_IDENTIFIER)?.oid()
}

/// Reads the extensions of a certificate.
fn extensions_of(field: &Element<'_>) -> Result<Vec<Extension>, Malformed> {
    let mut extensions: Vec<Extension> = Vec::new();
    let mut list = field.children().expect(SEQUENCE)?.children();
    while !list.is_empty() {
        let mut parts = list.expect(SEQUENCE)?.children();
        let oid = parts.expect(OBJECT_IDENTIFIER)?.oid()?;
        let critical = parts.optional(BOOLEAN)?.is_some_and(|value| value.content != [0]);
        let value = parts.expect(OCTET_STRING)?.octets()?.into_owned();
        // An extension that occurs twice is ambiguous.
        if extensions.iter().any(|extension| extension.oid == oid) {
            return Err(Malformed("a certificate has the same extension twice"));
        }
        extensions.push(Extension { oid, critical, value });
    }
    Ok(extensions)
}

fn dotted_of(element: &Element<'_>) -> Option<String> {
    (element.tag == OBJECT_IDENTIFIER).then(|| element.oid().ok())?
}

/// Returns the attribute that a name such as `subject.OU` of a requirement means.
///
/// Source: the table in `reqinterp.cpp` of Apple's Security framework; numbers of X.520.
pub(crate) fn subject_attribute(field: &str) -> Option<&'static str> {
    Some(match field {
        "subject.C" => "2.5.4.6",
        "subject.CN" => oid::COMMON_NAME,
        "subject.D" => "2.5.4.13",
        "subject.L" => "2.5.4.7",
        "subject.O" => oid::ORGANISATION,
        "subject.C-O" => "2.5.4.10.1",
        "subject.OU" => oid::ORGANISATIONAL_UNIT,
        "subject.C-OU" => "2.5.4.11.1",
        "subject.ST" => "2.5.4.8",
        "subject.C-ST" => "2.5.4.8.1",
        "subject.STREET" => "2.5.4.9",
        "subject.C-STREET" => "2.5.4.9.1",
        "subject.UID" => "0.9.2342.19200300.100.1.1",
        _ => return None,
    })
}
