//! Decides at the end of a whole run which files are missing and which have moved.
//!
//! The files that were not found wait in a temporary table, because millions may have been renamed.
//! `moved.rs` finds where they are now.

use std::collections::HashMap;
use std::path::PathBuf;

use rusqlite::Connection;
use steadfast_sys::names::NameBytes as _;

use steadfast_sys::file::Timestamp;

use super::column;
use super::directory::Paths;
use super::displaced::DisplacedFile;
use super::elsewhere::SOUGHT_MAX;
use super::entry::FileRow;
use super::error::DbError;
use super::file_history_event::FileHistoryEvent;
use super::history::{read_event, select_events};
use super::observation::ObservedFile;
use super::recorder::Recorder;
use super::slice::{Came, UpdatedRow, row_at, rows_of, slice_with};
use super::writes::{self, NewEvent};
use crate::beneath::Presence;
use crate::file_state::FileState;
use crate::finding::{Finding, Say};
use crate::verb_kind::VerbKind;

/// Rows that are read from the table at a time.
const PAGE_LEN: i64 = 512;

/// A file that was not found.
struct MissingRow {
    directory: i64,
    name: Vec<u8>,
}

/// Where a file was that was not found.
struct MissingPlace {
    directory: i64,
    path: PathBuf,
    /// The run that judged its slice.
    slice_run: i64,
}

/// The last proof of a file at its former name, and its present one.
struct MovedProof {
    directory: i64,
    name: Vec<u8>,
    run: i64,
    /// Its change time then.
    ctime: Timestamp,
}

