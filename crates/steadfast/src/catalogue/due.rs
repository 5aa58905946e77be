//! What is due: files in the order in which they were last judged, the longest-unchecked first.
//!
//! In: options. Out: a stream of paths for a run over single files. Never sorts files: one pass
//! adds up what each run was the last to judge, and then one such class after the other is
//! streamed, by directory in the order in which the catalogue met them, and by name.
//!
//! Why a budget comes round to everything: what a run judges leaves its class for the newest one,
//! files are taken from the oldest class first, and at least one is taken, however large.

use std::collections::{BTreeMap, VecDeque};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use steadfast_sys::file::Timestamp;
use steadfast_sys::names::NameBytes as _;

use super::directory::Paths;
use super::entry::FileRow;
use super::error::DbError;
use super::runs::{self, RunState};
use super::slice::{NameSlice, next_first, rows_of, slices_after};
use super::slice_cache::reading;
use super::{Catalogue, CatalogueError};

/// Slices that are read in one transaction.
const PAGE_LEN: usize = 256;

/// Options for due files.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct DueOptions {
    /// Only files that no run judged within this many seconds before `now`.
    pub older_than_s: Option<i64>,
    /// Files of at most this many bytes in total, but at least one file.
    pub max_bytes: Option<u64>,
    /// Only files that were last judged before this run: the rest of an interrupted run. See
    /// [`Catalogue::unfinished_run`].
    pub before_run: Option<i64>,
    /// Only files beneath this directory, or this file; a path from the root.
    pub beneath: PathBuf,
}

impl DueOptions {
    /// Changes some of them, and returns the whole.
    #[must_use]
    pub fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }
}

/// A file that is due.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DueEntry {
    /// Its path from the root.
    pub path: PathBuf,
    /// Its length in bytes, according to its tag.
    pub length: u64,
    /// The run that last judged it; 0 for none.
    pub last_checked_run: i64,
}

/// A stream of due files.
#[derive(Debug)]
pub struct Due {
    catalogue: Catalogue,
    beneath: PathBuf,
    /// Files and bytes by run.
    classes: VecDeque<(i64, (u64, u64))>,
    /// Files that can become due.
    known: u64,
    max_bytes: u64,
    taken: (u64, u64),
    /// The last slice of the present class that was read.
    after: Option<(i64, Vec<u8>)>,
    ready: VecDeque<DueEntry>,
    paths: Paths,
    buffer: Vec<u8>,
}

impl Catalogue {
    /// Finds due files. Another connection may write meanwhile.
    ///
    /// # Errors
    ///
    /// If the catalogue cannot be read.
    pub fn due(self, options: &DueOptions, now: Timestamp) -> Result<Due, CatalogueError> {
        let file = self.file.clone();
        Due::begin(self, options, now).map_err(|fault| fault.at(&file))
    }

    /// Returns the last run if it was not completed, so that it can be resumed.
    ///
    /// # Errors
    ///
    /// If the catalogue cannot be read.
    pub fn unfinished_run(&self) -> Result<Option<i64>, CatalogueError> {
        let runs = runs::before(&self.db, i64::MAX, 1).map_err(|fault| self.wrong(fault))?;
        let unfinished = runs.first().filter(|run| run.state != RunState::Whole);
        Ok(unfinished.map(|run| run.id))
    }
}

impl Due {
    fn begin(catalogue: Catalogue, options: &DueOptions, now: Timestamp) -> Result<Due, DbError> {
        let starts = runs::starts(&catalogue.db, now)?;
        let mut due = Due {
            catalogue,
            beneath: options.beneath.clone(),
            classes: VecDeque::new(),
            known: 0,
            max_bytes: options.max_bytes.unwrap_or(u64::MAX),
            taken: (0, 0),
            after: None,
            ready: VecDeque::new(),
            paths: Paths::default(),
            buffer: Vec::new(),
        };
        let latest = options.older_than_s.map(|seconds| now.seconds.saturating_sub(seconds));
        let is_due = |run: i64| {
            let started = starts.get(&run).copied().unwrap_or(i64::MIN);
            latest.is_none_or(|latest| started <= latest)
                && options.before_run.is_none_or(|before| run < before)
        };
        // The counts are of one moment. Files are streamed later, in their state at that time.
        due.catalogue.db.execute_batch("BEGIN")?;
        let counted = due.count();
        due.catalogue.db.execute_batch("COMMIT")?;
        let classes = counted?;
        due.known = classes.values().map(|(files, _)| files).sum();
        due.classes = classes.into_iter().filter(|(run, _)| is_due(*run)).collect();
        Ok(due)
    }

    /// Returns the number of known files with a tag, due or not.
    pub fn known(&self) -> u64 {
        self.known
    }

    /// Returns the files and bytes that are due in total, ignoring the budget.
    pub fn total(&self) -> (u64, u64) {
        let (mut files, mut bytes) = self.taken;
        for (_, class) in &self.classes {
            files += class.0;
            bytes += class.1;
        }
        (files, bytes)
    }

    /// Returns the next file; `None` at the end, or when the budget is spent.
    ///
    /// # Errors
    ///
    /// If the catalogue cannot be read.
    #[expect(clippy::should_implement_trait, reason = "an error ends the stream: `next()?`")]
    pub fn next(&mut self) -> Result<Option<DueEntry>, CatalogueError> {
        self.next_entry().map_err(|fault| fault.at(&self.catalogue.file))
    }

