//! Looks for known files that a walk did not visit.
//!
//! Each is gone, or was hidden from the walk by a pattern, the border of a file system or an error.
//! A file that is gone is not missing yet: it may have moved to a place where the walk still comes.

use std::cmp::Ordering;
use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rusqlite::Connection;

use steadfast_sys::file::{FileKind, Status};

use super::directory::{Children, Directory, at_path, child};
use super::entry::FileRow;
use super::error::DbError;
use super::finding::{Finding, Say};
use super::open_dir::OpenDir;
use super::place::real_of;
use super::recorder::Recorder;
use super::records::known_at;
use super::slice::{rows_of, slices_of};
use super::{Catalogue, CatalogueError};

/// Whether a file is where it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Presence {
    /// It is, or there is no telling.
    Hidden,
    /// It is not; something else may be in its place.
    Gone(Option<FileKind>),
}

/// Looks whether a file is at exactly this path beneath the root. What is found through a link is
/// elsewhere: the link stands in its place.
pub(super) fn look(root: &Path, relative: &Path) -> Presence {
    match Status::of_link(&root.join(relative)) {
        Ok(status) => match other_on_the_way(root, relative) {
            Some(other) => Presence::Gone(Some(other)),
            None if status.kind == FileKind::Regular => Presence::Hidden,
            None => Presence::Gone(Some(status.kind)),
        },
        Err(error) if is_absence(&error) => Presence::Gone(other_on_the_way(root, relative)),
        Err(_) => Presence::Hidden,
    }
}

/// Returns what stands on the way to a file where a directory should, if anything does.
pub(super) fn other_on_the_way(root: &Path, relative: &Path) -> Option<FileKind> {
    let above = relative.ancestors().skip(1).take_while(|above| !above.as_os_str().is_empty());
    let kinds = above.filter_map(|above| Status::of_link(&root.join(above)).ok());
    kinds.map(|status| status.kind).find(|kind| *kind != FileKind::Directory)
}

