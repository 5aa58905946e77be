//! Reads public keys and checks signatures against them.
//!
//! Weak algorithms, and RSA keys from 1,024 bits on, are accepted here; `policy` reports them.

use p256::ecdsa::signature::hazmat::PrehashVerifier as _;
use rsa::{BoxedUint, Pkcs1v15Sign};
use steadfast_digest::{Algorithm, AlgorithmHasher};

use crate::ber::{BIT_STRING, BerReader, Element, INTEGER, Malformed, OBJECT_IDENTIFIER, SEQUENCE};

/// A public key.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PublicKey {
    /// RSA. The modulus is big-endian, without leading zeros.
    #[non_exhaustive]
    Rsa {
        /// The modulus.
        modulus: Vec<u8>,
        /// The public exponent.
        exponent: u64,
    },
    /// A point of the curve P-256 (FIPS 186-4), encoded as SEC 1 has it.
    P256(Vec<u8>),
    /// A point of the curve P-384 (FIPS 186-4), encoded as SEC 1 has it.
    P384(Vec<u8>),
    /// A key of another algorithm or curve: its object identifier.
    Other(String),
}

/// The result of checking a signature against a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SignatureCheck {
    Good,
    Bad,
    /// Not checked: the algorithm or key that is not supported.
    Unknown(String),
}

/// A signature algorithm, as its object identifier names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Scheme {
    kind: SchemeKind,
    /// Absent where the identifier names only the kind of key.
    pub(crate) hash: Option<Algorithm>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SchemeKind {
    RsaPkcs1,
    Ecdsa,
}

impl Scheme {
    /// Returns the scheme of a dotted object identifier, if it is known.
    ///
    /// Source: RFC 8017, appendix A.2.4; RFC 5758, section 3.2; RFC 3279, section 2.2.3.
    pub(crate) fn of(oid: &str) -> Option<Scheme> {
        use SchemeKind::{Ecdsa, RsaPkcs1};
        let (kind, hash) = match oid {
            "1.2.840.113549.1.1.1" => (RsaPkcs1, None),
            "1.2.840.113549.1.1.4" => (RsaPkcs1, Some(Algorithm::Md5)),
            "1.2.840.113549.1.1.5" => (RsaPkcs1, Some(Algorithm::Sha1)),
            "1.2.840.113549.1.1.11" => (RsaPkcs1, Some(Algorithm::Sha256)),
            "1.2.840.113549.1.1.12" => (RsaPkcs1, Some(Algorithm::Sha384)),
            "1.2.840.113549.1.1.13" => (RsaPkcs1, Some(Algorithm::Sha512)),
            "1.2.840.10045.2.1" => (Ecdsa, None),
            "1.2.840.10045.4.1" => (Ecdsa, Some(Algorithm::Sha1)),
            "1.2.840.10045.4.3.2" => (Ecdsa, Some(Algorithm::Sha256)),
            "1.2.840.10045.4.3.3" => (Ecdsa, Some(Algorithm::Sha384)),
            "1.2.840.10045.4.3.4" => (Ecdsa, Some(Algorithm::Sha512)),
            _ => return None,
        };
        Some(Scheme { kind, hash })
    }
}

/// Returns the hash of a dotted object identifier, if it is known.
pub(crate) fn hash_of(oid: &str) -> Option<Algorithm> {
    match oid {
        "1.2.840.113549.2.5" => Some(Algorithm::Md5),
        "1.3.14.3.2.26" => Some(Algorithm::Sha1),
        "2.16.840.1.101.3.4.2.1" => Some(Algorithm::Sha256),
        "2.16.840.1.101.3.4.2.2" => Some(Algorithm::Sha384),
        "2.16.840.1.101.3.4.2.3" => Some(Algorithm::Sha512),
        _ => None,
    }
}

/// Returns the digest of some bytes.
pub(crate) fn digest(hash: Algorithm, parts: &[&[u8]]) -> Vec<u8> {
    let mut hasher = AlgorithmHasher::new(hash);
    for part in parts {
        hasher.update(part);
    }
    hasher.finalize().as_bytes().to_vec()
}

