//! Tags as a document: what other tools write and read, one file for each format.
//!
//! In: the bytes of a document that anyone may have written, or digests to print. Out: lines, each
//! good or faulty by itself. Knows nothing of the files that a document names, and opens none.

pub mod sums;
