//! Reads tickets: Apple's statements that it examined certain code (notarization), stapled to it.
//!
//! A ticket is a header, certificates, a list of CDHashes and a signature over all of that. It
//! counts only if its certificates lead to a root of Apple's. Tickets that were withdrawn since are
//! not known here.
//!
//! Source: no document of Apple's; the layout is that of published tickets, whose signatures
//! verify.

use crate::ber::{BerReader, SEQUENCE};
use crate::certificate::Certificate;
use crate::chain::{Chain, invalid_at};
use crate::error::{Error, ErrorKind};
use crate::fields::IntegerReader;
use crate::hash::CdHash;
use crate::key::{Scheme, SignatureCheck, digest};

/// How a ticket and its list begin.
pub(crate) const MAGIC: &[u8] = b"s8ch";
const LIST_MAGIC: &[u8] = b"g8tk";

/// The longest ticket that is read. One entry takes 21 bytes.
pub(crate) const LEN_MAX: u64 = 16 << 20;

/// The most certificates that are read. Apple's tickets have two.
const CERTIFICATES_MAX: usize = 8;

const HEADER_LEN: usize = 16;
const LIST_HEADER_LEN: usize = 24;

/// The extension of the certificate that signs tickets.
const TICKET_SIGNING: &str = "1.2.840.113635.100.6.1.30";

/// The signature is always ECDSA over SHA-256.
const ECDSA_SHA256: &str = "1.2.840.10045.4.3.2";

/// A ticket whose signature was verified.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Ticket {
    /// When Apple issued it, in seconds since 1970.
    pub issued_at: i64,
    /// The certificates, that of the ticket's signer first.
    pub chain: Vec<Certificate>,
    /// The code it is for.
    pub cdhashes: Vec<CdHash>,
}

impl Ticket {
    /// Reads a ticket and verifies its signature.
    ///
    /// # Errors
    /// If it is not a ticket, or Apple did not sign it.
    pub fn read(bytes: &[u8]) -> Result<Ticket, Error> {
        let malformed = || Error::malformed("not a ticket");
        let unverified = |text: String| Error::new(ErrorKind::Unsupported, text);
        let header = IntegerReader::new(bytes, false);
        if !bytes.starts_with(MAGIC) || header.u32(4) != Some(1) {
            return Err(malformed());
        }
        let length = |at| header.u32(at).map(|length| length as usize).ok_or_else(malformed);
        let (certificates_len, list_len) = (length(8)?, length(12)?);
        let rest = &bytes[HEADER_LEN..];
        let (certificates, rest) = rest.split_at_checked(certificates_len).ok_or_else(malformed)?;
        let (list, signature) = rest.split_at_checked(list_len).ok_or_else(malformed)?;
        let chain = chain_of(certificates)?;
        let leaf = &chain[0];
        if leaf.extension(TICKET_SIGNING).is_none() {
            return Err(unverified(format!("{} may not sign tickets", leaf.subject())));
        }
        let (issued_at, cdhashes) = entries(list).ok_or_else(malformed)?;
        if let Some(ended) = invalid_at(&chain, issued_at) {
            let text = format!("{} was not valid when it was issued", ended.subject());
            return Err(unverified(text));
        }
        let scheme = Scheme::of(ECDSA_SHA256).expect("the scheme is supported");
        let hash = scheme.hash.expect("the scheme names its hash");
        let signed = digest(hash, &[&bytes[..bytes.len() - signature.len()]]);
        match leaf.key().verify(scheme, hash, &signed, signature) {
            SignatureCheck::Good => Ok(Ticket { issued_at, chain, cdhashes }),
            _ => Err(unverified(format!("{} did not sign this ticket", leaf.subject()))),
        }
    }

    /// Returns whether the ticket is for code with this CDHash.
    pub fn lists(&self, cdhash: &CdHash) -> bool {
        self.cdhashes.contains(cdhash)
    }
}

/// Reads the certificates, and builds the chain from the first one to a root of Apple's.
fn chain_of(bytes: &[u8]) -> Result<Vec<Certificate>, Error> {
    let malformed = |fault| Error::malformed(format!("the certificates of the ticket: {fault}"));
    let mut list = BerReader::new(bytes).expect(SEQUENCE).map_err(malformed)?.children();
    let mut certificates = Vec::new();
    while !list.is_empty() && certificates.len() < CERTIFICATES_MAX {
        let certificate = list.any().and_then(|element| Certificate::parse(element.whole));
        certificates.push(certificate.map_err(malformed)?);
    }
    let leaf = certificates.first().ok_or_else(|| Error::malformed("a ticket by nobody"))?;
    let chain = Chain::build(leaf, &certificates, &[], &[]);
    match (chain.root().filter(|root| root.is_current()), chain.faults.first()) {
        (Some(_), None) => Ok(chain.certificates),
        (_, Some(fault)) => Err(Error::new(ErrorKind::Unsupported, fault.clone())),
        (None, None) => {
            let text = "the certificates of the ticket do not lead to a root of Apple's";
            Err(Error::new(ErrorKind::Unsupported, text))
        }
    }
}

/// Reads the list: a header with the length of hashes, their number and the time of issue, then for
/// each the type of its hash and the hash.
fn entries(list: &[u8]) -> Option<(i64, Vec<CdHash>)> {
    let header = IntegerReader::new(list, false);
    let (version, hash_len) = (header.u16(4)?, usize::from(header.u16(6)?));
    if !list.starts_with(LIST_MAGIC) || (version, hash_len) != (2, CdHash::LEN) {
        return None;
    }
    let (count, issued_at) = (header.u32(8)? as usize, header.u64(16)?);
    let entries = list.get(LIST_HEADER_LEN..)?;
    if entries.len() != count.checked_mul(1 + CdHash::LEN)? {
        return None;
    }
    let hashes = entries.chunks_exact(1 + CdHash::LEN);
    let hashes = hashes.filter_map(|entry| CdHash::from_slice(&entry[1..]));
    Some((i64::try_from(issued_at).ok()?, hashes.collect()))
}
