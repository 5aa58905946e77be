//! Small files that a file system keeps in its own tree: Btrfs, and others with inline data.
//!
//! That tree has a cache of its own, which dropping the pages of a file leaves as it is. Only the
//! device tells what is on the medium.

#[cfg_attr(target_os = "linux", path = "tree/linux.rs")]
#[cfg_attr(target_os = "macos", path = "tree/macos.rs")]
mod platform;

use std::io;

use crate::file::File;

/// Returns whether the contents of a file are in the tree of its file system.
#[must_use]
pub fn is_in_tree(file: &File) -> bool {
    platform::is_in_tree(file)
}

/// Reads the contents of a file in the tree of a Btrfs from its device, past all caches. `None` if
/// the medium does not have it yet, or compressed or on several devices.
///
/// # Errors
/// Any error of the device, which only root may read; `InvalidData` if a block is not what leads to
/// it.
pub fn bytes_in_tree(file: &File, device: &str) -> io::Result<Option<Vec<u8>>> {
    platform::bytes_in_tree(file, device)
}