    /// Returns the cost of the last file to the budget, because it does not exist and will not be
    /// read. Otherwise missing files would use up every budget.
    pub fn give_back(&mut self, entry: &DueEntry) {
        self.taken.0 = self.taken.0.saturating_sub(1);
        self.taken.1 = self.taken.1.saturating_sub(entry.length);
    }

    fn next_entry(&mut self) -> Result<Option<DueEntry>, DbError> {
        loop {
            if let Some(entry) = self.ready.pop_front() {
                // Always taken if it is the first. A large file that is always skipped would never
                // be checked.
                let bytes = self.taken.1.saturating_add(entry.length);
                if self.taken.0 > 0 && bytes > self.max_bytes {
                    self.ready.clear();
                    self.classes.clear();
                    return Ok(None);
                }
                self.taken = (self.taken.0 + 1, bytes);
                if let Some((_, left)) = self.classes.front_mut() {
                    left.0 = left.0.saturating_sub(1);
                    left.1 = left.1.saturating_sub(entry.length);
                }
                return Ok(Some(entry));
            }
            let Some(&(run, _)) = self.classes.front() else { return Ok(None) };
            if !self.fill(run)? {
                self.classes.pop_front();
                self.after = None;
            }
        }
    }

    /// Reads more files of a class. Returns whether there are more to read.
    fn fill(&mut self, run: i64) -> Result<bool, DbError> {
        let mut entries = Vec::new();
        let more = self.page(&mut |directory, slice, rows, paths, catalogue| {
            if slice.apart == 0 && slice.checked_run != run {
                return Ok(());
            }
            for row in rows()?.iter().filter(|row| is_checkable(row)) {
                let last_checked_run = row.last_checked(slice.checked_run);
                if last_checked_run == run {
                    let path = paths.file(&catalogue.db, directory, &row.name)?;
                    let length = row.record.tag.map_or(0, |tag| tag.length);
                    entries.push(DueEntry { path, length, last_checked_run });
                }
            }
            Ok(())
        })?;
        self.ready.extend(entries);
        Ok(more)
    }

    /// Adds up files and bytes by the run that last judged them.
    fn count(&mut self) -> Result<BTreeMap<i64, (u64, u64)>, DbError> {
        let mut classes = BTreeMap::new();
        let mut add = |run: i64, files: u64, bytes: u64| {
            let class: &mut (u64, u64) = classes.entry(run).or_default();
            class.0 += files;
            class.1 = class.1.saturating_add(bytes);
        };
        let visit: &mut DueVisit<'_> = &mut |_, slice, rows, _, _| {
            if slice.apart == 0 {
                if slice.tagged > 0 {
                    add(slice.checked_run, slice.tagged, slice.bytes);
                }
                return Ok(());
            }
            for row in rows()?.iter().filter(|row| is_checkable(row)) {
                let length = row.record.tag.map_or(0, |tag| tag.length);
                add(row.last_checked(slice.checked_run), 1, length);
            }
            Ok(())
        };
        while self.page(visit)? {}
        self.after = None;
        Ok(classes)
    }

    /// Visits the next slices. Returns whether there are more.
    fn page(&mut self, visit: &mut DueVisit<'_>) -> Result<bool, DbError> {
        let Due { catalogue, paths, buffer, after, beneath, .. } = self;
        let db = &catalogue.db;
        reading(db, || {
            let place = after.as_ref().map(|(directory, first)| (*directory, first.as_slice()));
            let page = slices_after(db, place, PAGE_LEN)?;
            for (directory, slice) in &page {
                let Some(range) = range_in(paths.of(db, *directory)?, beneath) else { continue };
                // Of a single file, the sums of its slice say nothing: its row has to be read.
                let apart = slice.apart.max(u64::from(range != NameRange::All));
                let within = NameSlice { apart, ..slice.clone() };
                let rows = &mut || {
                    let next = next_first(db, *directory, &slice.first)?;
                    let mut rows = rows_of(db, *directory, slice, next.as_deref(), buffer)?;
                    rows.retain(|row| range == NameRange::All || range.is(&row.name));
                    Ok(rows)
                };
                visit(*directory, &within, rows, paths, catalogue)?;
            }
            let more = page.len() == PAGE_LEN;
            *after = page.into_iter().last().map(|(directory, slice)| (directory, slice.first));
            Ok(more)
        })
    }
}

/// The files of a directory that are beneath a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NameRange<'a> {
    /// All of them.
    All,
    /// The one of this name, to which the path leads.
    One(&'a OsStr),
}

impl NameRange<'_> {
    /// Returns whether it is the file of this name alone.
    fn is(self, name: &[u8]) -> bool {
        matches!(self, NameRange::One(one) if one.as_bytes() == name)
    }
}

/// Returns the files of a directory that are beneath a path, which may be that of a file.
fn range_in<'a>(directory: &Path, beneath: &'a Path) -> Option<NameRange<'a>> {
    match (beneath.parent(), beneath.file_name()) {
        _ if directory.starts_with(beneath) => Some(NameRange::All),
        (Some(parent), Some(name)) if parent == directory => Some(NameRange::One(name)),
        _ => None,
    }
}

/// Visits one slice: its directory, its row, and the rows of its files if requested.
type DueVisit<'a> = dyn FnMut(
        i64,
        &NameSlice,
        &mut dyn FnMut() -> Result<Vec<FileRow>, DbError>,
        &mut Paths,
        &Catalogue,
    ) -> Result<(), DbError>
    + 'a;

/// Returns whether a file exists and has a tag to check it by.
fn is_checkable(row: &FileRow) -> bool {
    row.record.tag.is_some()
}
