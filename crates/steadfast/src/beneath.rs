//! Opens paths beneath a root, one name at a time.
//!
//! The root is trusted, the paths may be hostile. Every step opens one name in an open directory
//! and follows no link, so nothing outside the root is reached, even if links are planted
//! meanwhile. Knows nothing of tags.

use std::collections::BinaryHeap;
use std::ffi::{OsStr, OsString};
use std::io;
use std::ops::ControlFlow;
use std::path::{Component, Path, PathBuf};

pub use steadfast_sys::file::{
    ChangedFile, Dir, DirEntry, DirectAlignment, Displaced, Draft, Existing, File, FileExtent,
    FileKind, FileSystem, Ownership, Protection, Status, WriterGuard, make_private_folder,
    write_private, write_whole,
};

use crate::placeholder;

/// A name in a directory. Directories sort first, then names by their bytes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Name {
    /// Whether it is something other than a directory.
    pub is_leaf: bool,
    /// The name: any bytes but `/` and NUL.
    pub name: OsString,
    /// Its kind.
    pub kind: NameKind,
}

/// The kind of a name in a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NameKind {
    /// A directory.
    Directory,
    /// A regular file.
    File,
    /// A symbolic link. It is not followed.
    Link,
    /// A fifo, a socket or a device, or of unknown kind.
    Other,
}

/// Names of a directory, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names {
    /// The names.
    pub names: Vec<Name>,
    /// How many follow after them.
    pub more: u64,
    /// How many the directory has in total.
    pub total: u64,
}

/// What is at a path beneath a root, never through a link.
#[derive(Debug)]
pub enum Presence {
    /// This. A placeholder is there for contents that were taken off this machine.
    There(Status),
    /// Something of this kind is in place of it, or of a directory on the way.
    Replaced(FileKind),
    /// Nothing.
    Gone,
    /// The system does not tell, for this reason.
    Unknown(io::Error),
}

impl Presence {
    /// Returns it for something that was of a kind: what is of another one has replaced it.
    #[must_use]
    pub fn of_kind(self, kind: FileKind) -> Presence {
        match self {
            Presence::There(status) if status.kind != kind => Presence::Replaced(status.kind),
            presence => presence,
        }
    }

    /// Returns whether it is certain that it is not there.
    pub fn is_lost(&self) -> bool {
        matches!(self, Presence::Gone | Presence::Replaced(_))
    }

    /// Returns the status of what is there.
    pub fn status(self) -> Option<Status> {
        match self {
            Presence::There(status) => Some(status),
            _ => None,
        }
    }

    fn of_name(dir: &Dir, name: &OsStr) -> Presence {
        match dir.status_of(name) {
            Ok(status) => Presence::There(status),
            Err(error) if error.kind() != io::ErrorKind::NotFound => Presence::Unknown(error),
            Err(_) => placeholder::standing_for(dir, name).map_or(Presence::Gone, Presence::There),
        }
    }
}

impl From<io::Error> for Presence {
    fn from(error: io::Error) -> Presence {
        match error.kind() {
            io::ErrorKind::NotFound => Presence::Gone,
            io::ErrorKind::NotADirectory => Presence::Replaced(FileKind::Regular),
            _ => Presence::Unknown(error),
        }
    }
}

/// Finds out what is at a path beneath a root, which links may lead to.
pub fn presence(root: &Path, path: &Path) -> Presence {
    Places::beneath(root).map_or_else(Presence::from, |mut places| places.presence(path))
}

/// Finds out what is at a path as somebody wrote it: links may lead to its directory.
pub fn presence_of(path: &Path) -> Presence {
    Status::of_link(path).map_or_else(Presence::from, Presence::There)
}

/// Returns whether a path that a person typed leads to a directory, through links.
pub fn is_folder(path: &Path) -> bool {
    Status::of(path).is_ok_and(|status| status.kind == FileKind::Directory)
}

/// Returns whether a path that a person typed leads to a regular file, through links.
pub fn is_file(path: &Path) -> bool {
    Status::of(path).is_ok_and(|status| status.kind == FileKind::Regular)
}

/// Returns the nearest directory at or above a path; of a real path, since links are followed.
pub fn folder_above(path: &Path) -> Option<&Path> {
    path.ancestors().find(|above| is_folder(above))
}

/// Opens a directory beneath a root; an empty path is the root itself.
///
/// # Errors
///
/// `InvalidInput` if the path has components other than names; otherwise the system's error. A link
/// is not a directory.
pub fn directory(root: &Path, path: &Path) -> io::Result<Dir> {
    let root = Dir::open(root)?;
    if path.as_os_str().is_empty() { Ok(root) } else { directory_in(&root, path) }
}

/// Opens a directory beneath an open one.
fn directory_in(root: &Dir, path: &Path) -> io::Result<Dir> {
    let mut dir = None;
    for component in path.components() {
        let Component::Normal(name) = component else { return Err(not_names()) };
        dir = Some(dir.as_ref().unwrap_or(root).open_dir(name)?);
    }
    dir.ok_or_else(not_names)
}