impl PublicKey {
    /// Reads a SubjectPublicKeyInfo (RFC 5280, section 4.1.2.7).
    pub(crate) fn parse(info: &Element<'_>) -> Result<PublicKey, Malformed> {
        let mut fields = info.children();
        let mut algorithm = fields.expect(SEQUENCE)?.children();
        let key = fields.expect(BIT_STRING)?.bits()?;
        let oid = algorithm.expect(OBJECT_IDENTIFIER)?.oid()?;
        match oid.as_str() {
            "1.2.840.113549.1.1.1" => {
                let mut numbers = BerReader::new(key).expect(SEQUENCE)?.children();
                let modulus = numbers.expect(INTEGER)?.magnitude()?.to_vec();
                let exponent = numbers.expect(INTEGER)?.number()?;
                Ok(PublicKey::Rsa { modulus, exponent })
            }
            "1.2.840.10045.2.1" => {
                let curve = match algorithm.optional(OBJECT_IDENTIFIER)? {
                    Some(curve) => curve.oid()?,
                    None => return Ok(PublicKey::Other(oid)),
                };
                Ok(match curve.as_str() {
                    "1.2.840.10045.3.1.7" => PublicKey::P256(key.to_vec()),
                    "1.3.132.0.34" => PublicKey::P384(key.to_vec()),
                    _ => PublicKey::Other(curve),
                })
            }
            _ => Ok(PublicKey::Other(oid)),
        }
    }

    /// Returns what kind of key it is, as people write it: `RSA 2048`, `ECDSA P-256`.
    pub fn name(&self) -> String {
        match self {
            PublicKey::Rsa { .. } => format!("RSA {}", self.bits().unwrap_or(0)),
            PublicKey::P256(_) => "ECDSA P-256".to_owned(),
            PublicKey::P384(_) => "ECDSA P-384".to_owned(),
            PublicKey::Other(oid) => oid.clone(),
        }
    }

    /// Returns the length in bits, where the kind of key is known.
    pub fn bits(&self) -> Option<u32> {
        match self {
            PublicKey::Rsa { modulus, .. } => {
                let spare = modulus.first().map_or(0, |byte| byte.leading_zeros());
                Some((modulus.len() as u32).saturating_mul(8).saturating_sub(spare))
            }
            PublicKey::P256(_) => Some(256),
            PublicKey::P384(_) => Some(384),
            PublicKey::Other(_) => None,
        }
    }

    /// Checks whether `signature` was made with this key over a message with this digest.
    pub(crate) fn verify(
        &self,
        scheme: Scheme,
        hash: Algorithm,
        digest: &[u8],
        signature: &[u8],
    ) -> SignatureCheck {
        let good = match (self, scheme.kind) {
            (PublicKey::Rsa { modulus, exponent }, SchemeKind::RsaPkcs1) => {
                match verify_rsa((modulus, *exponent), hash, digest, signature) {
                    Some(good) => good,
                    None => {
                        let text = format!("{} with {}", self.name(), hash.name());
                        return SignatureCheck::Unknown(text);
                    }
                }
            }
            (PublicKey::P256(point), SchemeKind::Ecdsa) => {
                let key = p256::ecdsa::VerifyingKey::from_sec1_bytes(point);
                let signature = p256::ecdsa::Signature::from_der(signature);
                key.and_then(|key| key.verify_prehash(digest, &signature?)).is_ok()
            }
            (PublicKey::P384(point), SchemeKind::Ecdsa) => {
                let key = p384::ecdsa::VerifyingKey::from_sec1_bytes(point);
                let signature = p384::ecdsa::Signature::from_der(signature);
                key.and_then(|key| key.verify_prehash(digest, &signature?)).is_ok()
            }
            (PublicKey::Other(oid), _) => return SignatureCheck::Unknown(oid.clone()),
            _ => false,
        };
        if good { SignatureCheck::Good } else { SignatureCheck::Bad }
    }
}

