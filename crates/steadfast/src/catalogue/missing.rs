//! Decides at the end of a whole run which files are missing and which have moved.
//!
//! The files that were not found wait in a temporary table, because millions may have been renamed.
//! `moved.rs` finds where they are now.

use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use rusqlite::Connection;

use super::column;
use super::directory::Paths;
use super::entry::FileRow;
use super::error::DbError;
use super::not_visited::{Presence, look};
use super::recorder::Recorder;
use super::slice::{Settled, rows_of, slice_with};
use super::writes::{self, PASSED_BY};
use crate::file_state::FileState;
use crate::finding::{Finding, Say};

/// Rows that are read from the table at a time.
const PAGE_LEN: i64 = 512;

/// A file that was not found.
struct MissingRow {
    directory: i64,
    name: Vec<u8>,
}

impl Recorder {
    /// Notes a file that was not found. `slice_run` judged its slice.
    ///
    /// Writes an event that the run did not judge the file. The end of the run removes it; a run
    /// that is interrupted leaves it.
    pub(super) fn note_missing(
        &mut self,
        directory: i64,
        row: &FileRow,
        slice_run: i64,
    ) -> Result<(), DbError> {
        self.make_missing()?;
        let (name, standing) = (row.name.as_slice(), row.record.standing);
        self.write_event(directory, name, PASSED_BY, standing, None, None)?;
        let mut statement = self.catalogue.db.prepare_cached(
            "INSERT OR IGNORE INTO temp.missing VALUES (?, ?, ?, ?, ?, ?, NULL, NULL)",
        )?;
        let digest = row.record.tag.as_ref().map(|tag| tag.digest.as_bytes());
        let inode = row.record.facts.inode.cast_signed();
        let seen_run = row.last_seen(slice_run);
        statement.execute((directory, name, digest, inode, row.first_run, seen_run))?;
        Ok(())
    }

    /// Makes the table of missing files, if there is none yet.
    pub(super) fn make_missing(&mut self) -> Result<(), DbError> {
        if !self.has_missing {
            self.catalogue.db.execute_batch(
                "CREATE TEMP TABLE missing (directory INTEGER, name BLOB, digest BLOB, \
                 inode INTEGER, first_run INTEGER, seen_run INTEGER, to_directory INTEGER, \
                 to_name BLOB, PRIMARY KEY (directory, name)) WITHOUT ROWID",
            )?;
            self.has_missing = true;
        }
        Ok(())
    }

    /// Decides for each missing file what became of it. If the user stops the run, the next run
    /// decides for the rest.
    pub(super) fn settle_missing(&mut self, say: &mut Say<'_>) -> Result<(), DbError> {
        if !self.has_missing || !self.collect_arrivals()? {
            return Ok(());
        }
        let mut paths = Paths::default();
        let mut after: (i64, Vec<u8>) = (i64::MIN, Vec::new());
        loop {
            let page = page_of_missing(&self.catalogue.db, &after)?;
            let Some(last) = page.last() else { break };
            after = (last.directory, last.name.clone());
            let mut rest = page.as_slice();
            while let Some(head) = rest.first() {
                if self.is_stopped() {
                    return Ok(());
                }
                let used = self.settle_slice(head, rest, &mut paths, say)?;
                rest = &rest[used..];
            }
        }
        Ok(())
    }

    /// Settles the missing files that are in the same slice as the first. Returns how many.
    fn settle_slice(
        &mut self,
        head: &MissingRow,
        absent: &[MissingRow],
        paths: &mut Paths,
        say: &mut Say<'_>,
    ) -> Result<usize, DbError> {
        let db = &self.catalogue.db;
        let directory = head.directory;
        let Some((slice, next)) = slice_with(db, directory, &head.name)? else {
            return Err(DbError::damaged("a file that was just read is in no slice"));
        };
        let rows = rows_of(db, directory, &slice, next.as_deref(), &mut self.buffer)?;
        let here = |other: &&MissingRow| {
            other.directory == directory && next.as_ref().is_none_or(|next| other.name < *next)
        };
        let mine: Vec<&MissingRow> = absent.iter().take_while(here).collect();
        let mut settled = Vec::with_capacity(rows.len());
        let mut mine_next = mine.iter().peekable();
        // Searching for moved files reads slices, including this one, so its rows are changed
        // together.
        let mut gone = Vec::new();
        for row in rows {
            let row = Settled::as_was(row, slice.checked_run);
            let is_missing = mine_next.next_if(|other| other.name == row.known.name).is_some();
            // After a stop, the file keeps its state and the event that this run did not decide.
            if !is_missing || self.is_stopped() {
                settled.push(row);
                continue;
            }
            let path = paths.file(&self.catalogue.db, directory, &row.known.name)?;
            let name = row.known.name.clone();
            match self.settle_one(directory, row, slice.checked_run, path, paths, say)? {
                Some(row) => settled.push(row),
                None => gone.push(name),
            }
        }
        gone.iter().try_for_each(|name| self.take_out(directory, name))?;
        if self.mode.writes {
            self.amend(directory, &slice, settled)?;
        }
        Ok(mine.len())
    }

