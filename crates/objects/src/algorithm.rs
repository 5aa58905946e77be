//! The algorithms of stores, by the stores' names: those of tags, and CRC-64/NVME.

use std::fmt;

use crc_fast::CrcAlgorithm;
use steadfast_digest::{Algorithm, AlgorithmHasher, Digest};

/// An algorithm of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ObjectAlgorithm {
    /// An algorithm that tags may have as well.
    Tag(Algorithm),
    /// CRC-64/NVME, which stores compute by default.
    Crc64Nvme,
}

impl ObjectAlgorithm {
    /// Every algorithm with its name in stores, the strongest first.
    const NAMED: [(ObjectAlgorithm, &'static str); 7] = [
        (ObjectAlgorithm::Tag(Algorithm::Sha512), "SHA512"),
        (ObjectAlgorithm::Tag(Algorithm::Sha256), "SHA256"),
        (ObjectAlgorithm::Tag(Algorithm::Sha1), "SHA1"),
        (ObjectAlgorithm::Tag(Algorithm::Md5), "MD5"),
        (ObjectAlgorithm::Crc64Nvme, "CRC64NVME"),
        (ObjectAlgorithm::Tag(Algorithm::Crc32c), "CRC32C"),
        (ObjectAlgorithm::Tag(Algorithm::Crc32), "CRC32"),
    ];

    /// Returns every algorithm, the strongest first.
    pub fn all() -> impl Iterator<Item = ObjectAlgorithm> {
        Self::NAMED.into_iter().map(|(algorithm, _)| algorithm)
    }

    /// Finds an algorithm by its name in stores, in any case.
    pub fn named(name: &str) -> Option<ObjectAlgorithm> {
        let found = Self::NAMED.into_iter().find(|(_, known)| known.eq_ignore_ascii_case(name));
        found.map(|(algorithm, _)| algorithm)
    }

    /// Returns the name in stores, in capitals.
    pub fn store_name(self) -> &'static str {
        let found = Self::NAMED.into_iter().find(|(algorithm, _)| *algorithm == self);
        found.map_or("", |(_, name)| name)
    }

    /// Returns the name in documents of this project.
    pub fn name(self) -> &'static str {
        match self {
            ObjectAlgorithm::Tag(algorithm) => algorithm.name(),
            ObjectAlgorithm::Crc64Nvme => "crc64nvme",
        }
    }

    /// Returns the length of its digests in bytes.
    pub fn digest_len(self) -> usize {
        match self {
            ObjectAlgorithm::Tag(algorithm) => algorithm.digest_len(),
            ObjectAlgorithm::Crc64Nvme => 8,
        }
    }

    /// Hashes one message.
    pub fn digest(self, bytes: &[u8]) -> Digest {
        let mut hasher = ObjectHasher::new(self);
        hasher.update(bytes);
        hasher.finalize()
    }
}

impl fmt::Display for ObjectAlgorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            ObjectAlgorithm::Tag(Algorithm::Sha512) => "SHA-512",
            ObjectAlgorithm::Tag(Algorithm::Sha256) => "SHA-256",
            ObjectAlgorithm::Tag(Algorithm::Sha1) => "SHA-1",
            ObjectAlgorithm::Tag(Algorithm::Md5) => "MD5",
            ObjectAlgorithm::Tag(Algorithm::Crc32c) => "CRC-32C",
            ObjectAlgorithm::Tag(Algorithm::Crc32) => "CRC-32",
            ObjectAlgorithm::Tag(other) => other.name(),
            ObjectAlgorithm::Crc64Nvme => "CRC-64/NVME",
        })
    }
}

/// The streaming state of one message.
#[derive(Clone, Debug)]
pub struct ObjectHasher(HasherState);

#[derive(Clone, Debug)]
enum HasherState {
    Tag(AlgorithmHasher),
    Crc64Nvme(crc_fast::Digest),
}

impl ObjectHasher {
    /// Starts a message.
    pub fn new(algorithm: ObjectAlgorithm) -> ObjectHasher {
        ObjectHasher(match algorithm {
            ObjectAlgorithm::Tag(algorithm) => HasherState::Tag(AlgorithmHasher::new(algorithm)),
            ObjectAlgorithm::Crc64Nvme => {
                HasherState::Crc64Nvme(crc_fast::Digest::new(CrcAlgorithm::Crc64Nvme))
            }
        })
    }

    /// Adds the next bytes of the message.
    pub fn update(&mut self, bytes: &[u8]) {
        match &mut self.0 {
            HasherState::Tag(hasher) => hasher.update(bytes),
            HasherState::Crc64Nvme(hasher) => hasher.update(bytes),
        }
    }

    /// Ends the message. The digest of a checksum is its bytes in big-endian order.
    pub fn finalize(self) -> Digest {
        match self.0 {
            HasherState::Tag(hasher) => hasher.finalize(),
            HasherState::Crc64Nvme(hasher) => Digest::from_slice(&hasher.finalize().to_be_bytes())
                .expect("a digest may have eight bytes"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Check values over "123456789". Sources: the catalogue of parametrised CRC algorithms, and
    /// FIPS 180-4 by way of `sha1sum` and `md5sum`.
    #[test]
    fn check_values() {
        for (name, hex) in [
            ("CRC64NVME", "ae8b14860a799888"),
            ("crc32", "cbf43926"),
            ("CRC32C", "e3069283"),
            ("SHA1", "f7c3bc1d808e04732adf679965ccc34ca7ae3441"),
            ("MD5", "25f9e794323b453885f5181f1b624d0b"),
        ] {
            let algorithm = ObjectAlgorithm::named(name).unwrap();
            let digest = algorithm.digest(b"123456789");
            assert_eq!(digest.to_string(), hex, "{name}");
            assert_eq!(digest.as_bytes().len(), algorithm.digest_len());
        }
        assert_eq!(ObjectAlgorithm::named("XXHASH3"), None);
        assert!(
            ObjectAlgorithm::all().all(|one| ObjectAlgorithm::named(one.store_name()) == Some(one))
        );
    }
}
