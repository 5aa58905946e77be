//! The header of a file of leaves: the file to which they belong, and the root of their tree.
//!
//! Converts between facts and 192 bytes.

use std::io;

use steadfast_digest::{Algorithm, Digest};

use crate::verity::{Root, VerityDigest, VerityHash, VerityParams};

use steadfast_manifest::tag::{Tag, algorithm_number, algorithm_of};

/// The first bytes of a file of leaves.
pub const MAGIC: &[u8; 16] = b"steadfast-pages\0";

/// Bytes of a header: 16 magic, 1 version, 1 hash, 1 logarithm of the page, 1 algorithm of the tag,
/// 1 length of its digest, 3 zero, 8 length of the file, 64 root, 64 digest of the tag, 28 zero, 4
/// check value.
pub const HEADER_LEN: usize = 192;

/// Offset of the check value.
const CHECK_START: usize = HEADER_LEN - 4;

const VERSION: u8 = 1;

/// The file to which leaves belong, and the root of their tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// The hash function of the leaves.
    pub hash: VerityHash,
    /// Length of a page in bytes.
    pub page_len: usize,
    /// Length of the file in bytes.
    pub length: u64,
    /// The root of the tree.
    pub root: Root,
    /// The algorithm of the tag that the leaves belong to.
    pub algorithm: Algorithm,
    /// The digest of that tag: of the whole file.
    pub digest: Digest,
}

impl Header {
    /// Returns the parameters of the tree; stored leaves have no salt.
    ///
    /// # Panics
    ///
    /// If the header has a page length that no tree can have.
    pub fn params(&self) -> VerityParams {
        VerityParams::new(self.hash, self.page_len, b"").expect("a header has a page of a tree")
    }

    /// Returns the fs-verity digest of the file.
    pub fn verity_digest(&self) -> VerityDigest {
        self.params().digest(&self.root, self.length)
    }

    /// Returns the length of the leaves in bytes.
    pub fn leaves_len(&self) -> u64 {
        self.params().pages(self.length) * self.hash.digest_len() as u64
    }

    /// Returns whether the leaves belong to the contents of a tag.
    pub fn is_of(&self, tag: &Tag) -> bool {
        let Header { algorithm, digest, length, .. } = self;
        (*algorithm, *digest, *length) == (tag.algorithm, tag.digest, tag.length)
    }

    /// Returns the bytes.
    pub fn encode(&self) -> [u8; HEADER_LEN] {
        let mut bytes = [0; HEADER_LEN];
        let digest = self.digest.as_bytes();
        bytes[..16].copy_from_slice(MAGIC);
        bytes[16] = VERSION;
        bytes[17] = self.hash.number();
        bytes[18] = self.page_len.ilog2() as u8;
        bytes[19] = algorithm_number(self.algorithm);
        bytes[20] = digest.len() as u8;
        bytes[24..32].copy_from_slice(&self.length.to_le_bytes());
        bytes[32..96].copy_from_slice(self.root.padded());
        bytes[96..96 + digest.len()].copy_from_slice(digest);
        let check = crc32c::crc32c(&bytes[..CHECK_START]);
        bytes[CHECK_START..].copy_from_slice(&check.to_le_bytes());
        bytes
    }

    /// Reads the bytes.
    ///
    /// # Errors
    ///
    /// `InvalidData` if they are not a header of leaves, of another version, or damaged.
    pub fn decode(bytes: &[u8; HEADER_LEN]) -> io::Result<Header> {
        if !bytes.starts_with(MAGIC) {
            return Err(invalid("they are no kept leaves"));
        }
        if bytes[16] != VERSION {
            return Err(invalid("the kept leaves are of a version that is not known here"));
        }
        let check = crc32c::crc32c(&bytes[..CHECK_START]);
        if bytes[CHECK_START..] != check.to_le_bytes() {
            return Err(invalid("the header of the kept leaves is damaged"));
        }
        let inconsistent = || invalid("the header of the kept leaves contradicts itself");
        let hash = VerityHash::from_number(bytes[17]).ok_or_else(inconsistent)?;
        let page_len = 1_usize.checked_shl(u32::from(bytes[18])).ok_or_else(inconsistent)?;
        VerityParams::new(hash, page_len, b"").map_err(|_| inconsistent())?;
        let algorithm = algorithm_of(bytes[19]).ok_or_else(inconsistent)?;
        let digest_len = usize::from(bytes[20]);
        if digest_len != algorithm.digest_len() {
            return Err(inconsistent());
        }
        let digest = Digest::from_slice(&bytes[96..96 + digest_len]).ok_or_else(inconsistent)?;
        let length = u64::from_le_bytes(bytes[24..32].try_into().expect("eight bytes"));
        let root = Root::from_padded(bytes[32..96].try_into().expect("64 bytes"));
        Ok(Header { hash, page_len, length, root, algorithm, digest })
    }
}

/// Makes the error for invalid bytes.
pub(super) fn invalid(reason: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, reason)
}
