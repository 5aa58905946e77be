//! The served folders (the roots), and paths beneath them.
//!
//! In: roots named at the start, folders beneath them that pages add, and paths that a browser
//! names. Out: paths on the disk. A served
//! path consists of plain names, so no text can name anything outside its root. Links on the disk
//! are refused where files are opened, by `steadfast::beneath`.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use steadfast::beneath::{self, FileKind, Status, presence_of};
use steadfast::names::NameBytes as _;
use steadfast_report::escape;

use crate::error::Error;
use crate::fields::{decode, encode};

/// Longest path in bytes, as on Linux.
const PATH_LEN_MAX: usize = 4096;

/// Roots at a time, with those that a page added.
const ROOTS_MAX: usize = 256;

/// The folders that are served. A page may add folders beneath them, which are then roots too. A
/// root keeps its index for as long as the server runs.
#[derive(Clone, Debug)]
pub(crate) struct ServedRoots(Arc<RwLock<Vec<ServedRoot>>>);

/// A served folder, and its device and inode when it became a root.
#[derive(Clone, Debug)]
struct ServedRoot {
    path: PathBuf,
    /// `None` if its drive was away then: it is that of the folder that comes.
    identity: Option<(u64, u64)>,
    reach: RootReach,
}

/// How much of a root is served.
#[derive(Clone, Debug, PartialEq, Eq)]
enum RootReach {
    /// All of it: the owner named it.
    Named,
    /// All of it: it lies beneath a named one.
    Added,
    /// Nothing: a page removed it again.
    Removed,
    /// Files of these names alone.
    Files(BTreeSet<OsString>),
}

impl ServedRoot {
    fn of(path: PathBuf, reach: RootReach) -> io::Result<ServedRoot> {
        let identity = Some(identity(&path)?);
        Ok(ServedRoot { path, identity, reach })
    }

    /// Names a folder that is not there now.
    fn away(path: PathBuf) -> ServedRoot {
        ServedRoot { path, identity: None, reach: RootReach::Named }
    }

    /// Returns whether a path of names beneath it is served.
    fn serves(&self, below: &Path) -> bool {
        match &self.reach {
            RootReach::Named | RootReach::Added => true,
            RootReach::Removed => false,
            RootReach::Files(names) => names.contains(below.as_os_str()),
        }
    }

    /// Returns whether it is a folder that pages show.
    fn is_folder(&self) -> bool {
        matches!(self.reach, RootReach::Named | RootReach::Added)
    }
}

fn identity(path: &Path) -> io::Result<(u64, u64)> {
    Status::of(path).map(|found| (found.device, found.inode))
}

/// A root and a path of plain names beneath it. An empty path is the root itself.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ServedPath {
    /// Index of the root.
    pub(crate) root: usize,
    /// The names from there.
    pub(crate) below: PathBuf,
}

impl ServedRoots {
    /// Resolves the links in the paths of folders and of single files, and keeps the folders with
    /// their identity. Of the folder of a single file, that file alone is served. A folder whose
    /// drive `is_away` is served once it comes; so is one that is not there, if another one is.
    ///
    /// # Errors
    /// If there is none of them, or one of the folders is not a folder.
    pub(crate) fn new(
        paths: &[PathBuf],
        files: &[PathBuf],
        is_away: &dyn Fn(&Path) -> bool,
    ) -> Result<ServedRoots, Error> {
        let real = |path: &PathBuf| {
            let refused = |error| Error::system(format!("serve `{}`", escape::path(path)), error);
            path.canonicalize().map_err(refused)
        };
        let root = |path: PathBuf, reach| {
            let shown = escape::path(&path);
            match beneath::is_folder(&path) {
                true => ServedRoot::of(path, reach)
                    .map_err(|error| Error::system(format!("serve `{shown}`"), error)),
                false => Err(Error::usage(format!("`{shown}` is not a folder"))),
            }
        };
        let mut roots: Vec<ServedRoot> = Vec::new();
        for path in paths {
            let found = real(path);
            let path = found.as_ref().map_or_else(|_| lexical(path), Clone::clone);
            let may_come = is_away(&path) || paths.len() > 1 && presence_of(&path).is_lost();
            if !roots.iter().any(|other| other.path == path) {
                roots.push(match found {
                    _ if may_come => ServedRoot::away(path),
                    Err(error) => return Err(error),
                    Ok(_) => root(path, RootReach::Named)?,
                });
            }
        }
        let mut names: BTreeMap<PathBuf, BTreeSet<OsString>> = BTreeMap::new();
        for file in files {
            let file = real(file)?;
            if let (Some(folder), Some(name)) = (file.parent(), file.file_name()) {
                names.entry(folder.to_owned()).or_default().insert(name.to_owned());
            }
        }
        for (folder, names) in names {
            roots.push(root(folder, RootReach::Files(names))?);
        }
        match roots.is_empty() {
            true => Err(Error::usage("there is no folder to serve")),
            false => Ok(ServedRoots(Arc::new(RwLock::new(roots)))),
        }
    }