/// Checks an RSA signature of PKCS #1 v1.5; `None` if keys like this one or signatures with this
/// hash are not supported.
///
/// Source: RFC 8017, section 9.2; the constant prefixes are its note 1.
fn verify_rsa(
    (modulus, exponent): (&[u8], u64),
    hash: Algorithm,
    digest: &[u8],
    signature: &[u8],
) -> Option<bool> {
    let prefix: &[u8] = match hash {
        Algorithm::Sha1 => b"\x30\x21\x30\x09\x06\x05\x2b\x0e\x03\x02\x1a\x05\x00\x04\x14",
        Algorithm::Sha256 => {
            b"\x30\x31\x30\x0d\x06\x09\x60\x86\x48\x01\x65\x03\x04\x02\x01\x05\x00\x04\x20"
        }
        Algorithm::Sha384 => {
            b"\x30\x41\x30\x0d\x06\x09\x60\x86\x48\x01\x65\x03\x04\x02\x02\x05\x00\x04\x30"
        }
        Algorithm::Sha512 => {
            b"\x30\x51\x30\x0d\x06\x09\x60\x86\x48\x01\x65\x03\x04\x02\x03\x05\x00\x04\x40"
        }
        _ => return None,
    };
    let modulus = BoxedUint::from_be_slice_vartime(modulus);
    let key = rsa::PublicKey::new(modulus, BoxedUint::from(exponent)).ok()?;
    let scheme = Pkcs1v15Sign { hash_len: Some(digest.len()), prefix: prefix.into() };
    Some(key.verify(scheme, digest, signature).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Made with `openssl genrsa 1024` and `openssl dgst -sign` over `sample`.
    const MODULUS: &str = "\
        d5bfa202af89299093df30fc49ce85cf63e9c322c422987b17ea3d5a0bce66af44136231e9c849cb\
        6ba712a16a031c1e4f62d776dbbf6b86626b7dad8c11ce089064627b5c0ccb0cfb5eb3446a451e12\
        4b53175fac338ba044a77ded3963667bf0b0f618fd4b73e996e726fd73913bdb91b8e4fad9caddf8\
        bc0719942c6f8481";

    const SIGNATURES: &[(Algorithm, &str)] = &[
        (
            Algorithm::Sha1,
            "1e986c934ed1b6f3d040ab4d73f5ae8abe6606312bb508e8fbd001fcc8f1a3defacbc1bc5104e0a2\
            a6dda0f78405bededf4ca5625dbc8d57893ff936efc111a2eae43e8c526ccad9466a33a2403c8f5a\
            5650357cca236eb786f414a4e37091155f5e5cbc893526394747a65c1c087b1244acf781db455d31\
            8a89ab680334c0e4",
        ),
        (
            Algorithm::Sha256,
            "9abee748f00e4809c0a74cd71a5a4a12ebab959aff313d6073f2f085c88c2ec27d798631df89a4f6\
            b47e0389005e9a8127d11577a2587b2a2a6e11992943dbf70fb5751090afb0ac958d61d166c3e926\
            6d85384594517fc2a2c16ddb2a4877761e7b279b17cdc27d97b7b986fa3332a1d906f84d9c99636d\
            ec655b3af5910d76",
        ),
        (
            Algorithm::Sha384,
            "c8e3008eb56b6c08c67382fc9ed317ea3c300b7cdabe217eb542d70585f414afb9147c1495239685\
            ca44149aa637ce07d951b83de61c20ef4e5740bddbc8b20d550e05dd3fba35c43b606a6927b15323\
            5c7971e27324697d5f170addeef51ab01a8ae74cb677c669856b699f17160ba17b1f2dcd85557c69\
            3a42b0f9eb6eaf4f",
        ),
        (
            Algorithm::Sha512,
            "62c4a7fe96911bc9aee514c2114ce15ecb3932470dd274d2e3da4495acd04ba98cd5cea1825b5132\
            fde914aeb80bd1ed93ed18ccb1027c92ba0e72969335be8e33b13cb0f64bbe81cb2670e14e5e167d\
            5b2493acbb075fa5045665777dce9fae80f6a07ef2d3c1a7a50a1d6d3ecb4c905717a30f2142f16e\
            64ed7717a18082f6",
        ),
    ];

    /// Source: RFC 6979, appendix A.2.5: the key, and the signature of `sample` with SHA-256.
    const POINT: &str = "0460fed4ba255a9d31c961eb74c6356d68c049b8923b61fa6ce669622e60f29fb6\
        7903fe1008b8bc99a41ae9e95628bc64f2f1b20c2d7e9f5177a3c294d4462299";
    const P256_SIGNATURE: &str = "\
        3046022100efd48b2aacb6a8fd1140dd9cd45e81d69d2c877b56aaf991c34d0ea8\
        4eaf3716022100f7cb1c942d657c41d436c7a1b6e29f65f3e900dbb9aff4064dc4ab2f843acda8";

    fn bytes(hex: &str) -> Vec<u8> {
        let pairs = (0..hex.len()).step_by(2).map(|at| &hex[at..at + 2]);
        pairs.map(|pair| u8::from_str_radix(pair, 16).expect("hexadecimal digits")).collect()
    }

    fn scheme(oid: &str) -> Scheme {
        Scheme::of(oid).expect("a scheme that is known")
    }

    #[test]
    fn rsa_signatures_of_openssl_are_good_and_no_others() {
        let rsa = scheme("1.2.840.113549.1.1.1");
        let key = PublicKey::Rsa { modulus: bytes(MODULUS), exponent: 65_537 };
        assert_eq!(key.name(), "RSA 1024");
        for &(hash, signature) in SIGNATURES {
            let (sum, mut signature) = (digest(hash, &[b"sample"]), bytes(signature));
            assert_eq!(key.verify(rsa, hash, &sum, &signature), SignatureCheck::Good, "{hash:?}");
            let other = digest(hash, &[b"simple"]);
            assert_eq!(key.verify(rsa, hash, &other, &signature), SignatureCheck::Bad);
            for (wrong, _) in SIGNATURES.iter().filter(|(wrong, _)| *wrong != hash) {
                let sum = digest(*wrong, &[b"sample"]);
                assert_eq!(key.verify(rsa, *wrong, &sum, &signature), SignatureCheck::Bad);
            }
            for at in [0, 1, 64, 127] {
                signature[at] ^= 1;
                assert_eq!(
                    key.verify(rsa, hash, &sum, &signature),
                    SignatureCheck::Bad,
                    "byte {at}"
                );
                signature[at] ^= 1;
            }
            for wrong in [&signature[1..], &[&[0], &signature[..]].concat(), &[]] {
                assert_eq!(key.verify(rsa, hash, &sum, wrong), SignatureCheck::Bad);
            }
        }
    }

    #[test]
    fn keys_that_cannot_be_are_no_danger() {
        let rsa = scheme("1.2.840.113549.1.1.11");
        let signature = bytes(SIGNATURES[1].1);
        let sum = digest(Algorithm::Sha256, &[b"sample"]);
        let even = [&bytes(MODULUS)[..127], &[0]].concat();
        for (modulus, exponent) in [
            (vec![], 65_537),
            (vec![1], 65_537),
            (even, 65_537),
            (bytes(MODULUS), 0),
            (bytes(MODULUS), 1),
            (bytes(MODULUS), 2),
            (bytes(MODULUS), u64::MAX),
        ] {
            let key = PublicKey::Rsa { modulus, exponent };
            assert_ne!(key.verify(rsa, Algorithm::Sha256, &sum, &signature), SignatureCheck::Good);
        }
        let huge = PublicKey::Rsa { modulus: vec![0xff; 100_000], exponent: 3 };
        let tried = huge.verify(rsa, Algorithm::Sha256, &sum, &signature);
        assert_eq!(tried, SignatureCheck::Unknown("RSA 800000 with sha256".to_owned()));
        let elsewhere = PublicKey::P256(vec![4; 65]);
        let ecdsa = scheme("1.2.840.10045.4.3.2");
        assert_eq!(
            elsewhere.verify(ecdsa, Algorithm::Sha256, &sum, &signature),
            SignatureCheck::Bad
        );
        // A key of one kind and a signature of another.
        assert_eq!(elsewhere.verify(rsa, Algorithm::Sha256, &sum, &signature), SignatureCheck::Bad);
    }

    #[test]
    fn the_vector_of_rfc_6979_is_good() {
        let ecdsa = scheme("1.2.840.10045.4.3.2");
        let key = PublicKey::P256(bytes(POINT));
        let sum = digest(Algorithm::Sha256, &[b"sample"]);
        let mut signature = bytes(P256_SIGNATURE);
        assert_eq!(key.verify(ecdsa, Algorithm::Sha256, &sum, &signature), SignatureCheck::Good);
        signature[20] ^= 1;
        assert_eq!(key.verify(ecdsa, Algorithm::Sha256, &sum, &signature), SignatureCheck::Bad);
        let other = digest(Algorithm::Sha256, &[b"simple"]);
        assert_eq!(key.verify(ecdsa, Algorithm::Sha256, &other, &signature), SignatureCheck::Bad);
    }
}
