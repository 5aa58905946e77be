//! Looks for known files that a walk did not visit.
//!
//! Each of them is gone, or was hidden from the walk by a pattern, a file system boundary or an
//! error. A file that is gone may not be missing: it may have moved to a place that the walk has
//! yet to visit.

use std::cmp::Ordering;
use std::collections::HashSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rusqlite::Connection;

use steadfast_sys::file::{FileKind, Status};

use super::directory::{Children, Directory, at_path, child};
use super::entry::FileRow;
use super::error::DbError;
use super::observation::ObservedFile;
use super::open_dir::OpenDir;
use super::place::real_of;
use super::recorder::Recorder;
use super::slice::{Settled, rows_of, slices_of};
use super::slice_cache::known_at;
use super::unmounted::{FolderVolume, is_absence, is_unmounted, volume_at};
use super::{Catalogue, CatalogueError};
use crate::beneath;
use crate::finding::{Finding, Say};
use crate::walk::placeholder;

/// Whether a file is at its recorded place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Presence {
    /// It is.
    Hidden,
    /// The system does not say, because it cannot read a directory on the way, or its entry.
    Unreadable,
    /// It is not. Something else may be in its place.
    Gone(Option<FileKind>),
}

/// Checks whether a file is at exactly this path beneath the root. A file behind a link does not
/// count: the link is in its place.
pub(super) fn presence_at(root: &Path, relative: &Path) -> Presence {
    match Status::of_link(&root.join(relative)) {
        Ok(status) => match other_on_the_way(root, relative) {
            Some(other) => Presence::Gone(Some(other)),
            None if status.kind == FileKind::Regular => Presence::Hidden,
            None => Presence::Gone(Some(status.kind)),
        },
        Err(error) if is_absence(&error) => match is_in_cloud(root, relative) {
            true => Presence::Hidden,
            false => Presence::Gone(other_on_the_way(root, relative)),
        },
        Err(_) => Presence::Unreadable,
    }
}

/// Returns whether a placeholder stands for a file whose contents were taken off this machine.
fn is_in_cloud(root: &Path, relative: &Path) -> bool {
    let (Some(parent), Some(name)) = (relative.parent(), relative.file_name()) else {
        return false;
    };
    beneath::directory(root, parent).is_ok_and(|dir| placeholder::stands_for(&dir, name))
}

/// Returns what exists on the path to a file in place of a directory, if anything does.
pub(super) fn other_on_the_way(root: &Path, relative: &Path) -> Option<FileKind> {
    let above = relative.ancestors().skip(1).take_while(|above| !above.as_os_str().is_empty());
    let kinds = above.filter_map(|above| Status::of_link(&root.join(above)).ok());
    kinds.map(|status| status.kind).find(|kind| *kind != FileKind::Directory)
}

/// A directory that was not visited, and the state of its files.
struct PassedDirectory {
    directory: Directory,
    path: PathBuf,
    /// Whether the directory is known to be gone with its contents.
    gone: bool,
}

impl Catalogue {
    /// Returns the place in the tree of a path that is known and does not exist; `None` for any
    /// other.
    ///
    /// # Errors
    ///
    /// If the catalogue cannot be read.
    pub(crate) fn known_missing_path(
        &self,
        path: &Path,
    ) -> Result<Option<PathBuf>, CatalogueError> {
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
    /// Looks for the known files at selected paths that do not exist.
    pub(super) fn settle_absent_selections(&mut self, say: &mut Say<'_>) -> Result<(), DbError> {
        let mut unmounted = HashSet::new();
        for path in self.scope.absent().to_vec() {
            let (Some(above), Some(name)) = (path.parent(), path.file_name()) else { continue };
            let Some(parent) = at_path(self.db(), above)? else { continue };
            let volume = volume_at(self.db(), &self.catalogue.root, &path)?;
            if let FolderVolume::Unmounted(path) = volume {
                if unmounted.insert(path.clone()) {
                    let directory = at_path(self.db(), &path)?;
                    self.report_unmounted(directory, path, say)?;
                }
                continue;
            }
            if let Some(found) = known_at(self.db(), &path)?
                && matches!(presence_at(&self.catalogue.root, &path), Presence::Gone(_))
            {
                self.note_missing(parent.id, &found.known, found.slice_run)?;
            }
            if let Some(directory) = child(self.db(), parent.id, name.as_bytes())? {
                self.settle_unvisited(directory, above, say)?;
            }
        }
        Ok(())
    }

    /// Settles a known file that was not visited. One that cannot be reached is unreadable: where a
    /// directory cannot be listed, a damaged file system may say that the file does not exist.
    pub(super) fn settle_not_visited(
        &mut self,
        level: &mut OpenDir,
        row: FileRow,
        slice_run: i64,
        say: &mut Say<'_>,
    ) -> Result<Settled, DbError> {
        let path = level.relative.join(OsStr::from_bytes(&row.name));
        let presence = match level.walked {
            true => presence_at(&self.catalogue.root, &path),
            false => Presence::Hidden,
        };
        let listed = !self.descent.troubled.contains(&level.relative);
        let is_out_of_reach = match presence {
            Presence::Unreadable => true,
            Presence::Gone(instead) => !listed && instead.is_none(),
            Presence::Hidden => false,
        };
        if is_out_of_reach && self.mode.writes {
            let seen = ObservedFile::unreadable(&row.record);
            let (settled, checked) =
                self.settle_known(level.id, path, row, slice_run, &seen, say)?;
            self.cover(level, &settled.known.name, checked)?;
            return Ok(settled);
        }
        let gone = listed && matches!(presence, Presence::Gone(_));
        if gone {
            self.note_missing(level.id, &row, slice_run)?;
        }
        self.cover(level, &row.name, gone)?;
        Ok(Settled::as_was(row, slice_run))
    }

    /// Handles known subdirectories up to `name` and returns the one of that name; without a name,
    /// handles all.
    pub(super) fn settle_children_up_to(
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
            // A directory that this run found first has been visited.
            if passed.id <= self.before.last_directory {
                level.complete &= self.settle_unvisited(passed, &level.relative, say)?;
            }
        }
        // A directory may be visited twice, if it was also selected by itself.
        name.map_or(Ok(None), |name| child(self.db(), level.id, name))
    }

