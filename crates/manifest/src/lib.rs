//! What tools record of files, as bytes: manifests, tags, and the attributes of other tools.
//!
//! Parsers take bytes that anyone may have written; writers take records. This crate opens no file
//! and makes no system call: it reads from and writes to the values that the caller hands it. It
//! does not know which file a record is about, nor what follows from a difference.
//!
//! Paths come out as a document has them: [`confine`] says whether they may be opened. The formats
//! are specified in `docs/formats/manifests.md`, `docs/formats/tag.md` and
//! `docs/formats/attributes.md`.

#![forbid(unsafe_code)]

mod calendar;
pub mod tag;
mod error;
mod format;
mod fault;
mod record;
mod paths;
mod combine;
mod lines;
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
mod ocfl;
mod steadfast;
mod document;
mod carrier;
pub mod own;
pub mod foreign;
pub mod appledouble;

pub use crate::combine::{Combined, Conflict, Dispute, combine};
pub use crate::document::{Records, algorithm_hint, put, read, root_of};
pub use crate::error::{Error, ErrorKind};
pub use crate::fault::{DocumentPlace, Fault, FaultKind};
pub use crate::format::Format;
pub use crate::paths::{PathFault, confine, folded, windows_spelling};
pub use crate::record::{Mtime, Record, Step};
pub use crate::write::{DocumentWriter, Put};
