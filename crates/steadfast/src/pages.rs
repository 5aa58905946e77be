//! Which pages of a file are damaged, by leaves of an fs-verity tree that were kept beside its tag.
//!
//! In: a file, its tag, and kept leaves ([`Kept`]). Out: the pages that are not what they were.
//! Knows nothing of how leaves are written: that is `store/pages.rs`. The bytes of kept leaves are
//! specified in `docs/formats/pages.md`, which outranks this folder.

mod header;
mod kept;
mod source;

use std::ffi::OsStr;
use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::atomic::AtomicBool;

use steadfast_verity::{PageCheck, ReadOptions};

pub use header::{HEADER_LEN, Header, MAGIC};
pub use kept::Kept;
pub(crate) use kept::is_ours;
pub(crate) use source::Descriptor;

use crate::calibration::fastest_lanes;

/// The length of pages unless another is asked for, in bytes: memory's, and most file systems'.
pub const PAGE_LEN_DEFAULT: usize = 4 << 10;

/// The end of the name of leaves that are kept beside their file.
pub const SIDECAR_SUFFIX: &str = ".steadfast-pages";

/// What follows the name of a file of leaves while it is written beside its file.
pub(crate) const DRAFT_SUFFIX: &str = ".new";

/// Where a file differs from what it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// Length of a page in bytes.
    pub page_len: u64,
    /// Length that the file had in bytes.
    pub length: u64,
    /// What its pages showed.
    pub check: PageCheck,
}

impl Damage {
    /// Returns the bytes of the damaged pages, end excluded, in order.
    pub fn damaged(&self) -> impl Iterator<Item = Range<u64>> {
        self.check.damaged.iter().map(|pages| self.bytes_of(pages))
    }

    /// Returns the bytes of the pages that cannot be read, end excluded, in order.
    pub fn unreadable(&self) -> impl Iterator<Item = Range<u64>> {
        self.check.unreadable.iter().map(|pages| self.bytes_of(pages))
    }

    /// Returns the bytes of some pages; the last page ends with the file.
    pub fn bytes_of(&self, pages: &Range<u64>) -> Range<u64> {
        pages.start * self.page_len..(pages.end * self.page_len).min(self.length)
    }
}

/// Compares an open file with kept leaves. `workers` threads read it.
pub(crate) fn damage_of(
    file: &Descriptor<'_>,
    kept: &Kept,
    workers: NonZeroUsize,
    stop: &AtomicBool,
) -> std::io::Result<Damage> {
    let options = ReadOptions { workers, lanes: fastest_lanes(), stop: Some(stop) };
    kept.ensure_whole(stop)?;
    let header = kept.header();
    let check = steadfast_verity::check(file, &kept.leaves(), &header.params(), &options)?;
    Ok(Damage { page_len: header.page_len as u64, length: header.length, check })
}

/// Which files' leaves a run keeps.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum PagesUse {
    /// Those of trees that keep leaves already, and of files that have them beside them.
    #[default]
    Kept,
    /// Those of every file that has a tag afterwards, of pages of so many bytes (`None`: as long as
    /// those that the tree keeps, else 4 KiB); beside each file, or else where the tree's catalogue
    /// is.
    All {
        /// Length of a page in bytes.
        page_len: Option<usize>,
        /// Whether they are kept beside each file.
        sidecars: bool,
    },
}

/// Says whether a name is that of leaves kept beside a file, and of which file; drafts included.
pub(crate) fn companion(name: &OsStr) -> Option<&OsStr> {
    use std::os::unix::ffi::OsStrExt as _;
    let bytes = name.as_bytes();
    let bytes = bytes.strip_suffix(DRAFT_SUFFIX.as_bytes()).unwrap_or(bytes);
    let bytes = bytes.strip_suffix(SIDECAR_SUFFIX.as_bytes())?;
    (!bytes.is_empty()).then(|| OsStr::from_bytes(bytes))
}

/// Says whether the name of a file of leaves is that of a draft.
pub(crate) fn is_draft(name: &OsStr) -> bool {
    name.as_encoded_bytes().ends_with(DRAFT_SUFFIX.as_bytes())
}
