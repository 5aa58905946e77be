//! Makes certificates, signatures and time stamps in memory: every field a test may want to be
//! another.
//!
//! It writes what the crate reads and shares nothing with it but the arithmetic of the curve.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use p256::ecdsa::signature::hazmat::PrehashSigner as _;
use p256::ecdsa::{Signature, SigningKey};
use sha1::Sha1;
use sha2::{Digest as _, Sha256, Sha384};

pub(crate) const SHA1: &str = "1.3.14.3.2.26";
pub(crate) const SHA256: &str = "2.16.840.1.101.3.4.2.1";
pub(crate) const SHA384: &str = "2.16.840.1.101.3.4.2.2";
pub(crate) const ECDSA_SHA256: &str = "1.2.840.10045.4.3.2";
pub(crate) const DATA: &str = "1.2.840.113549.1.7.1";
pub(crate) const TIMESTAMP_INFO: &str = "1.2.840.113549.1.9.16.1.4";
pub(crate) const TIMESTAMP_TOKEN: &str = "1.2.840.113549.1.9.16.2.14";
pub(crate) const CONTENT_TYPE: &str = "1.2.840.113549.1.9.3";
pub(crate) const MESSAGE_DIGEST: &str = "1.2.840.113549.1.9.4";
pub(crate) const SIGNING_TIME: &str = "1.2.840.113549.1.9.5";
pub(crate) const AGILITY_LIST: &str = "1.2.840.113635.100.9.1";
pub(crate) const AGILITY_SET: &str = "1.2.840.113635.100.9.2";
pub(crate) const CODE_SIGNING: &str = "1.3.6.1.5.5.7.3.3";
pub(crate) const TIME_STAMPING: &str = "1.3.6.1.5.5.7.3.8";

/// An element with a definite length.
pub(crate) fn der(tag: u8, content: &[u8]) -> Vec<u8> {
    let len = content.len();
    let mut bytes = match len {
        ..0x80 => vec![tag, len as u8],
        0x80..0x100 => vec![tag, 0x81, len as u8],
        _ => vec![tag, 0x82, (len >> 8) as u8, len as u8],
    };
    assert!(len < 0x1_0000);
    bytes.extend_from_slice(content);
    bytes
}

/// An element of indefinite length.
fn ber(tag: u8, content: &[u8]) -> Vec<u8> {
    [&[tag, 0x80], content, &[0, 0]].concat()
}

pub(crate) fn sequence(parts: &[Vec<u8>]) -> Vec<u8> {
    der(0x30, &parts.concat())
}

pub(crate) fn oid(text: &str) -> Vec<u8> {
    let arcs: Vec<u64> = text.split('.').map(|arc| arc.parse().unwrap()).collect();
    let mut bytes = Vec::new();
    for arc in [&[arcs[0] * 40 + arcs[1]], &arcs[2..]].concat() {
        let mut groups = vec![(arc & 0x7f) as u8];
        let mut rest = arc >> 7;
        while rest > 0 {
            groups.push((rest & 0x7f) as u8 | 0x80);
            rest >>= 7;
        }
        bytes.extend(groups.into_iter().rev());
    }
    der(6, &bytes)
}

fn algorithm(text: &str) -> Vec<u8> {
    sequence(&[oid(text)])
}

pub(crate) fn hash(algorithm: &str, bytes: &[u8]) -> Vec<u8> {
    match algorithm {
        SHA1 => Sha1::digest(bytes).to_vec(),
        SHA384 => Sha384::digest(bytes).to_vec(),
        _ => Sha256::digest(bytes).to_vec(),
    }
}

/// Someone with a key, a name and a certificate.
#[derive(Clone)]
pub(crate) struct Person {
    key: SigningKey,
    name: Vec<u8>,
    pub(crate) certificate: Vec<u8>,
}

/// What a certificate is to say.
pub(crate) struct Paper<'a> {
    pub(crate) name: &'a str,
    pub(crate) unit: &'a str,
    pub(crate) issuer: Option<&'a Person>,
    /// Whose name is given for the issuer, if not the issuer's.
    pub(crate) claimed_issuer: Option<&'a Person>,
    pub(crate) from: &'a str,
    pub(crate) to: &'a str,
    /// Identifier, whether critical, value.
    pub(crate) extensions: Vec<(&'a str, bool, Vec<u8>)>,
}

