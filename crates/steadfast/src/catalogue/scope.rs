//! The part of a tree that a run covers, and the conversion of the run's paths to paths in the
//! tree.
//!
//! Takes the selected paths of a run and the paths of its events; returns paths from the tree's
//! root, or `None` for paths outside it.

use std::collections::{BTreeSet, HashMap};
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};

use steadfast_sys::names::NameBytes as _;

use super::place::real_of;
use crate::beneath;
use crate::event::FilePath;
use crate::selection::Selection;
use crate::tree_folder::FOLDER;

/// The part of a tree that a run covers.
#[derive(Clone, Debug, Default)]
pub struct RunScope {
    /// Directories as the run names them, with their places in the tree.
    bases: Above<PathBuf>,
    /// Files that were selected by a path that may be a link.
    files: HashMap<PathBuf, PathBuf>,
    /// Directories that are walked with everything beneath them.
    trees: Above<()>,
    /// Selected files and directories that are known and do not exist.
    gone: Vec<PathBuf>,
}

impl RunScope {
    /// Makes the scope of a selection. `root` is the tree's root without links in its path.
    ///
    /// Leaves out paths that do not exist or are outside the tree. The run reports these itself.
    pub fn of(root: &Path, selection: &Selection) -> RunScope {
        let mut scope = RunScope::default();
        let mut last = None;
        for path in &selection.roots {
            if let Ok(real) = path.canonicalize() {
                scope.add(root, path, &real, selection.exact);
            }
        }
        for path in &selection.listed {
            if let Ok(real) = real_without_following(path, &mut last) {
                scope.add(root, path, &real, selection.exact);
            }
        }
        scope
    }

    /// Returns the first path of a selection that is neither in the tree nor above it. A path that
    /// does not exist is judged by its name.
    pub fn outside(root: &Path, selection: &Selection) -> Option<PathBuf> {
        let mut last = None;
        let apart = |real: &Path| !real.starts_with(root) && !root.starts_with(real);
        let typed = selection.roots.iter().find(|path| real_of(path).is_some_and(|it| apart(&it)));
        let listed = || {
            selection
                .listed
                .iter()
                .find(|path| real_without_following(path, &mut last).is_ok_and(|real| apart(&real)))
        };
        typed.or_else(listed).cloned()
    }

    /// Makes the scope of a run over single files whose paths all begin with `root`.
    pub fn files_beneath(root: &Path) -> RunScope {
        let mut scope = RunScope::default();
        scope.bases.insert(root.to_owned(), PathBuf::new());
        scope
    }

    /// Makes the scope of a walk over everything beneath `root`, with paths that begin with it.
    pub fn whole(root: &Path) -> RunScope {
        let mut scope = RunScope::files_beneath(root);
        scope.trees.insert(PathBuf::new(), ());
        scope
    }

    /// Makes the same scope for a run over single files: files that are not visited are not
    /// missing.
    pub fn without_walks(self) -> RunScope {
        RunScope { trees: Above::default(), ..self }
    }

    /// Adds selected paths of the tree that do not exist.
    pub(super) fn with_absent(self, gone: Vec<PathBuf>) -> RunScope {
        RunScope { gone, ..self }
    }

    /// Returns the selected paths that do not exist.
    pub(super) fn absent(&self) -> &[PathBuf] {
        &self.gone
    }

    fn add(&mut self, root: &Path, said: &Path, real: &Path, exact: bool) {
        let Ok(relative) = real.strip_prefix(root) else {
            // A run above the tree's root walks the whole tree.
            if let Ok(down) = root.strip_prefix(real) {
                let shown = if said == Path::new(".") { Path::new("") } else { said };
                self.bases.insert(shown.join(down), PathBuf::new());
                self.trees.insert(PathBuf::new(), ());
            }
            return;
        };
        if !exact && beneath::is_folder(real) {
            // In the current directory, the walk names files without a directory.
            let shown = if said == Path::new(".") { Path::new("") } else { said };
            self.bases.insert(shown.to_owned(), relative.to_owned());
            self.trees.insert(relative.to_owned(), ());
            return;
        }
        self.files.insert(said.to_owned(), relative.to_owned());
        if said.file_name() == real.file_name()
            && let (Some(shown), Some(parent)) = (said.parent(), relative.parent())
            && !self.bases.contains(shown)
        {
            self.bases.insert(shown.to_owned(), parent.to_owned());
        }
    }

    /// Returns the directory and the name of a path in the tree.
    pub(super) fn locate(&self, path: &FilePath) -> Option<(PathBuf, OsString)> {
        let (directory, name) = if path.name.is_empty() {
            if let Some(relative) = self.files.get(&*path.parent) {
                let name = relative.file_name()?.to_owned();
                return Some((relative.parent()?.to_owned(), name));
            }
            (path.parent.parent()?, path.parent.file_name()?)
        } else {
            (&*path.parent, path.name.as_os_str())
        };
        Some((self.directory(directory)?, name.to_owned()))
    }

