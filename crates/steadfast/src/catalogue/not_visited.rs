//! Looks for known files that a walk did not visit.
//!
//! Each of them is gone, or was hidden from the walk by a pattern, a file system boundary or an
//! error. A file that is gone may not be missing: it may have moved to a place that the walk has
//! yet to visit.

use std::cmp::Ordering;
use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use steadfast_sys::names::NameBytes as _;

use steadfast_sys::file::FileKind;

use super::directory::{Children, Directory, at_path, child};
use super::entry::FileRow;
use super::error::DbError;
use super::observation::ObservedFile;
use super::open_dir::OpenDir;
use super::place::real_of;
use super::recorder::Recorder;
use super::slice::{UpdatedRow, rows_of, slices_of};
use super::unmounted::{FolderVolume, is_unmounted, volume_at};
use super::{Catalogue, CatalogueError};
use crate::beneath::{Places, Presence};
use crate::event::FileError;
use crate::file_state::FileState;
use crate::finding::{Finding, Say};

/// A directory that was not visited, and the state of its files.
struct PassedDirectory {
    directory: Directory,
    path: PathBuf,
    /// Whether the directory is known to be gone with its contents.
    gone: bool,
}

impl Catalogue {
    /// Returns the place in the tree of a path where known files are lost; `None` if they are not,
    /// or none is known. Also returns whether something is there that a walk can visit.
    ///
    /// # Errors
    ///
    /// If the catalogue cannot be read.
    pub(crate) fn lost_path(
        &self,
        path: &Path,
        places: &mut Places,
    ) -> Result<Option<(PathBuf, bool)>, CatalogueError> {
        let is_plain =
            |path: &PathBuf| path.starts_with(&self.root) && !path.iter().any(|name| name == "..");
        // The catalogue knows nothing behind a link, so one is in place of what it knows there.
        let absolute = std::path::absolute(path).ok().filter(is_plain);
        let real = absolute.or_else(|| real_of(path));
        let relative = real.and_then(|real| Some(real.strip_prefix(&self.root).ok()?.to_owned()));
        let Some(relative) = relative.filter(|relative| !relative.as_os_str().is_empty()) else {
            return Ok(None);
        };
        let (was_file, was_folder, is_walked) = match places.presence(&relative) {
            Presence::There(status) if status.kind == FileKind::Regular => (false, true, true),
            Presence::There(status) if status.kind == FileKind::Directory => (true, false, true),
            Presence::There(_) | Presence::Replaced(_) | Presence::Gone => (true, true, false),
            Presence::Unknown(_) => return Ok(None),
        };
        let is_known = || {
            if was_file && self.known_at(&relative)?.is_some() {
                return Ok(true);
            }
            let folder = if was_folder { at_path(&self.db, &relative)? } else { None };
            let entries = folder.map(|folder| entries_beneath(&self.db, folder.id)).transpose()?;
            Ok(entries.is_some_and(|entries| entries > 0))
        };
        let is_known = is_known().map_err(|fault: DbError| fault.at(&self.file))?;
        Ok(is_known.then_some((relative, is_walked)))
    }
}

impl Recorder {
    /// Looks for the known files at selected paths that do not exist.
    pub(super) fn resolve_absent_selections(&mut self, say: &mut Say<'_>) -> Result<(), DbError> {
        let mut unmounted = HashSet::new();
        for path in self.scope.absent().to_vec() {
            let (Some(above), Some(name)) = (path.parent(), path.file_name()) else { continue };
            let Some(parent) = at_path(self.db(), above)? else { continue };
            let volume = volume_at(&self.catalogue.db, &mut self.places, &path)?;
            if let FolderVolume::Unmounted(path) = volume {
                if unmounted.insert(path.clone()) {
                    let directory = at_path(self.db(), &path)?;
                    self.report_unmounted(directory, path, say)?;
                }
                continue;
            }
            if let Some(found) = self.rows.find(&self.catalogue.db, parent.id, name.as_bytes())?
                && self.presence_of_file(&path).is_lost()
            {
                self.note_missing(parent.id, &found.known, found.slice_run)?;
            }
            if let Some(directory) = child(self.db(), parent.id, name.as_bytes())? {
                self.resolve_unvisited(directory, above, say)?;
            }
        }
        Ok(())
    }

    /// Finds out what is in the place of a known file.
    pub(super) fn presence_of_file(&mut self, path: &Path) -> Presence {
        self.places.presence(path).of_kind(FileKind::Regular)
    }

