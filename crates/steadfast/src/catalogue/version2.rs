//! Catalogues of version 2: read as they are, and converted by a writer.
//!
//! Version 2 knew names: a row for each, and beside it one with what belongs to the file. For
//! reading, views give its rows the form of version 3, and each is compared with its own seals.

use rusqlite::Connection;

use super::directory;
use super::entry::FIRST_FILE;
use super::error::DbError;
use super::history::{read_event, select_events};
use super::runs;
use super::slice::{Came, NameSlice, UpdatedRow, next_first, rows_of, slices_after};
use super::writes::{NewEvent, file_at, put_file};
use super::{folders, tables, work};

/// Slices whose places are read at a time; the rows of one are in memory.
const PAGE_LEN: usize = 16;

/// The tables of version 2. SQLite stored this text, and it is compared on opening.
pub(super) const TABLES: &[&str] = &[
    tables::META,
    tables::DIRECTORIES,
    "CREATE TABLE slices (
  directory INTEGER NOT NULL,
  first BLOB NOT NULL,
  entries INTEGER NOT NULL,
  tagged INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  apart INTEGER NOT NULL,
  checked_run INTEGER NOT NULL,
  marks INTEGER NOT NULL,
  seal BLOB NOT NULL,
  sum INTEGER NOT NULL,
  PRIMARY KEY (directory, first)
) STRICT, WITHOUT ROWID",
    "CREATE TABLE entries (
  directory INTEGER NOT NULL,
  name BLOB NOT NULL,
  length INTEGER NOT NULL,
  mtime_ns ANY NOT NULL,
  ctime_ns ANY NOT NULL,
  inode INTEGER NOT NULL,
  algorithm TEXT,
  digest BLOB,
  tagged_s INTEGER,
  tag_length INTEGER,
  tag_mtime_ns ANY,
  standing INTEGER NOT NULL,
  first_run INTEGER NOT NULL,
  checked_run INTEGER NOT NULL,
  proved_run INTEGER NOT NULL,
  PRIMARY KEY (directory, name)
) STRICT, WITHOUT ROWID",
    tables::RUNS,
    tables::COUNTS,
    tables::COVERAGE,
    "CREATE TABLE events (
  directory INTEGER NOT NULL,
  name BLOB NOT NULL,
  run INTEGER NOT NULL,
  number INTEGER NOT NULL,
  at_s INTEGER NOT NULL,
  what TEXT NOT NULL,
  standing INTEGER NOT NULL,
  algorithm TEXT,
  digest BLOB,
  tagged_s INTEGER,
  tag_length INTEGER,
  tag_mtime_ns ANY,
  other BLOB,
  sum INTEGER NOT NULL,
  PRIMARY KEY (directory, name, run, number)
) STRICT, WITHOUT ROWID",
    "CREATE INDEX events_by_run ON events (run, what)",
    tables::PATHS,
    "CREATE TABLE belongings (
  directory INTEGER NOT NULL,
  name BLOB NOT NULL,
  ctime_ns ANY NOT NULL,
  mtime_ns ANY NOT NULL,
  links INTEGER NOT NULL,
  mode INTEGER NOT NULL,
  uid INTEGER NOT NULL,
  gid INTEGER NOT NULL,
  attributes BLOB,
  sum INTEGER NOT NULL,
  PRIMARY KEY (directory, name)
) STRICT, WITHOUT ROWID",
];

/// Gives the rows the form of version 3. The file has no number, and what belongs to it has a check
/// value of its own.
const VIEWS: &str = "
CREATE TEMP VIEW known_files AS
SELECT 0 AS file, e.directory, e.name, e.length, e.mtime_ns, e.ctime_ns, e.inode,
  state_name(e.standing) AS state, e.first_run, e.checked_run, e.proved_run, e.algorithm, e.digest,
  e.tagged_s, e.tag_length, e.tag_mtime_ns, b.links, b.mode, b.uid, b.gid, b.attributes,
  b.mtime_ns AS seen_mtime_ns, b.ctime_ns AS seen_ctime_ns, b.sum
FROM main.entries AS e
LEFT JOIN main.belongings AS b ON b.directory = e.directory AND b.name = e.name;
CREATE TEMP VIEW known_slices AS SELECT * FROM main.{slices};
CREATE TEMP VIEW folders AS
SELECT directory, links, mode, uid, gid, attributes, mtime_ns, ctime_ns, sum
FROM main.belongings WHERE name = x'';
CREATE TEMP VIEW events AS
SELECT 0 AS file, directory, name, run, number, at_s, what, state_name(standing) AS state,
  algorithm, digest, tagged_s, tag_length, tag_mtime_ns, other, sum
FROM main.{events};";

const DROP_VIEWS: &str = "DROP VIEW temp.known_files; DROP VIEW temp.known_slices; \
    DROP VIEW temp.folders; DROP VIEW temp.events;";

/// Makes an index of the inodes, in place of the one that version 3 has.
pub(super) fn index_inodes(db: &Connection) -> Result<(), DbError> {
    Ok(db.execute_batch(
        "CREATE TEMP TABLE known_inodes (inode INTEGER, directory INTEGER, name BLOB, \
         PRIMARY KEY (inode, directory, name)) WITHOUT ROWID; \
         INSERT INTO temp.known_inodes SELECT inode, directory, name FROM main.entries;",
    )?)
}

/// Makes the views.
pub(super) fn make_views(db: &Connection) -> Result<(), DbError> {
    views_of(db, "slices", "events")
}

