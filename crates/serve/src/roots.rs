//! The folders that are served, and places beneath them.
//!
//! In: roots named at start, and places that a browser names. Out: paths. A place is made of names
//! alone, so that no text can mean anything outside its root; that no link on the disk leads out is
//! seen to where files are opened, by `steadfast::beneath`.

use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Component, Path, PathBuf};

use steadfast::beneath::{self, FileKind};
use steadfast_report::escape;

use crate::error::Error;
use crate::fields::{decode, encode};

/// Bytes of a path that is looked at: as many as systems allow.
const PATH_LEN_MAX: usize = 4096;

/// The folders that are served.
#[derive(Clone, Debug)]
pub(crate) struct Roots(Vec<Root>);

/// One of them, and which folder that was at the start: device and number.
#[derive(Clone, Debug)]
struct Root {
    path: PathBuf,
    identity: (u64, u64),
}

impl Root {
    fn of(path: PathBuf) -> io::Result<Root> {
        let identity = identity(&path)?;
        Ok(Root { path, identity })
    }
}

fn identity(path: &Path) -> io::Result<(u64, u64)> {
    path.metadata().map(|found| (found.dev(), found.ino()))
}

/// A root and a path beneath it, made of names alone; an empty path is the root itself.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Place {
    /// Index of the root.
    pub(crate) root: usize,
    /// The names from there.
    pub(crate) below: PathBuf,
}

impl Roots {
    /// Takes folders as they are now, without links in their paths.
    ///
    /// # Errors
    /// If there is none, or one is no folder.
    pub(crate) fn new(paths: &[PathBuf]) -> Result<Roots, Error> {
        let real = |path: &PathBuf| {
            let shown = escape::path(path);
            let refused = |error| Error::system(format!("serve `{shown}`"), error);
            let real = path.canonicalize().map_err(refused)?;
            match real.is_dir() {
                true => Root::of(real).map_err(refused),
                false => Err(Error::usage(format!("`{shown}` is not a folder"))),
            }
        };
        let mut roots: Vec<Root> = Vec::new();
        for path in paths {
            let root = real(path)?;
            if !roots.iter().any(|other| other.path == root.path) {
                roots.push(root);
            }
        }
        match roots.is_empty() {
            true => Err(Error::usage("there is no folder to serve")),
            false => Ok(Roots(roots)),
        }
    }

    /// Returns the roots as places.
    pub(crate) fn places(&self) -> impl Iterator<Item = Place> {
        (0..self.0.len()).map(|root| Place { root, below: PathBuf::new() })
    }

    /// Reads what [`Place::token`] wrote; `None` for anything else.
    pub(crate) fn place(&self, token: &str) -> Option<Place> {
        let (root, below) = token.split_once('/')?;
        let root = root.parse().ok().filter(|root| *root < self.0.len())?;
        let below = decode(below.as_bytes())?;
        Some(Place { root, below: names_of(&below)? })
    }

    /// Finds the place of a path that a person or a program wrote; `None` if no root holds it.
    ///
    /// The path is taken by its letters: links in it are not followed.
    pub(crate) fn place_of(&self, path: &Path) -> Option<Place> {
        let within = self.0.iter().enumerate().filter_map(|(root, above)| {
            let below = path.strip_prefix(&above.path).ok()?;
            Some(Place { root, below: names_of(below.as_os_str().as_bytes())? })
        });
        // Of roots within each other, the innermost.
        within.min_by_key(|place| place.below.as_os_str().len())
    }

    /// Returns the path of a place's root, to open what is beneath it. It waits for the disk.
    ///
    /// # Errors
    /// If it is not the folder any more that was named at the start, as after a link took its name:
    /// what is there now, nobody named.
    pub(crate) fn root(&self, place: &Place) -> io::Result<&Path> {
        let root = &self.0[place.root];
        match identity(&root.path)? == root.identity {
            true => Ok(&root.path),
            false => {
                let text = "another folder is in its place than when the server was started";
                Err(io::Error::new(io::ErrorKind::NotFound, text))
            }
        }
    }

    /// Returns the path of a place for a run: a folder or a file that is reached from its root
    /// without a link. It waits for the disk.
    ///
    /// # Errors
    /// As [`Roots::root`]; also if the place is a link or has one on its path, or is neither a
    /// folder nor a file.
    pub(crate) fn resolve(&self, place: &Place) -> io::Result<PathBuf> {
        let kind = beneath::status(self.root(place)?, &place.below)?.kind;
        match kind {
            FileKind::Directory | FileKind::Regular => Ok(self.path(place)),
            _ => Err(io::Error::new(io::ErrorKind::NotFound, "not a folder or a file")),
        }
    }

    /// Returns the path of a place, as far as letters tell.
    pub(crate) fn path(&self, place: &Place) -> PathBuf {
        let root = &self.0[place.root].path;
        match place.below.as_os_str().is_empty() {
            true => root.to_owned(),
            false => root.join(&place.below),
        }
    }

    /// Says whether one of two places holds the other, also where roots are within each other.
    pub(crate) fn overlap(&self, one: &Place, other: &Place) -> bool {
        let (one, other) = (self.path(one), self.path(other));
        one.starts_with(&other) || other.starts_with(&one)
    }

    /// Returns the path of a place as documents show it.
    pub(crate) fn shown(&self, place: &Place) -> String {
        escape::path(&self.path(place))
    }
}

impl Place {
    /// Writes a place as addresses and forms carry it: ASCII, whatever its names hold.
    pub(crate) fn token(&self) -> String {
        format!("{}/{}", self.root, encode(self.below.as_os_str().as_bytes()))
    }

    /// Writes it as the value of a query.
    pub(crate) fn query(&self) -> String {
        encode(self.token().as_bytes())
    }

    /// Returns the place of a name directly beneath.
    pub(crate) fn join(&self, name: &OsStr) -> Place {
        Place { root: self.root, below: self.below.join(name) }
    }

    /// Returns the places from the root down to this one.
    pub(crate) fn way(&self) -> Vec<Place> {
        let mut above: Vec<&Path> = self.below.ancestors().collect();
        above.reverse();
        above.into_iter().map(|below| Place { root: self.root, below: below.to_owned() }).collect()
    }
}

/// Takes a path apart; `None` if it has anything but names.
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

    fn roots() -> Roots {
        let root = |path: &str| Root { path: PathBuf::from(path), identity: (0, 0) };
        Roots(vec![root("/a"), root("/a/b")])
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
        let place = |root, below: &str| Some(Place { root, below: PathBuf::from(below) });
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
        let place = |root, below: &str| Place { root, below: PathBuf::from(below) };
        for (one, other, overlap) in [
            (place(0, ""), place(0, "a/b"), true),
            (place(0, "a/b"), place(0, "a"), true),
            (place(0, "a/b"), place(0, "a/c"), false),
            (place(0, "ab"), place(0, "a"), false),
            // Roots within each other.
            (place(0, ""), place(1, ""), true),
            (place(1, "c"), place(0, "b"), true),
            (place(0, "c"), place(1, "c"), false),
        ] {
            assert_eq!(roots.overlap(&one, &other), overlap, "{one:?} {other:?}");
        }
    }
}
