//! Detects silent file corruption: tags files with digests in extended attributes, checks them
//! later, and tells an edit from decay.
//!
//! [`tag()`] tags the files of a folder, [`check()`] compares them with their tags, and [`Run`]
//! does either with options. A run calls a [`Monitor`] for each file; a closure is one.
//!
//! ```
//! use steadfast::{Event, ExitStatus, Run, Verdict};
//!
//! # let folder = tempfile::tempdir()?;
//! # std::fs::write(folder.path().join("a.jpg"), "pixels")?;
//! # let photographs = folder.path();
//! let tagged = steadfast::tag(photographs)?;
//! assert_eq!(tagged.exit_status(), ExitStatus::Fine);
//!
//! // Another day:
//! let checked = Run::check([photographs]).exclude("*.tmp").run(&mut |event: &Event| {
//!     if let Event::File(file) = event
//!         && file.verdict == Some(Verdict::Corrupt)
//!     {
//!         println!("{} is corrupt", file.path.to_path().display());
//!     }
//! })?;
//! assert_eq!(checked.exit_status(), ExitStatus::Fine);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! An [`Error`] means that a run could not begin or go on. Trouble with one file never ends a run:
//! it is in an event, and in [`Summary::exit_status`]. The more severe of two [`ExitStatus`] is
//! their `max`.
//!
//! The library never prints, exits, or reads the environment. A run raises the process's limit on
//! open files, and starts its own threads, which have ended when it returns.
//!
//! The modules stand in the order in which a file's bytes pass through them:
//!
//! ```text
//! walk ──▶ read ──▶ hash ──▶ compare / store ──▶ report
//! Entry    Chunk    Digest    Verdict / Tag       document
//! ```

#![forbid(unsafe_code)]

mod advice;
mod error;

mod exit_status;
mod verb_kind;
pub mod verdict;
mod identity;
pub mod escape;
mod evidence;
mod file_state;
mod standing;
mod finding;
pub mod appledouble;
mod placeholder;
pub mod beneath;
pub mod manifest;
pub mod reference;
mod calibration;
pub mod verity;
pub mod pages;
pub mod read;
pub mod event;
pub mod cost;
pub mod monitor;
pub mod qos;
mod shard;
mod selection;
mod tree_folder;
mod byte_ranges;
mod belongings;
mod trust;
mod moving;
mod walk;
mod pipeline;
pub mod store;
pub mod catalogue;
mod tree_above;
pub mod run;
pub mod unguarded;
pub mod parity;
pub mod repair;
pub mod par2;
mod builder;
mod folder_state;
pub mod diff;
pub mod known;
pub mod safe;
pub mod copy;
#[cfg(feature = "json")]
pub mod json;
#[cfg(feature = "json")]
pub mod sharded;

pub use steadfast_digest::{
    Algorithm, AlgorithmHasher, Backend, Digest, Error as DigestError,
    ErrorKind as DigestErrorKind, Lanes,
};
pub use steadfast_manifest::tag;
pub use steadfast_manifest::tag::Tag;
pub use steadfast_sys::awake::Wakefulness;
pub use steadfast_sys::file::{ChangeTimes, Dataless, Timestamp};
pub use steadfast_sys::names;
pub use steadfast_sys::qos::{Level, ParseLevelError};

/// What belongs to a whole process and not to one run: for the command and the server.
pub mod process {
    pub use steadfast_sys::clock::set_ahead as set_clock_ahead;
    pub use steadfast_sys::file::{DownloadScope, allow_downloads, raise_open_files_limit};
    pub use steadfast_sys::heap::give_back as give_back_memory;
    pub use steadfast_sys::machine::{name as machine_name, user_folder};
    pub use steadfast_sys::process::HeldSignals;
    pub use steadfast_sys::streams::stdout_was_closed;

    pub use crate::run::prepare_open_files;
}

/// What [`Lanes`] are made of, for programs that hash bytes themselves.
pub mod lanes {
    pub use steadfast_digest::{
        BlockHasher, LanesOf, Md5Rules, Message, Rules, Sha256Rules, Sha512Rules,
    };
}

pub use crate::advice::{Advice, CatalogueChange, with_advice};
pub use crate::builder::{Run, check, import, tag};
pub use crate::calibration::fastest_lanes;
pub use crate::cost::{Account, Bound, Cost, Stage};
pub use crate::error::{Error, ErrorKind};
pub use crate::event::{
    Action, FileEvent, FilePath, FileReading, Notice, Resized, Skipped, Subject,
};
pub use crate::exit_status::ExitStatus;
pub use crate::file_state::FileState;
pub use crate::finding::{FactChange, Finding};
pub use crate::folder_state::{
    ACCEPTED_DAYS, COVER_DAYS, FolderFacts, FolderState, FoundByRun, GoingRun, StoppedCheck,
    TagsFound, open_files,
};
pub use crate::monitor::{
    Event, EventCounts, FindingEvent, HashingMeans, Monitor, Progress, Summary,
};
pub use crate::pages::PagesUse;
pub use crate::read::Origin;
pub use crate::reference::Reference;
pub use crate::run::{
    CatalogueOptions, CatalogueUse, CheckOptions, Controls, DatalessUse, DueChoice, HashOptions,
    InitOptions, Options, ReadFrom, ReadingOptions, RenamedFile, RetagOptions, SuspectUse,
    TagOptions, TreeChanges, UpdateOptions, Verb, changes,
};
pub use crate::selection::Selection;
pub use crate::shard::Shard;
pub use crate::standing::{Matter, Standing};
pub use crate::verb_kind::VerbKind;
pub use crate::verdict::{ChangeEvidence, Judgement, Reason, Verdict};

/// The examples of `docs/reference/library.md` run with those of this crate.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/reference/library.md")]
mod library_page {}