    /// Settles a known file that was not visited. One that cannot be reached is unreadable: where a
    /// directory cannot be listed, a damaged file system may say that the file does not exist.
    pub(super) fn resolve_not_visited(
        &mut self,
        level: &mut OpenDir,
        row: FileRow,
        slice_run: i64,
        say: &mut Say<'_>,
    ) -> Result<UpdatedRow, DbError> {
        let path = level.relative.join(Path::from_bytes(&row.name));
        let listed = !self.descent.troubled.contains(&level.relative);
        let presence = level.walked.then(|| self.presence_of_file(&path));
        let (settled, covered) = match presence {
            Some(Presence::Unknown(error)) => {
                // That the directory cannot be listed is told once.
                let error = Some(&error).filter(|_| listed);
                self.apply_unreadable((level.id, path), row, slice_run, error, say)?
            }
            Some(Presence::Gone) if !listed => {
                self.apply_unreadable((level.id, path), row, slice_run, None, say)?
            }
            Some(Presence::Gone | Presence::Replaced(_)) => {
                self.note_missing(level.id, &row, slice_run)?;
                (UpdatedRow::as_was(row, slice_run), true)
            }
            Some(Presence::There(_)) | None => (UpdatedRow::as_was(row, slice_run), false),
        };
        self.cover(level, &settled.known.name, covered)?;
        Ok(settled)
    }

    /// Settles a known file that cannot be reached; `error` is why, if that is to be reported. A
    /// missing one stays missing. Also returns whether it was checked.
    pub(super) fn apply_unreadable(
        &mut self,
        (directory, path): (i64, PathBuf),
        row: FileRow,
        slice_run: i64,
        error: Option<&io::Error>,
        say: &mut Say<'_>,
    ) -> Result<(UpdatedRow, bool), DbError> {
        if let Some(error) = error {
            let why = FileError::from_io("look at", error).reason;
            self.report(say, Finding::Unreadable { path: path.clone(), why });
        }
        if !self.mode.writes || row.record.standing == FileState::Missing {
            return Ok((UpdatedRow::as_was(row, slice_run), false));
        }
        let seen = ObservedFile::unreadable(&row.record);
        self.apply_observation(directory, path, row, slice_run, &seen, say)
    }

    /// Handles known subdirectories up to `name` and returns the one of that name; without a name,
    /// handles all.
    pub(super) fn resolve_children_up_to(
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
                level.complete &= self.resolve_unvisited(passed, &level.relative, say)?;
            }
        }
        // A directory may be visited twice, if it was also selected by itself.
        name.map_or(Ok(None), |name| child(self.db(), level.id, name))
    }

    /// Looks for the files beneath a directory that was not visited. Returns whether none is
    /// hidden.
    fn resolve_unvisited(
        &mut self,
        directory: Directory,
        above: &Path,
        say: &mut Say<'_>,
    ) -> Result<bool, DbError> {
        let path = above.join(Path::from_bytes(&directory.name));
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
                    self.enter(Some(directory), path, say)?;
                    self.leave(say)?;
                }
                continue;
            };
            complete &= self.resolve_unvisited_files(directory.id, &path, gone)?;
            let mut children = Children::of(directory.id);
            while let Some(directory) = children.next(&self.catalogue.db)? {
                let path = path.join(Path::from_bytes(&directory.name));
                stack.push(PassedDirectory { directory, path, gone });
            }
        }
        Ok(complete)
    }

    /// Returns whether a directory is gone; `None` if its files cannot be judged, or must not be
    /// judged here.
    fn presence_of(&mut self, path: &Path, gone: bool) -> Option<bool> {
        if self.scope.begins_at(path) || self.descent.troubled.contains(path) {
            return None;
        }
        match self.places.presence(path).of_kind(FileKind::Directory) {
            _ if gone => Some(true),
            Presence::There(_) => Some(false),
            Presence::Gone if self.is_in_unlisted(path) => {
                self.descent.troubled.insert(path.to_owned());
                None
            }
            Presence::Gone | Presence::Replaced(_) => Some(true),
            Presence::Unknown(_) => None,
        }
    }

    /// Returns whether a directory on the way to a path could not be listed.
    fn is_in_unlisted(&self, path: &Path) -> bool {
        path.ancestors().skip(1).any(|directory| self.descent.troubled.contains(directory))
    }

    /// Returns whether a directory used to be another volume and no longer is.
    pub(super) fn is_unmounted(
        &mut self,
        directory: &Directory,
        path: &Path,
    ) -> Result<bool, DbError> {
        is_unmounted(&self.catalogue.db, directory, path, &mut self.places)
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
    fn resolve_unvisited_files(
        &mut self,
        directory: i64,
        path: &Path,
        gone: bool,
    ) -> Result<bool, DbError> {
        let mut complete = true;
        let slices = slices_of(self.db(), directory)?;
        for (at, slice) in slices.iter().enumerate().filter(|(_, slice)| slice.entries > 0) {
            let next = slices.get(at + 1).map(|next| next.first.as_slice());
            let rows = rows_of(&self.catalogue.db, directory, slice, next, &mut self.buffer)?;
            for row in rows {
                if self.is_stopped() {
                    return Ok(false);
                }
                let file = path.join(Path::from_bytes(&row.name));
                if gone || self.presence_of_file(&file).is_lost() && !self.is_in_unlisted(&file) {
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
