//! Writes rows into a catalogue: files, events and coverage. Makes no decisions.

use rusqlite::Connection;

use super::column;
use super::entry::{NO_NUMBER, RowSum};
use super::error::DbError;
use super::file_history_event::FileHistoryEvent;
use super::slice::{Came, UpdatedRow};
use crate::file_state::FileState;
use steadfast_manifest::tag::Tag;

/// Writes a file's row, and its name if it has that since this run.
pub(super) fn put_file(db: &Connection, directory: i64, row: &UpdatedRow) -> Result<(), DbError> {
    let known = &row.known;
    let mut statement = db.prepare_cached(PUT_FILE)?;
    statement.raw_bind_parameter(1, directory)?;
    known.bind(&mut statement)?;
    statement.raw_execute()?;
    if let Came::InPlaceOf(former) = row.came {
        remove_file(db, former)?;
    }
    if row.came != Came::Before {
        let mut statement = db.prepare_cached("REPLACE INTO names VALUES (?, ?, ?)")?;
        statement.execute((directory, known.name.as_slice(), known.file))?;
    }
    Ok(())
}

/// The parameters are those of [`FileRow::bind`]. An index is written only if its value changed.
const PUT_FILE: &str = "
INSERT INTO files (length, mtime_ns, ctime_ns, inode, state, first_run, checked_run, proved_run,
  algorithm, digest, tagged_s, tag_length, tag_mtime_ns, id, links, mode, uid, gid, attributes,
  seen_mtime_ns, seen_ctime_ns, sum)
VALUES (?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21,
  ?22, ?23, ?24)
ON CONFLICT (id) DO UPDATE SET (length, mtime_ns, ctime_ns, inode, state, first_run, checked_run,
  proved_run, algorithm, digest, tagged_s, tag_length, tag_mtime_ns, links, mode, uid, gid,
  attributes, seen_mtime_ns, seen_ctime_ns, sum) = (?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12,
  ?13, ?14, ?15, ?17, ?18, ?19, ?20, ?21, ?22, ?23, ?24)";

/// Removes a file.
fn remove_file(db: &Connection, file: i64) -> Result<(), DbError> {
    db.prepare_cached("DELETE FROM files WHERE id = ?")?.execute((file,))?;
    Ok(())
}

/// Removes a name, and the file that had it.
pub(super) fn remove_entry(db: &Connection, directory: i64, name: &[u8]) -> Result<(), DbError> {
    if let Some(file) = file_at(db, directory, name)? {
        remove_file(db, file)?;
    }
    let mut statement = db.prepare_cached("DELETE FROM names WHERE directory = ? AND name = ?")?;
    statement.execute((directory, name))?;
    Ok(())
}

/// Returns the number of the file of a name.
pub(super) fn file_at(
    db: &Connection,
    directory: i64,
    name: &[u8],
) -> Result<Option<i64>, DbError> {
    let mut statement =
        db.prepare_cached("SELECT file FROM names WHERE directory = ? AND name = ?")?;
    let mut rows = statement.query((directory, name))?;
    rows.next()?.map(|row| column::integer(row, 0)).transpose()
}

/// Returns whether a file is known.
pub(super) fn has_file(db: &Connection, file: i64) -> Result<bool, DbError> {
    Ok(db.prepare_cached("SELECT 1 FROM files WHERE id = ?")?.exists((file,))?)
}

/// Returns the first number that no file has or had, as far as anything refers to it.
pub(super) fn next_file(db: &Connection) -> Result<i64, DbError> {
    let sql = "SELECT max(coalesce((SELECT max(id) FROM files), 0), \
               coalesce((SELECT max(file) FROM events), 0))";
    let last: i64 = db.query_row(sql, (), |row| row.get(0))?;
    last.checked_add(1).ok_or_else(|| DbError::damaged("the number of a file is too large"))
}

/// An event of one file in one run.
#[derive(Clone, Debug)]
pub(super) struct NewEvent<'a> {
    /// The number of the file.
    pub(super) file: i64,
    /// The name that the file had, or lost.
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
        let sum = RowSum::of("events");
        let sum = match self.file {
            NO_NUMBER => {
                let numbers = [self.directory, self.run, self.number, self.at_s];
                let sum = numbers.into_iter().fold(sum, RowSum::number);
                sum.number(self.standing.number().into())
            }
            file => [file, self.directory, self.run, self.number, self.at_s]
                .into_iter()
                .fold(sum, RowSum::number)
                .bytes(self.standing.name().as_bytes()),
        };
        let sum = sum.bytes(self.name).bytes(self.what.name().as_bytes());
        let sum = sum.bytes(self.other.unwrap_or_default());
        match &self.before {
            Some(tag) => sum.tag(tag),
            None => sum,
        }
    }

    /// Writes the row.
    pub(super) fn put(&self, db: &Connection) -> Result<(), DbError> {
        let mut statement = db.prepare_cached(
            "INSERT INTO main.events VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        )?;
        statement.raw_bind_parameter(1, self.file)?;
        statement.raw_bind_parameter(2, self.run)?;
        statement.raw_bind_parameter(3, self.number)?;
        statement.raw_bind_parameter(4, self.directory)?;
        statement.raw_bind_parameter(5, self.name)?;
        statement.raw_bind_parameter(6, self.at_s)?;
        statement.raw_bind_parameter(7, self.what.name())?;
        statement.raw_bind_parameter(8, self.standing.name())?;
        column::bind_tag(&mut statement, 9, self.before.as_ref(), None)?;
        statement.raw_bind_parameter(14, self.other)?;
        statement.raw_bind_parameter(15, self.sum().value())?;
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
