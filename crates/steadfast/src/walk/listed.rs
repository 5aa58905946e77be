//! Finds the files of a list beneath an open root, in the list's order, instead of a walk.
//!
//! Takes relative paths, each with its reference. Returns an [`Entry`] for every regular file, and
//! an event for everything else. Every step goes by name beneath an open directory and follows no
//! link, so no list leads out of the root.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use steadfast_sys::file::{Dataless, Dir, FileKind};

use super::{Entry, EntryPlace, Sink, WalkItem};
use crate::beneath;
use crate::event::{FileError, FileEvent, FilePath, Subject};
use crate::placeholder;
use crate::reference::Reference;

/// One line of a list.
pub(crate) enum Listed {
    /// A file.
    File {
        /// Relative to the root.
        path: PathBuf,
        /// The reference in the list, if it has more than the name.
        reference: Option<Box<Reference>>,
    },
    /// A line that cannot be read, and the list's name.
    Fault(PathBuf, String),
}

/// Finds the files of a list beneath a root.
pub(crate) struct Beneath {
    root: Arc<Dir>,
    /// The root as the user would write it.
    shown: PathBuf,
    /// Directories on the way to the last file, because the next file in a list is often near it.
    chain: Vec<(OsString, Arc<Dir>)>,
    /// The last parent, shared by events.
    parent: Arc<Path>,
}

impl Beneath {
    /// Opens the root; by names alone if its path `is_real`, without links.
    ///
    /// # Errors
    /// If the root cannot be opened.
    pub(crate) fn new(root: &Path, is_real: bool) -> io::Result<Beneath> {
        let shown = if root == Path::new(".") { PathBuf::new() } else { root.to_owned() };
        let parent = Arc::from(shown.as_path());
        let dir = match root.strip_prefix("/") {
            Ok(names) if is_real => beneath::directory(Path::new("/"), names)?,
            _ => Dir::open(root)?,
        };
        Ok(Beneath { root: Arc::new(dir), shown, chain: Vec::new(), parent })
    }

    /// Passes every file of a list to the sink. Returns whether it reached the end of the list.
    pub(crate) fn each(
        &mut self,
        list: &mut dyn Iterator<Item = Listed>,
        stop: &AtomicBool,
        sink: &mut Sink<'_>,
    ) -> bool {
        for listed in list {
            let found = match listed {
                Listed::File { path, reference } => self.found(&path, reference),
                Listed::Fault(list, reason) => WalkItem::Failed(Box::new(faulty(&list, reason))),
            };
            if stop.load(Ordering::Relaxed) || sink(found).is_break() {
                return false;
            }
        }
        true
    }

    fn found(&mut self, path: &Path, reference: Option<Box<Reference>>) -> WalkItem {
        match self.find(path) {
            Ok((dir, name, inode)) => {
                let path = FilePath { parent: self.parent_of(path), name };
                WalkItem::File(Entry { path, inode, place: EntryPlace::Beneath(dir), reference })
            }
            Err(error) => {
                let name = path.file_name().unwrap_or(OsStr::new("")).to_owned();
                let path = FilePath { parent: self.parent_of(path), name };
                WalkItem::Failed(Box::new(absent(path, reference, &error)))
            }
        }
    }

    /// Returns the directory of a regular file, its name there and its inode.
    fn find(&mut self, path: &Path) -> io::Result<(Arc<Dir>, OsString, u64)> {
        let mut names = Vec::new();
        for component in path.components() {
            let Component::Normal(name) = component else {
                return Err(io::Error::new(
                    io::ErrorKind::InvalidInput,
                    "it leads out of the root",
                ));
            };
            names.push(name);
        }
        let Some((name, parents)) = names.split_last() else {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "it names no file"));
        };
        let shared = self.chain.iter().zip(parents).take_while(|((a, _), b)| a == *b).count();
        self.chain.truncate(shared);
        for parent in &parents[shared..] {
            let above = self.chain.last().map_or(&self.root, |(_, dir)| dir);
            let dir = above.open_dir(parent).map_err(|error| match above.status_of(parent) {
                Ok(status) if status.kind == FileKind::Symlink => {
                    io::Error::other("a directory on its way is a symbolic link now")
                }
                _ => error,
            })?;
            self.chain.push(((*parent).to_owned(), Arc::new(dir)));
        }
        let dir = Arc::clone(self.chain.last().map_or(&self.root, |(_, dir)| dir));
        let status = dir.status_of(name).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound if placeholder::standing_for(&dir, name).is_some() => {
                io::Error::other(Dataless)
            }
            _ => error,
        })?;
        match status.kind {
            FileKind::Regular => Ok((dir, (*name).to_owned(), status.inode)),
            FileKind::Directory => Err(io::Error::from(io::ErrorKind::IsADirectory)),
            FileKind::Symlink => Err(io::Error::other("it is a symbolic link now")),
            FileKind::Other => Err(io::Error::other("it is not a regular file")),
        }
    }

    fn parent_of(&mut self, path: &Path) -> Arc<Path> {
        let parent = self.shown.join(path.parent().unwrap_or(Path::new("")));
        if *self.parent != *parent {
            self.parent = Arc::from(parent);
        }
        Arc::clone(&self.parent)
    }
}

/// Makes the event of a listed file that is missing or cannot be looked up.
fn absent(path: FilePath, reference: Option<Box<Reference>>, error: &io::Error) -> FileEvent {
    let gone = matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory);
    let mut event = match gone {
        true => FileEvent::missing(path),
        false => FileEvent::unread(path, Subject::File, "open", error),
    };
    event.reference = reference;
    event
}

/// Makes the event of a line that cannot be read.
fn faulty(list: &Path, reason: String) -> FileEvent {
    let trouble = FileError::new("read the list", reason);
    FileEvent::unreadable(FilePath::whole(list), Subject::Directory, trouble)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_root_without_links_is_not_reached_through_one_that_was_planted() {
        let folder = tempfile::tempdir().unwrap();
        let real = folder.path().canonicalize().unwrap();
        std::fs::create_dir_all(real.join("a/root")).unwrap();
        assert!(Beneath::new(&real.join("a/root"), true).is_ok());
        std::fs::rename(real.join("a"), real.join("b")).unwrap();
        std::os::unix::fs::symlink("b", real.join("a")).unwrap();
        assert!(Beneath::new(&real.join("a/root"), false).is_ok());
        assert!(Beneath::new(&real.join("a/root"), true).is_err());
    }
}