    fn read(&self) -> RwLockReadGuard<'_, Vec<ServedRoot>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Vec<ServedRoot>> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the roots that are folders.
    pub(crate) fn places(&self) -> Vec<ServedPath> {
        let roots = self.read();
        let folders = roots.iter().enumerate().filter(|(_, root)| root.is_folder());
        folders.map(|(root, _)| ServedPath { root, below: PathBuf::new() }).collect()
    }

    /// Returns the root of an index, if it is a folder.
    pub(crate) fn at(&self, root: usize) -> Option<ServedPath> {
        self.read().get(root).filter(|root| root.is_folder())?;
        Some(ServedPath { root, below: PathBuf::new() })
    }

    /// Returns whether a page added this root, so that a page may remove it.
    pub(crate) fn is_added(&self, place: &ServedPath) -> bool {
        self.read()[place.root].reach == RootReach::Added
    }

    /// Makes a folder beneath a root a root of its own, and returns it. Waits for the disk.
    ///
    /// # Errors
    /// If it is not a folder, is or contains a link, or there are too many roots.
    pub(crate) fn add(&self, place: &ServedPath) -> io::Result<ServedPath> {
        if place.is_root() {
            return Ok(place.clone());
        }
        let path = self.path(place);
        let found = beneath::status(&self.root(place)?, &place.below)?;
        if found.kind != FileKind::Directory {
            return Err(io::Error::new(io::ErrorKind::NotADirectory, "not a folder"));
        }
        let identity = Some((found.device, found.inode));
        let mut roots = self.write();
        let root = match roots.iter().position(|root| root.path == path) {
            Some(known) if roots[known].is_folder() => known,
            Some(known) if roots[known].reach == RootReach::Removed => {
                (roots[known].identity, roots[known].reach) = (identity, RootReach::Added);
                known
            }
            _ if roots.len() >= ROOTS_MAX => return Err(io::ErrorKind::QuotaExceeded.into()),
            _ => {
                roots.push(ServedRoot { path, identity, reach: RootReach::Added });
                roots.len() - 1
            }
        };
        Ok(ServedPath { root, below: PathBuf::new() })
    }

    /// Removes a root that a page added. Returns whether it was one.
    pub(crate) fn remove(&self, place: &ServedPath) -> bool {
        let root = &mut self.write()[place.root];
        let is_added = root.reach == RootReach::Added;
        if is_added {
            root.reach = RootReach::Removed;
        }
        is_added
    }

    /// Parses the output of [`ServedPath::token`]. Returns `None` for anything else.
    pub(crate) fn place(&self, token: &str) -> Option<ServedPath> {
        let (root, below) = token.split_once('/')?;
        let root: usize = root.parse().ok()?;
        let below = names_of(&decode(below.as_bytes())?)?;
        self.read().get(root).filter(|root| root.serves(&below))?;
        Some(ServedPath { root, below })
    }

    /// Finds the root that a path of the disk is beneath. Returns `None` if there is none.
    ///
    /// Compares names only: does not follow links in the path.
    pub(crate) fn place_of(&self, path: &Path) -> Option<ServedPath> {
        let roots = self.read();
        let within = roots.iter().enumerate().filter_map(|(root, above)| {
            let below = path.strip_prefix(&above.path).ok()?;
            let below = names_of(below.as_bytes())?;
            above.serves(&below).then_some(ServedPath { root, below })
        });
        // Of nested roots, the innermost.
        within.min_by_key(|place| place.below.as_os_str().len())
    }

    /// Returns the path of a root, to open files beneath it. Waits for the disk.
    ///
    /// # Errors
    /// If the folder was replaced since the start, for example by a link: the owner did not name
    /// the folder that is there now.
    pub(crate) fn root(&self, place: &ServedPath) -> io::Result<PathBuf> {
        let root = self.read()[place.root].clone();
        let found = identity(&root.path)?;
        let refused = |text: &str| Err(io::Error::new(io::ErrorKind::NotFound, text));
        match root.identity {
            Some(known) if known == found => Ok(root.path),
            Some(_) => refused("another folder is in its place than when the server was started"),
            None if root.path.canonicalize()? != root.path => {
                refused("a link is in its place, and the folder was not there at the start")
            }
            None => {
                self.write()[place.root].identity = Some(found);
                Ok(root.path)
            }
        }
    }

