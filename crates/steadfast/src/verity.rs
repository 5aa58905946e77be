//! fs-verity in user space: a Merkle tree over the pages of any file, and the digest of its root.
//!
//! Takes a source of bytes and the parameters of its tree ([`VerityParams`]). Returns the same
//! digest as the kernel and `fsverity digest`, the leaves in order, or, from leaves that were kept,
//! the damaged pages. It does not know where leaves are kept, nor what follows from damage. Memory
//! does not depend on the length of the file.
//!
//! Source: `Documentation/filesystems/fsverity.rst` of Linux 6.18; `libfsverity.h` 1.5.

mod tree;
mod leaves;
mod check;

use std::fmt;
use std::io;
use std::num::NonZeroUsize;
use std::str::FromStr;
use std::sync::atomic::{AtomicBool, Ordering};

use steadfast_digest::{Algorithm, AlgorithmHasher, Digest, Lanes};

pub use check::{PageCheck, check};
pub use leaves::{LeafHasher, leaves};
pub use steadfast_sys::source::FileSource;
pub use tree::{Root, Tree};

use steadfast_sys::source::ReadAt;

/// A hash for trees.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum VerityHash {
    /// SHA-256, 32 bytes.
    #[default]
    Sha256,
    /// SHA-512, 64 bytes.
    Sha512,
}

impl VerityHash {
    /// Both.
    pub const ALL: [VerityHash; 2] = [VerityHash::Sha256, VerityHash::Sha512];

    /// Finds a hash by its number.
    pub fn from_number(number: u8) -> Option<VerityHash> {
        VerityHash::ALL.into_iter().find(|hash| hash.number() == number)
    }

    /// Returns the number in descriptors.
    pub fn number(self) -> u8 {
        match self {
            VerityHash::Sha256 => 1,
            VerityHash::Sha512 => 2,
        }
    }

    /// Returns the name, as `fsverity` prints it.
    pub fn name(self) -> &'static str {
        self.algorithm().name()
    }

    /// Returns the digest algorithm.
    pub fn algorithm(self) -> Algorithm {
        match self {
            VerityHash::Sha256 => Algorithm::Sha256,
            VerityHash::Sha512 => Algorithm::Sha512,
        }
    }

    /// Returns the length of a leaf in bytes.
    pub fn digest_len(self) -> usize {
        self.algorithm().digest_len()
    }

    /// Returns the length in bytes to which a salt is padded: one block of the hash.
    fn salt_span(self) -> usize {
        match self {
            VerityHash::Sha256 => 64,
            VerityHash::Sha512 => 128,
        }
    }
}

impl fmt::Display for VerityHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for VerityHash {
    type Err = Error;

    fn from_str(text: &str) -> Result<VerityHash, Error> {
        let found = VerityHash::ALL.into_iter().find(|hash| hash.name() == text);
        found.ok_or(Error(ErrorKind::Hash))
    }
}

/// The kind of an error: an invalid parameter of a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A hash other than SHA-256 and SHA-512.
    #[error("a tree is of sha256 or sha512")]
    Hash,
    /// Pages whose length is not a power of two from 1 KiB to 64 KiB.
    #[error("a page has a power of two of bytes, from 1 KiB to 64 KiB")]
    PageLen,
    /// A salt of more than 32 bytes.
    #[error("a salt has 32 bytes at most")]
    SaltLen,
}

/// Why a tree cannot be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Error(ErrorKind);

impl Error {
    /// Returns the kind of the error.
    pub fn kind(self) -> ErrorKind {
        self.0
    }
}

/// The parameters of a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerityParams {
    hash: VerityHash,
    page_len: usize,
    salt: Vec<u8>,
}

impl Default for VerityParams {
    /// SHA-256 over pages of 4 KiB without a salt: the default of the kernel and of `fsverity`.
    fn default() -> VerityParams {
        VerityParams { hash: VerityHash::Sha256, page_len: 4 << 10, salt: Vec::new() }
    }
}

impl VerityParams {
    /// The shortest page in bytes.
    pub const PAGE_LEN_MIN: usize = 1 << 10;

    /// The longest page in bytes.
    pub const PAGE_LEN_MAX: usize = 64 << 10;

    /// The longest salt in bytes.
    pub const SALT_LEN_MAX: usize = 32;

