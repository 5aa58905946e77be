//! Roots → entry, in a defined order.
//!
//! In: a [`Selection`]. Out: every regular file beneath its roots, once, in the byte order of the
//! names, with a directory's contents in place of its name. Links are never followed; every step
//! goes by name beneath an open directory. Knows nothing of file contents.

mod exclude;
mod given;
mod listed;
mod names;
mod sidecar;
pub(crate) mod volume;

use std::ffi::{OsStr, OsString};
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use steadfast_sys::file::{Dir, File, FileKind, Status};

pub(crate) use exclude::Excludes;
use given::{Given, Parent};
pub(crate) use listed::{Beneath, Listed};
use names::NameRun;
pub(crate) use sidecar::{IsTagged, Sidecar};

use crate::beneath;
use crate::event::{FileEvent, FilePath, Notice, Skipped, Subject};
use crate::moving::{self, MovingFiles};
use crate::reference::Reference;
use crate::selection::Selection;
use crate::tree_folder;

/// One regular file, found and not yet opened.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    /// Its path as the user would write it.
    pub(crate) path: FilePath,
    /// Its inode number, which reflects the order on disk in many file systems; 0 if unknown.
    pub(crate) inode: u64,
    /// The reference to compare it with, if a list has one.
    pub(crate) reference: Option<Box<Reference>>,
    place: EntryPlace,
}

#[derive(Clone, Debug)]
enum EntryPlace {
    /// By name beneath an open directory; a link is refused.
    Beneath(Arc<Dir>),
    /// As `Beneath`, by the temporary name that a move gave it.
    Moving(Arc<Dir>, Box<OsStr>),
    /// As the user typed it; a link is followed.
    Typed,
}

impl Entry {
    /// Opens the file for reading.
    ///
    /// # Errors
    /// If the system refuses, or the name is a link by now.
    pub(crate) fn open(&self) -> io::Result<File> {
        match &self.place {
            EntryPlace::Beneath(dir) => dir.open_file(&self.path.name),
            EntryPlace::Moving(dir, name) => dir.open_file(name),
            EntryPlace::Typed => File::open(&self.path.to_path()),
        }
    }

    /// Returns the file's status without opening it.
    pub(crate) fn status(&self) -> io::Result<Status> {
        match &self.place {
            EntryPlace::Beneath(dir) => dir.status_of(&self.path.name),
            EntryPlace::Moving(dir, name) => dir.status_of(name),
            EntryPlace::Typed => self.open()?.status(),
        }
    }

    /// Opens the folder of the file, and returns it with the name there. Of a link that was typed,
    /// that is the folder of the link.
    ///
    /// # Errors
    /// If the system refuses.
    pub(crate) fn folder(&self) -> io::Result<(Arc<Dir>, OsString)> {
        Ok(match &self.place {
            EntryPlace::Beneath(dir) => (Arc::clone(dir), self.path.name.clone()),
            EntryPlace::Moving(dir, name) => (Arc::clone(dir), name.to_os_string()),
            EntryPlace::Typed => {
                let (dir, name) = Dir::parent_of(&self.path.to_path())?;
                (Arc::new(dir), name)
            }
        })
    }
}

/// An item that a walk finds.
pub(crate) enum WalkItem {
    /// A regular file.
    File(Entry),
    /// A directory or root that cannot be walked.
    Failed(Box<FileEvent>),
    /// A file of leaves beside its file, whole or torn: not data.
    Leaves(Entry),
    /// A directory without entries.
    EmptyFolder(Arc<Path>),
    /// The folder of a tree with its catalogue, its parity and what it keeps. It is not walked.
    Ours(Dir),
    /// A notice for the user.
    Notice(Notice),
}

/// Receives what is found; breaking ends the walk.
pub(crate) type Sink<'a> = dyn FnMut(WalkItem) -> ControlFlow<()> + 'a;

/// Walks a selection, until the sink breaks or `stop` is set.
///
/// `is_tagged` returns whether a file has a tag of ours. Returns what the walk skipped, and whether
/// it reached the end of every root.
pub(crate) fn walk(
    selection: &Selection,
    excludes: &Excludes,
    is_tagged: IsTagged,
    stop: &AtomicBool,
    sink: &mut Sink<'_>,
) -> (Skipped, bool) {
    let mut walk = Walk {
        excludes,
        is_tagged,
        one_file_system: selection.one_file_system,
        passes_sidecars: !selection.with_sidecars,
        output: selection.output,
        unmounted: &selection.unmounted,
        stop,
        sink,
        skipped: Skipped::default(),
        given: Given::new(&selection.within),
        stack: Vec::new(),
    };
    let whole = walk.all(selection).is_continue();
    (walk.skipped, whole)
}

