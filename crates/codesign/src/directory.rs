//! The code directory: a digest for each page and for each special slot, with flags and names.
//!
//! Versions 0x20001 to 0x2F000 are read. Fields that a version does not have are absent. Every
//! offset is known to lie inside the blob.
//!
//! Source: `codedirectory.h` of Apple's Security framework, `cs_blobs.h` of XNU.

mod read;

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use steadfast_digest::{Algorithm, AlgorithmHasher, Digest};

use crate::hash::{CdHash, HashType};
use crate::superblob::Slot;

/// The oldest version that is read.
pub const VERSION_MIN: u32 = 0x2_0001;
/// The newest version that is read: Apple promises that up to here fields are only added.
pub const VERSION_MAX: u32 = 0x2_F000;

/// Bits of [`CodeDirectory::flags`].
pub mod flags {
    /// Ad-hoc: there is no signature.
    pub const ADHOC: u32 = 0x2;
    /// An expired certificate makes the signature invalid.
    pub const EXPIRES: u32 = 0x400;
    /// The hardened runtime.
    pub const RUNTIME: u32 = 0x1_0000;
    /// Made by a linker.
    pub const LINKER_SIGNED: u32 = 0x2_0000;

    /// Each bit with the name that Apple's tools print.
    pub const NAMES: &[(u32, &str)] = &[
        (0x1, "host"),
        (ADHOC, "adhoc"),
        (0x100, "hard"),
        (0x200, "kill"),
        (EXPIRES, "expires"),
        (0x800, "restrict"),
        (0x1000, "enforcement"),
        (0x2000, "library-validation"),
        (RUNTIME, "runtime"),
        (LINKER_SIGNED, "linker-signed"),
    ];

    /// Each bit of [`ExecSegment::flags`](super::ExecSegment) with its name.
    pub const EXEC_SEGMENT_NAMES: &[(u64, &str)] = &[
        (0x1, "main-binary"),
        (0x10, "allow-unsigned"),
        (0x20, "debugger"),
        (0x40, "jit"),
        (0x80, "skip-lv"),
        (0x100, "can-load-cdhash"),
        (0x200, "can-exec-cdhash"),
    ];
}

/// Facts about the segment with the code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExecSegment {
    /// Offset in the slice.
    pub base: u64,
    /// Length in bytes.
    pub limit: u64,
    /// Bits named in [`flags::EXEC_SEGMENT_NAMES`].
    pub flags: u64,
}

/// The linkage of a directory to another one, since version 0x20600.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Linkage {
    /// Number of the hash type.
    pub hash_type: u8,
    /// Kind of application.
    pub application_type: u8,
    /// Subkind of application.
    pub application_sub_type: u16,
    /// Offset in the directory.
    pub offset: u32,
    /// Length in bytes.
    pub len_bytes: u32,
}

/// Pages that are mapped at another address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scatter {
    /// How many pages.
    pub count: u32,
    /// The first of them.
    pub base: u32,
    /// Their target address.
    pub target_offset: u64,
}

/// A code directory.
#[derive(Clone)]
// Over 15 fields: it is Apple's header, field by field.
pub struct CodeDirectory {
    slot: Slot,
    container: Arc<Vec<u8>>,
    range: Range<usize>,
    version: u32,
    flags: u32,
    hash: HashType,
    hash_offset: usize,
    special_count: u32,
    page_count: u32,
    code_limit: u64,
    page_shift: u8,
    platform: u8,
    identifier: Range<usize>,
    team: Option<Range<usize>>,
    scatter: Vec<Scatter>,
    has_scatter: bool,
    exec_segment: Option<ExecSegment>,
    runtime: Option<u32>,
    pre_encrypt: Option<usize>,
    linkage: Option<Linkage>,
    /// The hash of the directory, computed once: the directory may have megabytes, and every
    /// verdict needs its hash.
    full: OnceLock<Digest>,
}

impl CodeDirectory {
    fn bytes_of(&self, range: Range<usize>) -> &[u8] {
        &self.bytes()[range]
    }

    /// Returns the whole blob, which the CDHash covers.
    pub fn bytes(&self) -> &[u8] {
        &self.container[self.range.clone()]
    }

    /// Returns where the blob lies in its signature.
    pub fn range(&self) -> Range<usize> {
        self.range.clone()
    }

    /// Returns the slot it was in: the first, or an alternate one.
    pub fn slot(&self) -> Slot {
        self.slot
    }

    /// Returns the version, such as 0x20500.
    pub fn version(&self) -> u32 {
        self.version
    }

    /// Returns the flags; [`flags`] names them.
    pub fn flags(&self) -> u32 {
        self.flags
    }

    /// Returns the hash type of all its digests.
    pub fn hash_type(&self) -> HashType {
        self.hash
    }

    /// Returns the identifier, such as `org.example.tool`; invalid characters are replaced.
    pub fn identifier(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(self.bytes_of(self.identifier.clone()))
    }

