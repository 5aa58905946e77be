//! Keeps files unchanged: records a digest for every file, re-reads the files later and says what
//! became of each one.
//!
//! The modules stand in the order in which a file's bytes pass through them:
//!
//! ```text
//! walk ──▶ read ──▶ hash ──▶ compare / store ──▶ report
//! Entry    Chunk    Digest    Verdict / Tag       document
//! ```
//!
//! [`run::run`] executes one verb. The library never prints, exits, or reads the environment.

#![forbid(unsafe_code)]

pub mod appledouble;
pub mod beneath;
pub mod catalogue;
pub mod cost;
pub mod diff;
mod hash;
pub mod manifest;
pub mod monitor;
pub mod pages;
pub mod probe;
pub mod qos;
pub mod read;
pub mod reference;
pub mod run;
pub mod store;
pub mod tag;
pub mod verdict;
mod walk;

mod error;

pub use steadfast_digest::{Algorithm, AlgorithmHasher, Backend, Digest, Lanes};
pub use steadfast_sys::file::{Timestamp, raise_open_files_limit};
pub use steadfast_sys::qos::Level;
pub use steadfast_sys::streams::stdout_was_closed;

pub use crate::cost::{Account, Bound, Cost, Stage};
pub use crate::error::{Error, ErrorKind};
pub use crate::monitor::{
    Action, Event, FileEvent, FilePath, Monitor, Noted, Notice, Progress, Resized, Skipped,
    Subject, Summary,
};
pub use crate::read::Origin;
pub use crate::reference::Reference;
pub use crate::run::{CatalogueUse, DueChoice, Options, ReadFrom, Selection, Verb};
pub use crate::tag::Tag;
pub use crate::verdict::Verdict;
