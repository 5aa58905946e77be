//! Which files a run covered: ranges of names, and whole subtrees, so that a run over everything
//! is one row.
//!
//! In: names in order, covered or not. Out: rows of `coverage`. A row covers the files that the
//! catalogue knew when the run was there, so what came later is not claimed.

use rusqlite::Connection;

use super::error::DbError;
use super::writes;

/// What was covered of one directory so far, its subdirectories apart.
#[derive(Debug, Default)]
pub(super) struct NameCoverage {
    /// The first and last name of a range without gaps that may still grow.
    open: Option<(Vec<u8>, Vec<u8>)>,
    /// Whether anything was passed over.
    broken: bool,
    /// Whether rows were written.
    written: bool,
}

impl NameCoverage {
    /// Notes names that were covered.
    pub(super) fn extend(&mut self, first: &[u8], last: &[u8]) {
        match &mut self.open {
            Some((_, end)) => {
                end.clear();
                end.extend_from_slice(last);
            }
            None => self.open = Some((first.to_vec(), last.to_vec())),
        }
    }

    /// Notes that something was not covered.
    pub(super) fn gap(&mut self, db: &Connection, run: i64, directory: i64) -> Result<(), DbError> {
        self.broken = true;
        self.flush(db, run, directory)?;
        self.open = None;
        Ok(())
    }

    /// Writes what is covered so far.
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

    /// Says whether all names were covered.
    pub(super) fn is_whole(&self) -> bool {
        !self.broken
    }

    /// Takes back what was written: a row for more stands for it.
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

/// Subdirectories that were covered with all that is beneath them.
#[derive(Debug, Default)]
pub(super) struct DirectoryCoverage {
    directories: Vec<i64>,
    /// How many of them have a row.
    written: usize,
}

impl DirectoryCoverage {
    pub(super) fn push(&mut self, directory: i64) {
        self.directories.push(directory);
    }

    /// Writes those that are not written yet.
    pub(super) fn flush(&mut self, db: &Connection, run: i64) -> Result<(), DbError> {
        for &directory in &self.directories[self.written..] {
            writes::put_coverage(db, run, directory, b"", None, true)?;
            self.written += 1;
        }
        Ok(())
    }

    /// Takes back what was written: a row of the directory above stands for all.
    pub(super) fn retract(&mut self, db: &Connection, run: i64) -> Result<(), DbError> {
        for &directory in &self.directories[..self.written] {
            writes::remove_coverage(db, run, directory)?;
        }
        self.directories.clear();
        self.written = 0;
        Ok(())
    }
}