    /// Returns the team, if the directory names one.
    pub fn team(&self) -> Option<Cow<'_, str>> {
        Some(String::from_utf8_lossy(self.bytes_of(self.team.clone()?)))
    }

    /// Returns how many bytes of the slice are sealed, from its start on.
    pub fn code_limit(&self) -> u64 {
        self.code_limit
    }

    /// Returns the length of a page in bytes; `None` if one digest covers everything.
    pub fn page_len(&self) -> Option<u64> {
        (self.page_shift != 0).then(|| 1 << self.page_shift)
    }

    /// Returns how many pages have a digest.
    pub fn page_count(&self) -> u64 {
        u64::from(self.page_count)
    }

    /// Returns how many pages the sealed range has, which should be [`Self::page_count`].
    pub fn page_count_expected(&self) -> u64 {
        match self.page_len() {
            Some(page_len) => self.code_limit.div_ceil(page_len),
            None => u64::from(self.code_limit != 0),
        }
    }

    /// Returns the bytes of the slice that a page covers; empty beyond the sealed range.
    pub fn page_range(&self, page: u64) -> Range<u64> {
        let page_len = self.page_len().unwrap_or(self.code_limit);
        let start = page.saturating_mul(page_len).min(self.code_limit);
        start..start.saturating_add(page_len).min(self.code_limit)
    }

    /// Returns the digest of a page.
    pub fn page_digest(&self, page: u64) -> Option<&[u8]> {
        if page >= self.page_count() {
            return None;
        }
        let len = self.hash.stored_len();
        let start = self.hash_offset + page as usize * len;
        Some(self.bytes_of(start..start + len))
    }

    /// Returns how many special slots there is room for, bound or not.
    pub fn special_count(&self) -> u32 {
        self.special_count
    }

    /// Returns the digest a special slot binds; `None` if it binds nothing.
    pub fn special_digest(&self, slot: Slot) -> Option<&[u8]> {
        if slot.0 == 0 || slot.0 > self.special_count {
            return None;
        }
        let len = self.hash.stored_len();
        let start = self.hash_offset - slot.0 as usize * len;
        let digest = self.bytes_of(start..start + len);
        digest.iter().any(|byte| *byte != 0).then_some(digest)
    }

    /// Returns every special slot that binds something, with the digest.
    pub fn special_digests(&self) -> impl Iterator<Item = (Slot, &[u8])> {
        let slots = (1..=self.special_count).map(Slot);
        slots.filter_map(|slot| Some((slot, self.special_digest(slot)?)))
    }

    /// Returns the platform; 0 for code that is not part of the system.
    pub fn platform(&self) -> u8 {
        self.platform
    }

    /// Returns the facts about the segment with the code.
    pub fn exec_segment(&self) -> Option<ExecSegment> {
        self.exec_segment
    }

    /// Returns the version of the hardened runtime, packed: 0x000e0400 is 14.4.0.
    pub fn runtime(&self) -> Option<u32> {
        self.runtime
    }

    /// Returns the scattered pages, which almost no file has.
    pub fn scatter(&self) -> &[Scatter] {
        &self.scatter
    }

    /// Returns whether it has a table of scattered pages, even an empty one.
    pub fn has_scatter(&self) -> bool {
        self.has_scatter
    }

    /// Returns whether there is a second set of digests, of pages before encryption.
    pub fn has_pre_encrypt(&self) -> bool {
        self.pre_encrypt.is_some()
    }

    /// Returns the linkage to another directory.
    pub fn linkage(&self) -> Option<Linkage> {
        self.linkage
    }

    /// Returns whether it is marked as ad-hoc, without a signature.
    pub fn is_adhoc(&self) -> bool {
        self.flags & flags::ADHOC != 0
    }

    /// Hashes the directory: its CDHash before it is cut to 20 bytes.
    ///
    /// For truncated SHA-256 this has 20 bytes too, as in Apple's code.
    pub fn cdhash_full(&self) -> Digest {
        *self.full.get_or_init(|| self.hash.digest(self.bytes()))
    }

    /// Hashes the directory: the name of exactly this code.
    pub fn cdhash(&self) -> CdHash {
        CdHash::from_slice(self.cdhash_full().as_bytes()).expect("no digest is shorter")
    }

    /// Hashes the directory with any algorithm, as a signature over it may.
    pub fn digest(&self, algorithm: Algorithm) -> Digest {
        if algorithm == self.hash.algorithm() && self.hash != HashType::Sha256Truncated {
            return self.cdhash_full();
        }
        let mut hasher = AlgorithmHasher::new(algorithm);
        hasher.update(self.bytes());
        hasher.finalize()
    }
}

impl fmt::Debug for CodeDirectory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CodeDirectory")
            .field("slot", &self.slot)
            .field("version", &self.version)
            .field("hash", &self.hash)
            .field("identifier", &self.identifier())
            .finish_non_exhaustive()
    }
}
