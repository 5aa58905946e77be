//! The served folders (the roots), and paths beneath them.
//!
//! In: roots named at the start, and paths that a browser names. Out: paths on the disk. A served
//! path consists of plain names, so no text can name anything outside its root. Links on the disk
//! are refused where files are opened, by `steadfast::beneath`.

use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Component, Path, PathBuf};

use steadfast::beneath::{self, FileKind};
use steadfast_report::escape;

use crate::error::Error;
use crate::fields::{decode, encode};

/// Longest path in bytes, as on Linux.
const PATH_LEN_MAX: usize = 4096;

/// The folders that are served.
#[derive(Clone, Debug)]
pub(crate) struct ServedRoots(Vec<ServedRoot>);

/// A served folder, and its device and inode at the start.
#[derive(Clone, Debug)]
struct ServedRoot {
    path: PathBuf,
    identity: (u64, u64),
}

impl ServedRoot {
    fn of(path: PathBuf) -> io::Result<ServedRoot> {
        let identity = identity(&path)?;
        Ok(ServedRoot { path, identity })
    }
}

fn identity(path: &Path) -> io::Result<(u64, u64)> {
    path.metadata().map(|found| (found.dev(), found.ino()))
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
    /// Resolves the links in the paths of folders, and keeps them with their identity.
    ///
    /// # Errors
    /// If there is no folder, or one of them is not a folder.
    pub(crate) fn new(paths: &[PathBuf]) -> Result<ServedRoots, Error> {
        let real = |path: &PathBuf| {
            let shown = escape::path(path);
            let refused = |error| Error::system(format!("serve `{shown}`"), error);
            let real = path.canonicalize().map_err(refused)?;
            match real.is_dir() {
                true => ServedRoot::of(real).map_err(refused),
                false => Err(Error::usage(format!("`{shown}` is not a folder"))),
            }
        };
        let mut roots: Vec<ServedRoot> = Vec::new();
        for path in paths {
            let root = real(path)?;
            if !roots.iter().any(|other| other.path == root.path) {
                roots.push(root);
            }
        }
        match roots.is_empty() {
            true => Err(Error::usage("there is no folder to serve")),
            false => Ok(ServedRoots(roots)),
        }
    }

    /// Returns the roots.
    pub(crate) fn places(&self) -> impl Iterator<Item = ServedPath> {
        (0..self.0.len()).map(|root| ServedPath { root, below: PathBuf::new() })
    }

    /// Parses the output of [`ServedPath::token`]. Returns `None` for anything else.
    pub(crate) fn place(&self, token: &str) -> Option<ServedPath> {
        let (root, below) = token.split_once('/')?;
        let root = root.parse().ok().filter(|root| *root < self.0.len())?;
        let below = decode(below.as_bytes())?;
        Some(ServedPath { root, below: names_of(&below)? })
    }

    /// Finds the root that a path of the disk is beneath. Returns `None` if there is none.
    ///
    /// Compares names only: does not follow links in the path.
    pub(crate) fn place_of(&self, path: &Path) -> Option<ServedPath> {
        let within = self.0.iter().enumerate().filter_map(|(root, above)| {
            let below = path.strip_prefix(&above.path).ok()?;
            Some(ServedPath { root, below: names_of(below.as_os_str().as_bytes())? })
        });
        // Of nested roots, the innermost.
        within.min_by_key(|place| place.below.as_os_str().len())
    }

    /// Returns the path of a root, to open files beneath it. Waits for the disk.
    ///
    /// # Errors
    /// If the folder was replaced since the start, for example by a link: the owner did not name
    /// the folder that is there now.
    pub(crate) fn root(&self, place: &ServedPath) -> io::Result<&Path> {
        let root = &self.0[place.root];
        match identity(&root.path)? == root.identity {
            true => Ok(&root.path),
            false => {
                let text = "another folder is in its place than when the server was started";
                Err(io::Error::new(io::ErrorKind::NotFound, text))
            }
        }
    }

    /// Returns the path of a folder or a file for a run. Waits for the disk.
    ///
    /// # Errors
    /// As [`ServedRoots::root`]. Also if the path is or contains a link, or is neither a folder nor
    /// a file.
    pub(crate) fn resolve(&self, place: &ServedPath) -> io::Result<PathBuf> {
        let kind = beneath::status(self.root(place)?, &place.below)?.kind;
        match kind {
            FileKind::Directory | FileKind::Regular => Ok(self.path(place)),
            _ => Err(io::Error::new(io::ErrorKind::NotFound, "not a folder or a file")),
        }
    }

    /// Returns the path on the disk, without looking at the disk.
    pub(crate) fn path(&self, place: &ServedPath) -> PathBuf {
        let root = &self.0[place.root].path;
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
        format!("{}/{}", self.root, encode(self.below.as_os_str().as_bytes()))
    }

    /// Encodes the token as the value of a query.
    pub(crate) fn query(&self) -> String {
        encode(self.token().as_bytes())
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

/// Splits a path into plain names. Returns `None` if it contains anything else.
fn names_of(path: &[u8]) -> Option<PathBuf> {
    if path.len() > PATH_LEN_MAX || path.contains(&0) {
        return None;
    }
    let mut names = PathBuf::new();
    for component in Path::new(OsStr::from_bytes(path)).components() {
        let Component::Normal(name) = component else { return None };
        names.push(name);
    }
    Some(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn roots() -> ServedRoots {
        let root = |path: &str| ServedRoot { path: PathBuf::from(path), identity: (0, 0) };
        ServedRoots(vec![root("/a"), root("/a/b")])
    }

    #[test]
    fn a_place_is_names_beneath_a_root() {
        let roots = roots();
        let place = roots.place("0/x%20y/%FF").unwrap();
        assert_eq!(roots.path(&place), Path::new(OsStr::from_bytes(b"/a/x y/\xff")));
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
}
