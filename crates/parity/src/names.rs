//! Paths in files that anyone may have written.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path, PathBuf};

/// Returns a path that stays beneath its root: names only, as a writer spells them; `None` for any
/// other.
pub(crate) fn path_beneath(bytes: &[u8]) -> Option<PathBuf> {
    let path = Path::new(OsStr::from_bytes(bytes));
    let names: PathBuf = path.components().collect();
    let stays = path.components().all(|part| matches!(part, Component::Normal(_)));
    let is_plain = names.as_os_str().as_bytes() == bytes;
    (stays && is_plain && !bytes.is_empty() && !bytes.contains(&0)).then_some(names)
}
