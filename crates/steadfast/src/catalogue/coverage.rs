//! The files that a run covered: ranges of names and whole subtrees, so a run over everything needs
//! one row.
//!
//! Takes names in order, covered or not, and writes rows of `coverage`. A row covers the files that
//! the catalogue knew at the time of the run, so it claims nothing about later files.

use rusqlite::Connection;

use super::error::DbError;
use super::writes;

/// The coverage of one directory so far, without its subdirectories.
#[derive(Debug, Default)]
pub(super) struct NameCoverage {
    /// First and last name of a range without gaps, which may still grow.
    open: Option<(Vec<u8>, Vec<u8>)>,
    /// Whether a file was not covered.
    broken: bool,
    /// Whether rows were written.
    written: bool,
}

impl NameCoverage {
    /// Adds covered names.
    pub(super) fn extend(&mut self, first: &[u8], last: &[u8]) {
        match &mut self.open {
            Some((_, end)) => {
                end.clear();
                end.extend_from_slice(last);
            }
            None => self.open = Some((first.to_vec(), last.to_vec())),
        }
    }

    /// Notes a name that was not covered.
    pub(super) fn gap(&mut self, db: &Connection, run: i64, directory: i64) -> Result<(), DbError> {
        self.broken = true;
        self.flush(db, run, directory)?;
        self.open = None;
        Ok(())
    }

    /// Writes the coverage so far.
    pub(super) fn flush(
        &mut self,
        db: &Connection,
        run: i64,
        directory: i64,
    ) -> Result<(), DbError> {
        if let Some((first, last)) = &self.open {
            writes::put_coverage(db, run, directory, first, Some(last), false)?;
            self.written = true;
        }
        Ok(())
    }

    /// Returns whether all names were covered.
    pub(super) fn is_whole(&self) -> bool {
        !self.broken
    }

    /// Removes the written rows, because one row for more replaces them.
    pub(super) fn retract(
        &mut self,
        db: &Connection,
        run: i64,
        directory: i64,
    ) -> Result<(), DbError> {
        if std::mem::take(&mut self.written) {
            writes::remove_coverage(db, run, directory)?;
        }
        Ok(())
    }
}

/// Subdirectories that were covered with everything beneath them.
#[derive(Debug, Default)]
pub(super) struct DirectoryCoverage {
    directories: Vec<i64>,
    /// How many of them have been written.
    written: usize,
}

impl DirectoryCoverage {
    pub(super) fn push(&mut self, directory: i64) {
        self.directories.push(directory);
    }

    /// Writes those that have not been written.
    pub(super) fn flush(&mut self, db: &Connection, run: i64) -> Result<(), DbError> {
        for &directory in &self.directories[self.written..] {
            writes::put_coverage(db, run, directory, b"", None, true)?;
            self.written += 1;
        }
        Ok(())
    }

    /// Removes the written rows, because one row of the parent directory replaces them.
    pub(super) fn retract(&mut self, db: &Connection, run: i64) -> Result<(), DbError> {
        for &directory in &self.directories[..self.written] {
            writes::remove_coverage(db, run, directory)?;
        }
        self.directories.clear();
        self.written = 0;
        Ok(())
    }
}
