//! Checks Apple code signatures on any system.
//!
//! Input: the bytes of a file ([`ReadAt`]) or a bundle. Output: facts (`binary`, `signature`,
//! `directory`), findings (`finding`) and three separate verdicts: on the bytes (`pages`), the
//! signer (`signer`) and the policy (`policy`). This crate does not print, and knows no exit status
//! but [`CodeOutcome::exit_status`].

#![forbid(unsafe_code)]

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

// Reading order: a module imports only those above it.

// The file formats: numbers, Mach-O, the container of a signature, its code directories.
mod apple;
mod error;
mod fields;
mod hash;
mod macho;
mod fat;
mod form;
pub mod superblob;
mod finding;
pub mod directory;
mod signature;
mod binary;
mod coverage;
mod strict;
mod cost;

// The bytes: pages and slots against their digests.
mod stream;
mod share;
mod pages;
mod image;

// The signer: certificates, CMS, time stamps.
mod ber;
mod key;
mod certificate;
mod roots;
mod chain;
mod cms;
mod timestamp;
mod plist;
mod signer;

// The policy, and the contents of a signature.
mod requirement;
mod policy;
mod entitlements;
mod constraint;
mod ticket;
mod conditions;

// Bundles, packages, and everything together.
pub mod bundle;
mod package;
mod code;
mod verify;
mod estimate;

// Folders and archives of code.
mod archive;
mod search;

pub use apple::AppleError;
pub use archive::ArchiveTree;
pub use binary::{Binary, MachSlice};
pub use certificate::{Certificate, DistinguishedName, Extension};
pub use code::{Code, CodeKind, CodePart};
pub use conditions::{Condition, SignerAnchor};
pub use constraint::Constraint;
pub use cost::VerifyCost;
pub use coverage::{Coverage, CoveredRange, RangeCover};
pub use directory::CodeDirectory;
pub use entitlements::Entitlements;
pub use error::{Error, ErrorKind};
pub use fat::Container;
pub use finding::{Aspect, CodeFinding, CodeOutcome, FindingKind, FindingPlace, Severity};
pub use form::FileForm;
pub use hash::{CdHash, HashType};
pub use image::DiskImage;
pub use key::PublicKey;
pub use macho::{Architecture, BuildVersion, MachO, MachSection, MachSegment};
pub use package::Package;
pub use pages::{
    BytesState, BytesVerdict, DamagedPages, DirectoryCheck, PageCheckOptions, PageChoice, Sealed,
    SlotCheck, SlotState, Surroundings,
};
pub use plist::Value;
pub use policy::{PolicyOptions, PolicyState, PolicyVerdict};
pub use requirement::{CodeSubject, Requirement, RequirementKind, Requirements, Unknown};
pub use roots::AppleRoot;
pub use search::{OpenedCode, each_code, each_code_at, each_code_in};
pub use signature::{SIGNATURE_LEN_MAX, Signature};
pub use signer::{Binding, Bindings, SignerKind, SignerState, SignerVerdict};
pub use steadfast_sys::source::{FileSource, Part, ReadAt};
pub use superblob::{Blob, Slot, SuperBlob};
pub use ticket::Ticket;
pub use timestamp::{TimestampState, TimestampToken};
pub use verify::{CodeVerification, NestedVerification, PartVerification, VerifyOptions};