/// Opens a directory beneath the innermost root among several that contains its path.
///
/// # Errors
///
/// As [`directory`]; also if no root contains it.
pub(crate) fn directory_within(roots: &[PathBuf], path: &Path) -> io::Result<Dir> {
    let refused = || io::Error::new(io::ErrorKind::InvalidInput, "the path is not within the root");
    let (root, below) = innermost(roots, path).ok_or_else(refused)?;
    directory(root, below)
}

/// Returns the innermost of several roots that contains a path, and the path from there.
pub(crate) fn innermost<'a>(roots: &'a [PathBuf], path: &'a Path) -> Option<(&'a Path, &'a Path)> {
    let below = |root: &Path| match root == Path::new(".") {
        // What is beneath it is named without it.
        true => Some(path.strip_prefix(root).unwrap_or(path)).filter(|path| path.is_relative()),
        false => path.strip_prefix(root).ok(),
    };
    let within = roots.iter().filter_map(|root| Some((root.as_path(), below(root)?)));
    within.min_by_key(|(_, below)| below.as_os_str().len())
}

/// Returns the status of a path beneath a root. The status of a link is that of the link itself.
///
/// # Errors
///
/// As [`directory`].
pub fn status(root: &Path, path: &Path) -> io::Result<Status> {
    match split(path)? {
        None => Dir::open(root)?.status(),
        Some((parent, name)) => directory(root, parent)?.status_of(name),
    }
}

/// Opens a file beneath a root for reading.
///
/// # Errors
///
/// As [`directory`]; also if it is not a regular file.
pub fn file(root: &Path, path: &Path) -> io::Result<File> {
    let (parent, name) = split(path)?.ok_or_else(not_names)?;
    let file = directory(root, parent)?.open_file(name)?;
    match file.status()?.kind {
        FileKind::Regular => Ok(file),
        _ => Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file")),
    }
}

/// Returns the first `limit` names of a directory after `after`.
///
/// Holds only these names in memory.
///
/// # Errors
///
/// As [`directory`].
pub fn names(root: &Path, path: &Path, after: Option<&Name>, limit: usize) -> io::Result<Names> {
    let dir = directory(root, path)?;
    let mut first: BinaryHeap<Name> = BinaryHeap::with_capacity(limit + 1);
    let (mut total, mut later) = (0, 0);
    dir.entries(&mut |entry| {
        total += 1;
        // A name that was removed meanwhile has no kind.
        let told = || dir.status_of(entry.name).map(|status| status.kind).ok();
        let kind = match entry.kind.or_else(told) {
            Some(FileKind::Directory) => NameKind::Directory,
            Some(FileKind::Regular) => NameKind::File,
            Some(FileKind::Symlink) => NameKind::Link,
            Some(FileKind::Other) | None => NameKind::Other,
        };
        let is_leaf = kind != NameKind::Directory;
        let name = Name { is_leaf, name: entry.name.to_owned(), kind };
        if after.is_none_or(|after| (name.is_leaf, &name.name) > (after.is_leaf, &after.name)) {
            later += 1;
            first.push(name);
            if first.len() > limit {
                first.pop();
            }
        }
        ControlFlow::Continue(())
    })?;
    let names = first.into_sorted_vec();
    Ok(Names { more: later - names.len() as u64, names, total })
}

/// Splits a path into its parent and its name; `None` for the root itself.
pub(crate) fn split(path: &Path) -> io::Result<Option<(&Path, &OsStr)>> {
    match (path.parent(), path.file_name()) {
        _ if path.as_os_str().is_empty() => Ok(None),
        (Some(parent), Some(name)) => Ok(Some((parent, name))),
        _ => Err(not_names()),
    }
}

/// The directory beneath an open one that was opened last: paths of one directory come together.
#[derive(Debug, Default)]
pub(crate) struct LastDir(Option<(PathBuf, Dir)>);

impl LastDir {
    /// Returns the status of a path beneath an open directory, always the same one, as [`status`]
    /// does.
    pub(crate) fn status(&mut self, root: &Dir, path: &Path) -> io::Result<Status> {
        let (parent, name) = split(path)?.ok_or_else(not_names)?;
        self.open(root, parent)?.status_of(name)
    }

    fn open<'a>(&'a mut self, root: &'a Dir, path: &Path) -> io::Result<&'a Dir> {
        if path.as_os_str().is_empty() {
            return Ok(root);
        }
        if self.0.as_ref().is_none_or(|(last, _)| last != path) {
            self.0 = Some((path.to_owned(), directory_in(root, path)?));
        }
        self.0.as_ref().map(|(_, dir)| dir).ok_or_else(not_names)
    }
}

/// The places beneath an open root. While it is open, its volume cannot be unmounted.
#[derive(Debug)]
pub struct Places {
    root: Dir,
    last: LastDir,
}

impl Places {
    /// Opens the root.
    ///
    /// # Errors
    /// The error of the system.
    pub fn beneath(root: &Path) -> io::Result<Places> {
        Ok(Places { root: Dir::open(root)?, last: LastDir::default() })
    }