/// A file's identity on this machine: device, inode.
pub(crate) type Identity = (u64, u64);

fn identity(status: &Status) -> Identity {
    (status.device, status.inode)
}

struct Walk<'a, 'b> {
    excludes: &'a Excludes,
    is_tagged: IsTagged,
    one_file_system: bool,
    passes_sidecars: bool,
    output: Option<Identity>,
    unmounted: &'a [Identity],
    stop: &'a AtomicBool,
    sink: &'a mut Sink<'b>,
    skipped: Skipped,
    given: Given,
    stack: Vec<OpenDirectory>,
}

/// An open directory between the root and the current one.
struct OpenDirectory {
    dir: Arc<Dir>,
    path: Arc<Path>,
    /// Path from the root, for the excludes.
    relative: PathBuf,
    identity: Identity,
    names: NameRun,
    next: usize,
    /// The files that a move gave temporary names.
    moving: Option<MovingFiles>,
}

/// A given path with its status.
struct GivenRoot {
    status: Status,
    /// Its parent and name, unless the user typed it: then it may be a link.
    place: Option<Parent>,
    /// The temporary name that a move gave it, and what to say of that.
    moving: Option<(Box<OsStr>, Box<Notice>)>,
    key: u128,
}

impl Walk<'_, '_> {
    fn all(&mut self, selection: &Selection) -> ControlFlow<()> {
        if selection.exact {
            let mut paths = selection.roots.iter().chain(&selection.listed);
            return paths.try_for_each(|path| self.exactly(path, &selection.within));
        }
        let typed = selection.roots.iter().map(|path| (path, true));
        let roots = typed.chain(selection.listed.iter().map(|path| (path, false)));
        for (path, followed) in roots.clone() {
            if let Ok(root) = self.given.root_at(path, followed) {
                self.given.note(&root);
            }
        }
        for (path, followed) in roots {
            if self.stop.load(Ordering::Relaxed) {
                return ControlFlow::Break(());
            }
            match self.given.root_at(path, followed) {
                Ok(root) if self.given.take(&root) => self.root(path, root)?,
                Ok(_) => {
                    let notice = Notice::new("given more than once: taken once").at(path);
                    (self.sink)(WalkItem::Notice(notice))?;
                }
                Err(error) => self.trouble(path, Subject::Directory, "open", &error)?,
            }
        }
        ControlFlow::Continue(())
    }

    /// Yields one event for a listed path of any kind.
    fn exactly(&mut self, path: &Path, within: &[PathBuf]) -> ControlFlow<()> {
        let confined = beneath::innermost(within, path);
        let is_confined = confined.is_some_and(|(_, below)| !below.as_os_str().is_empty());
        let found = match is_confined {
            true => self.given.root_at(path, false),
            false => Status::of(path).map(|status| GivenRoot {
                status,
                place: None,
                moving: None,
                key: 0,
            }),
        };
        match found.map(|root| (root.status.kind, root)) {
            Ok((FileKind::Regular, root)) => self.given_file(path, root),
            Ok((FileKind::Directory, _)) => {
                let error = io::Error::from(io::ErrorKind::IsADirectory);
                self.trouble(path, Subject::File, "read", &error)
            }
            Ok(_) => {
                let error = io::Error::other("not a regular file");
                self.trouble(path, Subject::File, "read", &error)
            }
            Err(error) => self.trouble(path, Subject::File, "open", &error),
        }
    }

