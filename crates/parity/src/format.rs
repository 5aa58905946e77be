//! The file that holds the parity of one set: `steadfast-parity-1`.
//!
//! Input: an index and parity pages, or the bytes of such a file that anyone may have damaged or
//! written. Output: the other. Everything except the parity stands twice, in mirror order, in
//! blocks of 4 KiB that each have a check value; a damaged parity page is one page less.
//! `docs/formats/parity.md` specifies the bytes.

mod blocks;
mod header;
mod records;
mod index;
mod file;

pub use file::{ReadAtFn, SetFile};
pub use header::{SetHeader, SetOrigin};
pub use index::{INDEX_LEN_MAX, PageMark, SetIndex};