    /// Settles one missing file. `None` if its row is removed.
    fn settle_one(
        &mut self,
        directory: i64,
        mut row: Settled,
        slice_run: i64,
        path: PathBuf,
        paths: &mut Paths,
        say: &mut Say<'_>,
    ) -> Result<Option<Settled>, DbError> {
        // The file may have returned since the walk.
        let Presence::Gone(instead) = look(&self.catalogue.root, &path) else {
            return Ok(Some(row));
        };
        let record = row.known.record;
        self.judge_after_all(directory, &row.known)?;
        if let Some(tag) = record.tag
            && let Some(arrival) = self.find_arrival(directory, &row.known, slice_run, paths)?
        {
            let (from_bytes, to) = (path.as_os_str().as_bytes(), arrival.path);
            let (standing, name) = (FileState::Fine, row.known.name.as_slice());
            let to_bytes = Some(to.as_os_str().as_bytes());
            self.write_event(directory, name, "moved to", standing, Some(tag), to_bytes)?;
            let (there, name_there) = (arrival.directory, arrival.name.as_slice());
            let came = Some(from_bytes);
            self.write_event(there, name_there, "moved from", arrival.standing, None, came)?;
            self.say(say, Finding::Moved { from: path, to, tag });
            return Ok(None);
        }
        let known = record.standing == FileState::Missing;
        let accepted = self.mode.accepts;
        let tag = record.tag;
        self.say(say, Finding::Missing { path, tag, instead, known, accepted });
        let name = row.known.name.clone();
        if accepted {
            self.write_event(directory, &name, "dropped", FileState::Missing, tag, None)?;
            return Ok(None);
        }
        if !known {
            row.known.proved_run = row.known.last_proved(slice_run);
            row.known.checked_run = row.known.last_seen(slice_run);
            row.known.record.standing = FileState::Missing;
            row.dirty = true;
            self.write_event(directory, &name, "missing", FileState::Missing, None, None)?;
        }
        Ok(Some(row))
    }

    /// Removes the event that the run did not judge a file.
    fn judge_after_all(&mut self, directory: i64, row: &FileRow) -> Result<(), DbError> {
        if self.mode.writes {
            let mut statement = self.catalogue.db.prepare_cached(
                "DELETE FROM events WHERE directory = ? AND name = ? AND run = ? AND what = ?",
            )?;
            let name = row.name.as_slice();
            let removed = statement.execute((directory, name, self.record.id, PASSED_BY))?;
            self.record.totals.events -= removed as i64;
        }
        Ok(())
    }

    fn take_out(&mut self, directory: i64, name: &[u8]) -> Result<(), DbError> {
        if self.mode.writes {
            writes::remove_entry(&self.catalogue.db, directory, name)?;
        }
        Ok(())
    }
}

fn page_of_missing(db: &Connection, after: &(i64, Vec<u8>)) -> Result<Vec<MissingRow>, DbError> {
    let mut statement = db.prepare_cached(
        "SELECT directory, name FROM temp.missing WHERE (directory, name) > (?, ?) \
         ORDER BY directory, name LIMIT ?",
    )?;
    let mut rows = statement.query((after.0, after.1.as_slice(), PAGE_LEN))?;
    let mut page = Vec::new();
    while let Some(row) = rows.next()? {
        page.push(MissingRow {
            directory: column::integer(row, 0)?,
            name: column::name(row, 1)?.to_vec(),
        });
    }
    Ok(page)
}
