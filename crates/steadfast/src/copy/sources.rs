//! The files of a copy, each with the path that it gets beneath a destination.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use super::result::{CopyRequest, ListKind};
use crate::beneath;
use crate::error::Error;
use crate::event::Skipped;
use crate::run::Options;
use crate::selection::Selection;
use crate::walk::{Excludes, WalkItem, walk};

/// Returns the paths that are copied, and whether a link is followed.
pub(super) fn sources(selection: &Selection) -> impl Iterator<Item = (&PathBuf, bool)> {
    let roots = selection.roots.iter().map(|root| (root, true));
    roots.chain(selection.listed.iter().map(|path| (path, false)))
}

/// Walks every root, and passes each item with the path that it gets beneath a destination.
pub(super) fn each_file(
    selection: &Selection,
    request: &CopyRequest,
    options: &Options,
    visit: &mut dyn FnMut(WalkItem, PathBuf),
) -> Result<Skipped, Error> {
    let excludes = Excludes::new(&selection.excludes)?;
    let mut all = Skipped::default();
    let within = Path::new(if request.list == ListKind::Bag { "data" } else { "" });
    for (root, is_followed) in sources(selection) {
        let [mut roots, mut listed] = [Vec::new(), Vec::new()];
        if is_followed { &mut roots } else { &mut listed }.push(root.clone());
        let one = Selection { roots, listed, with_sidecars: true, ..selection.clone() };
        let name = name_at_destination(root);
        let stop = &options.controls.stop;
        let (skipped, _) = walk(&one, &excludes, crate::store::has_tag, stop, &mut |item| {
            let relative = match &item {
                WalkItem::File(entry) | WalkItem::Leaves(entry) => {
                    relative_of(&entry.path.to_path(), root, &name)
                }
                WalkItem::EmptyFolder(path) => relative_of(path, root, &name),
                _ => PathBuf::new(),
            };
            visit(item, within.join(relative));
            ControlFlow::Continue(())
        });
        all.symlinks += skipped.symlinks;
        all.special += skipped.special;
        all.excluded += skipped.excluded;
        all.dataless += skipped.dataless;
        all.dataless_directories += skipped.dataless_directories;
        all.other_file_systems += skipped.other_file_systems;
    }
    Ok(all)
}

/// Returns the name that what was selected gets beneath a destination.
pub(super) fn name_at_destination(root: &Path) -> PathBuf {
    root.file_name().filter(|_| !is_bare(root)).map(PathBuf::from).unwrap_or_default()
}

/// Returns whether a path is copied without a name: `a/.` and `a` are the same path to this
/// system's names, and not to the user.
pub(super) fn is_bare(root: &Path) -> bool {
    root.as_os_str().as_encoded_bytes().ends_with(b"/.") && !beneath::is_file(root)
}

fn relative_of(path: &Path, root: &Path, name: &Path) -> PathBuf {
    match path.strip_prefix(root) {
        Ok(down) if down.as_os_str().is_empty() && beneath::is_file(path) => {
            PathBuf::from(path.file_name().unwrap_or_default())
        }
        Ok(down) => name.join(down),
        Err(_) => name.join(path),
    }
}
