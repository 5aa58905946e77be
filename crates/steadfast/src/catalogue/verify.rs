//! Verifies a catalogue: SQLite's own check, and all seals and check values.
//!
//! Returns what was examined, and the problems.

use rusqlite::Connection;

use super::column;
use super::directory::{Children, ROOT, directory, ensure_all};
use super::error::DbError;
use super::history::{read_event, select_events};
use super::slice::{next_first, rows_of, slices_after};
use super::slice_cache::reading;
use super::{Catalogue, CatalogueError, folders, runs};

/// The most problems that are listed.
const PROBLEMS_MAX: usize = 100;

/// Slices that are read in one transaction.
const PAGE_LEN: usize = 256;

/// The result of a verification.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CatalogueVerification {
    /// Directories that were examined.
    pub directories: u64,
    /// Files.
    pub entries: u64,
    /// Events.
    pub events: u64,
    /// Runs.
    pub runs: u64,
    /// The problems, at most a hundred lower-case fragments.
    pub problems: Vec<String>,
}

impl CatalogueVerification {
    /// Returns whether there are no problems.
    pub fn is_sound(&self) -> bool {
        self.problems.is_empty()
    }

    fn note(&mut self, fault: &DbError) {
        if self.problems.len() < PROBLEMS_MAX {
            self.problems.push(fault.message().to_owned());
        }
    }
}

impl Catalogue {
    /// Examines everything in the catalogue.
    ///
    /// # Errors
    ///
    /// If it cannot be read at all. Damage is among the problems instead.
    pub fn verify(&self) -> Result<CatalogueVerification, CatalogueError> {
        let mut verification = CatalogueVerification::default();
        let parts = [pages, directories, folders, entries, events, records];
        let looked = reading(&self.db, || {
            for part in parts {
                match part(&self.db, &mut verification) {
                    Err(fault) if fault.is_damage() => verification.note(&fault),
                    other => other?,
                }
            }
            Ok(())
        });
        looked.map_err(|fault| self.wrong(fault))?;
        Ok(verification)
    }
}

/// SQLite's check of its pages and indexes.
fn pages(db: &Connection, verification: &mut CatalogueVerification) -> Result<(), DbError> {
    let mut statement = db.prepare("PRAGMA integrity_check(100)")?;
    let mut rows = statement.query(())?;
    while let Some(row) = rows.next()? {
        let text: String = row.get(0)?;
        if text != "ok" {
            verification.note(&DbError::damaged(text.trim()));
        }
    }
    Ok(())
}

fn directories(db: &Connection, verification: &mut CatalogueVerification) -> Result<(), DbError> {
    ensure_all(db)?;
    let mut stack = vec![ROOT];
    while let Some(id) = stack.pop() {
        verification.directories += 1;
        let mut children = Children::of(id);
        while let Some(child) = children.next(db)? {
            stack.push(child.id);
        }
    }
    let known: i64 = db.query_row("SELECT count(1) FROM directories", (), |row| row.get(0))?;
    if known.cast_unsigned() != verification.directories {
        return Err(DbError::damaged("some directories cannot be reached from the root"));
    }
    Ok(())
}

fn folders(db: &Connection, _: &mut CatalogueVerification) -> Result<(), DbError> {
    folders::each_folder(db, |_, _| Ok(()))
}

fn entries(db: &Connection, verification: &mut CatalogueVerification) -> Result<(), DbError> {
    let mut buffer = Vec::new();
    let mut after: Option<(i64, Vec<u8>)> = None;
    loop {
        let place = after.as_ref().map(|(directory, first)| (*directory, first.as_slice()));
        let page = slices_after(db, place, PAGE_LEN)?;
        for (id, slice) in &page {
            directory(db, *id)?;
            let next = next_first(db, *id, &slice.first)?;
            match rows_of(db, *id, slice, next.as_deref(), &mut buffer) {
                Ok(rows) => verification.entries += rows.len() as u64,
                Err(fault) if fault.is_damage() => verification.note(&fault),
                Err(fault) => return Err(fault),
            }
        }
        let Some((id, slice)) = page.into_iter().last() else { break };
        after = Some((id, slice.first));
    }
    let known: i64 = db.query_row("SELECT count(1) FROM known_files", (), |row| row.get(0))?;
    if verification.is_sound() && known.cast_unsigned() != verification.entries {
        return Err(DbError::damaged("some files are in no slice"));
    }
    Ok(())
}

fn events(db: &Connection, verification: &mut CatalogueVerification) -> Result<(), DbError> {
    let mut statement = db.prepare(&select_events("1"))?;
    let mut rows = statement.query(())?;
    while let Some(row) = rows.next()? {
        read_event(row, |_| ())?;
        verification.events += 1;
    }
    Ok(())
}

fn records(db: &Connection, verification: &mut CatalogueVerification) -> Result<(), DbError> {
    runs::ensure_slices(db)?;
    runs::ensure_past(db)?;
    let runs = runs::before(db, i64::MAX, -1)?;
    verification.runs = runs.len() as u64;
    let mut statement = db.prepare(
        "SELECT directory, run, first, last, beneath FROM coverage \
         WHERE run NOT IN (SELECT id FROM runs) \
         OR directory NOT IN (SELECT id FROM directories) LIMIT 1",
    )?;
    let mut rows = statement.query(())?;
    match rows.next()? {
        Some(row) => {
            let run = column::integer(row, 1)?;
            Err(DbError::damaged(format_args!("coverage of run {run} is of nothing known")))
        }
        None => Ok(()),
    }
}