    fn root(&mut self, path: &Path, root: GivenRoot) -> ControlFlow<()> {
        match root.status.kind {
            FileKind::Directory => {
                let opened = match &root.place {
                    Some(parent) => parent.dir.open_dir(&parent.name),
                    None => Dir::open(path),
                };
                // The path may name another directory by now than the one whose status was read.
                let opened = opened.and_then(|dir| Ok((dir.status()?, dir)));
                match opened {
                    Ok((status, _)) if self.unmounted.contains(&identity(&status)) => {
                        ControlFlow::Continue(())
                    }
                    Ok((status, dir)) => {
                        let shown = if path == Path::new(".") { Path::new("") } else { path };
                        let identity = identity(&status);
                        self.descend(dir, Arc::from(shown), PathBuf::new(), identity)?;
                        self.tree(status.device)
                    }
                    Err(error) => self.trouble(path, Subject::Directory, "open", &error),
                }
            }
            FileKind::Regular => self.given_file(path, root),
            FileKind::Symlink => {
                self.skipped.symlinks += 1;
                ControlFlow::Continue(())
            }
            FileKind::Other => {
                self.skipped.special += 1;
                ControlFlow::Continue(())
            }
        }
    }

    fn given_file(&mut self, path: &Path, root: GivenRoot) -> ControlFlow<()> {
        let (path, inode, place) = match root.place {
            Some(Parent { dir, path, name, .. }) => {
                let place = match root.moving {
                    Some((temporary, notice)) => {
                        (self.sink)(WalkItem::Notice(*notice))?;
                        EntryPlace::Moving(dir, temporary)
                    }
                    None => EntryPlace::Beneath(dir),
                };
                (FilePath { parent: path, name }, root.status.inode, place)
            }
            None => (FilePath::whole(path), 0, EntryPlace::Typed),
        };
        (self.sink)(WalkItem::File(Entry { path, inode, place, reference: None }))
    }

    /// Walks the directories on the stack until it is empty.
    fn tree(&mut self, root_device: u64) -> ControlFlow<()> {
        while let Some(level) = self.stack.last_mut() {
            if self.stop.load(Ordering::Relaxed) {
                return ControlFlow::Break(());
            }
            let Some((name, kind, inode)) = level.names.get(level.next) else {
                self.refill()?;
                continue;
            };
            level.next += 1;
            let moving = level.moving.as_ref();
            if moving.is_some() && name == moving::RECORD {
                continue;
            }
            let temporary = moving.and_then(|moving| moving.temporary_of(name));
            let kind = match kind {
                Some(kind) => kind,
                None => match level.dir.status_of(temporary.unwrap_or(name)) {
                    Ok(status) => status.kind,
                    Err(error) => {
                        let path = level.path.join(name);
                        self.trouble(&path, Subject::File, "look at", &error)?;
                        continue;
                    }
                },
            };
            if self.excludes.any()
                && self.excludes.matches(&level.relative.join(name), kind == FileKind::Directory)
            {
                self.skipped.excluded += 1;
                continue;
            }
            if volume::is_own(&level.dir, name) {
                self.skipped.system_folders += 1;
                continue;
            }
            match kind {
                // This file is also a given path, and is reported as that.
                FileKind::Regular if self.given.has_file(level.identity, name) => {}
                FileKind::Regular if is_file(self.output, &level.dir, name) => {
                    self.skipped.excluded += 1;
                }
                FileKind::Regular => {
                    let sidecar = match self.passes_sidecars {
                        true => Sidecar::of(&level.dir, name, self.is_tagged),
                        false => None,
                    };
                    let path = FilePath { parent: Arc::clone(&level.path), name: name.to_owned() };
                    let dir = Arc::clone(&level.dir);
                    let place = match temporary {
                        Some(temporary) => EntryPlace::Moving(dir, temporary.into()),
                        None => EntryPlace::Beneath(dir),
                    };
                    self.file(Entry { path, inode, place, reference: None }, sidecar)?;
                }
                FileKind::Directory => {
                    let name = name.to_owned();
                    self.enter(&name, root_device)?;
                }
                FileKind::Symlink => self.skipped.symlinks += 1,
                FileKind::Other => self.skipped.special += 1,
            }
        }
        ControlFlow::Continue(())
    }

    /// Hands on a file that was found, by what it is beside another one.
    fn file(&mut self, entry: Entry, sidecar: Option<Sidecar>) -> ControlFlow<()> {
        match sidecar {
            None => (self.sink)(WalkItem::File(entry)),
            Some(Sidecar::AppleDouble) => {
                self.skipped.sidecars += 1;
                ControlFlow::Continue(())
            }
            Some(Sidecar::Placeholder) => {
                let event = FileEvent::dataless(entry.path, Subject::File);
                (self.sink)(WalkItem::Failed(Box::new(event)))
            }
            Some(Sidecar::Leaves) => {
                self.skipped.leaves += 1;
                (self.sink)(WalkItem::Leaves(entry))
            }
        }
    }

