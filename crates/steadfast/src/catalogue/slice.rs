//! Slices: consecutive names of one directory that are judged, sealed and read together.
//!
//! Takes the rows of a slice, or the observations in its place; returns the row of the slice
//! itself, and whether the two match. A directory with files has at least one slice; a large one
//! has several, so memory is bounded. Every reader of a slice's rows compares them with its seal,
//! which detects damage.

use rusqlite::{Connection, Row};

use super::column;
use super::entry::{COLUMNS, FileRecord, FileRow, NO_NUMBER, RowSum, SEAL_LEN, SliceSeal, seal};
use super::error::DbError;
use super::seal2;
use crate::file_state::FileState;

/// Files in a new slice.
pub(super) const SLICE_LEN: usize = 4096;

/// The most files in a slice. Then it is split.
pub(super) const SLICE_LEN_MAX: usize = 2 * SLICE_LEN;

/// The row of a slice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct NameSlice {
    /// Its first name; empty for the first slice of its directory. It extends to the next slice.
    pub(super) first: Vec<u8>,
    /// Files.
    pub(super) entries: u64,
    /// Files with a tag.
    pub(super) tagged: u64,
    /// Bytes of these files.
    pub(super) bytes: u64,
    /// Files in a state other than fine, and tagged files that have been judged by themselves
    /// since. For the others, `checked_run` is complete.
    pub(super) apart: u64,
    /// The last run that judged all its tagged files; if they differ, the earliest.
    pub(super) checked_run: i64,
    pub(super) seal: SliceSeal,
    /// In version 2, the check value over the runs of its files.
    pub(super) marks: Option<u32>,
}

const SLICE_COLUMNS: &str =
    "directory, first, entries, tagged, bytes, apart, checked_run, seal, sum, marks";

impl NameSlice {
    /// Reads [`SLICE_COLUMNS`]; the directory comes first.
    fn read(row: &Row<'_>) -> Result<(i64, NameSlice), DbError> {
        let directory = column::integer(row, 0)?;
        let first = column::bytes(row, 1, column::NAME_LEN_MAX)?.to_vec();
        let seal = column::bytes(row, 7, SEAL_LEN)?;
        let marks = match column::is_null(row, 9)? {
            true => None,
            false => Some(column::integer(row, 9)?),
        };
        let marks = marks.map(u32::try_from).transpose();
        let slice = NameSlice {
            first,
            entries: column::count(row, 2)?,
            tagged: column::count(row, 3)?,
            bytes: column::unsigned(row, 4)?,
            apart: column::count(row, 5)?,
            checked_run: column::integer(row, 6)?,
            seal: seal.try_into().map_err(|_| DbError::damaged("a seal cut short"))?,
            marks: marks.map_err(|_| DbError::damaged("a check value too large"))?,
        };
        slice.sum(directory).ensure(column::integer(row, 8)?, "slices")?;
        if slice.entries > SLICE_LEN_MAX as u64 {
            return Err(DbError::damaged("a slice that is too long"));
        }
        Ok((directory, slice))
    }

    /// Returns whether it is the first of its directory.
    fn leads(&self) -> bool {
        self.first.is_empty()
    }

    fn sum(&self, directory: i64) -> RowSum {
        let numbers =
            [self.entries, self.tagged, self.bytes, self.apart].map(u64::cast_signed).into_iter();
        let sum = RowSum::of("slices").number(directory).bytes(&self.first);
        let numbers = numbers.chain([self.checked_run]).chain(self.marks.map(i64::from));
        numbers.fold(sum, RowSum::number).bytes(&self.seal)
    }

    /// Writes the row.
    pub(super) fn put(&self, db: &Connection, directory: i64) -> Result<(), DbError> {
        let mut statement =
            db.prepare_cached("REPLACE INTO slices VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)")?;
        statement.execute((
            directory,
            self.first.as_slice(),
            self.entries.cast_signed(),
            self.tagged.cast_signed(),
            self.bytes.cast_signed(),
            self.apart.cast_signed(),
            self.checked_run,
            self.seal.as_slice(),
            self.sum(directory).value(),
        ))?;
        Ok(())
    }