impl<'a> Paper<'a> {
    pub(crate) fn authority(name: &'a str, issuer: Option<&'a Person>) -> Paper<'a> {
        let basic = sequence(&[der(1, &[0xff])]);
        let usage = der(3, &[1, 0x06]);
        Paper {
            name,
            unit: "TEAM123456",
            issuer,
            claimed_issuer: None,
            from: "200101000000Z",
            to: "400101000000Z",
            extensions: vec![("2.5.29.19", true, basic), ("2.5.29.15", true, usage)],
        }
    }

    pub(crate) fn signer(name: &'a str, issuer: &'a Person, purpose: &str) -> Paper<'a> {
        let usage = der(3, &[7, 0x80]);
        let purpose = sequence(&[oid(purpose)]);
        Paper {
            extensions: vec![("2.5.29.15", true, usage), ("2.5.29.37", true, purpose)],
            ..Paper::authority(name, Some(issuer))
        }
    }

    pub(crate) fn person(&self) -> Person {
        // A key for each name, the same on every run.
        let key = SigningKey::from_slice(&hash(SHA256, self.name.as_bytes())).unwrap();
        let attribute = |kind: &str, value: &str| {
            der(0x31, &sequence(&[oid(kind), der(0x0c, value.as_bytes())]))
        };
        let name = sequence(&[attribute("2.5.4.11", self.unit), attribute("2.5.4.3", self.name)]);
        let point = key.verifying_key().to_sec1_point(false).as_bytes().to_vec();
        let key_algorithm = sequence(&[oid("1.2.840.10045.2.1"), oid("1.2.840.10045.3.1.7")]);
        let key_info = sequence(&[key_algorithm, der(3, &[&[0], &point[..]].concat())]);
        let extension = |(kind, critical, value): &(&str, bool, Vec<u8>)| {
            let flag = if *critical { der(1, &[0xff]) } else { Vec::new() };
            sequence(&[oid(kind), flag, der(4, value)])
        };
        let extensions: Vec<Vec<u8>> = self.extensions.iter().map(extension).collect();
        let claimed = self.claimed_issuer.or(self.issuer);
        let signed = sequence(&[
            der(0xa0, &der(2, &[2])),
            der(2, &[7]),
            algorithm(ECDSA_SHA256),
            claimed.map_or(name.clone(), |issuer| issuer.name.clone()),
            sequence(&[der(0x17, self.from.as_bytes()), der(0x17, self.to.as_bytes())]),
            name.clone(),
            key_info,
            der(0xa3, &sequence(&extensions)),
        ]);
        let signature = sign(self.issuer.map_or(&key, |issuer| &issuer.key), &signed);
        let signature = der(3, &[&[0], &signature[..]].concat());
        let certificate = sequence(&[signed, algorithm(ECDSA_SHA256), signature]);
        Person { key, name, certificate }
    }
}

fn sign(key: &SigningKey, bytes: &[u8]) -> Vec<u8> {
    let signature: Signature = key.sign_prehash(&hash(SHA256, bytes)).unwrap();
    signature.to_der().as_bytes().to_vec()
}

