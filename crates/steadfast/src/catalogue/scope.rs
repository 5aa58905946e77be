//! What part of a tree a run is about, and where the paths that it says are in the tree.
//!
//! In: the paths that a run was given, and paths as its events have them. Out: paths from the
//! tree's root, or nothing for what lies outside of it.

use std::collections::{BTreeSet, HashMap};
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::place::real_of;
use crate::event::FilePath;
use crate::selection::Selection;
use crate::tree_folder::FOLDER;

/// The part of a tree that a run is about.
#[derive(Clone, Debug, Default)]
pub struct RunScope {
    /// Directories as the run says them, and where they are.
    bases: Above<PathBuf>,
    /// Files that were given by a path that may be a link.
    files: HashMap<PathBuf, PathBuf>,
    /// Directories that are walked with all that is beneath them.
    trees: Above<()>,
    /// Files and directories that were given, are known, and are not there.
    gone: Vec<PathBuf>,
}

impl RunScope {
    /// Makes the scope of a selection. `root` is the tree's root without links in its path.
    ///
    /// What cannot be found, and what is outside of the tree, is left out: a run says that itself.
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

    /// Returns the first path of a selection that is neither in the tree nor above it. What is not
    /// there is where it would be.
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

    /// Makes the scope of a run over single files, all of whose paths begin with `root`.
    pub fn files_beneath(root: &Path) -> RunScope {
        let mut scope = RunScope::default();
        scope.bases.insert(root.to_owned(), PathBuf::new());
        scope
    }

    /// Makes the scope of a walk over all that is beneath `root`, said with paths that begin so.
    pub fn whole(root: &Path) -> RunScope {
        let mut scope = RunScope::files_beneath(root);
        scope.trees.insert(PathBuf::new(), ());
        scope
    }

    /// Makes the same scope of a run over single files: what it does not come to is not missing.
    pub fn without_walks(self) -> RunScope {
        RunScope { trees: Above::default(), ..self }
    }

    /// Makes the same scope of a run that was also given these paths of the tree, where nothing is.
    pub(super) fn with_gone(self, gone: Vec<PathBuf>) -> RunScope {
        RunScope { gone, ..self }
    }

    /// Returns the paths that were given and are not there.
    pub(super) fn gone(&self) -> &[PathBuf] {
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
        if !exact && real.is_dir() {
            // The walk says the current directory's files without a directory.
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

    /// Returns the directory and the name that a path has in the tree.
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

    /// Returns where a directory is in the tree.
    pub(super) fn directory(&self, said: &Path) -> Option<PathBuf> {
        let (base, down) = self.bases.nearest(said)?;
        let relative = if down.as_os_str().is_empty() { base.clone() } else { base.join(down) };
        let ours = relative
            .components()
            .next()
            .is_some_and(|first| first.as_os_str() == OsStr::new(FOLDER));
        (!ours).then_some(relative)
    }

    /// Says whether a directory is walked with all that is beneath it.
    pub(super) fn walks(&self, relative: &Path) -> bool {
        self.trees.nearest(relative).is_some()
    }

    /// Says whether a directory is where a walk begins.
    pub(super) fn begins_at(&self, relative: &Path) -> bool {
        self.trees.contains(relative)
    }

    /// Returns the directories where walks begin.
    pub(super) fn trees(&self) -> impl Iterator<Item = &Path> {
        self.trees.values.keys().map(PathBuf::as_path)
    }
}

/// Values of directories, to be found for what is beneath them.
#[derive(Clone, Debug)]
struct Above<V> {
    values: HashMap<PathBuf, V>,
    /// Numbers of components that the directories have. To look for every ancestor of a path would
    /// take the square of its depth, and a walk down to it the cube.
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

    /// Finds the deepest of the directories that a path is in, or is, and the way down from there.
    fn nearest<'a>(&self, path: &'a Path) -> Option<(&V, &'a Path)> {
        let bytes = path.as_os_str().as_bytes();
        let (mut rest, mut found) = (path.components(), None);
        for depth in 0..=*self.depths.last()? {
            let down = rest.as_path();
            // Nothing that begins with `/` is in the current directory.
            if self.depths.contains(&depth) && (depth > 0 || path.is_relative()) {
                let above = &bytes[..bytes.len() - down.as_os_str().len()];
                let value = self.values.get(Path::new(OsStr::from_bytes(above)));
                found = value.map(|value| (value, down)).or(found);
            }
            if rest.next().is_none() {
                break;
            }
        }
        found
    }
}

/// Resolves the links in the path to a file, and not the file itself.
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
