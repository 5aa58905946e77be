//! The way of a run down the tree, through its open directories.
//!
//! The recorder keeps a stack of them. A directory is left when the walk continues elsewhere. Its
//! files are settled slice by slice, in the order of their names.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use steadfast_sys::names::NameBytes as _;

use steadfast_sys::file::Status;

use super::directory::{self, Children, Directory, ROOT, down_from};
use super::error::DbError;
use super::open_dir::OpenDir;
use super::recorder::Recorder;
use super::slice::{SLICE_LEN, ensure_without_entries, slices_of};
use super::writes;
use crate::finding::Say;

impl Recorder {
    /// Notes a file that a run over single files did not find. The end of the run looks for it
    /// again.
    pub(super) fn note_absent(
        &mut self,
        level: &mut OpenDir,
        name: &[u8],
        say: &mut Say<'_>,
    ) -> Result<(), DbError> {
        // Coverage is written in the order of names.
        self.apply(level, say)?;
        let found = self.rows.find(&self.catalogue.db, level.id, name)?;
        let Some(found) = found.filter(|_| self.mode.writes && !level.unmounted) else {
            return Ok(());
        };
        self.note_missing(level.id, &found.known, found.slice_run)?;
        self.cover(level, name, true)
    }

    /// Leaves and enters directories until `relative` is the deepest open one.
    pub(super) fn go_to(&mut self, relative: &Path, say: &mut Say<'_>) -> Result<(), DbError> {
        if self.descent.levels.is_empty() {
            let root = directory::directory(self.db(), ROOT)?;
            self.enter(Some(root), PathBuf::new(), say)?;
        }
        let down = loop {
            let open = self.descent.levels.last().expect("every path begins at the root");
            if let Some(down) = down_from(&open.relative, relative) {
                break down;
            }
            self.leave(say)?;
        };
        for name in down.components() {
            let name = name.as_os_str();
            let mut level = self.descent.levels.pop().expect("the root's stays");
            let child = self.resolve_children_up_to(&mut level, Some(name.as_bytes()), say);
            let path = level.relative.join(name);
            self.descent.levels.push(level);
            self.enter(child?, path, say)?;
        }
        Ok(())
    }

    pub(super) fn enter(
        &mut self,
        known: Option<Directory>,
        relative: PathBuf,
        say: &mut Say<'_>,
    ) -> Result<(), DbError> {
        let is_below = self.descent.levels.last().is_some_and(|above| above.unmounted);
        let mut unmounted = is_below;
        if let Some(known) = known.as_ref().filter(|_| !is_below)
            && self.is_unmounted(known, &relative)?
        {
            unmounted = true;
            self.report_unmounted(Some(known.clone()), relative.clone(), say)?;
        }
        let walked = self.scope.walks(&relative);
        if walked && self.scope.begins_at(&relative) {
            self.descent.begun.insert(relative.clone());
        }
        let id = known.as_ref().map_or(0, |directory| directory.id);
        let mounted = known.as_ref().is_some_and(|directory| directory.mounted);
        let slices = if id == 0 { Vec::new() } else { slices_of(self.db(), id)? };
        if slices.is_empty() && id != 0 {
            ensure_without_entries(self.db(), id)?;
        }
        self.descent.levels.push(OpenDir {
            id,
            mounted,
            unmounted,
            walked: walked && !unmounted,
            fresh: slices.is_empty(),
            slices,
            children: Children::of(id),
            complete: true,
            relative,
            ..OpenDir::default()
        });
        Ok(())
    }

