//! Copies that the user registered, which every repair uses without being told.
//!
//! The list is beside that of the catalogued trees, in the user's own state folder: what lies in a
//! tree must name no place outside of it. `docs/formats/trees.md` specifies its format.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use steadfast_sys::file::write_private;
use steadfast_sys::names::{NameBuf as _, NameBytes as _};

use crate::catalogue::{decode, encode};

/// The first line with the version.
const HEAD: &str = "steadfast copies 1";

/// Registered copies of trees, in one file.
#[derive(Clone, Debug)]
pub struct CopyList {
    file: PathBuf,
}

impl CopyList {
    /// Uses the list beside a list of catalogued trees. Neither need exist.
    pub fn beside(trees: &Path) -> CopyList {
        CopyList { file: trees.with_file_name("copies") }
    }

    /// Returns the copies of the tree at a root, whether they are there or not.
    ///
    /// # Errors
    /// If the list cannot be read, or is of a later version.
    pub fn of(&self, root: &Path) -> io::Result<Vec<PathBuf>> {
        let all = self.load()?.into_iter();
        Ok(all.filter(|(tree, _)| tree == root).map(|(_, copy)| copy).collect())
    }

    /// Registers a copy of the tree at a root. Both are absolute.
    ///
    /// # Errors
    /// If the list is of a later version, or cannot be written.
    pub fn add(&self, root: &Path, copy: &Path) -> io::Result<()> {
        let mut all = self.load()?;
        all.retain(|(tree, other)| tree != root || other != copy);
        all.push((root.to_owned(), copy.to_owned()));
        all.sort();
        self.store(&all)
    }

    /// Forgets a copy. Returns whether it was registered.
    ///
    /// # Errors
    /// As [`CopyList::add`].
    pub fn remove(&self, root: &Path, copy: &Path) -> io::Result<bool> {
        let mut all = self.load()?;
        let before = all.len();
        all.retain(|(tree, other)| tree != root || other != copy);
        let is_removed = all.len() < before;
        if is_removed {
            self.store(&all)?;
        }
        Ok(is_removed)
    }

    fn load(&self) -> io::Result<Vec<(PathBuf, PathBuf)>> {
        let text = match fs::read(&self.file) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let text = String::from_utf8_lossy(&text);
        let mut lines = text.lines();
        if lines.next() != Some(HEAD) {
            return Err(io::Error::other("the list of copies is damaged or of a later version"));
        }
        let path = |word| {
            let path = PathBuf::from_vec(decode(word)?);
            Some(path).filter(|path| path.is_absolute())
        };
        Ok(lines
            .filter_map(|line| line.split_once(' '))
            .filter_map(|(root, copy)| Some((path(root)?, path(copy)?)))
            .collect())
    }

    fn store(&self, all: &[(PathBuf, PathBuf)]) -> io::Result<()> {
        let word = |path: &Path| encode(path.as_bytes());
        let lines = all.iter().map(|(root, copy)| format!("{} {}\n", word(root), word(copy)));
        let text = format!("{HEAD}\n{}", lines.collect::<String>());
        write_private(&self.file, text.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_are_kept_for_each_tree_and_forgotten_by_name() {
        let folder = tempfile::tempdir().unwrap();
        let list = CopyList::beside(&folder.path().join("new/trees"));
        let hostile = Path::from_bytes(b"/a b\n%/\xff");
        assert!(list.of(hostile).unwrap().is_empty());
        for _ in 0..2 {
            list.add(hostile, Path::new("/copy one")).unwrap();
            list.add(hostile, Path::new("/copy two")).unwrap();
            list.add(Path::new("/b"), hostile).unwrap();
        }
        assert_eq!(list.of(hostile).unwrap(), [Path::new("/copy one"), Path::new("/copy two")]);
        assert_eq!(list.of(Path::new("/b")).unwrap(), [hostile]);
        assert!(list.remove(hostile, Path::new("/copy one")).unwrap());
        assert!(!list.remove(hostile, Path::new("/copy one")).unwrap());
        assert_eq!(list.of(hostile).unwrap(), [Path::new("/copy two")]);
        fs::write(&list.file, "steadfast copies 2\n").unwrap();
        assert!(list.of(hostile).is_err() && list.add(hostile, hostile).is_err());
    }
}
