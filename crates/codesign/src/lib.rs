//! Apple code signatures on any system: what a seal covers, and what was found.
//!
//! In: a source of bytes ([`ReadAt`]). Out: facts (`binary`, `signature`, `directory`), findings
//! (`finding`) and three verdicts, never one: on the bytes (`pages`), on the signer, on the policy.
//! Must not know: the rest of the project, who prints, what exit status follows.

#![forbid(unsafe_code)]

mod apple;
mod ber;
mod binary;
pub mod bundle;
mod certificate;
mod chain;
mod cms;
mod code;
mod constraint;
mod cost;
mod coverage;
pub mod directory;
mod entitlements;
mod error;
mod fields;
mod finding;
mod hash;
mod image;
mod key;
mod macho;
mod pages;
mod plist;
mod policy;
mod price;
mod requirement;
mod roots;
mod signature;
mod signer;
mod strict;
pub mod superblob;
mod timestamp;
mod verify;

pub use apple::AppleError;
pub use binary::{Binary, Container, Slice};
pub use certificate::{Certificate, Extension, Name};
pub use code::{Code, CodeKind, CodePart};
pub use constraint::Constraint;
pub use cost::Cost;
pub use coverage::{Cover, Coverage, Covered};
pub use directory::CodeDirectory;
pub use entitlements::Entitlements;
pub use error::{Error, ErrorKind};
pub use finding::{Aspect, Finding, FindingKind, Outcome, Place, Severity};
pub use hash::{CdHash, HashType};
pub use image::DiskImage;
pub use key::PublicKey;
pub use macho::{Architecture, BuildVersion, MachO, Section, Segment};
pub use pages::{
    BytesState, BytesVerdict, CheckOptions, DamagedPages, DirectoryCheck, PageChoice, Sealed,
    SlotCheck, SlotState, Surroundings,
};
pub use plist::Value;
pub use policy::{PolicyOptions, PolicyState, PolicyVerdict};
pub use price::Price;
pub use requirement::{Requirement, RequirementKind, Requirements, Subject, Unknown};
pub use roots::AppleRoot;
pub use signature::{SIGNATURE_LEN_MAX, Signature};
pub use signer::{Binding, Bindings, SignerKind, SignerState, SignerVerdict};
pub use steadfast_sys::source::{FileSource, Part, ReadAt};
pub use superblob::{Blob, Slot, SuperBlob};
pub use timestamp::{Timestamp, TimestampState};
pub use verify::{NestedVerification, PartVerification, Verification, VerifyOptions};
