//! The algorithms by name, and one streaming state for any of them.
//!
//! In: a name, then bytes. Out: a digest. Must not know: kernels. The book-keeping of SHA-256,
//! SHA-512 and MD5 is this crate's own, Fletcher-64 too; the others come from libraries.

use std::error::Error;
use std::fmt;
use std::str::FromStr;

use sha2::Digest as _;

use crate::backend::Backend;
use crate::digest::Digest;
use crate::fletcher::Fletcher64;
use crate::hasher::{Md5, Sha256, Sha512};

/// A way to make a digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Algorithm {
    /// SHA-256 (FIPS 180-4), 32 bytes.
    Sha256,
    /// SHA-512 (FIPS 180-4), 64 bytes.
    Sha512,
    /// SHA-384 (FIPS 180-4), 48 bytes.
    Sha384,
    /// SHA-1 (FIPS 180-4), 20 bytes. Broken against intent.
    Sha1,
    /// MD5 (RFC 1321), 16 bytes. Broken against intent.
    Md5,
    /// BLAKE2b (RFC 7693) without a key, 64 bytes.
    Blake2b,
    /// BLAKE3 without a key, 32 bytes.
    Blake3,
    /// XXH3 with 128 bits, seed 0, 16 bytes, high half first. Not cryptographic.
    Xxh3_128,
    /// CRC-32C (Castagnoli, RFC 3720), 4 bytes, high byte first. Not cryptographic.
    Crc32c,
    /// CRC-32 (IEEE 802.3, as in zip and SFV), 4 bytes, high byte first. Not cryptographic.
    Crc32,
    /// Fletcher-64 over little-endian 32-bit words, 8 bytes, second sum first. Not cryptographic.
    Fletcher64,
}

impl Algorithm {
    /// Every algorithm, SHA-256 first.
    pub const ALL: &'static [Algorithm] = &[
        Algorithm::Sha256,
        Algorithm::Sha512,
        Algorithm::Sha384,
        Algorithm::Sha1,
        Algorithm::Md5,
        Algorithm::Blake2b,
        Algorithm::Blake3,
        Algorithm::Xxh3_128,
        Algorithm::Crc32c,
        Algorithm::Crc32,
        Algorithm::Fletcher64,
    ];

    /// Returns the name, the same in flags, documents and tags.
    pub const fn name(self) -> &'static str {
        match self {
            Algorithm::Sha256 => "sha256",
            Algorithm::Sha512 => "sha512",
            Algorithm::Sha384 => "sha384",
            Algorithm::Sha1 => "sha1",
            Algorithm::Md5 => "md5",
            Algorithm::Blake2b => "blake2b",
            Algorithm::Blake3 => "blake3",
            Algorithm::Xxh3_128 => "xxh3-128",
            Algorithm::Crc32c => "crc32c",
            Algorithm::Crc32 => "crc32",
            Algorithm::Fletcher64 => "fletcher64",
        }
    }

    /// Returns the length of its digests in bytes.
    pub const fn digest_len(self) -> usize {
        match self {
            Algorithm::Sha512 | Algorithm::Blake2b => 64,
            Algorithm::Sha384 => 48,
            Algorithm::Sha256 | Algorithm::Blake3 => 32,
            Algorithm::Sha1 => 20,
            Algorithm::Md5 | Algorithm::Xxh3_128 => 16,
            Algorithm::Fletcher64 => 8,
            Algorithm::Crc32c | Algorithm::Crc32 => 4,
        }
    }

    /// Other ways to write the name, in lower case with letters and digits only.
    const fn aliases(self) -> &'static [&'static str] {
        match self {
            Algorithm::Sha256 => &["sha2256"],
            Algorithm::Sha512 => &["sha2512"],
            Algorithm::Sha384 => &["sha2384"],
            Algorithm::Sha1 => &["sha", "sha160"],
            Algorithm::Blake2b => &["blake2b512", "b2"],
            Algorithm::Blake3 => &["b3", "blake3256"],
            Algorithm::Xxh3_128 => &["xxh128", "xxhash3128"],
            Algorithm::Crc32c => &["crc32castagnoli"],
            Algorithm::Crc32 => &["crc32ieee", "crc32b"],
            Algorithm::Md5 | Algorithm::Fletcher64 => &[],
        }
    }
}

impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Algorithm {
    type Err = UnknownAlgorithm;

    /// Finds an algorithm by its name; case, hyphens and underscores do not matter.
    fn from_str(text: &str) -> Result<Algorithm, UnknownAlgorithm> {
        let plain = |text: &str| {
            let kept = text.chars().filter(|letter| !matches!(letter, '-' | '_' | '/'));
            kept.map(|letter| letter.to_ascii_lowercase()).collect::<String>()
        };
        let wanted = plain(text);
        let known = |algorithm: &Algorithm| {
            plain(algorithm.name()) == wanted || algorithm.aliases().contains(&wanted.as_str())
        };
        let found = Algorithm::ALL.iter().copied().find(known);
        found.ok_or_else(|| UnknownAlgorithm { name: text.to_owned() })
    }
}