    /// Looks for the files beneath a directory that was not visited. Returns whether none is
    /// hidden.
    fn settle_unvisited(
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
            if !self.scope.begins_at(&path) && self.is_unmounted(&directory, &path)? {
                let entries = self.report_unmounted(Some(directory), path, say)?;
                complete &= entries == 0;
                continue;
            }
            let Some(gone) = self.presence_of(&path, gone) else {
                complete &= entries_beneath(self.db(), directory.id)? == 0;
                if !self.scope.begins_at(&path) {
                    // Each of its files is settled by itself.
                    self.descent.troubled.insert(path.clone());
                    self.enter(Some(directory), path, say)?;
                    self.leave(say)?;
                }
                continue;
            };
            complete &= self.settle_unvisited_files(directory.id, &path, gone)?;
            let mut children = Children::of(directory.id);
            while let Some(directory) = children.next(&self.catalogue.db)? {
                let path = path.join(OsStr::from_bytes(&directory.name));
                stack.push(PassedDirectory { directory, path, gone });
            }
        }
        Ok(complete)
    }

    /// Returns whether a directory is gone; `None` if its files cannot be judged, or must not be
    /// judged here.
    fn presence_of(&self, path: &Path, gone: bool) -> Option<bool> {
        if self.scope.begins_at(path) || self.descent.troubled.contains(path) {
            return None;
        }
        if gone {
            return Some(true);
        }
        match Status::of_link(&self.catalogue.root.join(path)) {
            Ok(status) if status.kind == FileKind::Directory => Some(false),
            // A directory behind a link does not count.
            Ok(_) => Some(true),
            Err(error) if is_absence(&error) && !self.is_in_unlisted(path) => Some(true),
            Err(_) => None,
        }
    }

    /// Returns whether a directory on the way to a path could not be listed.
    fn is_in_unlisted(&self, path: &Path) -> bool {
        path.ancestors().skip(1).any(|directory| self.descent.troubled.contains(directory))
    }

    /// Returns whether a directory used to be another volume and no longer is.
    pub(super) fn is_unmounted(&self, directory: &Directory, path: &Path) -> Result<bool, DbError> {
        let real = self.catalogue.root.join(path);
        is_unmounted(self.db(), directory, &real, self.descent.root_device)
    }

    /// Reports the files of a directory whose volume is not mounted. Returns how many.
    pub(super) fn report_unmounted(
        &mut self,
        directory: Option<Directory>,
        path: PathBuf,
        say: &mut Say<'_>,
    ) -> Result<u64, DbError> {
        let id = directory.map(|directory| directory.id);
        let entries = id.map_or(Ok(0), |id| entries_beneath(self.db(), id))?;
        if entries > 0 {
            self.report(say, Finding::Unmounted { path, entries });
        }
        Ok(entries)
    }

    /// Looks for the files of one directory. Returns whether none is hidden.
    fn settle_unvisited_files(
        &mut self,
        directory: i64,
        path: &Path,
        gone: bool,
    ) -> Result<bool, DbError> {
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
                let is_gone = |file: &Path| {
                    matches!(presence_at(&self.catalogue.root, file), Presence::Gone(_))
                        && !self.is_in_unlisted(file)
                };
                if gone || is_gone(&file()) {
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
pub(super) fn entries_beneath(db: &Connection, directory: i64) -> Result<u64, DbError> {
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