    /// Returns the root.
    pub fn root(&self) -> &Dir {
        &self.root
    }

    /// Finds out what is at a path.
    pub fn presence(&mut self, path: &Path) -> Presence {
        let (parent, name) = match split(path) {
            Ok(Some(split)) => split,
            Ok(None) => return self.root.status().map_or_else(Presence::from, Presence::There),
            Err(error) => return error.into(),
        };
        match self.last.open(&self.root, parent) {
            Ok(dir) => Presence::of_name(dir, name),
            Err(error) => match self.presence(parent).of_kind(FileKind::Directory) {
                Presence::There(_) => Presence::Unknown(error),
                of_parent => of_parent,
            },
        }
    }

    /// Opens directories anew from now on, because they may have been renamed.
    pub fn renew(&mut self) {
        self.last = LastDir::default();
    }
}

fn not_names() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "the path is not made of names beneath the root")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    #[test]
    fn nothing_leads_out_of_the_root() {
        let outside = tempfile::tempdir().unwrap();
        fs::write(outside.path().join("secret"), "s").unwrap();
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("a")).unwrap();
        fs::write(root.path().join("a/file"), "f").unwrap();
        symlink(outside.path(), root.path().join("link")).unwrap();
        symlink(outside.path().join("secret"), root.path().join("a/leaf")).unwrap();
        let absolute = outside.path().join("secret");
        for path in ["link", "link/secret", "../x", "a/../a", "a/leaf", "/etc", ".."] {
            assert!(directory(root.path(), Path::new(path)).is_err(), "{path}");
            assert!(file(root.path(), Path::new(path)).is_err(), "{path}");
        }
        assert!(file(root.path(), &absolute).is_err());
        assert!(status(root.path(), &absolute).is_err());
        assert!(status(root.path(), Path::new("link/secret")).is_err());
        assert_eq!(status(root.path(), Path::new("link")).unwrap().kind, FileKind::Symlink);
        assert!(file(root.path(), Path::new("a/file")).is_ok());
        assert!(file(root.path(), Path::new("a")).is_err());
        assert!(directory(root.path(), Path::new("")).is_ok());
    }

    #[test]
    fn what_is_there_is_told_from_what_is_gone_or_replaced_and_no_link_is_followed() {
        let outside = tempfile::tempdir().unwrap();
        fs::write(outside.path().join("file"), "f").unwrap();
        let root = tempfile::tempdir().unwrap();
        fs::create_dir_all(root.path().join("a/b")).unwrap();
        fs::write(root.path().join("a/b/file"), "f").unwrap();
        symlink(outside.path(), root.path().join("link")).unwrap();
        symlink("itself", root.path().join("itself")).unwrap();
        let places = &mut Places::beneath(root.path()).unwrap();
        let mut told = |path: &str| match places.presence(Path::new(path)) {
            Presence::There(status) => format!("there {:?}", status.kind),
            Presence::Replaced(kind) => format!("replaced {kind:?}"),
            Presence::Gone => "gone".to_owned(),
            Presence::Unknown(error) => format!("unknown {:?}", error.kind()),
        };
        assert_eq!(told(""), "there Directory");
        assert_eq!(told("a/b/file"), "there Regular");
        assert_eq!(told("link"), "there Symlink");
        assert_eq!(told("a/b/c/d/e"), "gone");
        for path in ["link/file", "link/none", "itself/file", "itself/b/file"] {
            assert_eq!(told(path), "replaced Symlink", "{path}");
        }
        assert_eq!(told("a/b/file/c/d"), "replaced Regular");
        assert_eq!(told("a/../a"), "unknown InvalidInput");
        let file = presence(root.path(), Path::new("a/b/file"));
        let other = file.of_kind(FileKind::Directory);
        assert!(matches!(other, Presence::Replaced(FileKind::Regular)) && other.is_lost());
        assert!(presence(&root.path().join("none"), Path::new("a")).is_lost());
        assert!(presence_of(&root.path().join("itself/a")).status().is_none());
        assert!(!presence_of(&root.path().join("itself/a")).is_lost(), "unknown");
    }

    #[test]
    fn pages_of_names_go_on_where_they_ended() {
        let root = tempfile::tempdir().unwrap();
        for number in 0..40 {
            fs::write(root.path().join(format!("f{number:02}")), "").unwrap();
        }
        fs::create_dir(root.path().join("z")).unwrap();
        let mut after = None;
        let mut seen = Vec::new();
        loop {
            let page = names(root.path(), Path::new(""), after.as_ref(), 7).unwrap();
            assert_eq!((page.total, seen.len() + page.names.len() + page.more as usize), (41, 41));
            seen.extend(page.names.iter().map(|name| name.name.clone()));
            after = page.names.last().cloned();
            if page.more == 0 {
                break;
            }
        }
        assert_eq!((seen.len(), seen[0].to_str(), seen[1].to_str()), (41, Some("z"), Some("f00")));
        assert!(seen[1..].is_sorted());
    }
}
