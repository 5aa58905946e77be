//! Parity over sets of files, from which lost and damaged pages are rebuilt.
//!
//! Files are placed in sets ([`SetPlanner`]), the pages of a set are encoded in columns
//! ([`ParityEncoder`]), and one file per set holds what is needed to rebuild any of them
//! ([`SetIndex`], [`SetFile`]). [`Losses`] says how much of a set can be rebuilt and
//! [`ColumnDecoder`] rebuilds it. This crate does no I/O: bytes come and go through closures of the
//! caller. It does not know where files are, or what their tags mean.
//!
//! The bytes and the code are specified in `docs/formats/parity.md`, which outranks this crate.

#![forbid(unsafe_code)]

mod error;
mod names;
mod geometry;
mod code;
mod set;
mod format;
mod decode;
pub mod par2;

pub use code::{ParityEncoder, ParityPages, RunBuffer};
pub use decode::{ColumnDecoder, Losses, PageAt, Rebuilt};
pub use error::{Error, ErrorKind};
pub use format::{INDEX_LEN_MAX, PageMark, ReadAtFn, SetFile, SetHeader, SetIndex, SetOrigin};
pub use geometry::{
    COLUMNS, DATA_SHARDS_MAX, Geometry, PAGE_LEN, PARITY_SHARDS_MAX, RUN_LEN, RUN_PAGES,
    SHARD_PAGES, column_of,
};
pub use set::{Member, MemberSpan, PlannedSet, ProtectedFile, Redundancy, SetPlanner};
