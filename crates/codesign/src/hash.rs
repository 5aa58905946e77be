//! The hash types of code directories: which algorithm is computed, and how many bytes are stored.
//!
//! Source: `CSCommon.h` of Apple's Security framework, `cs_blobs.h` of XNU.

use std::fmt;

use steadfast_digest::{Algorithm, AlgorithmHasher, Digest};
use strum::{Display, IntoStaticStr};

/// A hash type that directories may have.
///
/// Ordered by preference: of several directories the one with the greatest is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Display, IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub enum HashType {
    /// SHA-1, 20 bytes.
    Sha1,
    /// SHA-256, of which 20 bytes are stored.
    Sha256Truncated,
    /// SHA-256, 32 bytes.
    Sha256,
    /// SHA-384, 48 bytes.
    Sha384,
}

impl HashType {
    /// All of them, best last.
    pub const ALL: [HashType; 4] =
        [HashType::Sha1, HashType::Sha256Truncated, HashType::Sha256, HashType::Sha384];

    /// Finds a hash type by its number.
    ///
    /// SHA-512 has the number 5 in Apple's headers, but is not implemented.
    pub fn from_number(number: u8) -> Option<HashType> {
        HashType::ALL.into_iter().find(|hash| hash.number() == number)
    }

    /// Returns the number in directories.
    pub fn number(self) -> u8 {
        match self {
            HashType::Sha1 => 1,
            HashType::Sha256 => 2,
            HashType::Sha256Truncated => 3,
            HashType::Sha384 => 4,
        }
    }

    /// Returns the name, as Apple's tools print it.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// Returns how many bytes of each digest are stored.
    pub fn stored_len(self) -> usize {
        match self {
            HashType::Sha1 | HashType::Sha256Truncated => 20,
            HashType::Sha256 => 32,
            HashType::Sha384 => 48,
        }
    }

    /// Returns the algorithm.
    pub fn algorithm(self) -> Algorithm {
        match self {
            HashType::Sha1 => Algorithm::Sha1,
            HashType::Sha256 | HashType::Sha256Truncated => Algorithm::Sha256,
            HashType::Sha384 => Algorithm::Sha384,
        }
    }

    /// Hashes bytes; the digest is as long as it is stored.
    pub fn digest(self, bytes: &[u8]) -> Digest {
        let mut hasher = AlgorithmHasher::new(self.algorithm());
        hasher.update(bytes);
        self.stored(hasher.finalize().as_bytes())
    }

    /// Cuts a computed digest to its stored length.
    pub(crate) fn stored(self, computed: &[u8]) -> Digest {
        Digest::from_slice(&computed[..self.stored_len()]).expect("20 to 48 bytes are a digest")
    }
}

/// The hash of a code directory, cut to 20 bytes. It identifies exactly this code.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CdHash([u8; CdHash::LEN]);

impl CdHash {
    /// Length in bytes.
    pub const LEN: usize = 20;

    /// Copies one out of a slice of 20 bytes or more.
    pub fn from_slice(bytes: &[u8]) -> Option<CdHash> {
        bytes.first_chunk().copied().map(CdHash)
    }

    /// Returns the bytes.
    pub fn as_bytes(&self) -> &[u8; CdHash::LEN] {
        &self.0
    }
}

impl fmt::Display for CdHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digest = Digest::from_slice(&self.0).expect("20 bytes are a digest");
        fmt::Display::fmt(&digest, f)
    }
}

impl fmt::Debug for CdHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CdHash({self})")
    }
}
