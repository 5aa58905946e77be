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

mod error;

pub mod verdict;
mod file_state;
mod finding;
pub mod appledouble;
pub mod manifest;
pub mod reference;
mod calibration;
pub mod pages;
pub mod read;
pub mod event;
pub mod cost;
pub mod monitor;
pub mod qos;
mod selection;
mod tree_folder;
pub mod beneath;
mod walk;
mod pipeline;
pub mod store;
pub mod catalogue;
pub mod run;
pub mod diff;
pub mod probe;

pub use steadfast_digest::{Algorithm, AlgorithmHasher, Backend, Digest, Lanes};
pub use steadfast_manifest::tag;
pub use steadfast_manifest::tag::Tag;
pub use steadfast_sys::file::{Timestamp, raise_open_files_limit};
pub use steadfast_sys::qos::Level;
pub use steadfast_sys::streams::stdout_was_closed;

pub use crate::calibration::fastest_lanes;
pub use crate::cost::{Account, Bound, Cost, Stage};
pub use crate::error::{Error, ErrorKind};
pub use crate::event::{Action, FileEvent, FilePath, Notice, Resized, Skipped, Subject};
pub use crate::file_state::FileState;
pub use crate::finding::{FactChange, Finding};
pub use crate::monitor::{Event, FindingEvent, Monitor, Progress, Summary};
pub use crate::read::Origin;
pub use crate::reference::Reference;
pub use crate::run::{CatalogueUse, DueChoice, Options, ReadFrom, Verb, prepare_open_files};
pub use crate::selection::Selection;
pub use crate::verdict::Verdict;
