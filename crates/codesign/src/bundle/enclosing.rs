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

/// What the names of bundles end with.
const EXTENSIONS: [&[u8]; 11] = [
    b"app",
    b"appex",
    b"bundle",
    b"component",
    b"dext",
    b"framework",
    b"kext",
    b"plugin",
    b"prefPane",
    b"systemextension",
    b"xpc",
];

/// Returns whether a file is the main executable of the bundle at the root of a tree. `name` is
/// what the bundle is called, `file` the file's name relative to the root.
///
/// # Errors
/// If there is a bundle, and its main executable cannot be determined.
pub fn is_main_executable(tree: &dyn BundleTree, name: &[u8], file: &[u8]) -> Result<bool, Error> {
    if !is_marked(tree)? {
        return Ok(false);
    }
    match Layout::find(tree, name) {
        Ok(layout) => Ok(layout.executable == file),
        Err(error) if error.kind() == ErrorKind::NotCode => Ok(false),
        Err(error) => Err(error),
    }
}

/// Returns whether the root of a tree is a bundle, or called one and laid out as one, even if its
/// main executable is missing or a symlink is in the place of its contents.
///
/// # Errors
/// If that cannot be determined.
pub fn is_bundle(tree: &dyn BundleTree, name: &[u8]) -> Result<bool, Error> {
    let extension = name.rsplit(|byte| *byte == b'.').next().unwrap_or_default();
    let is_called = EXTENSIONS.iter().any(|known| known.eq_ignore_ascii_case(extension));
    if !is_marked(tree)? {
        return Ok(is_called && is(tree, b"Contents", EntryKind::Symlink)?);
    }
    match Layout::find(tree, name) {
        Err(error) if error.kind() == ErrorKind::NotCode => Ok(is_called),
        Err(error) => Err(error),
        Ok(_) => Ok(true),
    }
}

fn is_marked(tree: &dyn BundleTree) -> Result<bool, Error> {
    for (mark, kind) in MARKS {
        if is(tree, mark, kind)? {
            return Ok(true);
        }
    }
    Ok(false)
}