    /// Reads the next names of the deepest directory, or leaves it.
    fn refill(&mut self) -> ControlFlow<()> {
        let in_use = self.stack.iter().map(|level| level.names.len_bytes()).sum();
        let Some(level) = self.stack.last_mut() else { return ControlFlow::Continue(()) };
        if level.names.is_last() {
            self.stack.pop();
            return ControlFlow::Continue(());
        }
        let moving = level.moving.as_ref();
        let (mut names, mut error) = level.names.following(&level.dir, in_use, moving);
        let path = Arc::clone(&level.path);
        if names.has_record() && level.moving.is_none() {
            level.moving = MovingFiles::of(&level.dir);
            (names, error) = level.names.following(&level.dir, in_use, level.moving.as_ref());
        }
        let is_first = level.names.is_before_first();
        level.names = names;
        level.next = 0;
        let moving = level.moving.as_ref().filter(|_| is_first);
        if let Some(notice) = moving.map(|it| it.notice(shown(&path))) {
            (self.sink)(WalkItem::Notice(notice))?;
        }
        match error {
            Some(error) => self.trouble(shown(&path), Subject::Directory, "list", &error),
            None => ControlFlow::Continue(()),
        }
    }

    /// Goes into a subdirectory of the deepest directory.
    fn enter(&mut self, name: &OsStr, root_device: u64) -> ControlFlow<()> {
        let Some(level) = self.stack.last() else { return ControlFlow::Continue(()) };
        let path: Arc<Path> = Arc::from(level.path.join(name));
        if self.stack.first().is_some_and(|root| volume::is_shown_twice(&root.path, &path)) {
            self.skipped.system_folders += 1;
            return ControlFlow::Continue(());
        }
        let relative = if self.excludes.any() { level.relative.join(name) } else { PathBuf::new() };
        let opened = level.dir.open_dir(name).and_then(|dir| Ok((dir.status()?, dir)));
        let (status, dir) = match opened {
            Ok(opened) => opened,
            Err(error) => return self.trouble(&path, Subject::Directory, "open", &error),
        };
        if self.one_file_system && status.device != root_device {
            self.skipped.other_file_systems += 1;
            return ControlFlow::Continue(());
        }
        if name == tree_folder::FOLDER
            && let Some(others) = tree_folder::others_beside_catalogue(&dir)
        {
            // A run does not report the files that it writes itself.
            self.skipped.excluded += others;
            return (self.sink)(WalkItem::Ours(dir));
        }
        let identity = identity(&status);
        if self.stack.iter().any(|above| above.identity == identity) {
            let error = io::Error::other("it is mounted inside itself: not entered again");
            return self.trouble(&path, Subject::Directory, "enter", &error);
        }
        if self.given.has_directory(identity) || self.unmounted.contains(&identity) {
            return ControlFlow::Continue(());
        }
        self.descend(dir, path, relative, identity)
    }

    fn descend(
        &mut self,
        dir: Dir,
        path: Arc<Path>,
        relative: PathBuf,
        identity: Identity,
    ) -> ControlFlow<()> {
        let names = NameRun::before_first();
        self.stack.push(OpenDirectory {
            dir: Arc::new(dir),
            path: Arc::clone(&path),
            relative,
            identity,
            names,
            next: 0,
            moving: None,
        });
        self.refill()?;
        match self.stack.last().is_some_and(|level| level.names.get(0).is_none()) {
            true => (self.sink)(WalkItem::EmptyFolder(path)),
            false => ControlFlow::Continue(()),
        }
    }

    fn trouble(
        &mut self,
        path: &Path,
        subject: Subject,
        operation: &'static str,
        error: &io::Error,
    ) -> ControlFlow<()> {
        let event = FileEvent::unread(FilePath::whole(path), subject, operation, error);
        (self.sink)(WalkItem::Failed(Box::new(event)))
    }
}

/// Returns whether a name in a directory leads to this file, if there is one.
fn is_file(file: Option<Identity>, dir: &Dir, name: &OsStr) -> bool {
    file.is_some_and(|file| dir.status_of(name).is_ok_and(|status| identity(&status) == file))
}

/// The current directory is an empty path here, but a message needs its name.
fn shown(path: &Path) -> &Path {
    if path.as_os_str().is_empty() { Path::new(".") } else { path }
}