    /// Returns the place of a directory in the tree.
    pub(super) fn directory(&self, said: &Path) -> Option<PathBuf> {
        let (base, down) = self.bases.nearest(said)?;
        let relative = if down.as_os_str().is_empty() { base.clone() } else { base.join(down) };
        let ours = relative
            .components()
            .next()
            .is_some_and(|first| first.as_os_str() == OsStr::new(FOLDER));
        (!ours).then_some(relative)
    }

    /// Returns whether a directory is walked with everything beneath it.
    pub(super) fn walks(&self, relative: &Path) -> bool {
        self.trees.nearest(relative).is_some()
    }

    /// Returns whether a walk begins at a directory.
    pub(super) fn begins_at(&self, relative: &Path) -> bool {
        self.trees.contains(relative)
    }

    /// Returns the directories at which walks begin.
    pub(super) fn trees(&self) -> impl Iterator<Item = &Path> {
        self.trees.values.keys().map(PathBuf::as_path)
    }
}

/// Values of directories, found for every path beneath them.
#[derive(Clone, Debug)]
struct Above<V> {
    values: HashMap<PathBuf, V>,
    /// Numbers of components of the directories. Testing every ancestor of a path would be
    /// quadratic in its depth, and cubic for a walk.
    depths: BTreeSet<usize>,
}

impl<V> Default for Above<V> {
    fn default() -> Above<V> {
        Above { values: HashMap::new(), depths: BTreeSet::new() }
    }
}

impl<V> Above<V> {
    fn insert(&mut self, path: PathBuf, value: V) {
        self.depths.insert(path.components().count());
        self.values.insert(path, value);
    }

    fn contains(&self, path: &Path) -> bool {
        self.values.contains_key(path)
    }

    /// Finds the deepest of the directories that contains or equals a path, and the rest of the
    /// path.
    fn nearest<'a>(&self, path: &'a Path) -> Option<(&V, &'a Path)> {
        let bytes = path.as_bytes();
        let (mut rest, mut found) = (path.components(), None);
        for depth in 0..=*self.depths.last()? {
            let down = rest.as_path();
            // A path that begins with `/` is not in the current directory.
            if self.depths.contains(&depth) && (depth > 0 || path.is_relative()) {
                let above = &bytes[..bytes.len() - down.as_os_str().len()];
                let value = self.values.get(Path::from_bytes(above));
                found = value.map(|value| (value, down)).or(found);
            }
            if rest.next().is_none() {
                break;
            }
        }
        found
    }
}

/// Resolves links in the directory of a file's path, but not the file itself.
fn real_without_following(
    path: &Path,
    last: &mut Option<(PathBuf, PathBuf)>,
) -> io::Result<PathBuf> {
    let Some(name) = path.file_name() else { return path.canonicalize() };
    let parent = path.parent().unwrap_or(Path::new(""));
    if let Some((said, real)) = last
        && said == parent
    {
        return Ok(real.join(name));
    }
    let opened = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
    let real = opened.canonicalize()?;
    *last = Some((parent.to_owned(), real.clone()));
    Ok(real.join(name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    fn located(scope: &RunScope, parent: &str, name: &str) -> Option<(PathBuf, OsString)> {
        scope.locate(&FilePath { parent: Arc::from(Path::new(parent)), name: name.into() })
    }

    #[test]
    fn paths_are_said_in_many_ways_and_are_in_one_place() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        std::fs::create_dir_all(root.join("a/b")).unwrap();
        std::fs::write(root.join("a/b/c"), b"").unwrap();
        std::os::unix::fs::symlink(root.join("a/b"), root.join("link")).unwrap();
        let roots = vec![root.join("a"), root.join("link")];
        let listed = vec![root.join("a/b/c"), root.join("a/../a/b/c")];
        let selection = Selection { roots, listed, ..Selection::default() };
        let scope = RunScope::of(&root, &selection);
        let place = Some((PathBuf::from("a/b"), OsString::from("c")));
        let said = |path: &str| root.join(path).to_str().unwrap().to_owned();
        assert_eq!(located(&scope, &said("a/b"), "c"), place);
        assert_eq!(located(&scope, &said("link"), "c"), place);
        assert_eq!(located(&scope, &said("a/b/c"), ""), place);
        assert_eq!(located(&scope, &said("a/../a/b"), "c"), place);
        assert_eq!(located(&scope, "/elsewhere", "c"), None);
        assert!(scope.walks(Path::new("a/b")) && !scope.walks(Path::new("")));
    }

    #[test]
    fn a_walk_from_above_walks_all_and_the_catalogue_itself_is_outside() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap().join("tree");
        std::fs::create_dir(&root).unwrap();
        let roots = vec![root.parent().unwrap().to_owned()];
        let scope = RunScope::of(&root, &Selection { roots, ..Selection::default() });
        let said = root.join("d");
        let place = Some((PathBuf::from("d"), OsString::from("c")));
        assert_eq!(located(&scope, said.to_str().unwrap(), "c"), place);
        assert!(scope.walks(Path::new("d")) && scope.begins_at(Path::new("")));
        assert_eq!(located(&scope, root.join(FOLDER).to_str().unwrap(), "c"), None);
    }
}
