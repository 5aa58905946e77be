//! One streaming state for any algorithm.
//!
//! SHA-256, SHA-512, MD5 and Fletcher-64 are implemented in this crate; the others come from
//! libraries.

use std::fmt;
use std::hash::Hasher as _;

use sha2::Digest as _;

use crate::algorithm::Algorithm;
use crate::backend::Backend;
use crate::digest::Digest;
use crate::fletcher::Fletcher64;
use crate::hasher::{Md5, Sha256, Sha512};

/// The streaming state of one message under any algorithm.
#[derive(Clone)]
pub struct AlgorithmHasher {
    algorithm: Algorithm,
    pub(crate) state: AlgorithmState,
}

/// Boxed if the state is longer than that of SHA-256, which most files use.
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
    Xxh64(twox_hash::XxHash64),
    Xxh3Short(Box<twox_hash::XxHash3_64>),
    Crc32c(u32),
    Crc32(crc32fast::Hasher),
    Crc64Nvme(Box<crc_fast::Digest>),
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
            Algorithm::Xxh64 => AlgorithmState::Xxh64(twox_hash::XxHash64::with_seed(0)),
            Algorithm::Xxh3_64 => AlgorithmState::Xxh3Short(Box::new(twox_hash::XxHash3_64::new())),
            Algorithm::Crc32c => AlgorithmState::Crc32c(0),
            Algorithm::Crc32 => AlgorithmState::Crc32(crc32fast::Hasher::new()),
            Algorithm::Crc64Nvme => {
                let digest = crc_fast::Digest::new(crc_fast::CrcAlgorithm::Crc64Nvme);
                AlgorithmState::Crc64Nvme(Box::new(digest))
            }
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

    /// Returns the hasher of SHA-256, which can share lanes with other messages; `None` for other
    /// algorithms.
    pub fn as_sha256(&mut self) -> Option<&mut Sha256> {
        if let AlgorithmState::Sha256(hasher) = &mut self.state { Some(hasher) } else { None }
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
            AlgorithmState::Xxh64(state) => Digest::from_array(state.finish().to_be_bytes()),
            AlgorithmState::Xxh3Short(state) => Digest::from_array(state.finish().to_be_bytes()),
            AlgorithmState::Crc32c(sum) => Digest::from_array(sum.to_be_bytes()),
            AlgorithmState::Crc32(state) => Digest::from_array(state.finalize().to_be_bytes()),
            AlgorithmState::Crc64Nvme(state) => Digest::from_array(state.finalize().to_be_bytes()),
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
            AlgorithmState::Xxh64(state) => state.write(data),
            AlgorithmState::Xxh3Short(state) => state.write(data),
            AlgorithmState::Crc32c(sum) => *sum = crc32c::crc32c_append(*sum, data),
            AlgorithmState::Crc32(state) => state.update(data),
            AlgorithmState::Crc64Nvme(state) => state.update(data),
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