/// Says whether an error means that nothing has the name.
fn is_absence(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// A directory that was passed by, and how its files are to be taken.
struct PassedDirectory {
    directory: Directory,
    path: PathBuf,
    /// Whether it is known to be gone, with all that was in it.
    gone: bool,
}

impl Catalogue {
    /// Returns where in the tree a path is that is known and not there; `None` for any other.
    ///
    /// # Errors
    /// If the catalogue cannot be read.
    pub(crate) fn known_and_gone(&self, path: &Path) -> Result<Option<PathBuf>, CatalogueError> {
        if !Status::of(path).is_err_and(|error| is_absence(&error)) {
            return Ok(None);
        }
        let relative =
            real_of(path).and_then(|real| Some(real.strip_prefix(&self.root).ok()?.to_owned()));
        let Some(relative) = relative.filter(|relative| !relative.as_os_str().is_empty()) else {
            return Ok(None);
        };
        let is_known = || {
            Ok(known_at(&self.db, &relative)?.is_some()
                || match at_path(&self.db, &relative)? {
                    Some(directory) => entries_beneath(&self.db, directory.id)? > 0,
                    None => false,
                })
        };
        let is_known = is_known().map_err(|fault: DbError| fault.at(&self.file))?;
        Ok(is_known.then_some(relative))
    }
}

impl Recorder {
    /// Looks for the known files at paths that were given and where nothing is.
    pub(super) fn pass_gone(&mut self, say: &mut Say<'_>) -> Result<(), DbError> {
        for path in self.scope.gone().to_vec() {
            let (Some(above), Some(name)) = (path.parent(), path.file_name()) else { continue };
            let Some(parent) = at_path(self.db(), above)? else { continue };
            if let Some(found) = known_at(self.db(), &path)?
                && look(&self.catalogue.root, &path) != Presence::Hidden
            {
                self.note_missing(parent.id, &found.known, found.slice_run)?;
            }
            if let Some(directory) = child(self.db(), parent.id, name.as_bytes())? {
                self.pass(directory, above, say)?;
            }
        }
        Ok(())
    }

    /// Settles a known file that did not come by.
    pub(super) fn check_not_visited(
        &mut self,
        level: &mut OpenDir,
        row: &FileRow,
        slice_run: i64,
    ) -> Result<(), DbError> {
        if !level.walked {
            return self.cover(level, &row.name, false);
        }
        let listed = !self.troubled.contains(&level.relative);
        let path = level.relative.join(OsStr::from_bytes(&row.name));
        let gone = listed && look(&self.catalogue.root, &path) != Presence::Hidden;
        if gone {
            self.note_missing(level.id, row, slice_run)?;
        }
        self.cover(level, &row.name, gone)
    }

    /// Passes known subdirectories up to `name` and returns the one of that name; all of them
    /// without a name.
    pub(super) fn pass_children(
        &mut self,
        level: &mut OpenDir,
        name: Option<&[u8]>,
        say: &mut Say<'_>,
    ) -> Result<Option<Directory>, DbError> {
        if level.id == 0 {
            return Ok(None);
        }
        if !level.walked {
            return name.map_or(Ok(None), |name| child(self.db(), level.id, name));
        }
        while let Some(next) = level.children.peek(&self.catalogue.db)? {
            match name.map(|name| next.name.as_slice().cmp(name)) {
                Some(Ordering::Greater) => break,
                Some(Ordering::Equal) => return level.children.next(&self.catalogue.db),
                Some(Ordering::Less) | None => {}
            }
            let Some(passed) = level.children.next(&self.catalogue.db)? else { break };
            // What this run came upon first has come by.
            if passed.id <= self.known_directory {
                level.complete &= self.pass(passed, &level.relative, say)?;
            }
        }
        // A directory may come by again: when it was given by itself as well.
        name.map_or(Ok(None), |name| child(self.db(), level.id, name))
    }

    /// Looks for the files beneath a directory that did not come by; says whether none is hidden.
    fn pass(
        &mut self,
        directory: Directory,
        above: &Path,
        say: &mut Say<'_>,
    ) -> Result<bool, DbError> {
        let path = above.join(OsStr::from_bytes(&directory.name));
        let mut complete = true;
        let mut stack = vec![PassedDirectory { directory, path, gone: false }];
        while let Some(PassedDirectory { directory, path, gone }) = stack.pop() {
            if self.is_stopped() {
                return Ok(false);
            }
            let gone = match self.presence_of(&directory, &path, gone) {
                Some(gone) => gone,
                None => {
                    let entries = entries_beneath(self.db(), directory.id)?;
                    complete &= entries == 0;
                    if entries > 0 && self.is_unmounted(&directory, &path) {
                        self.say(say, Finding::Unmounted { path, entries });
                    }
                    continue;
                }
            };
            complete &= self.pass_files(directory.id, &path, gone)?;
            let mut children = Children::of(directory.id);
            while let Some(directory) = children.next(&self.catalogue.db)? {
                let path = path.join(OsStr::from_bytes(&directory.name));
                stack.push(PassedDirectory { directory, path, gone });
            }
        }
        Ok(complete)
    }

    /// Says whether a directory is gone; `None` if nothing can be told of what is in it, or is to
    /// be said of it here.
    fn presence_of(&self, directory: &Directory, path: &Path, gone: bool) -> Option<bool> {
        let elsewhere = self.scope.begins_at(path) || self.troubled.contains(path);
        if elsewhere || self.is_unmounted(directory, path) {
            return None;
        }
        if gone {
            return Some(true);
        }
        match Status::of_link(&self.catalogue.root.join(path)) {
            Ok(status) if status.kind == FileKind::Directory => Some(false),
            // What is found through a link is elsewhere.
            Ok(_) => Some(true),
            Err(error) if is_absence(&error) => Some(true),
            Err(_) => None,
        }
    }

    /// Says whether a directory used to be another volume and is one no more.
    fn is_unmounted(&self, directory: &Directory, path: &Path) -> bool {
        let status = || Status::of_link(&self.catalogue.root.join(path));
        directory.mounted
            && match status() {
                Ok(status) => Some(status.device) == self.root_device,
                Err(error) => is_absence(&error),
            }
    }

    /// Looks for the files of one directory; says whether none is hidden.
    fn pass_files(&mut self, directory: i64, path: &Path, gone: bool) -> Result<bool, DbError> {
        let mut complete = true;
        let slices = slices_of(self.db(), directory)?;
        for (at, slice) in slices.iter().enumerate().filter(|(_, slice)| slice.entries > 0) {
            let next = slices.get(at + 1).map(|next| next.first.as_slice());
            let db = &self.catalogue.db;
            for row in rows_of(db, directory, slice, next, &mut self.buffer)? {
                if self.is_stopped() {
                    return Ok(false);
                }
                let file = || path.join(OsStr::from_bytes(&row.name));
                if gone || look(&self.catalogue.root, &file()) != Presence::Hidden {
                    self.note_missing(directory, &row, slice.checked_run)?;
                } else {
                    complete = false;
                }
            }
        }
        Ok(complete)
    }
}

/// Counts the known files beneath a directory.
fn entries_beneath(db: &Connection, directory: i64) -> Result<u64, DbError> {
    let mut entries = 0;
    let mut stack = vec![directory];
    while let Some(directory) = stack.pop() {
        let slices = slices_of(db, directory)?;
        entries += slices.iter().map(|slice| slice.entries).sum::<u64>();
        let mut children = Children::of(directory);
        while let Some(child) = children.next(db)? {
            stack.push(child.id);
        }
    }
    Ok(entries)
}