    /// Lets a root be another folder of the same name from now on: that of a drive that came.
    pub(crate) fn expect_another(&self, place: &ServedPath) {
        self.write()[place.root].identity = None;
    }

    /// Returns the path of a folder or a file for a run. Waits for the disk.
    ///
    /// # Errors
    /// As [`ServedRoots::root`]. Also if the path is or contains a link, or is neither a folder nor
    /// a file.
    pub(crate) fn resolve(&self, place: &ServedPath) -> io::Result<PathBuf> {
        let kind = beneath::status(&self.root(place)?, &place.below)?.kind;
        match kind {
            FileKind::Directory | FileKind::Regular => Ok(self.path(place)),
            _ => Err(io::Error::new(io::ErrorKind::NotFound, "not a folder or a file")),
        }
    }

    /// Returns the path on the disk, without looking at the disk.
    pub(crate) fn path(&self, place: &ServedPath) -> PathBuf {
        let root = &self.read()[place.root].path;
        match place.is_root() {
            true => root.to_owned(),
            false => root.join(&place.below),
        }
    }

    /// Returns whether one of two paths contains the other, also in nested roots.
    pub(crate) fn overlap(&self, one: &ServedPath, other: &ServedPath) -> bool {
        let (one, other) = (self.path(one), self.path(other));
        one.starts_with(&other) || other.starts_with(&one)
    }

    /// Returns the path as documents show it.
    pub(crate) fn shown(&self, place: &ServedPath) -> String {
        escape::path(&self.path(place))
    }
}

impl ServedPath {
    /// Returns whether this is a root itself.
    pub(crate) fn is_root(&self) -> bool {
        self.below.as_os_str().is_empty()
    }

    /// Encodes the path for addresses and forms, in ASCII.
    pub(crate) fn token(&self) -> String {
        format!("{}/{}", self.root, encode(self.below.as_bytes()))
    }

    /// Encodes the token as the value of a query.
    pub(crate) fn query(&self) -> String {
        encode(self.token().as_bytes())
    }

    /// Returns another path beneath the same root.
    pub(crate) fn with(&self, below: &Path) -> ServedPath {
        ServedPath { root: self.root, below: below.to_owned() }
    }

    /// Returns the path of a name in this folder.
    pub(crate) fn join(&self, name: &OsStr) -> ServedPath {
        ServedPath { root: self.root, below: self.below.join(name) }
    }

    /// Returns the paths from the root down to this one.
    pub(crate) fn way(&self) -> Vec<ServedPath> {
        let mut above: Vec<&Path> = self.below.ancestors().collect();
        above.reverse();
        above
            .into_iter()
            .map(|below| ServedPath { root: self.root, below: below.to_owned() })
            .collect()
    }
}

