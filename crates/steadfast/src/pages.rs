//! Finds the damaged pages of a file, by leaves of an fs-verity tree that were stored with its tag.
//!
//! Takes a file, its tag and its leaves ([`Kept`]); returns the pages that have changed.
//! `store/pages.rs` writes leaves. `docs/formats/pages.md` specifies their bytes and is
//! authoritative.

mod header;
mod kept;
mod source;

use std::ffi::OsStr;
use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::atomic::AtomicBool;

pub use steadfast_sys::source::{FileSource, Part, ReadAt};

pub use header::{HEADER_LEN, Header, MAGIC};
pub use kept::Kept;
pub(crate) use kept::is_ours;
pub(crate) use source::Descriptor;

use crate::calibration::lanes_for;
use crate::verity::{self, PageCheck, ReadOptions};

/// Default length of pages in bytes: that of memory and of most file systems.
pub const PAGE_LEN_DEFAULT: usize = 4 << 10;

/// Suffix of leaves that are stored beside their file.
pub const SIDECAR_SUFFIX: &str = ".steadfast-pages";

/// Suffix of a file of leaves while it is written beside its file.
pub(crate) const DRAFT_SUFFIX: &str = ".new";

/// The differences between a file and its leaves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// Length of a page in bytes.
    pub page_len: u64,
    /// Recorded length of the file in bytes.
    pub length: u64,
    /// The result for its pages.
    pub check: PageCheck,
}

impl Damage {
    /// Returns the byte ranges of damaged pages, in order.
    pub fn damaged(&self) -> impl Iterator<Item = Range<u64>> {
        self.check.damaged.iter().map(|pages| self.bytes_of(pages))
    }

    /// Returns the byte ranges of unreadable pages, in order.
    pub fn unreadable(&self) -> impl Iterator<Item = Range<u64>> {
        self.check.unreadable.iter().map(|pages| self.bytes_of(pages))
    }

    /// Returns whether a file that has `len_bytes` now lacks its end, and is otherwise the same.
    pub(crate) fn is_cut_off_at(&self, len_bytes: u64) -> bool {
        let whole = len_bytes - len_bytes % self.page_len;
        len_bytes < self.length
            && self.check.unreadable_pages == 0
            && self.damaged().all(|range| range.start >= whole)
    }

    /// Returns the byte range of pages. The last page ends with the file.
    pub fn bytes_of(&self, pages: &Range<u64>) -> Range<u64> {
        pages.start * self.page_len..(pages.end * self.page_len).min(self.length)
    }
}

/// Compares an open file with its leaves. `workers` threads read it.
pub(crate) fn damage_of(
    file: &Descriptor<'_>,
    kept: &Kept,
    workers: NonZeroUsize,
    stop: &AtomicBool,
) -> std::io::Result<Damage> {
    kept.ensure_whole(stop)?;
    let header = kept.header();
    let options = ReadOptions { workers, lanes: lanes_for(header.length), stop: Some(stop) };
    let check = verity::check(file, &kept.leaves(), &header.params(), &options)?;
    Ok(Damage { page_len: header.page_len as u64, length: header.length, check })
}

/// The files whose leaves a run stores.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum PagesUse {
    /// Files of trees that store leaves already, and files with leaves beside them.
    #[default]
    Kept,
    /// Every file that has a tag afterwards. Leaves are stored beside each file, or with the tree's
    /// catalogue.
    All {
        /// Length of a page in bytes; `None` for that of the tree's leaves, or else 4 KiB.
        page_len: Option<usize>,
        /// Whether they are stored beside each file.
        sidecars: bool,
    },
}

/// Returns the file whose leaves, or draft of leaves, a name belongs to; `None` for other names.
pub(crate) fn companion(name: &OsStr) -> Option<&OsStr> {
    use steadfast_sys::names::NameBytes as _;
    let bytes = name.as_bytes();
    let bytes = bytes.strip_suffix(DRAFT_SUFFIX.as_bytes()).unwrap_or(bytes);
    let bytes = bytes.strip_suffix(SIDECAR_SUFFIX.as_bytes())?;
    (!bytes.is_empty()).then(|| OsStr::from_bytes(bytes))
}

/// Returns whether the name of a file of leaves is that of a draft.
pub(crate) fn is_draft(name: &OsStr) -> bool {
    name.as_encoded_bytes().ends_with(DRAFT_SUFFIX.as_bytes())
}
