//! What an object store says of its objects, compared with what is known of files.
//!
//! In: a bucket, or a report that its store made; and tags, a manifest or a catalogue. Out: a
//! [`Finding`] for each object, by digests that the store keeps: no object is downloaded.
//! [`check()`] asks the store, [`import()`] reads a report. Prints nothing, and reads neither the
//! environment nor anybody's keys: whoever calls hands them over.

#![forbid(unsafe_code)]

mod error;
mod names;
mod algorithm;
mod object;
mod listing;
mod address;
mod answer;
mod sign;
mod client;
mod store;
mod finding;
mod judge;
mod local;
mod known;
mod pool;
mod row;
mod document;
mod check;
mod import;

pub use address::{Address, NameFault};
pub use algorithm::{ObjectAlgorithm, ObjectHasher};
pub use check::{Options, check};
pub use client::{Connection, Patience};
pub use document::{Report, ReportKind, RowSink};
pub use error::{Error, ErrorKind};
pub use finding::{By, Finding, Judged, Summary};
pub use import::import;
pub use known::Known;
pub use listing::{Listed, Page, Part, Parts};
pub use object::{Extent, Object, ObjectDigest};
pub use row::{Row, RowOutcome};
pub use sign::Credentials;
pub use store::Store;
