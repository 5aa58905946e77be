//! Tells whether a file is the main executable of the bundle it lies in.
//!
//! Such a file binds `Info.plist` and the seal of the resources, so alone only part of what it
//! seals can be checked. As in Apple's check, it stands for the bundle.

use super::layout::{Layout, is};
use super::tree::{BundleTree, EntryKind};
use crate::error::{Error, ErrorKind};

/// How many levels above its main executable the root of a bundle can be, the outermost first.
pub const LEVELS: [usize; 3] = [3, 2, 1];

/// Every bundle has at least one of these. A folder without them is not a bundle, even if a file in
/// it has the folder's name.
const MARKS: [(&[u8], EntryKind); 5] = [
    (b"Contents", EntryKind::Folder),
    (b"Versions", EntryKind::Folder),
    (b"Info.plist", EntryKind::File),
    (b"Resources/Info.plist", EntryKind::File),
    (b"_CodeSignature/CodeResources", EntryKind::File),
];

/// Returns whether a file is the main executable of the bundle at the root of a tree. `name` is
/// what the bundle is called, `file` the file's name relative to the root.
///
/// # Errors
/// If there is a bundle, and its main executable cannot be determined.
pub fn is_main_executable(tree: &dyn BundleTree, name: &[u8], file: &[u8]) -> Result<bool, Error> {
    let mut marked = false;
    for (mark, kind) in MARKS {
        marked = marked || is(tree, mark, kind)?;
    }
    if !marked {
        return Ok(false);
    }
    match Layout::find(tree, name) {
        Ok(layout) => Ok(layout.executable == file),
        Err(error) if error.kind() == ErrorKind::NotCode => Ok(false),
        Err(error) => Err(error),
    }
}