/// Where missing files are in other trees: their paths from the root, and absolute ones.
type Elsewhere = HashMap<PathBuf, PathBuf>;

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
        self.write_event(
            (directory, name, row.file),
            FileHistoryEvent::PassedBy,
            standing,
            None,
            None,
        )?;
        let mut statement = self.catalogue.db.prepare_cached(
            "INSERT OR IGNORE INTO temp.missing VALUES (?, ?, ?, ?, ?, ?, NULL, NULL, ?, ?, ?)",
        )?;
        let digest = row.record.tag.as_ref().map(|tag| tag.digest.as_bytes());
        let inode = row.record.facts.inode.cast_signed();
        let seen_run = row.last_seen(slice_run);
        let (proved, ctime) = (row.last_proved(slice_run), column::Moment(row.record.facts.ctime));
        let first_run = row.first_run;
        let known = (directory, name, digest, inode, first_run, seen_run, proved, ctime, row.file);
        statement.execute(known)?;
        Ok(())
    }

    /// Makes the table of missing files, if there is none yet.
    pub(super) fn make_missing(&mut self) -> Result<(), DbError> {
        if !self.tables.missing {
            self.catalogue.db.execute_batch(
                "CREATE TEMP TABLE missing (directory INTEGER, name BLOB, digest BLOB, \
                 inode INTEGER, first_run INTEGER, seen_run INTEGER, to_directory INTEGER, \
                 to_name BLOB, proved_run INTEGER, ctime_ns ANY, file INTEGER, \
                 PRIMARY KEY (directory, name)) WITHOUT ROWID",
            )?;
            self.tables.missing = true;
        }
        Ok(())
    }

    /// Decides for each missing file what became of it. If the user stops the run, the next run
    /// decides for the rest.
    pub(super) fn resolve_missing(&mut self, say: &mut Say<'_>) -> Result<(), DbError> {
        // Directories may have been renamed since the walk.
        self.places.renew();
        if self.tables.missing {
            if !self.collect_arrivals()? {
                return Ok(());
            }
            self.recognise_displaced()?;
            let elsewhere = self.find_elsewhere()?;
            self.resolve_each_missing(&elsewhere, say)?;
            self.carry_proofs()?;
            self.carry_numbers()?;
        }
        if self.early_end.cut_short {
            return Ok(());
        }
        self.link_moved_away()?;
        self.link_new_files()?;
        self.link_files_found_again()
    }

    /// Looks in other catalogued trees for missing files that did not arrive in this one.
    fn find_elsewhere(&self) -> Result<Elsewhere, DbError> {
        if self.others.is_empty() || !self.mode.writes {
            return Ok(Elsewhere::new());
        }
        let catalogue = &self.catalogue;
        let mut statement = catalogue.db.prepare(
            "SELECT directory, name FROM temp.missing WHERE digest IS NOT NULL \
             AND digest NOT IN (SELECT digest FROM temp.arrivals) LIMIT ?",
        )?;
        let mut rows = statement.query((SOUGHT_MAX as i64,))?;
        let (mut gone, mut paths) = (Vec::new(), Paths::default());
        while let Some(row) = rows.next()? {
            let (directory, name) = (column::integer(row, 0)?, column::name(row, 1)?);
            gone.push(paths.file(&catalogue.db, directory, name)?);
        }
        // Of what was stored before this run. If that cannot be read, they are missing.
        let found = catalogue
            .beside()
            .and_then(|before| before.moved_elsewhere(&gone, &self.others, before.last_walk_s()?));
        Ok(found.into_iter().flatten().map(|moved| (moved.from, moved.to)).collect())
    }

    fn resolve_each_missing(
        &mut self,
        elsewhere: &Elsewhere,
        say: &mut Say<'_>,
    ) -> Result<(), DbError> {
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
                let used =
                    self.resolve_missing_in_slice(head, (rest, elsewhere), &mut paths, say)?;
                rest = &rest[used..];
            }
        }
        Ok(())
    }

    /// Gives files that moved, and that no run found intact since, the last proof of their former
    /// names.
    fn carry_proofs(&mut self) -> Result<(), DbError> {
        while self.mode.writes {
            let db = &self.catalogue.db;
            let page = page_of_proofs(db)?;
            let Some(MovedProof { directory, name, .. }) = page.first() else { break };
            let slice = slice_with(db, *directory, name)?;
            let (slice, next) = slice.ok_or_else(|| DbError::damaged("a file is in no slice"))?;
            let rows = rows_of(db, *directory, &slice, next.as_deref(), &mut self.buffer)?;
            let carried = |row: FileRow| {
                let mut row = UpdatedRow::as_was(row, slice.checked_run);
                let place = (*directory, &row.known.name);
                if let Ok(at) = page.binary_search_by_key(&place, |it| (it.directory, &it.name)) {
                    row.known.proved_run = page[at].run;
                    row.known.record.facts.ctime = page[at].ctime;
                    row.dirty = true;
                }
                row
            };
            self.amend(*directory, &slice, rows.into_iter().map(carried).collect())?;
        }
        Ok(())
    }

    /// Gives files that moved the number that they had at their former names, so that they are the
    /// files that they were. A file that was known at its present name before keeps its own.
    fn carry_numbers(&mut self) -> Result<(), DbError> {
        let mut after = (i64::MIN, Vec::new());
        while self.mode.writes {
            let page = page_of_numbers(&self.catalogue.db, &after)?;
            let Some((directory, name, _)) = page.last() else { break };
            after = (*directory, name.clone());
            for (directory, name, number) in page {
                let db = &self.catalogue.db;
                // An interrupted search leaves the old one.
                let is_free = !writes::has_file(db, number)?;
                if is_free && writes::file_at(db, directory, &name)?.is_some_and(|it| it > number) {
                    self.renumber(directory, &name, number)?;
                }
            }
        }
        Ok(())
    }

    /// Gives a file and its events another number. The seal of its slice changes by its own alone.
    fn renumber(&mut self, directory: i64, name: &[u8], number: i64) -> Result<(), DbError> {
        let db = &self.catalogue.db;
        let row = row_at(db, directory, name)?;
        let row = row.ok_or_else(|| DbError::damaged("a name without a file"))?;
        let (slice, _) = slice_with(db, directory, name)?
            .ok_or_else(|| DbError::damaged("a file is in no slice"))?;
        let renumbered = FileRow { file: number, ..row.clone() };
        let slice = slice.with_changed(directory, &row, &renumbered, &mut self.buffer);
        slice.put(db, directory)?;
        let former = row.file;
        let row = UpdatedRow { came: Came::InPlaceOf(former), ..UpdatedRow::as_was(renumbered, 0) };
        writes::put_file(db, directory, &row)?;
        let mut statement = db.prepare_cached(&select_events("file = ?"))?;
        let mut rows = statement.query((former,))?;
        while let Some(event) = rows.next()? {
            read_event(event, |event| NewEvent { file: number, ..event.clone() }.put(db))??;
        }
        db.prepare_cached("DELETE FROM events WHERE file = ?")?.execute((former,))?;
        Ok(())
    }

    /// Settles the missing files that are in the same slice as the first. Returns how many.
    fn resolve_missing_in_slice(
        &mut self,
        head: &MissingRow,
        (absent, elsewhere): (&[MissingRow], &Elsewhere),
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
            let row = UpdatedRow::as_was(row, slice.checked_run);
            let is_missing = mine_next.next_if(|other| other.name == row.known.name).is_some();
            // After a stop, the file keeps its state and the event that this run did not decide.
            if !is_missing || self.is_stopped() {
                settled.push(row);
                continue;
            }
            let path = paths.file(&self.catalogue.db, directory, &row.known.name)?;
            let name = row.known.name.clone();
            let displaced = self.displaced_at(directory, &name)?;
            let row = match displaced {
                Some(here) => {
                    let place = MissingPlace { directory, path, slice_run: slice.checked_run };
                    Some(self.resolve_displaced(place, row, here, paths, say)?)
                }
                None => {
                    let place = MissingPlace { directory, path, slice_run: slice.checked_run };
                    self.resolve_missing_file(place, row, elsewhere, paths, say)?
                }
            };
            match row {
                Some(row) => settled.push(row),
                None => gone.push(name),
            }
        }
        gone.iter().try_for_each(|name| self.remove_missing(directory, name))?;
        if self.mode.writes {
            self.amend(directory, &slice, settled)?;
        }
        Ok(mine.len())
    }

    /// Looks for the new place of a file and records the move. Returns whether it has moved.
    fn follow(
        &mut self,
        place: &MissingPlace,
        row: &FileRow,
        paths: &mut Paths,
        say: &mut Say<'_>,
    ) -> Result<bool, DbError> {
        let MissingPlace { directory, path, slice_run } = place;
        let Some(tag) = row.record.tag else { return Ok(false) };
        let arrival = self.find_arrival(*directory, row, *slice_run, paths)?;
        let Some(arrival) = arrival else { return Ok(false) };
        let to = arrival.path;
        let (standing, to_bytes) = (FileState::Fine, Some(to.as_bytes()));
        self.write_event(
            (*directory, &row.name, row.file),
            FileHistoryEvent::MovedTo,
            standing,
            Some(tag),
            to_bytes,
        )?;
        let (there, name_there) = (arrival.directory, arrival.name.as_slice());
        let came = Some(path.as_bytes());
        let file_there = if self.mode.writes { self.file_at(there, name_there)? } else { 0 };
        self.write_event(
            (there, name_there, file_there),
            FileHistoryEvent::MovedFrom,
            arrival.standing,
            None,
            came,
        )?;
        self.report(say, Finding::Moved { from: path.clone(), to, tag });
        Ok(true)
    }

    /// Settles a name where another file is than the one that was known there. If that is a known
    /// file as well, it gets the name, and the one that was there has moved or was overwritten.
    /// Otherwise the file of the name was replaced.
    fn resolve_displaced(
        &mut self,
        place: MissingPlace,
        row: UpdatedRow,
        here: DisplacedFile,
        paths: &mut Paths,
        say: &mut Say<'_>,
    ) -> Result<UpdatedRow, DbError> {
        let directory = place.directory;
        self.delete_unjudged_event(directory, &row.known)?;
        let DisplacedFile { seen, is_known } = here;
        let path = place.path.clone();
        let mut settled = match is_known {
            true => self.overwrite(place, row, &seen, paths, say)?,
            false => {
                let MissingPlace { path, slice_run, .. } = place;
                self.apply_observation(directory, path, row.known, slice_run, &seen, say)?.0
            }
        };
        if self.mode.writes && settled.known.record.tag == seen.record.tag {
            self.keep_belongings_at(&path, &mut settled);
        }
        Ok(settled)
    }

    /// Gives a name to another known file. The one that was there has moved or was overwritten.
    fn overwrite(
        &mut self,
        place: MissingPlace,
        row: UpdatedRow,
        seen: &ObservedFile,
        paths: &mut Paths,
        say: &mut Say<'_>,
    ) -> Result<UpdatedRow, DbError> {
        let directory = place.directory;
        if !self.follow(&place, &row.known, paths, say)? {
            let (tag, path) = (row.known.record.tag, place.path);
            let accepted = self.mode.accepts || self.record.kind().is_some_and(VerbKind::accepts);
            let standing = if accepted { FileState::Fine } else { FileState::Missing };
            self.write_event(
                (directory, &row.known.name, row.known.file),
                FileHistoryEvent::Overwritten,
                standing,
                tag,
                None,
            )?;
            if tag.is_some_and(|tag| tag.length > 0) {
                self.report(say, Finding::Overwritten { path, tag, accepted });
            }
        }
        let came = Came::InPlaceOf(row.known.file);
        Ok(UpdatedRow { came, ..self.insert_file(directory, &row.known.name, seen)? })
    }

    /// Settles one missing file. `None` if its row is removed.
    fn resolve_missing_file(
        &mut self,
        place: MissingPlace,
        mut row: UpdatedRow,
        elsewhere: &Elsewhere,
        paths: &mut Paths,
        say: &mut Say<'_>,
    ) -> Result<Option<UpdatedRow>, DbError> {
        let directory = place.directory;
        let instead = match self.presence_of_file(&place.path) {
            Presence::Gone => None,
            Presence::Replaced(kind) => Some(kind),
            // It returned since the walk.
            Presence::There(_) => return Ok(Some(row)),
            Presence::Unknown(error) => {
                self.delete_unjudged_event(directory, &row.known)?;
                let (place, run) = ((directory, place.path), place.slice_run);
                let settled = self.apply_unreadable(place, row.known, run, Some(&error), say)?;
                return Ok(Some(settled.0));
            }
        };
        let record = row.known.record;
        self.delete_unjudged_event(directory, &row.known)?;
        if self.follow(&place, &row.known, paths, say)? {
            return Ok(None);
        }
        let MissingPlace { path, slice_run, .. } = place;
        let known = record.standing == FileState::Missing;
        let accepted = self.mode.accepts;
        let (tag, name) = (record.tag, row.known.name.clone());
        if let (Some(to), Some(tag)) = (elsewhere.get(&path), tag) {
            self.write_event(
                (directory, &name, row.known.file),
                FileHistoryEvent::Dropped,
                FileState::Fine,
                Some(tag),
                None,
            )?;
            self.report(say, Finding::Moved { from: path, to: to.clone(), tag });
            return Ok(None);
        }
        self.report(say, Finding::Missing { path, tag, instead, known, accepted });
        if accepted {
            self.write_event(
                (directory, &name, row.known.file),
                FileHistoryEvent::Dropped,
                FileState::Missing,
                tag,
                None,
            )?;
            return Ok(None);
        }
        if !known {
            row.known.proved_run = row.known.last_proved(slice_run);
            row.known.checked_run = row.known.last_seen(slice_run);
            row.known.record.standing = FileState::Missing;
            row.dirty = true;
            self.write_event(
                (directory, &name, row.known.file),
                FileHistoryEvent::Missing,
                FileState::Missing,
                None,
                None,
            )?;
        }
        Ok(Some(row))
    }

    /// Removes the event that the run did not judge a file.
    fn delete_unjudged_event(&mut self, directory: i64, row: &FileRow) -> Result<(), DbError> {
        if self.mode.writes {
            let mut statement = self.catalogue.db.prepare_cached(
                "DELETE FROM events WHERE directory = ? AND name = ? AND run = ? AND what = ?",
            )?;
            let name = row.name.as_slice();
            let removed = statement.execute((
                directory,
                name,
                self.record.id,
                FileHistoryEvent::PassedBy.name(),
            ))?;
            self.record.totals.events -= removed as i64;
        }
        Ok(())
    }

    /// Returns the number of the file of a name.
    pub(super) fn file_at(&self, directory: i64, name: &[u8]) -> Result<i64, DbError> {
        let file = writes::file_at(&self.catalogue.db, directory, name)?;
        file.ok_or_else(|| DbError::damaged("a name without a file"))
    }

    fn remove_missing(&mut self, directory: i64, name: &[u8]) -> Result<(), DbError> {
        if self.mode.writes {
            writes::remove_entry(&self.catalogue.db, directory, name)?;
        }
        Ok(())
    }
}

