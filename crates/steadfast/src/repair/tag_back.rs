//! Gives a file the tag again that it lost, or that is damaged.
//!
//! Takes the tag that the catalogue or the parity recorded. Nothing is written unless the contents
//! are those of that tag; otherwise the file is repaired by that tag as any corrupt one.

use std::sync::atomic::AtomicBool;

use super::copies::Own;
use super::mend::digest_matches;
use super::target::RepairTarget;
use super::{changed, system};
use crate::event::FileError;
use crate::store::xattr::Xattr;
use crate::store::{Replaces, Store as _, StoredTag};
use crate::verdict::Verdict;

/// Says whether the contents of a file without a readable tag are those of the recorded one.
///
/// # Errors
/// If the file cannot be read, or the run was stopped.
pub(super) fn has_contents(
    target: &RepairTarget,
    own: &Own,
    stop: &AtomicBool,
) -> Result<bool, FileError> {
    // The check has read it, and it was not changed since.
    if matches!(target.verdict, Verdict::Intact | Verdict::Touched) && target.status.is_some() {
        return Ok(true);
    }
    if own.status.length != target.tag.length {
        return Ok(false);
    }
    match digest_matches(&own.file, &target.tag, stop) {
        Ok(matches) => Ok(matches),
        Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {
            Err(FileError::from_io("read it", &error))
        }
        // What cannot be read is looked for in the copies.
        Err(_) => Ok(false),
    }
}

/// Writes the tag of a target to its file.
///
/// # Errors
/// If the file has another tag meanwhile, was changed, or cannot get the tag.
pub(super) fn give_tag_back(target: &RepairTarget, own: &Own) -> Result<(), FileError> {
    let replaces = match Xattr.tag(&own.file).map_err(system("read its tag"))? {
        StoredTag::Absent => Replaces::Nothing,
        StoredTag::Damaged(_) => Replaces::DamagedKept,
        StoredTag::Whole(tag) if tag.same_contents(&target.tag) => return Ok(()),
        StoredTag::Whole(_) | StoredTag::Impossible => {
            return Err(changed("its tag is another one than when it was checked"));
        }
    };
    let now = own.file.status().map_err(system("look at it"))?;
    if now != own.status {
        return Err(changed("it was changed since it was checked"));
    }
    Xattr.write(&own.file, &target.tag, replaces)
}
