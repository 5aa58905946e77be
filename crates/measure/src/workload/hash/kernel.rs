//! A way to hash messages in memory: algorithm, backend, and number of messages at once.

use std::fmt;

use steadfast::{Algorithm, Backend, Digest};
use steadfast_digest::{
    AlgorithmHasher, BlockHasher, LanesOf, Md5Rules, Message, Rules, Sha256Rules, Sha512Rules,
};

/// One way to hash messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct HashKernel {
    algorithm: Algorithm,
    /// The backend with its number of lanes, each with one message; otherwise it is one message by
    /// a library.
    lanes: Option<(Backend, usize)>,
}

impl HashKernel {
    /// Lists the kernels of this machine: SHA-256 by every backend first, then the other
    /// algorithms.
    pub(super) fn all() -> Vec<HashKernel> {
        let sha256 = lanes_of::<Sha256Rules>(Algorithm::Sha256);
        let others = Algorithm::ALL.iter().filter(|algorithm| **algorithm != Algorithm::Sha256);
        let mut kernels: Vec<HashKernel> = sha256.collect();
        for &algorithm in others {
            kernels.push(HashKernel { algorithm, lanes: None });
            // With one lane, these algorithms run in the library.
            let wide = |kernel: &HashKernel| kernel.lanes() > 1;
            match algorithm {
                Algorithm::Sha512 => {
                    kernels.extend(lanes_of::<Sha512Rules>(algorithm).filter(wide));
                }
                Algorithm::Md5 => kernels.extend(lanes_of::<Md5Rules>(algorithm).filter(wide)),
                _ => {}
            }
        }
        kernels
    }

    /// Returns the default kernel of runs for SHA-256, and one message for other algorithms.
    pub(super) fn of_runs(algorithm: Algorithm) -> HashKernel {
        let fastest = steadfast::fastest_lanes();
        let lanes = Some((fastest.backend(), fastest.count()));
        HashKernel { algorithm, lanes: lanes.filter(|_| algorithm == Algorithm::Sha256) }
    }

    pub(super) fn algorithm(self) -> Algorithm {
        self.algorithm
    }

    /// Returns the name of the backend, or of the library.
    pub(super) fn backend(self) -> &'static str {
        self.lanes.map_or(library(self.algorithm), |(backend, _)| backend.name())
    }

    /// Returns how many messages are hashed at once.
    pub(super) fn lanes(self) -> usize {
        self.lanes.map_or(1, |(_, count)| count)
    }

    /// Hashes messages of one length in pieces of `piece_len` bytes.
    pub(super) fn digests(self, messages: &[&[u8]], piece_len: usize) -> Vec<Digest> {
        let algorithm = self.algorithm;
        match (algorithm, self.lanes) {
            (Algorithm::Sha256, Some(lanes)) => in_lanes::<Sha256Rules>(lanes, messages, piece_len),
            (Algorithm::Sha512, Some(lanes)) => in_lanes::<Sha512Rules>(lanes, messages, piece_len),
            (Algorithm::Md5, Some(lanes)) => in_lanes::<Md5Rules>(lanes, messages, piece_len),
            _ => messages.iter().map(|message| alone(algorithm, message, piece_len)).collect(),
        }
    }
}

impl fmt::Display for HashKernel {
    /// Writes `sha256 by x86_shani x2`, or `blake3 by blake3`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} by {}", self.algorithm(), self.backend())?;
        match self.lanes {
            None => Ok(()),
            Some((_, count)) => write!(f, " x{count}"),
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
        Algorithm::Crc64Nvme => "crc-fast",
    }
}

/// Every backend with every number of lanes that it offers for an algorithm.
fn lanes_of<A: Rules>(algorithm: Algorithm) -> impl Iterator<Item = HashKernel> {
    let counts = |backend| (1..=Backend::LANES_MAX).map(move |count| (backend, count));
    let offered = |(backend, count): &(Backend, usize)| LanesOf::<A>::new(*backend, *count).is_ok();
    let all = Backend::detected().flat_map(counts).filter(offered);
    all.map(move |lanes| HashKernel { algorithm, lanes: Some(lanes) })
}

fn in_lanes<A: Rules>(
    (backend, count): (Backend, usize),
    messages: &[&[u8]],
    piece_len: usize,
) -> Vec<Digest> {
    let lanes = LanesOf::<A>::new(backend, count).expect("only what is offered is listed");
    let mut hashers = vec![BlockHasher::<A>::new(backend); messages.len()];
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
