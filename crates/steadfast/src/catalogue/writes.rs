//! Writes rows into a catalogue: files, events and coverage. Makes no decisions.

use rusqlite::Connection;

use super::column;
use super::entry::{COLUMNS, FileRow, RowSum};
use super::error::DbError;
use super::file_history_event::FileHistoryEvent;
use crate::file_state::FileState;
use steadfast_manifest::tag::Tag;

/// Writes a file's row.
pub(super) fn put_entry(db: &Connection, directory: i64, row: &FileRow) -> Result<(), DbError> {
    let sql = format!(
        "REPLACE INTO entries (directory, {COLUMNS}) \
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
    );
    let mut statement = db.prepare_cached(&sql)?;
    statement.raw_bind_parameter(1, directory)?;
    row.bind(&mut statement)?;
    statement.raw_execute()?;
    Ok(())
}

/// Removes a file's row, and the row of what belonged to it.
pub(super) fn remove_entry(db: &Connection, directory: i64, name: &[u8]) -> Result<(), DbError> {
    let mut statement =
        db.prepare_cached("DELETE FROM entries WHERE directory = ? AND name = ?")?;
    statement.execute((directory, name))?;
    let mut statement =
        db.prepare_cached("DELETE FROM belongings WHERE directory = ? AND name = ?")?;
    statement.execute((directory, name))?;
    Ok(())
}

/// An event of one file in one run.
#[derive(Clone, Debug)]
pub(super) struct NewEvent<'a> {
    pub(super) directory: i64,
    pub(super) name: &'a [u8],
    pub(super) run: i64,
    /// Its number among the events of the run, in order.
    pub(super) number: i64,
    pub(super) at_s: i64,
    pub(super) what: FileHistoryEvent,
    /// The state of the file after it.
    pub(super) standing: FileState,
    /// The tag before it, if it changed the tag.
    pub(super) before: Option<Tag>,
    /// Another path that it refers to.
    pub(super) other: Option<&'a [u8]>,
}

impl NewEvent<'_> {
    pub(super) fn sum(&self) -> RowSum {
        let numbers = [self.directory, self.run, self.number, self.at_s, self.standing.number()];
        let sum = numbers.into_iter().fold(RowSum::of("events"), RowSum::number);
        let sum = sum.bytes(self.name).bytes(self.what.name().as_bytes());
        let sum = sum.bytes(self.other.unwrap_or_default());
        match &self.before {
            Some(tag) => sum
                .bytes(tag.algorithm.name().as_bytes())
                .bytes(tag.digest.as_bytes())
                .number(tag.length.cast_signed())
                .bytes(&column::packed(tag.mtime))
                .number(tag.tagged.seconds),
            None => sum,
        }
    }

    /// Writes the row.
    pub(super) fn put(&self, db: &Connection) -> Result<(), DbError> {
        let mut statement = db.prepare_cached(
            "INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        )?;
        statement.raw_bind_parameter(1, self.directory)?;
        statement.raw_bind_parameter(2, self.name)?;
        statement.raw_bind_parameter(3, self.run)?;
        statement.raw_bind_parameter(4, self.number)?;
        statement.raw_bind_parameter(5, self.at_s)?;
        statement.raw_bind_parameter(6, self.what.name())?;
        statement.raw_bind_parameter(7, self.standing.number())?;
        column::bind_tag(&mut statement, 8, self.before.as_ref(), None)?;
        statement.raw_bind_parameter(13, self.other)?;
        statement.raw_bind_parameter(14, self.sum().value())?;
        statement.raw_execute()?;
        Ok(())
    }
}

/// Writes that a run covered names of a directory: from `first` to `last`, or to the end. `beneath`
/// tells whether its subdirectories are covered too.
pub(super) fn put_coverage(
    db: &Connection,
    run: i64,
    directory: i64,
    first: &[u8],
    last: Option<&[u8]>,
    beneath: bool,
) -> Result<(), DbError> {
    let mut statement = db.prepare_cached("REPLACE INTO coverage VALUES (?, ?, ?, ?, ?, ?)")?;
    let sum = coverage_sum(run, directory, first, last, beneath).value();
    statement.execute((directory, run, first, last, beneath, sum))?;
    Ok(())
}

/// Makes the check value of a row of `coverage`.
pub(super) fn coverage_sum(
    run: i64,
    directory: i64,
    first: &[u8],
    last: Option<&[u8]>,
    beneath: bool,
) -> RowSum {
    let sum = RowSum::of("coverage").number(run).number(directory).bytes(first);
    let sum = sum.number(i64::from(beneath)).number(i64::from(last.is_some()));
    sum.bytes(last.unwrap_or_default())
}

/// Removes the coverage of a directory that a run has written.
pub(super) fn remove_coverage(db: &Connection, run: i64, directory: i64) -> Result<(), DbError> {
    let mut statement =
        db.prepare_cached("DELETE FROM coverage WHERE directory = ? AND run = ?")?;
    statement.execute((directory, run))?;
    Ok(())
}