fn views_of(db: &Connection, slices: &str, events: &str) -> Result<(), DbError> {
    let views = VIEWS.replace("{slices}", slices).replace("{events}", events);
    Ok(db.execute_batch(&views)?)
}

/// Converts a catalogue in one transaction: killed or out of space, it stays as it was. `added`
/// are the tables of version 3 that version 2 lacks; `finish` follows within the transaction.
///
/// Each row is compared with its seal before it gets a new one. If one is damaged, nothing is
/// converted, and what is whole can still be read.
pub(super) fn convert(db: &Connection, added: &[&str], finish: &str) -> Result<(), DbError> {
    db.execute_batch("BEGIN IMMEDIATE")?;
    let converted = convert_tables(db, added);
    let ended = converted.and_then(|()| Ok(db.execute_batch(&format!("{finish}; COMMIT"))?));
    if ended.is_err() {
        // SQLite may have rolled back already.
        let _ = db.execute_batch("ROLLBACK");
    }
    ended
}

fn convert_tables(db: &Connection, added: &[&str]) -> Result<(), DbError> {
    directory::ensure_all(db)?;
    runs::ensure_slices(db)?;
    runs::ensure_past(db)?;
    db.execute_batch(DROP_VIEWS)?;
    db.execute_batch(
        "DROP INDEX events_by_run; ALTER TABLE slices RENAME TO slices_2; \
         ALTER TABLE events RENAME TO events_2;",
    )?;
    added.iter().try_for_each(|table| db.execute_batch(table))?;
    views_of(db, "slices_2", "events_2")?;
    let mut next_file = FIRST_FILE;
    convert_files(db, &mut next_file)?;
    folders::each_folder(db, |directory, own| folders::put_folder(db, directory, own))?;
    convert_events(db, next_file)?;
    db.execute_batch(DROP_VIEWS)?;
    Ok(db.execute_batch(
        "DROP TABLE slices_2; DROP TABLE events_2; DROP TABLE entries; DROP TABLE belongings;",
    )?)
}

/// Gives each file a number, a row and its name, slice by slice.
fn convert_files(db: &Connection, next_file: &mut i64) -> Result<(), DbError> {
    let mut buffer = Vec::new();
    let mut after: Option<(i64, Vec<u8>)> = None;
    let mut files = 0;
    loop {
        let place = after.as_ref().map(|(directory, first)| (*directory, first.as_slice()));
        let page = slices_after(db, place, PAGE_LEN)?;
        for (directory, slice) in &page {
            work::begin();
            let next = next_first(db, *directory, &slice.first)?;
            let rows = rows_of(db, *directory, slice, next.as_deref(), &mut buffer)?;
            files += rows.len();
            let number = |known| {
                let mut row = UpdatedRow::as_was(known, slice.checked_run);
                row.known.file = *next_file;
                *next_file += 1;
                row.came = Came::Now;
                row
            };
            let mut rows: Vec<UpdatedRow> = rows.into_iter().map(number).collect();
            let sealed = NameSlice::of(*directory, slice.first.clone(), &mut rows, &mut buffer);
            rows.iter().try_for_each(|row| put_file(db, *directory, row))?;
            sealed.put(db, *directory)?;
        }
        let Some((directory, slice)) = page.into_iter().last() else { break };
        after = Some((directory, slice.first));
    }
    let known: i64 = db.query_row("SELECT count(1) FROM entries", (), |row| row.get(0))?;
    match usize::try_from(known) == Ok(files) {
        true => Ok(()),
        false => Err(DbError::damaged("some files are in no slice")),
    }
}

/// Gives each event the number of the file that its name had then. A name that had several files in
/// succession, as far as events tell, gives each of the former ones a number of its own.
fn convert_events(db: &Connection, mut next_file: i64) -> Result<(), DbError> {
    let mut statement = db.prepare(&select_events("TRUE"))?;
    let mut rows = statement.query(())?;
    let mut at: Option<(i64, Vec<u8>)> = None;
    let (mut ends, mut present, mut file) = (Vec::new(), None, None);
    while let Some(row) = rows.next()? {
        read_event(row, |event| {
            work::begin();
            let is_here =
                |at: &(i64, Vec<u8>)| (at.0, at.1.as_slice()) == (event.directory, event.name);
            if !at.as_ref().is_some_and(is_here) {
                at = Some((event.directory, event.name.to_vec()));
                ends = ends_of(db, event)?;
                present = file_at(db, event.directory, event.name)?;
                file = None;
            }
            let is_past = ends.iter().any(|end| *end >= (event.run, event.number));
            let number = match file {
                Some(file) => file,
                None if !is_past && present.is_some() => present.unwrap_or(next_file),
                None => {
                    next_file += 1;
                    next_file - 1
                }
            };
            file = (!ends.contains(&(event.run, event.number))).then_some(number);
            NewEvent { file: number, ..event.clone() }.put(db)
        })??;
    }
    Ok(())
}

/// Returns the runs and numbers of the events after which the name of an event had no file, or
/// another one.
fn ends_of(db: &Connection, event: &NewEvent<'_>) -> Result<Vec<(i64, i64)>, DbError> {
    let mut statement = db.prepare_cached(&select_events("directory = ? AND name = ?"))?;
    let mut rows = statement.query((event.directory, event.name))?;
    let mut ends = Vec::new();
    while let Some(row) = rows.next()? {
        let end =
            read_event(row, |event| event.what.ends_life().then_some((event.run, event.number)))?;
        ends.extend(end);
    }
    Ok(ends)
}
