//! Manifests, tags, and the attributes of other tools, as bytes.
//!
//! Parsers take bytes that may be hostile; writers take records. This crate opens no files and
//! makes no system calls: it reads from and writes to values of the caller. It does not know the
//! files, and gives no verdicts.
//!
//! Paths are returned as a document has them: [`confine`] decides whether they may be opened. The
//! formats are specified in `docs/formats/manifests.md`, `docs/formats/tag.md` and
//! `crates/manifest/ATTRIBUTES.md`.

#![forbid(unsafe_code)]

mod calendar;
pub mod tag;
mod error;
mod format;
mod fault;
pub mod parts;
mod record;
mod paths;
mod combine;
mod lines;
mod wide;
mod json;
mod write;
pub mod sums;
mod sfv;
pub mod ni;
mod hashdeep;
mod mtree;
pub mod bagit;
pub mod bitrot;
pub mod chkbit;
mod objects;
mod ocfl;
pub mod mhl;
mod steadfast;
mod document;
mod carrier;
pub mod own;
pub mod foreign;
pub mod appledouble;

pub use crate::combine::{Combined, Conflict, Dispute, combine};
pub use crate::document::{Records, algorithm_hint, lone_digest, put, read, root_of};
pub use crate::error::{Error, ErrorKind};
pub use crate::fault::{DocumentPlace, Fault, FaultKind};
pub use crate::format::Format;
pub use crate::paths::{PathFault, confine, folded, other_spellings};
pub use crate::record::{Mtime, Record, Step};
pub use crate::write::{DocumentWriter, Put};
