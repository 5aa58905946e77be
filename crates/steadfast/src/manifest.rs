//! Digests as a document: what this and other tools write and read, one file for each format.
//!
//! In: the bytes of a document that anyone may have written, or records. Out: records, each good or
//! faulty by itself, or the bytes of a document. Opens no file that a document names, and no other
//! but for [`bagit::Bag`] and [`chkbit::Tree`], which are given a directory.
//!
//! Paths come out as the document has them: [`confine`] says whether they may be opened. What the
//! formats are, and what each keeps of a file, is in `docs/formats/manifests.md`.

pub mod bagit;
pub mod bitrot;
pub mod chkbit;
mod fault;
mod format;
mod hashdeep;
mod json;
mod lines;
mod merge;
mod mtree;
pub mod ni;
mod ocfl;
mod paths;
mod record;
mod sfv;
mod steadfast;
pub mod sums;
mod write;

pub use self::fault::{Fault, FaultKind, Place, WriteError};
pub use self::format::{Format, Records, UnknownFormat, algorithm_hint, read, root_of};
pub use self::merge::{Conflict, Dispute, Merged, merge};
pub use self::paths::{PathFault, confine, folded, windows_spelling};
pub use self::record::{Mtime, Record, Step};
pub use self::write::{Writer, write};
