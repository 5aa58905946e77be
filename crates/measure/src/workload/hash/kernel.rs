//! A way to hash messages in memory: algorithm, backend, and number of messages at once.

use std::fmt;

use steadfast::{Algorithm, Backend, Digest, Lanes};
use steadfast_digest::{
    AlgorithmHasher, BlockHasher, LanesOf, Md5Lanes, Message, Rules, Sha512Lanes,
};

/// One way to hash messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HashKernel {
    /// SHA-256 in lanes of a backend; one lane is one message.
    Sha256(Lanes),
    /// SHA-512 in several lanes.
    Sha512(Sha512Lanes),
    /// MD5 in several lanes.
    Md5(Md5Lanes),
    /// Any algorithm, one message.
    Alone(Algorithm),
}

impl HashKernel {
    /// Lists the kernels of this machine: SHA-256 by every backend first, then the other
    /// algorithms.
    pub(super) fn all() -> Vec<HashKernel> {
        let mut kernels: Vec<HashKernel> = lanes_of().map(HashKernel::Sha256).collect();
        let others = Algorithm::ALL.iter().filter(|algorithm| **algorithm != Algorithm::Sha256);
        for &algorithm in others {
            kernels.push(HashKernel::Alone(algorithm));
            // With one lane, these algorithms run in the library, as `Alone` does.
            match algorithm {
                Algorithm::Sha512 => {
                    kernels.extend(lanes_of().filter(is_wide).map(HashKernel::Sha512));
                }
                Algorithm::Md5 => kernels.extend(lanes_of().filter(is_wide).map(HashKernel::Md5)),
                _ => {}
            }
        }
        kernels
    }

    /// Returns the default kernel of runs for SHA-256, and one message for other algorithms.
    pub(super) fn of_runs(algorithm: Algorithm) -> HashKernel {
        match algorithm {
            Algorithm::Sha256 => HashKernel::Sha256(steadfast::fastest_lanes()),
            _ => HashKernel::Alone(algorithm),
        }
    }

    pub(super) fn algorithm(self) -> Algorithm {
        match self {
            HashKernel::Sha256(_) => Algorithm::Sha256,
            HashKernel::Sha512(_) => Algorithm::Sha512,
            HashKernel::Md5(_) => Algorithm::Md5,
            HashKernel::Alone(algorithm) => algorithm,
        }
    }

    /// Returns the name of the backend, or of the library.
    pub(super) fn backend(self) -> String {
        match self {
            HashKernel::Sha256(lanes) => lanes.backend().name().to_owned(),
            HashKernel::Sha512(lanes) => lanes.backend().name().to_owned(),
            HashKernel::Md5(lanes) => lanes.backend().name().to_owned(),
            HashKernel::Alone(algorithm) => library(algorithm).to_owned(),
        }
    }

    /// Returns how many messages are hashed at once.
    pub(super) fn lanes(self) -> usize {
        match self {
            HashKernel::Sha256(lanes) => lanes.count(),
            HashKernel::Sha512(lanes) => lanes.count(),
            HashKernel::Md5(lanes) => lanes.count(),
            HashKernel::Alone(_) => 1,
        }
    }

    /// Hashes messages of one length in pieces of `piece_len` bytes.
    pub(super) fn digests(self, messages: &[&[u8]], piece_len: usize) -> Vec<Digest> {
        match self {
            HashKernel::Sha256(lanes) => in_lanes(lanes, messages, piece_len),
            HashKernel::Sha512(lanes) => in_lanes(lanes, messages, piece_len),
            HashKernel::Md5(lanes) => in_lanes(lanes, messages, piece_len),
            HashKernel::Alone(algorithm) => {
                messages.iter().map(|message| alone(algorithm, message, piece_len)).collect()
            }
        }
    }
}

impl fmt::Display for HashKernel {
    /// Writes `sha256 by x86_shani x2`, or `blake3 by blake3`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} by {}", self.algorithm(), self.backend())?;
        match self {
            HashKernel::Alone(_) => Ok(()),
            _ => write!(f, " x{}", self.lanes()),
        }
    }
}

/// Returns the words that name an algorithm in a label; none for SHA-256, which runs use.
pub(super) fn of_other(algorithm: Algorithm) -> String {
    match algorithm {
        Algorithm::Sha256 => String::new(),
        _ => format!(" with {algorithm}"),
    }
}

/// Returns the name of the backend, or of the library, that hashes a single message.
pub(super) fn backend_of_one(algorithm: Algorithm) -> &'static str {
    match algorithm {
        Algorithm::Sha256 => Backend::detect().name(),
        _ => library(algorithm),
    }
}

/// Returns the name of the library for a single message.
fn library(algorithm: Algorithm) -> &'static str {
    match algorithm {
        Algorithm::Sha256 | Algorithm::Fletcher64 => "steadfast",
        Algorithm::Sha512 | Algorithm::Sha384 => "sha2",
        Algorithm::Sha1 => "sha1",
        Algorithm::Md5 => "md-5",
        Algorithm::Blake2b => "blake2b_simd",
        Algorithm::Blake3 => "blake3",
        Algorithm::Xxh3_128 | Algorithm::Xxh64 | Algorithm::Xxh3_64 => "twox-hash",
        Algorithm::Crc32c => "crc32c",
        Algorithm::Crc32 => "crc32fast",
    }
}

/// Every backend with every number of lanes that it offers for an algorithm.
fn lanes_of<A: Rules>() -> impl Iterator<Item = LanesOf<A>> {
    let counts = |backend| (1..=Backend::LANES_MAX).map(move |count| (backend, count));
    let all = Backend::detected().flat_map(counts);
    all.filter_map(|(backend, count)| LanesOf::new(backend, count).ok())
}

fn is_wide<A: Rules>(lanes: &LanesOf<A>) -> bool {
    lanes.count() > 1
}

fn in_lanes<A: Rules>(lanes: LanesOf<A>, messages: &[&[u8]], piece_len: usize) -> Vec<Digest> {
    let mut hashers = vec![BlockHasher::<A>::new(lanes.backend()); messages.len()];
    let len = messages.first().map_or(0, |message| message.len());
    for start in (0..len.max(1)).step_by(piece_len.max(1)) {
        let end = (start + piece_len.max(1)).min(len);
        let pieces = hashers.iter_mut().zip(messages).map(|(hasher, message)| Message {
            hasher,
            data: &message[start..end],
            last: end == len,
        });
        lanes.update(&mut pieces.collect::<Vec<Message<'_, A>>>());
    }
    hashers.into_iter().map(BlockHasher::finalize).collect()
}

fn alone(algorithm: Algorithm, message: &[u8], piece_len: usize) -> Digest {
    let mut hasher = AlgorithmHasher::new(algorithm);
    message.chunks(piece_len.max(1)).for_each(|piece| hasher.update(piece));
    hasher.finalize()
}
