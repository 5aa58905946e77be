//! Parity kept for a tree, from which damaged and missing files are rebuilt.
//!
//! Input: a tagged tree. Output: parity files, one for each set of files ([`make_parity`]), what is
//! known of them ([`show_parity`], [`verify_parity`]), and a copy of a file as far as its set can
//! give it ([`ParitySource`]). Does the reading and writing for `steadfast_parity`, which knows the
//! code and the format. The tag alone decides what a file should be: one that fails its tag is
//! never protected, and nothing that is rebuilt is trusted before it was compared with a tag.
//!
//! Nothing in a parity file is believed: its paths are opened beneath the root only.

mod identity;
mod needed;
mod place;
mod folder;
mod recorded;
mod protection;
mod earlier;
mod tagged_file;
mod stream;
mod scope;
mod made;
mod review;
mod encode;
mod finish;
mod make;
mod after_verb;
mod data_pages;
mod sets;
mod rebuild;

pub use crate::byte_ranges::ByteRanges;
pub(crate) use after_verb::run_with_parity;
pub use earlier::make_room;
pub use folder::{drop_parity, drop_set};
pub use made::{NeededFile, NeededSet, NotProtected, ParityMade, ParityMonitor, ParityOptions};
pub use make::{make_parity, update_parity};
pub use place::ParityPlace;
pub(crate) use rebuild::ProtectedBelongings;
pub use rebuild::{ParitySource, RebuiltCopy};
pub use sets::{SetReport, SetTotals, parity_sets, show_parity, verify_parity, verify_parity_sets};
pub use steadfast_parity::{
    Error as RedundancyError, ErrorKind as RedundancyErrorKind, Geometry, Redundancy,
};

use std::io;
use std::path::PathBuf;

use steadfast_manifest::tag::Tag;
use steadfast_parity::ProtectedFile;
use steadfast_sys::file::{File, Status};

use crate::belongings::Attributes;
use crate::tree_folder::is_within_ours;

/// The bits of a mode that are permissions.
const PERMISSIONS: u32 = 0o7777;

/// Returns what parity keeps of a file: enough to make it again.
fn protected(path: PathBuf, tag: &Tag, file: &File) -> io::Result<ProtectedFile> {
    if is_within_ours(&path) {
        return Err(io::Error::other("it is in a folder that has the name of Steadfast's own"));
    }
    let Status { mode, uid, gid, links, .. } = file.status()?;
    Ok(ProtectedFile {
        path,
        length: tag.length,
        mode: mode & PERMISSIONS,
        uid,
        gid,
        tag: tag.encode().as_bytes().to_vec(),
        attributes: Attributes::for_record(file).map(|attributes| attributes.encode()),
        has_links: links > 1,
    })
}
