//! The directories at and above a path that may have a folder of ours, and who is trusted with
//! each.

use std::path::{Path, PathBuf};

use steadfast_sys::file::TrustedUsers;

use crate::beneath;
use crate::catalogue::{Catalogue, catalogue_in, real_of};
use crate::trust::trusted_with;

/// A directory at or above a path, which may have a folder of ours.
#[derive(Clone, Debug)]
pub(crate) struct TreeAbove {
    /// The directory; a real path.
    pub(crate) root: PathBuf,
    /// Whether it was selected, or what was is in its catalogue. What is wrong in others does not
    /// concern who asks for the path.
    pub(crate) is_own: bool,
    /// Who is trusted with what is there.
    pub(crate) trusted: TrustedUsers,
}

/// Returns the directories at and above a path, from the nearest on. `selected` is the path itself,
/// or one above it that the user named.
pub(crate) fn trees_above(path: &Path, selected: &Path) -> Vec<TreeAbove> {
    let Some((path, selected)) = real_of(path).zip(real_of(selected)) else { return Vec::new() };
    // What is selected may be missing, with its folder.
    let there = |path: &Path| beneath::folder_above(path).map(Path::to_owned);
    let Some((folder, named)) = there(&path).zip(there(&selected)) else { return Vec::new() };
    let catalogued = Catalogue::find(&path);
    let tree = |root: &Path| {
        let is_named = root.starts_with(&named);
        let trusted = trusted_with(if is_named { root } else { &named }).ok()?;
        let is_own = is_named || catalogued.as_deref() == Some(&catalogue_in(root));
        Some(TreeAbove { root: root.to_owned(), is_own, trusted })
    };
    folder.ancestors().filter_map(tree).collect()
}