/// A name that no algorithm has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownAlgorithm {
    name: String,
}

impl fmt::Display for UnknownAlgorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no algorithm is named `{}`; known are ", self.name.escape_debug())?;
        for (index, algorithm) in Algorithm::ALL.iter().enumerate() {
            let separator = if index == 0 { "" } else { ", " };
            write!(f, "{separator}{algorithm}")?;
        }
        Ok(())
    }
}

impl Error for UnknownAlgorithm {}

/// The streaming state of one message under any algorithm.
#[derive(Clone)]
pub struct AlgorithmHasher {
    algorithm: Algorithm,
    pub(crate) state: AlgorithmState,
}

/// Boxed where the state is longer than that of SHA-256, which most files have.
#[derive(Clone)]
pub(crate) enum AlgorithmState {
    Sha256(Sha256),
    Sha512(Box<Sha512>),
    Sha384(Box<sha2::Sha384>),
    Sha1(sha1::Sha1),
    Md5(Md5),
    Blake2b(Box<blake2b_simd::State>),
    Blake3(Box<blake3::Hasher>),
    Xxh3(Box<twox_hash::XxHash3_128>),
    Crc32c(u32),
    Crc32(crc32fast::Hasher),
    Fletcher64(Fletcher64),
}

impl AlgorithmHasher {
    /// Starts a message.
    pub fn new(algorithm: Algorithm) -> AlgorithmHasher {
        let state = match algorithm {
            Algorithm::Sha256 => AlgorithmState::Sha256(Sha256::new(Backend::detect())),
            Algorithm::Sha512 => AlgorithmState::Sha512(Box::new(Sha512::start())),
            Algorithm::Sha384 => AlgorithmState::Sha384(Box::default()),
            Algorithm::Sha1 => AlgorithmState::Sha1(sha1::Sha1::new()),
            Algorithm::Md5 => AlgorithmState::Md5(Md5::start()),
            Algorithm::Blake2b => AlgorithmState::Blake2b(Box::default()),
            Algorithm::Blake3 => AlgorithmState::Blake3(Box::new(blake3::Hasher::new())),
            Algorithm::Xxh3_128 => AlgorithmState::Xxh3(Box::new(twox_hash::XxHash3_128::new())),
            Algorithm::Crc32c => AlgorithmState::Crc32c(0),
            Algorithm::Crc32 => AlgorithmState::Crc32(crc32fast::Hasher::new()),
            Algorithm::Fletcher64 => AlgorithmState::Fletcher64(Fletcher64::default()),
        };
        AlgorithmHasher { algorithm, state }
    }

    /// Returns the algorithm.
    pub fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    /// Takes the next bytes of the message.
    pub fn update(&mut self, data: &[u8]) {
        self.state.update(data);
    }

    /// Ends the message and returns its digest, [`Algorithm::digest_len`] bytes long.
    pub fn finalize(self) -> Digest {
        match self.state {
            AlgorithmState::Sha256(state) => state.finalize(),
            AlgorithmState::Sha512(state) => state.finalize(),
            AlgorithmState::Sha384(state) => Digest::from_array::<48>(state.finalize().into()),
            AlgorithmState::Sha1(state) => Digest::from_array::<20>(state.finalize().into()),
            AlgorithmState::Md5(state) => state.finalize(),
            AlgorithmState::Blake2b(state) => Digest::from_array(*state.finalize().as_array()),
            AlgorithmState::Blake3(state) => Digest::from_array(*state.finalize().as_bytes()),
            AlgorithmState::Xxh3(state) => Digest::from_array(state.finish_128().to_be_bytes()),
            AlgorithmState::Crc32c(sum) => Digest::from_array(sum.to_be_bytes()),
            AlgorithmState::Crc32(state) => Digest::from_array(state.finalize().to_be_bytes()),
            AlgorithmState::Fletcher64(state) => Digest::from_array(state.finalize().to_be_bytes()),
        }
    }
}

impl AlgorithmState {
    pub(crate) fn update(&mut self, data: &[u8]) {
        match self {
            AlgorithmState::Sha256(state) => state.update(data),
            AlgorithmState::Sha512(state) => state.update(data),
            AlgorithmState::Sha384(state) => state.update(data),
            AlgorithmState::Sha1(state) => state.update(data),
            AlgorithmState::Md5(state) => state.update(data),
            AlgorithmState::Blake2b(state) => {
                state.update(data);
            }
            AlgorithmState::Blake3(state) => {
                state.update(data);
            }
            AlgorithmState::Xxh3(state) => state.write(data),
            AlgorithmState::Crc32c(sum) => *sum = crc32c::crc32c_append(*sum, data),
            AlgorithmState::Crc32(state) => state.update(data),
            AlgorithmState::Fletcher64(state) => state.update(data),
        }
    }
}

impl fmt::Debug for AlgorithmHasher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AlgorithmHasher")
            .field("algorithm", &self.algorithm)
            .finish_non_exhaustive()
    }
}