    /// Makes the slice of rows, and removes runs from rows that the slice implies.
    pub(super) fn of(
        directory: i64,
        first: Vec<u8>,
        rows: &mut [UpdatedRow],
        buffer: &mut Vec<u8>,
    ) -> NameSlice {
        let judged = |row: &&mut UpdatedRow| row.known.record.tag.is_some() && !row.is_missing();
        let checked_run =
            rows.iter_mut().filter(judged).map(|row| row.last_checked).min().unwrap_or(0);
        for row in rows.iter_mut() {
            let own = if row.last_checked > checked_run { row.last_checked } else { 0 };
            if own > 0 && own != row.known.checked_run {
                row.known.checked_run = own;
                row.dirty = true;
            }
        }
        let (tagged, bytes, apart) = sums(rows.iter().map(|row| &row.known), checked_run);
        let seal = seal(directory, rows.iter().map(|row| &row.known), buffer);
        NameSlice {
            first,
            entries: rows.len() as u64,
            tagged,
            bytes,
            apart,
            checked_run,
            seal,
            marks: None,
        }
    }

    /// Returns the slice after one of its files has another number. What it counts stays.
    pub(super) fn with_changed(
        mut self,
        directory: i64,
        was: &FileRow,
        is: &FileRow,
        buffer: &mut Vec<u8>,
    ) -> NameSlice {
        for row in [was, is] {
            let seal = row.seal(directory, buffer);
            self.seal.iter_mut().zip(seal).for_each(|(all, one)| *all ^= one);
        }
        self
    }

    /// Compares rows with their seal.
    ///
    /// # Errors
    ///
    /// If they differ: bytes of the file have changed.
    pub(super) fn ensure(
        &self,
        directory: i64,
        rows: &[FileRow],
        buffer: &mut Vec<u8>,
    ) -> Result<(), DbError> {
        let fits = rows.len() as u64 == self.entries
            && sums(rows.iter(), self.checked_run) == (self.tagged, self.bytes, self.apart)
            && match self.marks {
                None => seal(directory, rows.iter(), buffer) == self.seal,
                Some(marks) => seal2::seal(directory, rows, buffer) == (self.seal, marks),
            };
        if fits { Ok(()) } else { Err(DbError::damaged("entries do not fit the seal over them")) }
    }
}

/// Returns how many rows have a tag, the bytes of their files, and how many are apart from a slice
/// of this `checked_run`.
fn sums<'r>(rows: impl Iterator<Item = &'r FileRow>, checked_run: i64) -> (u64, u64, u64) {
    let (mut tagged, mut bytes, mut apart) = (0, 0_u64, 0);
    for FileRow { record: FileRecord { tag, standing, .. }, checked_run: own, .. } in rows {
        apart += u64::from(tag.is_some() && *own > checked_run || *standing != FileState::Fine);
        if let Some(tag) = tag {
            tagged += 1;
            bytes = bytes.saturating_add(tag.length);
        }
    }
    (tagged, bytes, apart)
}

/// A row after a run.
#[derive(Clone, Debug)]
pub(super) struct UpdatedRow {
    pub(super) known: FileRow,
    /// The run that last judged it, by itself or with its slice.
    pub(super) last_checked: i64,
    /// Whether it must be written.
    pub(super) dirty: bool,
    pub(super) came: Came,
}

/// Since when a file has its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Came {
    /// It had it before.
    Before,
    /// It has it since this run.
    Now,
    /// It has it since this run, in place of the file of this number, which is no longer known.
    InPlaceOf(i64),
}

impl UpdatedRow {
    fn is_missing(&self) -> bool {
        self.known.record.standing == FileState::Missing
    }

    /// Takes the previous row of a slice that `slice_run` judged.
    pub(super) fn as_was(known: FileRow, slice_run: i64) -> UpdatedRow {
        let last_checked = match known.record.tag {
            Some(_) if known.record.standing != FileState::Missing => known.last_checked(slice_run),
            _ => known.checked_run,
        };
        UpdatedRow { known, last_checked, dirty: false, came: Came::Before }
    }
}

/// Reads a directory's slices in order.
pub(super) fn slices_of(db: &Connection, directory: i64) -> Result<Vec<NameSlice>, DbError> {
    let sql =
        format!("SELECT {SLICE_COLUMNS} FROM known_slices WHERE directory = ? ORDER BY first");
    let mut statement = db.prepare_cached(&sql)?;
    let mut rows = statement.query((directory,))?;
    let mut slices = Vec::new();
    while let Some(row) = rows.next()? {
        slices.push(NameSlice::read(row)?.1);
    }
    if slices.is_sorted_by(|a, b| a.first < b.first) && slices.first().is_none_or(NameSlice::leads)
    {
        return Ok(slices);
    }
    Err(DbError::damaged("the slices of a directory are not in order"))
}