/// Returns an absolute path without looking at the disk.
fn lexical(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

/// Splits a path into plain names. Returns `None` if it contains anything else.
fn names_of(path: &[u8]) -> Option<PathBuf> {
    if path.len() > PATH_LEN_MAX || path.contains(&0) {
        return None;
    }
    let mut names = PathBuf::new();
    for component in Path::from_bytes(path).components() {
        let Component::Normal(name) = component else { return None };
        names.push(name);
    }
    Some(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn roots() -> ServedRoots {
        let root = |path: &str| ServedRoot {
            path: PathBuf::from(path),
            identity: Some((0, 0)),
            reach: RootReach::Named,
        };
        ServedRoots(Arc::new(RwLock::new(vec![root("/a"), root("/a/b")])))
    }

    #[test]
    fn a_place_is_names_beneath_a_root() {
        let roots = roots();
        let place = roots.place("0/x%20y/%FF").unwrap();
        assert_eq!(roots.path(&place), Path::from_bytes(b"/a/x y/\xff"));
        assert_eq!(roots.place(&place.token()), Some(place.clone()));
        assert_eq!(roots.path(&roots.place("1/").unwrap()), Path::new("/a/b"));
        let way: Vec<PathBuf> = place.way().iter().map(|place| roots.path(place)).collect();
        assert_eq!(way, [PathBuf::from("/a"), PathBuf::from("/a/x y"), roots.path(&place)]);
    }

    #[test]
    fn nothing_else_is_a_place() {
        let long = format!("0/{}", "x".repeat(PATH_LEN_MAX + 1));
        for token in [
            "",
            "0",
            "2/",
            "-1/",
            "0/..",
            "0/../b",
            "0/a/../../b",
            "0/%2e%2e/b",
            "0//etc",
            "0/%2Fetc",
            "0/a%00b",
            "0/%",
            "x/",
            &long,
        ] {
            assert_eq!(roots().place(token), None, "{token}");
        }
    }

    #[test]
    fn a_path_is_found_in_the_innermost_root() {
        let roots = roots();
        let place = |root, below: &str| Some(ServedPath { root, below: PathBuf::from(below) });
        assert_eq!(roots.place_of(Path::new("/a/b/c")), place(1, "c"));
        assert_eq!(roots.place_of(Path::new("/a/c")), place(0, "c"));
        assert_eq!(roots.place_of(Path::new("/a")), place(0, ""));
        for path in ["/", "/ab", "a/b", "/a/../etc", ""] {
            assert_eq!(roots.place_of(Path::new(path)), None, "{path}");
        }
    }

    #[test]
    fn places_overlap_up_and_down() {
        let roots = roots();
        let place = |root, below: &str| ServedPath { root, below: PathBuf::from(below) };
        for (one, other, overlap) in [
            (place(0, ""), place(0, "a/b"), true),
            (place(0, "a/b"), place(0, "a"), true),
            (place(0, "a/b"), place(0, "a/c"), false),
            (place(0, "ab"), place(0, "a"), false),
            // ServedRoots within each other.
            (place(0, ""), place(1, ""), true),
            (place(1, "c"), place(0, "b"), true),
            (place(0, "c"), place(1, "c"), false),
        ] {
            assert_eq!(roots.overlap(&one, &other), overlap, "{one:?} {other:?}");
        }
    }

    #[test]
    fn folders_beneath_a_root_become_roots_and_go_again() {
        let folder = tempfile::tempdir().unwrap();
        let tree = folder.path().canonicalize().unwrap();
        std::fs::create_dir_all(tree.join("a/b")).unwrap();
        std::fs::write(tree.join("file"), "").unwrap();
        std::os::unix::fs::symlink("a", tree.join("link")).unwrap();
        let roots = ServedRoots::new(std::slice::from_ref(&tree), &[], &|_| false).unwrap();
        let place = |token: &str| roots.place(token).unwrap();
        for refused in ["0/file", "0/link", "0/link/b", "0/gone"] {
            assert!(roots.add(&place(refused)).is_err(), "{refused}");
        }
        assert_eq!(roots.add(&place("0/")).unwrap().root, 0);
        let added = roots.add(&place("0/a/b")).unwrap();
        assert_eq!((added.root, roots.path(&added)), (1, tree.join("a/b")));
        assert_eq!(roots.add(&place("0/a/b")).unwrap(), added);
        assert_eq!(roots.place_of(&tree.join("a/b/c")).unwrap().root, 1);
        assert!(roots.is_added(&added) && !roots.remove(&place("0/")));
        assert!(roots.remove(&added) && roots.places().len() == 1);
        assert_eq!((roots.place("1/"), roots.at(1)), (None, None));
        assert_eq!(roots.place_of(&tree.join("a/b/c")).unwrap().root, 0);
        // Replaced by a link, it is not the folder that was added.
        let added = roots.add(&place("0/a/b")).unwrap();
        std::fs::rename(tree.join("a"), tree.join("moved")).unwrap();
        std::fs::create_dir_all(tree.join("elsewhere/b")).unwrap();
        std::os::unix::fs::symlink("elsewhere", tree.join("a")).unwrap();
        assert!(roots.root(&added).is_err());
    }

    #[test]
    fn of_the_folder_of_a_file_only_that_file_is_served() {
        let folder = tempfile::tempdir().unwrap();
        let tree = folder.path().canonicalize().unwrap();
        std::fs::create_dir(tree.join("folder")).unwrap();
        for name in ["one", "two", "folder/one"] {
            std::fs::write(tree.join(name), "").unwrap();
        }
        let roots = ServedRoots::new(&[], &[tree.join("one")], &|_| false).unwrap();
        assert!(roots.places().is_empty());
        assert_eq!(roots.path(&roots.place("0/one").unwrap()), tree.join("one"));
        for token in ["0/", "0/two", "0/folder", "0/folder/one", "0/one/x"] {
            assert_eq!(roots.place(token), None, "{token}");
        }
        assert_eq!(roots.place_of(&tree.join("two")), None);
        assert!(ServedRoots::new(&[], &[], &|_| false).is_err());
    }
}
