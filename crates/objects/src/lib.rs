//! Compares the objects of a store with tags, a manifest or a catalogue, by the digests that the
//! store keeps. Downloads no object.
//!
//! In: a bucket, or a report of its store; and what is recorded of the files. Out: an
//! [`ObjectFinding`] for each object. [`check()`] asks the store, [`import()`] reads a report.
//! Prints nothing, and reads neither the environment nor key files: the caller passes credentials.

#![forbid(unsafe_code)]

mod error;
mod names;
mod algorithm;
mod object;
mod listing;
mod address;
mod response;
mod sign;
mod client;
mod store;
mod finding;
mod verdict;
mod local;
mod known;
mod ordered;
mod row;
mod report;
mod check;
mod import;

pub use address::{Address, NameFault};
pub use algorithm::{ObjectAlgorithm, ObjectHasher};
pub use check::{ObjectCheckOptions, check};
pub use client::{Connection, RetryPolicy};
pub use error::{Error, ErrorKind};
pub use finding::{Basis, Judged, ObjectFinding, ObjectsSummary};
pub use import::import;
pub use known::KnownFiles;
pub use listing::{ListedObject, Listing, ObjectPart, ObjectParts};
pub use object::{Extent, Object, ObjectDigest};
pub use report::{Report, ReportKind, RowSink};
pub use row::{ReportRow, RowOutcome};
pub use sign::Credentials;
pub use store::ObjectStore;
