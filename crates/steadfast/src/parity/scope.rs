//! The part of a tree that a run was about.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::beneath::presence;

/// Paths beneath the root of a tree, with everything in them.
pub(super) struct ParityScope {
    root: PathBuf,
    paths: BTreeSet<PathBuf>,
}

impl ParityScope {
    /// Takes the real path of a root, and of what was selected at it or beneath it.
    pub(super) fn new(root: &Path, paths: impl IntoIterator<Item = PathBuf>) -> ParityScope {
        let beneath = |path: PathBuf| path.strip_prefix(root).map(Path::to_owned).ok();
        let paths = paths.into_iter().filter_map(beneath).collect();
        ParityScope { root: root.to_owned(), paths }
    }

    /// Returns a path in this part.
    pub(super) fn first(&self) -> PathBuf {
        self.paths.first().map_or_else(|| self.root.clone(), |path| self.root.join(path))
    }

    /// Says whether a path beneath the root is in this part.
    pub(super) fn covers(&self, path: &Path) -> bool {
        path.ancestors().any(|above| self.paths.contains(above))
    }

    /// Returns what there is to walk.
    pub(super) fn roots(&self) -> Vec<PathBuf> {
        let paths = self.paths.iter().filter(|path| !presence(&self.root, path).is_lost());
        paths.map(|path| self.root.join(path)).collect()
    }
}