    /// Leaves the deepest directory, after settling all its files.
    pub(super) fn leave(&mut self, say: &mut Say<'_>) -> Result<(), DbError> {
        let Some(mut level) = self.descent.levels.pop() else { return Ok(()) };
        self.descent.parent = None;
        self.apply(&mut level, say)?;
        while level.walked && level.at + 1 < level.slices.len() {
            level.at += 1;
            self.apply(&mut level, say)?;
        }
        self.resolve_children_up_to(&mut level, None, say)?;
        if !self.mode.writes {
            return Ok(());
        }
        let (run, id) = (self.record.id, level.id);
        if id != 0 && !level.unmounted {
            self.keep_folder(&level)?;
        }
        let db = &self.catalogue.db;
        let whole = level.walked && level.complete && level.cover.is_whole();
        if whole && id != 0 {
            level.cover.retract(db, run, id)?;
            level.covered.retract(db, run)?;
        } else {
            level.cover.flush(db, run, id)?;
            level.covered.flush(db, run)?;
        }
        match self.descent.levels.last_mut() {
            Some(above) if whole && id != 0 => above.covered.push(id),
            Some(above) => above.complete &= whole,
            None if whole && id != 0 => {
                writes::put_coverage(db, run, id, b"", None, true)?;
            }
            None => {}
        }
        Ok(())
    }

    /// Numbers the open directories that have no number.
    pub(super) fn number_levels(&mut self, status: Option<&Status>) -> Result<(), DbError> {
        // Those without a number are the deepest.
        let known = self.descent.levels.iter().rposition(|level| level.id != 0);
        let mut parent = known.map_or(0, |at| self.descent.levels[at].id);
        let elsewhere =
            status.is_some_and(|status| Some(status.device) != self.descent.root_device);
        for level in &mut self.descent.levels[known.map_or(0, |at| at + 1)..] {
            let device = || Status::of(&self.catalogue.root.join(&level.relative));
            let mounted = elsewhere
                && device().is_ok_and(|status| Some(status.device) != self.descent.root_device);
            let name = level.relative.file_name().unwrap_or(OsStr::new(""));
            let name = name.as_bytes().to_vec();
            let id = self.record.totals.directories + 1;
            Directory { id, parent, name, mounted }.put(&self.catalogue.db)?;
            self.record.totals.directories = id;
            level.id = id;
            level.mounted = mounted;
            level.children = Children::of(id);
            parent = id;
        }
        Ok(())
    }

    /// Settles and splits slices until a file of this name fits the batch.
    pub(super) fn make_room(
        &mut self,
        level: &mut OpenDir,
        name: &[u8],
        say: &mut Say<'_>,
    ) -> Result<(), DbError> {
        let last = level.batch.last().unwrap_or(&level.last);
        let disorder = (!last.is_empty() && name <= last)
            || level.slices.get(level.at).is_some_and(|slice| name < slice.first.as_slice());
        let index = |level: &OpenDir| {
            let after = level.slices.partition_point(|slice| slice.first.as_slice() <= name);
            after.saturating_sub(1)
        };
        if disorder {
            self.apply(level, say)?;
            level.fresh &= level.slices.is_empty();
            level.at = index(level);
            return Ok(());
        }
        while level.slices.get(level.at + 1).is_some_and(|next| next.first.as_slice() <= name) {
            self.apply(level, say)?;
            level.at = if level.walked { level.at + 1 } else { index(level) };
        }
        if level.batch.len() >= SLICE_LEN {
            if !level.fresh && !level.slices.is_empty() {
                self.split(level, name)?;
            }
            self.apply(level, say)?;
            if !level.fresh {
                level.at = index(level);
            }
        }
        Ok(())
    }

    /// Settles the files of the batch, and the known files of their slice that were not visited.
    fn apply(&mut self, level: &mut OpenDir, say: &mut Say<'_>) -> Result<(), DbError> {
        let mut batch = std::mem::take(&mut level.batch);
        let settled = self.apply_batch(level, &batch, say);
        if let Some(last) = batch.last() {
            level.last.clear();
            level.last.extend_from_slice(last);
        }
        batch.clear();
        level.batch = batch;
        settled
    }

    /// Ends the walk of the open directories early. Files that were not visited are then not
    /// missing.
    pub(super) fn give_up_walk(&mut self) {
        for level in &mut self.descent.levels {
            level.complete &= !level.walked;
            level.walked = false;
        }
    }
}
