//! Reads a bundle by names: the kind, the bytes and the symlink target of each.
//!
//! Names are bytes with slashes, relative to the root of the tree; the root itself is the empty
//! name. No implementation follows a symlink below the root.

use std::ffi::OsStr;
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use steadfast_sys::file::{Dir, FileKind};
use steadfast_sys::names::{NameBuf as _, NameBytes as _};
use unicode_normalization::UnicodeNormalization as _;

use steadfast_sys::source::{FileSource, ReadAt};
use steadfast_sys::xattr;

/// The attribute with a file's resource fork.
const RESOURCE_FORK: &str = "com.apple.ResourceFork";

/// The longest resource fork that is read; Linux keeps none that is longer.
const FORK_LEN_MAX: usize = 64 << 10;

/// The kind of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// A symbolic link.
    Symlink,
    /// A fifo, a socket or a device.
    Other,
}

/// A tree of names that can be read.
pub trait BundleTree: Sync {
    /// Returns the kind of a name; `None` if it does not exist.
    ///
    /// # Errors
    /// Any other error of the system.
    fn kind(&self, path: &[u8]) -> io::Result<Option<EntryKind>>;

    /// Returns the names in a folder with their kinds, in the order of their bytes.
    ///
    /// # Errors
    /// Any error of the system.
    fn entries(&self, path: &[u8]) -> io::Result<Vec<(Vec<u8>, EntryKind)>>;

    /// Opens a regular file.
    ///
    /// # Errors
    /// Any error of the system; and if it is not a regular file.
    fn open(&self, path: &[u8]) -> io::Result<Box<dyn ReadAt + Send>>;

    /// Returns the target of a symlink.
    ///
    /// # Errors
    /// Any error of the system.
    fn read_link(&self, path: &[u8]) -> io::Result<Vec<u8>>;

    /// Returns the resource fork of a regular file; `None` if it has none.
    ///
    /// # Errors
    /// Any error of the system; and if it is too long to be read.
    fn fork(&self, _path: &[u8]) -> io::Result<Option<Vec<u8>>> {
        Ok(None)
    }
}

/// A folder of the file system.
#[derive(Debug)]
pub struct FolderTree {
    root: Dir,
    path: PathBuf,
}

impl FolderTree {
    /// Opens a folder, following symlinks in its path and nowhere below.
    ///
    /// # Errors
    /// Any error of the system.
    pub fn open(path: &Path) -> io::Result<FolderTree> {
        Ok(FolderTree::of(Dir::open(path)?, path))
    }

    /// Uses a folder that is open already, and its path.
    pub fn of(root: Dir, path: &Path) -> FolderTree {
        FolderTree { root, path: path.to_owned() }
    }

    /// Opens the folder that holds a name, one component at a time, and gives it to `f`.
    fn within<T>(
        &self,
        path: &[u8],
        f: impl FnOnce(&Dir, &OsStr) -> io::Result<T>,
    ) -> io::Result<T> {
        let mut components = path.split(|byte| *byte == b'/').map(OsStr::from_bytes);
        let last = components.next_back().expect("splitting gives one piece at least");
        let mut opened: Option<Dir> = None;
        for component in components {
            opened = Some(opened.as_ref().unwrap_or(&self.root).open_dir(component)?);
        }
        f(opened.as_ref().unwrap_or(&self.root), last)
    }
}

impl BundleTree for FolderTree {
    fn kind(&self, path: &[u8]) -> io::Result<Option<EntryKind>> {
        if path.is_empty() {
            return Ok(Some(EntryKind::Folder));
        }
        match self.within(path, |dir, name| dir.status_of(name)) {
            Ok(status) => Ok(Some(kind_of(status.kind))),
            Err(error) => match error.kind() {
                io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Ok(None),
                _ => Err(error),
            },
        }
    }

    fn entries(&self, path: &[u8]) -> io::Result<Vec<(Vec<u8>, EntryKind)>> {
        if path.is_empty() {
            return listed(&self.root);
        }
        self.within(path, |dir, name| listed(&dir.open_dir(name)?))
    }

    fn open(&self, path: &[u8]) -> io::Result<Box<dyn ReadAt + Send>> {
        let file = self.within(path, |dir, name| dir.open_file(name))?;
        if file.status()?.kind != FileKind::Regular {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
        }
        Ok(Box::new(FileSource::new(file)?))
    }