    /// Makes parameters from a hash, the length of pages in bytes, and a salt, which may be empty.
    ///
    /// # Errors
    /// If the page length is not a power of two from 1 KiB to 64 KiB, or the salt is over 32 bytes.
    pub fn new(hash: VerityHash, page_len: usize, salt: &[u8]) -> Result<VerityParams, Error> {
        let fits = (VerityParams::PAGE_LEN_MIN..=VerityParams::PAGE_LEN_MAX).contains(&page_len);
        if !fits || !page_len.is_power_of_two() {
            return Err(Error(ErrorKind::PageLen));
        }
        if salt.len() > VerityParams::SALT_LEN_MAX {
            return Err(Error(ErrorKind::SaltLen));
        }
        Ok(VerityParams { hash, page_len, salt: salt.to_vec() })
    }

    /// Returns the hash.
    pub fn hash(&self) -> VerityHash {
        self.hash
    }

    /// Returns the length of a page in bytes, both of the file and of the tree.
    pub fn page_len(&self) -> usize {
        self.page_len
    }

    /// Returns the number of pages for this many bytes.
    pub fn pages(&self, len_bytes: u64) -> u64 {
        len_bytes.div_ceil(self.page_len as u64)
    }

    /// Returns the bytes that are hashed before every page: the salt, padded with zeros to a block
    /// of the hash.
    fn prefix(&self) -> Vec<u8> {
        let mut prefix = self.salt.clone();
        if !prefix.is_empty() {
            prefix.resize(self.hash.salt_span(), 0);
        }
        prefix
    }

    /// Returns the digest of a file from its tree's root and its length.
    pub fn digest(&self, root: &Root, len_bytes: u64) -> VerityDigest {
        let mut descriptor = [0; DESCRIPTOR_LEN];
        descriptor[0] = 1;
        descriptor[1] = self.hash.number();
        descriptor[2] = self.page_len.ilog2() as u8;
        descriptor[3] = self.salt.len() as u8;
        descriptor[8..16].copy_from_slice(&len_bytes.to_le_bytes());
        descriptor[16..80].copy_from_slice(root.padded());
        descriptor[80..80 + self.salt.len()].copy_from_slice(&self.salt);
        let mut hasher = AlgorithmHasher::new(self.hash.algorithm());
        hasher.update(&descriptor);
        VerityDigest { hash: self.hash, digest: hasher.finalize() }
    }
}

/// Bytes of a descriptor: 1 version, 1 hash, 1 logarithm of the page, 1 length of the salt, 4 zero,
/// 8 length of the file, 64 root, 32 salt, 144 zero.
const DESCRIPTOR_LEN: usize = 256;

/// The fs-verity digest of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VerityDigest {
    /// The hash.
    pub hash: VerityHash,
    /// The digest of the descriptor.
    pub digest: Digest,
}

impl fmt::Display for VerityDigest {
    /// Writes `sha256:HEX`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.hash, self.digest)
    }
}

/// Settings for reading and hashing a source.
#[derive(Clone, Copy, Debug)]
pub struct ReadOptions<'a> {
    /// Threads that read and hash.
    pub workers: NonZeroUsize,
    /// The kernels of SHA-256; SHA-512 uses the widest available.
    pub lanes: Lanes,
    /// Stops the reading when it is set.
    pub stop: Option<&'a AtomicBool>,
}

impl ReadOptions<'_> {
    /// Returns the error `Interrupted` once a stop is requested.
    fn go_on(&self) -> io::Result<()> {
        match self.stop.is_some_and(|stop| stop.load(Ordering::Relaxed)) {
            true => Err(io::ErrorKind::Interrupted.into()),
            false => Ok(()),
        }
    }
}

/// Bytes that one thread reads and hashes at a time: a multiple of every page length, enough for
/// sixteen lanes of pages of half the greatest length, and within a second-level cache.
const SPAN_LEN: usize = 512 << 10;

/// Reads a source once and returns its digest.
///
/// # Errors
/// If the source cannot be read; `Interrupted` if it was stopped.
pub fn digest(
    source: &dyn ReadAt,
    params: &VerityParams,
    options: &ReadOptions<'_>,
) -> io::Result<VerityDigest> {
    let mut tree = Tree::new(params);
    leaves(source, params, options, &mut |leaves| tree.push_all(leaves))?;
    Ok(params.digest(&tree.root(), source.len_bytes()))
}