/// Returns proofs of former names that files lack at their present ones, in the order of these.
fn page_of_proofs(db: &Connection) -> Result<Vec<MovedProof>, DbError> {
    let mut statement = db.prepare_cached(
        "SELECT n.directory, n.name, m.proved_run, m.ctime_ns FROM temp.missing AS m \
         CROSS JOIN known_files AS n ON n.directory = m.to_directory AND n.name = m.to_name \
         WHERE m.proved_run > 0 AND n.proved_run = 0 \
         AND NOT (proves(n.state) OR is_missing(n.state)) \
         ORDER BY n.directory, n.name LIMIT ?",
    )?;
    let mut rows = statement.query((PAGE_LEN,))?;
    let mut page = Vec::new();
    while let Some(row) = rows.next()? {
        page.push(MovedProof {
            directory: column::integer(row, 0)?,
            name: column::name(row, 1)?.to_vec(),
            run: column::integer(row, 2)?,
            ctime: column::moment(row, 3)?,
        });
    }
    Ok(page)
}

/// A present name of a file that moved, and the number that it had.
type MovedNumber = (i64, Vec<u8>, i64);

/// Returns the present names of files that moved, in order, each with the least of the numbers that
/// the file had.
fn page_of_numbers(db: &Connection, after: &(i64, Vec<u8>)) -> Result<Vec<MovedNumber>, DbError> {
    let mut statement = db.prepare_cached(
        "SELECT to_directory, to_name, min(file) FROM temp.missing \
         WHERE (to_directory, to_name) > (?, ?) GROUP BY to_directory, to_name \
         ORDER BY to_directory, to_name LIMIT ?",
    )?;
    let mut rows = statement.query((after.0, after.1.as_slice(), PAGE_LEN))?;
    let mut page = Vec::new();
    while let Some(row) = rows.next()? {
        let name = column::name(row, 1)?.to_vec();
        page.push((column::integer(row, 0)?, name, column::integer(row, 2)?));
    }
    Ok(page)
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