    fn read_link(&self, path: &[u8]) -> io::Result<Vec<u8>> {
        // This is the only access by path. A target is compared and never followed, so if folders
        // are moved meanwhile, the worst case is a wrong target, which the seal rejects.
        let target = std::fs::read_link(self.path.join(Path::from_bytes(path)))?;
        Ok(target.into_vec())
    }

    fn fork(&self, path: &[u8]) -> io::Result<Option<Vec<u8>>> {
        let file = self.within(path, |dir, name| dir.open_file(name))?;
        let name = format!("{}{RESOURCE_FORK}", xattr::MAC_PREFIX);
        let mut bytes = vec![0; FORK_LEN_MAX];
        match xattr::get(&file, &name, &mut bytes) {
            Ok(len) => Ok(len.filter(|len| *len > 0).map(|len| bytes[..len].to_vec())),
            Err(error) if error.kind() == io::ErrorKind::Unsupported => Ok(None),
            Err(error) => Err(error),
        }
    }
}

fn listed(dir: &Dir) -> io::Result<Vec<(Vec<u8>, EntryKind)>> {
    let mut names = Vec::new();
    dir.entries(&mut |entry| {
        names.push((entry.name.as_bytes().to_vec(), entry.kind));
        ControlFlow::Continue(())
    })?;
    names.sort_unstable_by(|one, other| one.0.cmp(&other.0));
    let kinds = names.into_iter().map(|(name, kind)| {
        let kind = match kind {
            Some(kind) => kind,
            None => dir.status_of(OsStr::from_bytes(&name))?.kind,
        };
        Ok((name, kind_of(kind)))
    });
    kinds.collect()
}

fn kind_of(kind: FileKind) -> EntryKind {
    match kind {
        FileKind::Regular => EntryKind::File,
        FileKind::Directory => EntryKind::Folder,
        FileKind::Symlink => EntryKind::Symlink,
        FileKind::Other => EntryKind::Other,
    }
}

/// A part of a tree, with names of its own.
pub(crate) struct Subtree<'a> {
    tree: &'a dyn BundleTree,
    prefix: Vec<u8>,
}

impl<'a> Subtree<'a> {
    pub(crate) fn new(tree: &'a dyn BundleTree, prefix: &[u8]) -> Subtree<'a> {
        Subtree { tree, prefix: prefix.to_vec() }
    }

    /// Returns the last component of the subtree's own name.
    pub(crate) fn name(&self) -> &[u8] {
        self.prefix.rsplit(|byte| *byte == b'/').next().unwrap_or_default()
    }

    fn whole(&self, path: &[u8]) -> Vec<u8> {
        joined(&self.prefix, path)
    }
}

impl BundleTree for Subtree<'_> {
    fn kind(&self, path: &[u8]) -> io::Result<Option<EntryKind>> {
        self.tree.kind(&self.whole(path))
    }

    fn entries(&self, path: &[u8]) -> io::Result<Vec<(Vec<u8>, EntryKind)>> {
        self.tree.entries(&self.whole(path))
    }

    fn open(&self, path: &[u8]) -> io::Result<Box<dyn ReadAt + Send>> {
        self.tree.open(&self.whole(path))
    }

    fn read_link(&self, path: &[u8]) -> io::Result<Vec<u8>> {
        self.tree.read_link(&self.whole(path))
    }

    fn fork(&self, path: &[u8]) -> io::Result<Option<Vec<u8>>> {
        self.tree.fork(&self.whole(path))
    }
}

/// Returns what a Mac's file systems compare of a name: decomposed, without the case of letters,
/// and without the characters that HFS Plus ignores.
///
/// Source: Apple, Technical Note 1150.
pub(crate) fn folded(name: &[u8]) -> String {
    let is_ignored = |letter: &char| {
        matches!(letter, '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
            | '\u{206a}'..='\u{206f}' | '\u{feff}')
    };
    let seen = String::from_utf8_lossy(name);
    seen.nfd().filter(|letter| !is_ignored(letter)).collect::<String>().to_uppercase()
}

/// Joins two names; either may be empty.
pub(crate) fn joined(folder: &[u8], name: &[u8]) -> Vec<u8> {
    match (folder.is_empty(), name.is_empty()) {
        (true, _) => name.to_vec(),
        (_, true) => folder.to_vec(),
        _ => [folder, b"/", name].concat(),
    }
}
