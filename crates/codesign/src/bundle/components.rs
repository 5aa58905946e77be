//! Reads a signature stored in separate files, for a bundle whose executable cannot carry one.
//!
//! The files are `_CodeSignature/CodeDirectory` and its siblings. They are put together as an
//! executable would carry them.

use super::layout::{Layout, is, read_small};
use super::tree::{BundleTree, EntryKind};
use crate::error::Error;
use crate::signature::{SIGNATURE_LEN_MAX, Signature};
use crate::superblob::{Slot, magic};

/// The files, and the slot of each. The file of the CMS signature may lack the header of a blob.
const FILES: [(&[u8], Slot); 4] = [
    (b"_CodeSignature/CodeDirectory", Slot::CODE_DIRECTORY),
    (b"_CodeSignature/CodeRequirements", Slot::REQUIREMENTS),
    (b"_CodeSignature/CodeEntitlements", Slot::ENTITLEMENTS),
    (b"_CodeSignature/CodeSignature", Slot::CMS),
];

/// Length of the header of a container, and of an entry in its index.
const HEADER_LEN: u32 = 12;
const ENTRY_LEN: u32 = 8;

/// Reads the signature, if there is a code directory.
///
/// # Errors
/// If there is one, and the files do not make a signature.
pub(super) fn signature(
    tree: &dyn BundleTree,
    layout: &Layout,
    code_len_bytes: u64,
) -> Result<Option<Signature>, Error> {
    let mut blobs = Vec::new();
    for (name, slot) in FILES {
        let path = layout.beneath(name);
        if !is(tree, &path, EntryKind::File)? {
            continue;
        }
        let mut bytes = read_small(tree, &path, SIGNATURE_LEN_MAX / 4)?;
        if slot == Slot::CMS && !bytes.starts_with(&magic::WRAPPER.to_be_bytes()) {
            let len = u32::try_from(bytes.len() + 8).expect("bounded when it was read");
            let header = [magic::WRAPPER.to_be_bytes(), len.to_be_bytes()].concat();
            bytes.splice(0..0, header);
        }
        blobs.push((slot, bytes));
    }
    if blobs.first().is_none_or(|(slot, _)| *slot != Slot::CODE_DIRECTORY) {
        return Ok(None);
    }
    let whole = container(&blobs);
    let mut signature = Signature::read(&whole, 0, whole.len() as u64)?;
    // The whole file is code, so the signature begins at its end.
    signature.offset = code_len_bytes;
    Ok(Some(signature))
}

/// Lays blobs out as an executable carries them.
fn container(blobs: &[(Slot, Vec<u8>)]) -> Vec<u8> {
    let count = u32::try_from(blobs.len()).expect("there are four at most");
    let mut offset = HEADER_LEN + count * ENTRY_LEN;
    let mut index = Vec::new();
    for (slot, bytes) in blobs {
        index.extend_from_slice(&slot.0.to_be_bytes());
        index.extend_from_slice(&offset.to_be_bytes());
        offset += u32::try_from(bytes.len()).expect("bounded when it was read");
    }
    let mut whole = Vec::new();
    for number in [magic::EMBEDDED_SIGNATURE, offset, count] {
        whole.extend_from_slice(&number.to_be_bytes());
    }
    whole.extend_from_slice(&index);
    blobs.iter().for_each(|(_, bytes)| whole.extend_from_slice(bytes));
    whole
}