/// A slice, and the first name of the next one.
type Bounded = (NameSlice, Option<Vec<u8>>);

/// Reads the slice to which a name belongs; `None` if its directory has no files.
pub(super) fn slice_with(
    db: &Connection,
    directory: i64,
    name: &[u8],
) -> Result<Option<Bounded>, DbError> {
    let sql = format!(
        "SELECT {SLICE_COLUMNS} FROM known_slices WHERE directory = ? AND first <= ? \
         ORDER BY first DESC LIMIT 1"
    );
    let mut statement = db.prepare_cached(&sql)?;
    let mut rows = statement.query((directory, name))?;
    let Some(row) = rows.next()? else {
        drop(rows);
        return ensure_without_entries(db, directory).map(|()| None);
    };
    let slice = NameSlice::read(row)?.1;
    drop(rows);
    let next = next_first(db, directory, &slice.first)?;
    Ok(Some((slice, next)))
}

/// Checks that a directory without slices has no files.
pub(super) fn ensure_without_entries(db: &Connection, directory: i64) -> Result<(), DbError> {
    let mut statement =
        db.prepare_cached("SELECT 1 FROM known_files WHERE directory = ? LIMIT 1")?;
    if statement.exists((directory,))? {
        return Err(DbError::damaged("files of a directory are in no slice"));
    }
    Ok(())
}

/// Returns the first name of the slice after `first`.
pub(super) fn next_first(
    db: &Connection,
    directory: i64,
    first: &[u8],
) -> Result<Option<Vec<u8>>, DbError> {
    let mut statement = db.prepare_cached(
        "SELECT first FROM known_slices WHERE directory = ? AND first > ? ORDER BY first LIMIT 1",
    )?;
    let mut rows = statement.query((directory, first))?;
    let Some(row) = rows.next()? else { return Ok(None) };
    Ok(Some(column::bytes(row, 0, column::NAME_LEN_MAX)?.to_vec()))
}

/// Reads the slices after a place, in the order of directories.
pub(super) fn slices_after(
    db: &Connection,
    after: Option<(i64, &[u8])>,
    limit: usize,
) -> Result<Vec<(i64, NameSlice)>, DbError> {
    let sql = format!(
        "SELECT {SLICE_COLUMNS} FROM known_slices WHERE (directory, first) > (?, ?) \
         ORDER BY directory, first LIMIT ?"
    );
    let (directory, first) = after.unwrap_or((i64::MIN, b""));
    let mut statement = db.prepare_cached(&sql)?;
    let mut rows = statement.query((directory, first, limit as i64))?;
    let mut slices = Vec::new();
    while let Some(row) = rows.next()? {
        slices.push(NameSlice::read(row)?);
    }
    Ok(slices)
}

/// Reads the row of a name, which has a check value of its own.
pub(super) fn row_at(
    db: &Connection,
    directory: i64,
    name: &[u8],
) -> Result<Option<FileRow>, DbError> {
    let sql = format!("SELECT {COLUMNS} FROM known_files WHERE directory = ? AND name = ?");
    let mut statement = db.prepare_cached(&sql)?;
    let mut rows = statement.query((directory, name))?;
    rows.next()?.map(FileRow::read).transpose()
}

/// Reads the rows of a slice up to `next`, and compares them with its seal.
pub(super) fn rows_of(
    db: &Connection,
    directory: i64,
    slice: &NameSlice,
    next: Option<&[u8]>,
    buffer: &mut Vec<u8>,
) -> Result<Vec<FileRow>, DbError> {
    let bounds = if next.is_some() { "name >= ?2 AND name < ?3" } else { "name >= ?2" };
    let limit = slice.entries as i64 + 1;
    let sql = format!(
        "SELECT {COLUMNS} FROM known_files WHERE directory = ?1 AND {bounds} ORDER BY name LIMIT ?4"
    );
    let mut statement = db.prepare_cached(&sql)?;
    let mut found = statement.query((directory, slice.first.as_slice(), next, limit))?;
    let mut rows = Vec::with_capacity(slice.entries as usize);
    while let Some(row) = found.next()? {
        let file = FileRow::read(row)?;
        if let Some(own) = file.own.as_ref().filter(|_| file.file == NO_NUMBER) {
            own.sum_of_place(directory, &file.name)
                .ensure(column::integer(row, 22)?, "belongings")?;
        }
        rows.push(file);
    }
    slice.ensure(directory, &rows, buffer)?;
    Ok(rows)
}