/// A message to be signed.
#[derive(Clone)]
pub(crate) struct Message {
    pub(crate) content: Vec<u8>,
    pub(crate) content_type: &'static str,
    /// Whether the content is in the message.
    pub(crate) attached: bool,
    /// Whether the outer elements have an indefinite length, as Apple's have.
    pub(crate) indefinite: bool,
    pub(crate) certificates: Vec<Vec<u8>>,
    pub(crate) signer: Person,
    pub(crate) scheme: &'static str,
    /// What is named as the hash of the content.
    pub(crate) digest: &'static str,
    /// The value of the signature, if it is to be another than that of the signer's key.
    pub(crate) value: Option<Vec<u8>>,
    /// How often the signer is there.
    pub(crate) signer_count: usize,
    /// Signed attributes with their values; the signature is over the content if there are none.
    pub(crate) signed: Vec<(&'static str, Vec<Vec<u8>>)>,
    pub(crate) unsigned: Vec<(&'static str, Vec<Vec<u8>>)>,
}

impl Message {
    /// A message over a code directory, bound to all directories: each its hash type and bytes.
    pub(crate) fn over(directories: &[(u8, Vec<u8>)], signer: &Person) -> Message {
        let full = |hash_type: u8, bytes: &[u8]| match hash_type {
            1 => (SHA1, hash(SHA1, bytes)),
            3 => (SHA256, hash(SHA256, bytes)[..20].to_vec()),
            4 => (SHA384, hash(SHA384, bytes)),
            _ => (SHA256, hash(SHA256, bytes)),
        };
        let hashes: Vec<_> =
            directories.iter().map(|(hash_type, bytes)| full(*hash_type, bytes)).collect();
        let list = hashes.iter().map(|(_, hash)| base64(&hash[..20]));
        let list: String = list.map(|hash| format!("<data>{hash}</data>")).collect();
        let list = format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?><plist version=\"1.0\"><dict>\
             <key>cdhashes</key><array>{list}</array></dict></plist>"
        );
        let set = hashes.iter().map(|(kind, hash)| sequence(&[oid(kind), der(4, hash)]));
        let content = directories[0].1.clone();
        Message {
            signed: vec![
                (CONTENT_TYPE, vec![oid(DATA)]),
                (SIGNING_TIME, vec![der(0x17, b"260915101112Z")]),
                (MESSAGE_DIGEST, vec![der(4, &hash(SHA256, &content))]),
                (AGILITY_LIST, vec![der(4, list.as_bytes())]),
                (AGILITY_SET, set.collect()),
            ],
            content,
            content_type: DATA,
            attached: false,
            indefinite: true,
            certificates: vec![signer.certificate.clone()],
            signer: signer.clone(),
            scheme: ECDSA_SHA256,
            digest: SHA256,
            value: None,
            signer_count: 1,
            unsigned: Vec::new(),
        }
    }

    /// A time stamp of a signature's value.
    pub(crate) fn timestamp(signature: &[u8], time: &str, authority: &Person) -> Message {
        let imprint = sequence(&[algorithm(SHA256), der(4, &hash(SHA256, signature))]);
        let info = sequence(&[
            der(2, &[1]),
            oid("1.2.840.113635.100.5.1"),
            imprint,
            der(2, &[9]),
            der(0x18, time.as_bytes()),
        ]);
        Message {
            signed: vec![
                (CONTENT_TYPE, vec![oid(TIMESTAMP_INFO)]),
                (MESSAGE_DIGEST, vec![der(4, &hash(SHA256, &info))]),
            ],
            content: info.clone(),
            content_type: TIMESTAMP_INFO,
            attached: true,
            indefinite: false,
            ..Message::over(&[(2, info)], authority)
        }
    }

    /// Replaces the values of a signed attribute.
    pub(crate) fn set(&mut self, kind: &str, values: Vec<Vec<u8>>) {
        self.signed.iter_mut().find(|(known, _)| *known == kind).unwrap().1 = values;
    }

    pub(crate) fn drop_signed(&mut self, kind: &str) {
        self.signed.retain(|(known, _)| *known != kind);
    }

    /// The value of the signature, which a time stamp is of.
    pub(crate) fn signature(&self) -> Vec<u8> {
        if let Some(value) = &self.value {
            return value.clone();
        }
        match self.signed.is_empty() {
            true => sign(&self.signer.key, &self.content),
            false => sign(&self.signer.key, &der(0x31, &attributes(&self.signed))),
        }
    }

    pub(crate) fn build(&self) -> Vec<u8> {
        let outer = |tag: u8, content: &[u8]| match self.indefinite {
            true => ber(tag, content),
            false => der(tag, content),
        };
        let content = match (self.attached, self.indefinite) {
            (false, _) => Vec::new(),
            // In two pieces, as a string of unknown length comes.
            (true, true) => {
                let (one, other) = self.content.split_at(self.content.len() / 2);
                ber(0xa0, &ber(0x24, &[der(4, one), der(4, other)].concat()))
            }
            (true, false) => der(0xa0, &der(4, &self.content)),
        };
        let mut info = vec![
            der(2, &[1]),
            // Issuer and serial number of the signer's certificate: fields 3 and 1 of it.
            sequence(&[issuer_of(&self.signer.certificate), der(2, &[7])]),
            algorithm(self.digest),
        ];
        if !self.signed.is_empty() {
            info.push(der(0xa0, &attributes(&self.signed)));
        }
        info.extend([algorithm(self.scheme), der(4, &self.signature())]);
        if !self.unsigned.is_empty() {
            info.push(der(0xa1, &attributes(&self.unsigned)));
        }
        let content_info = outer(0x30, &[oid(self.content_type), content].concat());
        let signed_data = [
            der(2, &[1]),
            der(0x31, &algorithm(SHA256)),
            content_info,
            outer(0xa0, &self.certificates.concat()),
            der(0x31, &sequence(&info).repeat(self.signer_count)),
        ];
        let signed_data = outer(0x30, &signed_data.concat());
        outer(0x30, &[oid("1.2.840.113549.1.7.2"), outer(0xa0, &signed_data)].concat())
    }
}

fn attributes(list: &[(&'static str, Vec<Vec<u8>>)]) -> Vec<u8> {
    let one =
        |(kind, values): &(&str, Vec<Vec<u8>>)| sequence(&[oid(kind), der(0x31, &values.concat())]);
    list.iter().map(one).collect::<Vec<_>>().concat()
}

/// The name of the issuer in a certificate made here: the fourth field of its first.
fn issuer_of(certificate: &[u8]) -> Vec<u8> {
    let inner = |bytes: &[u8]| {
        let header = if bytes[1] < 0x80 { 2 } else { 2 + usize::from(bytes[1] & 0x7f) };
        let len = match bytes[1] {
            short @ ..=0x80 => usize::from(short),
            0x81 => usize::from(bytes[2]),
            _ => usize::from(bytes[2]) << 8 | usize::from(bytes[3]),
        };
        (header, header + len)
    };
    let mut rest = &certificate[inner(certificate).0..];
    rest = &rest[inner(rest).0..];
    for _ in 0..3 {
        rest = &rest[inner(rest).1..];
    }
    rest[..inner(rest).1].to_vec()
}

pub(crate) fn base64(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}
