//! Reads and writes the tags of other tools.
//!
//! `steadfast_manifest` decides what the attributes mean, `reference/foreign.rs` what follows from
//! that.

mod write;

use std::io;

use steadfast_manifest::foreign::{ForeignAttribute, ForeignSlot, assemble, recognised};
use steadfast_manifest::foreign::{encode_over, is_of};
use steadfast_sys::file::File;
use steadfast_sys::xattr::{self, MAC_PREFIX};

use super::carrier;
use crate::appledouble::{self, AppleDouble};
use steadfast_manifest::tag::Tag;

pub use self::write::{ExistingTag, write};
pub use steadfast_manifest::foreign::{
    FaultReason, ForeignFault, ForeignKind, ForeignTag, ForeignTags, ForeignTime, Resolution,
    UnraidScan, VALUE_LEN_MAX, of_attributes, parse_dintch, parse_ima, parse_shatag, parse_unraid,
};

/// Returns the attributes, by name and value, that a tool of this kind would set on this system, in
/// the order of setting them; `None` if it has no place for the tag's algorithm, or if only the
/// kernel sets them.
pub fn encode(kind: ForeignKind, tag: &Tag) -> Option<Vec<(String, Vec<u8>)>> {
    steadfast_manifest::foreign::encode(kind, tag, MAC_PREFIX)
}

/// Reads every foreign tag of a file. For a file without any, this is one system call and no
/// allocation.
///
/// A file system without attributes has no tags.
///
/// # Errors
/// If the system refuses to list or read the attributes.
pub fn read(file: &File) -> io::Result<ForeignTags> {
    Ok(assemble(&held_on(file)?))
}

/// Reads the foreign tags that a sidecar has for its file; see [`crate::appledouble`].
///
/// # Errors
/// `InvalidData` if it is not an AppleDouble file; otherwise if it cannot be read.
pub fn read_sidecar(sidecar: &File) -> io::Result<ForeignTags> {
    tags_of(sidecar, &appledouble::read(sidecar)?)
}

/// Reads the foreign tags in a sidecar that is parsed already.
pub(crate) fn tags_of(sidecar: &File, double: &AppleDouble) -> io::Result<ForeignTags> {
    let mut held = Vec::new();
    for attribute in double.attributes() {
        let Some((name, slot)) = recognised(&attribute.name) else { continue };
        let value = appledouble::read_span(sidecar, attribute.value, VALUE_LEN_MAX)?
            .ok_or(FaultReason::TooLong);
        held.push(ForeignAttribute { slot, name: name.to_owned(), value });
    }
    Ok(assemble(&held))
}

fn held_on(file: &File) -> io::Result<Vec<ForeignAttribute>> {
    let mut held = Vec::new();
    for (name, slot) in carrier::select(file, ForeignSlot::of)? {
        let mut value = [0; VALUE_LEN_MAX];
        let value = match xattr::get(file, &name, &mut value) {
            Ok(Some(len)) => Ok(value[..len].to_vec()),
            // Another process removed it between the two calls.
            Ok(None) => continue,
            Err(error) if error.kind() == io::ErrorKind::InvalidData => Err(FaultReason::TooLong),
            Err(error) => return Err(error),
        };
        held.push(ForeignAttribute { slot, name, value });
    }
    Ok(held)
}
