//! The paths that a run was given, identified by what they name.
//!
//! Takes paths. Returns what they name, whether that was named before, and whether something found
//! beneath a directory was also given by itself. A path is identified by its parent's identity and
//! its name, so that two links of one file are two, and one link by two paths is one.

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use steadfast_sys::file::{Dir, FileKind, Status};

use super::{GivenRoot, Identity, identity, shown};
use crate::beneath;
use crate::event::Notice;
use crate::moving::MovingFiles;

/// The paths given so far.
#[derive(Default)]
pub(super) struct Given {
    /// The directories that must contain every path that is not followed, reached by names alone.
    within: Vec<PathBuf>,
    directories: HashSet<Identity>,
    /// Hashes of 128 bits instead of paths, so that a list of millions fits in memory.
    files: HashSet<u128>,
    taken: HashSet<u128>,
    states: [RandomState; 2],
    /// The parent of the last path, because the next path in a list is often in the same directory.
    last: Option<Parent>,
}

/// The open directory of a path, and the path's name in it.
#[derive(Clone)]
pub(super) struct Parent {
    pub(super) dir: Arc<Dir>,
    pub(super) path: Arc<Path>,
    pub(super) name: OsString,
    identity: Identity,
}

/// The temporary name of a file, and what to say of it.
type TemporaryName = (Box<OsStr>, Box<Notice>);

impl Parent {
    /// Returns the file that a move gave a temporary name, with that.
    fn renamed(&self) -> Option<(Status, TemporaryName)> {
        let moving = MovingFiles::of(&self.dir)?;
        let temporary = moving.temporary_of(&self.name)?;
        let notice = moving.notice(shown(&self.path));
        Some((self.dir.status_of(temporary).ok()?, (temporary.into(), Box::new(notice))))
    }
}

impl Given {
    /// Makes an empty set of paths.
    pub(super) fn new(within: &[PathBuf]) -> Given {
        Given { within: within.to_owned(), ..Given::default() }
    }

    /// Returns what a path names; a link is `followed` or taken as itself.
    pub(super) fn root_at(&mut self, path: &Path, followed: bool) -> io::Result<GivenRoot> {
        let followed = followed || self.within.iter().any(|root| root == path);
        // A parent that may be entered but not listed cannot be opened, although the path itself
        // can.
        let parent = path.file_name().map(|name| self.parent(path, name));
        let parent = match parent {
            Some(Err(error)) if !self.within.is_empty() && !followed => return Err(error),
            parent => parent.and_then(Result::ok),
        };
        let status = match &parent {
            Some(parent) if !followed => parent.dir.status_of(&parent.name),
            None if !followed => Status::of_link(path),
            _ => Status::of(path),
        };
        let (status, moving) = match (status, &parent) {
            (Err(error), Some(parent)) if error.kind() == io::ErrorKind::NotFound => {
                parent.renamed().ok_or(error).map(|(status, moving)| (status, Some(moving)))?
            }
            (status, _) => (status?, None),
        };
        let key = match &parent {
            Some(parent) if status.kind != FileKind::Directory => {
                self.key(parent.identity, &parent.name)
            }
            _ => self.key(identity(&status), OsStr::new("")),
        };
        let place = parent.filter(|_| !followed || moving.is_some());
        Ok(GivenRoot { status, place, moving, key })
    }

    /// Adds a given path, before the walk begins.
    pub(super) fn note(&mut self, root: &GivenRoot) {
        if root.status.kind == FileKind::Directory {
            self.directories.insert(identity(&root.status));
        } else {
            self.files.insert(root.key);
        }
    }

    /// Returns whether this path is taken for the first time.
    pub(super) fn take(&mut self, root: &GivenRoot) -> bool {
        self.taken.insert(root.key)
    }

    /// Returns whether this directory was given by itself.
    pub(super) fn has_directory(&self, identity: Identity) -> bool {
        self.directories.contains(&identity)
    }

    /// Returns whether the file of this name in this directory was given by itself.
    pub(super) fn has_file(&self, parent: Identity, name: &OsStr) -> bool {
        !self.files.is_empty() && self.files.contains(&self.key(parent, name))
    }

    fn key(&self, identity: Identity, name: &OsStr) -> u128 {
        let [high, low] = self.states.each_ref().map(|state| state.hash_one((identity, name)));
        u128::from(high) << 64 | u128::from(low)
    }

    fn parent(&mut self, path: &Path, name: &OsStr) -> io::Result<Parent> {
        let parent = path.parent().unwrap_or(Path::new(""));
        if let Some(last) = &self.last
            && *last.path == *parent
        {
            return Ok(Parent { name: name.to_owned(), ..last.clone() });
        }
        let opened = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
        let dir = match self.within.is_empty() {
            false => beneath::directory_within(&self.within, opened)?,
            true => Dir::open(opened)?,
        };
        let identity = identity(&dir.status()?);
        let name = name.to_owned();
        let found = Parent { dir: Arc::new(dir), path: Arc::from(parent), name, identity };
        self.last = Some(found.clone());
        Ok(found)
    }
}
