//! The algorithms by name.

use std::str::FromStr;

use strum::{Display, IntoStaticStr, VariantArray};

use crate::error::{Error, ErrorKind};

/// A digest algorithm.
#[derive(Display, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "lowercase")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Algorithm {
    /// SHA-256 (FIPS 180-4), 32 bytes.
    Sha256,
    /// SHA-512 (FIPS 180-4), 64 bytes.
    Sha512,
    /// SHA-384 (FIPS 180-4), 48 bytes.
    Sha384,
    /// SHA-1 (FIPS 180-4), 20 bytes. Not collision-resistant.
    Sha1,
    /// MD5 (RFC 1321), 16 bytes. Not collision-resistant.
    Md5,
    /// BLAKE2b (RFC 7693) without a key, 64 bytes.
    Blake2b,
    /// BLAKE3 without a key, 32 bytes.
    Blake3,
    /// XXH3 with 128 bits, seed 0, 16 bytes, high half first. Not cryptographic.
    #[strum(serialize = "xxh3-128")]
    Xxh3_128,
    /// XXH64, seed 0, 8 bytes, high byte first. Not cryptographic.
    Xxh64,
    /// XXH3 with 64 bits, seed 0, 8 bytes, high byte first. Not cryptographic.
    #[strum(serialize = "xxh3-64")]
    Xxh3_64,
    /// CRC-32C (Castagnoli, RFC 3720), 4 bytes, high byte first. Not cryptographic.
    Crc32c,
    /// CRC-32 (IEEE 802.3, as in zip and SFV), 4 bytes, high byte first. Not cryptographic.
    Crc32,
    /// CRC-64/NVME, 8 bytes, high byte first, as object stores compute it. Not cryptographic.
    Crc64Nvme,
    /// Fletcher-64 over little-endian 32-bit words, 8 bytes, second sum first. Not cryptographic.
    Fletcher64,
}

impl Algorithm {
    /// Every algorithm, SHA-256 first.
    pub const ALL: &'static [Algorithm] = Algorithm::VARIANTS;

    /// Returns the name, which is the same in flags, documents and tags.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// Returns the length of its digests in bytes.
    pub const fn digest_len(self) -> usize {
        match self {
            Algorithm::Sha512 | Algorithm::Blake2b => 64,
            Algorithm::Sha384 => 48,
            Algorithm::Sha256 | Algorithm::Blake3 => 32,
            Algorithm::Sha1 => 20,
            Algorithm::Md5 | Algorithm::Xxh3_128 => 16,
            Algorithm::Xxh64
            | Algorithm::Xxh3_64
            | Algorithm::Crc64Nvme
            | Algorithm::Fletcher64 => 8,
            Algorithm::Crc32c | Algorithm::Crc32 => 4,
        }
    }

    /// Returns whether equal digests prove that contents are the same, also contents that somebody
    /// made to be mistaken: at least 256 bits, and no collision is known.
    pub const fn proves_sameness(self) -> bool {
        match self {
            Algorithm::Sha256
            | Algorithm::Sha384
            | Algorithm::Sha512
            | Algorithm::Blake2b
            | Algorithm::Blake3 => true,
            Algorithm::Sha1
            | Algorithm::Md5
            | Algorithm::Xxh3_128
            | Algorithm::Xxh64
            | Algorithm::Xxh3_64
            | Algorithm::Crc32c
            | Algorithm::Crc32
            | Algorithm::Crc64Nvme
            | Algorithm::Fletcher64 => false,
        }
    }

    /// Returns other spellings of the name, in lower case with letters and digits only.
    const fn aliases(self) -> &'static [&'static str] {
        match self {
            Algorithm::Sha256 => &["sha2256"],
            Algorithm::Sha512 => &["sha2512"],
            Algorithm::Sha384 => &["sha2384"],
            Algorithm::Sha1 => &["sha", "sha160"],
            Algorithm::Blake2b => &["blake2b512", "b2"],
            Algorithm::Blake3 => &["b3", "blake3256"],
            Algorithm::Xxh3_128 => &["xxh128", "xxhash3128"],
            Algorithm::Xxh64 => &["xxhash64"],
            Algorithm::Xxh3_64 => &["xxh3", "xxhash3"],
            Algorithm::Crc32c => &["crc32castagnoli"],
            Algorithm::Crc32 => &["crc32ieee", "crc32b"],
            Algorithm::Md5 | Algorithm::Crc64Nvme | Algorithm::Fletcher64 => &[],
        }
    }
}

impl FromStr for Algorithm {
    type Err = Error;

    /// Finds an algorithm by its name; case, hyphens and underscores do not matter.
    fn from_str(text: &str) -> Result<Algorithm, Error> {
        let plain = |text: &str| {
            let kept = text.chars().filter(|letter| !matches!(letter, '-' | '_' | '/'));
            kept.map(|letter| letter.to_ascii_lowercase()).collect::<String>()
        };
        let wanted = plain(text);
        let known = |algorithm: &Algorithm| {
            plain(algorithm.name()) == wanted || algorithm.aliases().contains(&wanted.as_str())
        };
        let found = Algorithm::ALL.iter().copied().find(known);
        found.ok_or_else(|| {
            let message = format!("no algorithm is named `{}`; known are ", text.escape_debug());
            Error::with_choices(ErrorKind::UnknownAlgorithm, message, Algorithm::ALL.iter())
        })
    }
}
