//! Paths in files that anyone may have written.

use std::path::{Component, Path, PathBuf};

use steadfast_time::names::NameBytes as _;

/// Returns a path that stays beneath its root: names only, as a writer spells them; `None` for any
/// other.
pub(crate) fn path_beneath(bytes: &[u8]) -> Option<PathBuf> {
    let path = Path::from_bytes(bytes);
    let names: PathBuf = path.components().collect();
    let stays = path.components().all(|part| matches!(part, Component::Normal(_)));
    let is_plain = names.as_bytes() == bytes;
    (stays && is_plain && !bytes.is_empty() && !bytes.contains(&0)).then_some(names)
}
