//! The header: one block with the numbers from which the place of everything else follows.

use super::blocks::{BLOCK_LEN, BlockOf, CONTENT_LEN};
use super::index::INDEX_LEN_MAX;
use crate::error::{Error, ErrorKind};
use crate::geometry::{Geometry, PAGE_LEN, RUN_SHARDS, SHARD_PAGES};
use crate::set::Redundancy;

const MAGIC: &[u8; 16] = b"steadfast-parity";

/// The version that is written, and all that are read. Version 1 has no attributes.
const VERSION: u8 = 2;
const VERSIONS: std::ops::RangeInclusive<u8> = 1..=VERSION;

/// Binary logarithms of the numbers that version 1 has: bytes of a page, pages of a shard, shards
/// of a run.
const LOGARITHMS: [u8; 3] =
    [PAGE_LEN.ilog2() as u8, SHARD_PAGES.ilog2() as u8, RUN_SHARDS.ilog2() as u8];

/// A header is a block of no set.
const HEADER: BlockOf = BlockOf { set: [0; 16], number: 0 };

/// For what and when a set was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SetOrigin {
    /// The redundancy that was asked for.
    pub redundancy: Redundancy,
    /// The number of the tree that the files are in; zeros if it has none.
    pub tree: [u8; 16],
    /// When the set was made, in seconds since 1970.
    pub made_s: u64,
}

/// The header of a parity file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetHeader {
    /// The number of pages.
    pub geometry: Geometry,
    /// For what and when the set was made.
    pub origin: SetOrigin,
    /// Length of the index in bytes.
    pub(crate) index_len: u64,
    /// The SHA-256 of the index.
    pub(crate) index_digest: [u8; 32],
}

impl SetHeader {
    /// Returns the identity of the set: the first bytes of the digest of its index.
    pub fn set(&self) -> [u8; 16] {
        std::array::from_fn(|at| self.index_digest[at])
    }

    /// Returns the length of one copy of the index in bytes, as blocks.
    pub(super) fn index_blocks(&self) -> u32 {
        self.index_len.div_ceil(CONTENT_LEN as u64) as u32
    }

    /// Returns the length of the whole file in bytes.
    pub fn file_len(&self) -> u64 {
        let blocks = 2 * (1 + u64::from(self.index_blocks()));
        blocks * BLOCK_LEN as u64 + u64::from(self.geometry.parity_pages()) * PAGE_LEN as u64
    }

    pub(super) fn encode(&self) -> [u8; BLOCK_LEN] {
        let mut bytes = Vec::with_capacity(96);
        bytes.extend_from_slice(MAGIC);
        bytes.push(VERSION);
        bytes.extend_from_slice(&LOGARITHMS);
        bytes.extend_from_slice(&u32::from(self.origin.redundancy.percent()).to_le_bytes());
        bytes.extend_from_slice(&self.geometry.pages().to_le_bytes());
        bytes.extend_from_slice(&self.geometry.parity_shards().to_le_bytes());
        bytes.extend_from_slice(&self.index_len.to_le_bytes());
        bytes.extend_from_slice(&self.index_digest);
        bytes.extend_from_slice(&self.origin.tree);
        bytes.extend_from_slice(&self.origin.made_s.to_le_bytes());
        HEADER.encode(&bytes)
    }

    /// Reads a header and refuses numbers that the format does not allow.
    pub(super) fn decode(block: &[u8; BLOCK_LEN]) -> Result<SetHeader, Error> {
        if !block.starts_with(MAGIC) {
            return Err(Error::new(ErrorKind::Unrecognised, "this is not a parity file"));
        }
        let damaged = || Error::new(ErrorKind::Damaged, "the header is damaged");
        let bytes = HEADER.content(block).ok_or_else(damaged)?;
        if !VERSIONS.contains(&bytes[16]) || bytes[17..20] != LOGARITHMS {
            let message = "the parity file is of a version that this program does not know";
            return Err(Error::new(ErrorKind::Unrecognised, message));
        }
        let number = |at: usize| u32::from_le_bytes(std::array::from_fn(|i| bytes[at + i]));
        let long = |at: usize| u64::from_le_bytes(std::array::from_fn(|i| bytes[at + i]));
        let invalid = |what| Error::new(ErrorKind::Invalid, what);
        let percent = u8::try_from(number(20)).map_err(|_| invalid("no such redundancy"))?;
        let redundancy = Redundancy::new(percent).map_err(|_| invalid("no such redundancy"))?;
        let tree = std::array::from_fn(|at| bytes[72 + at]);
        let header = SetHeader {
            geometry: Geometry::new(number(24), number(28))?,
            origin: SetOrigin { redundancy, tree, made_s: long(88) },
            index_len: long(32),
            index_digest: std::array::from_fn(|at| bytes[40 + at]),
        };
        match header.index_len <= INDEX_LEN_MAX && bytes[96..].iter().all(|byte| *byte == 0) {
            true => Ok(header),
            false => Err(invalid("the header says what no header of this version says")),
        }
    }
}
