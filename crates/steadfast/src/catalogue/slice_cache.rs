//! The rows of the slices that were read last.
//!
//! Files of one directory come together, so what was read for one serves the next.

use std::collections::VecDeque;
use std::path::Path;

use rusqlite::Connection;
use steadfast_sys::names::NameBytes as _;

use super::Catalogue;
use super::directory::at_path;
use super::entry::{FileRecord, FileRow};
use super::error::DbError;
use super::slice::{rows_of, slice_with};
use super::work;

/// The most slices in the cache: 8 of at most 8192 rows take 16 MB.
const SLICES_MAX: usize = 8;

/// A file's row, and the run that judged its slice.
#[derive(Clone, Debug)]
pub(super) struct FoundRow {
    pub(super) known: FileRow,
    pub(super) slice_run: i64,
}

/// Rows of the slices that were read last.
#[derive(Debug, Default)]
pub(super) struct SliceCache {
    slices: VecDeque<Loaded>,
    buffer: Vec<u8>,
}

#[derive(Debug)]
struct Loaded {
    directory: i64,
    first: Vec<u8>,
    next: Option<Vec<u8>>,
    checked_run: i64,
    rows: Vec<FileRow>,
}

impl Loaded {
    fn holds(&self, directory: i64, name: &[u8]) -> bool {
        self.directory == directory
            && self.first.as_slice() <= name
            && self.next.as_ref().is_none_or(|next| name < next.as_slice())
    }
}

impl SliceCache {
    /// Finds a file's row by its directory's number and its name.
    pub(super) fn find(
        &mut self,
        db: &Connection,
        directory: i64,
        name: &[u8],
    ) -> Result<Option<FoundRow>, DbError> {
        match self.slices.iter().position(|slice| slice.holds(directory, name)) {
            Some(0) => {}
            Some(at) => self.slices.swap(0, at),
            None => {
                let Some(loaded) = reading(db, || self.load(db, directory, name))? else {
                    return Ok(None);
                };
                self.slices.truncate(SLICES_MAX - 1);
                self.slices.push_front(loaded);
            }
        }
        let Some(slice) = self.slices.front() else { return Ok(None) };
        let found = slice.rows.binary_search_by(|row| row.name.as_slice().cmp(name));
        let slice_run = slice.checked_run;
        Ok(found.ok().map(|at| FoundRow { known: slice.rows[at].clone(), slice_run }))
    }

    /// Returns what a file's row records, after comparing it with the seal of its slice.
    pub(super) fn sealed(
        &mut self,
        db: &Connection,
        directory: i64,
        name: &[u8],
    ) -> Result<FileRecord, DbError> {
        let found = self.find(db, directory, name)?;
        let found = found.ok_or_else(|| DbError::damaged("a file is in no slice"))?;
        Ok(found.known.record)
    }

    fn load(
        &mut self,
        db: &Connection,
        directory: i64,
        name: &[u8],
    ) -> Result<Option<Loaded>, DbError> {
        let Some((slice, next)) = slice_with(db, directory, name)? else { return Ok(None) };
        let rows = rows_of(db, directory, &slice, next.as_deref(), &mut self.buffer)?;
        let checked_run = slice.checked_run;
        Ok(Some(Loaded { directory, first: slice.first, next, checked_run, rows }))
    }
}

/// Reads several tables in one transaction, because another process may write meanwhile.
pub(super) fn reading<T>(
    db: &Connection,
    read: impl FnOnce() -> Result<T, DbError>,
) -> Result<T, DbError> {
    work::begin();
    if !db.is_autocommit() {
        return read();
    }
    db.execute_batch("BEGIN")?;
    let result = read();
    db.execute_batch("COMMIT")?;
    result
}

impl Catalogue {
    /// Finds a file's row by its path from the root.
    pub(super) fn known_at(&self, path: &Path) -> Result<Option<FoundRow>, DbError> {
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { return Ok(None) };
        let Some(directory) = at_path(&self.db, parent)? else { return Ok(None) };
        // It differs if this connection, or another one, wrote since.
        let mut version = self.db.prepare_cached("PRAGMA data_version")?;
        let other = version.query_row((), |row| row.get::<_, i64>(0))?;
        let version = (other, self.db.total_changes());
        let mut rows = self.rows.borrow_mut();
        if rows.0 != version {
            *rows = (version, SliceCache::default());
        }
        rows.1.find(&self.db, directory.id, name.as_bytes())
    }
}
