//! The numbers and paths of directories.
//!
//! Takes names, one component at a time, and returns the number under which the files of a
//! directory are stored. The number of a directory is greater than its parent's, and is never
//! reused, because runs and events refer to it.

use std::collections::{HashMap, VecDeque};
use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

use rusqlite::{Connection, Row};
use steadfast_sys::names::{NameBuf as _, NameBytes as _};

use super::column;
use super::entry::RowSum;
use super::error::{CatalogueErrorKind, DbError};
use super::runs;

/// The number of the root directory.
pub(super) const ROOT: i64 = 1;

/// Children that are read at a time.
const PAGE_LEN: usize = 512;

/// The most paths that are cached.
const PATHS_MAX: usize = 4096;

/// The row of a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Directory {
    pub(super) id: i64,
    pub(super) parent: i64,
    pub(super) name: Vec<u8>,
    /// Whether it was on another device than the root when a run was in it last.
    pub(super) mounted: bool,
}

const DIRECTORY_COLUMNS: &str = "id, parent, name, mounted, sum";

impl Directory {
    fn read(row: &Row<'_>) -> Result<Directory, DbError> {
        let id = column::integer(row, 0)?;
        let name = if id == ROOT { column::bytes(row, 2, 0)? } else { column::name(row, 2)? };
        let directory = Directory {
            id,
            parent: column::integer(row, 1)?,
            name: name.to_vec(),
            mounted: column::integer(row, 3)? != 0,
        };
        directory.sum().ensure(column::integer(row, 4)?, "directories")?;
        // This guarantees that a climb from a directory to the root ends.
        if directory.parent >= id || (directory.parent < ROOT) != (id == ROOT) {
            return Err(DbError::damaged("a directory beneath itself"));
        }
        Ok(directory)
    }

    fn sum(&self) -> RowSum {
        let sum = RowSum::of("directories").number(self.id).number(self.parent).bytes(&self.name);
        sum.number(i64::from(self.mounted))
    }

    /// Writes the row.
    pub(super) fn put(&self, db: &Connection) -> Result<(), DbError> {
        let mut statement = db.prepare_cached("INSERT INTO directories VALUES (?, ?, ?, ?, ?)")?;
        let sum = self.sum().value();
        statement.execute((self.id, self.parent, self.name.as_slice(), self.mounted, sum))?;
        Ok(())
    }

    /// Records whether a directory is on another device than the root: a volume may be mounted
    /// where there was none, and what was on one may be moved to that of the root.
    pub(super) fn set_mounted(db: &Connection, id: i64, mounted: bool) -> Result<(), DbError> {
        let known = directory(db, id)?;
        let sum = Directory { mounted, ..known }.sum().value();
        let mut statement =
            db.prepare_cached("UPDATE directories SET mounted = ?, sum = ? WHERE id = ?")?;
        statement.execute((mounted, sum, id))?;
        Ok(())
    }
}

/// Checks that every directory exists as written and can be found by its name.
///
/// Otherwise, the files in a directory that cannot be found would be called new.
pub(super) fn ensure_all(db: &Connection) -> Result<(), DbError> {
    let sql = format!("SELECT {DIRECTORY_COLUMNS} FROM directories NOT INDEXED ORDER BY id");
    let mut statement = db.prepare(&sql)?;
    let mut rows = statement.query(())?;
    let (mut next, mut by_number) = (ROOT, 0_i64);
    while let Some(row) = rows.next()? {
        let Directory { id, parent, name, .. } = Directory::read(row)?;
        if id != next {
            return Err(DbError::damaged(format_args!("there is no directory {next}")));
        }
        next += 1;
        by_number = by_number.wrapping_add(key_of(id, parent, &name));
    }
    let (_, totals) = runs::last(db)?;
    if totals.directories != next - 1 {
        let total = totals.directories;
        let message = format_args!("of {total} directories there are {}", next - 1);
        return Err(DbError::damaged(message));
    }
    // The index has all requested columns, so the table is not read.
    let mut statement =
        db.prepare("SELECT id, parent, name FROM directories ORDER BY parent, name")?;
    let mut rows = statement.query(())?;
    let mut by_name = 0_i64;
    while let Some(row) = rows.next()? {
        let name = column::bytes(row, 2, column::NAME_LEN_MAX)?;
        let key = key_of(column::integer(row, 0)?, column::integer(row, 1)?, name);
        by_name = by_name.wrapping_add(key);
    }
    if by_name == by_number {
        return Ok(());
    }
    Err(DbError::damaged("directories are not found by their names"))
}

fn key_of(id: i64, parent: i64, name: &[u8]) -> i64 {
    RowSum::of("names").number(id).number(parent).bytes(name).value()
}

/// Finds a directory by its number.
pub(super) fn directory(db: &Connection, id: i64) -> Result<Directory, DbError> {
    let sql = format!("SELECT {DIRECTORY_COLUMNS} FROM directories WHERE id = ?");
    let mut statement = db.prepare_cached(&sql)?;
    let mut rows = statement.query((id,))?;
    let row = rows.next()?;
    let row = row.ok_or_else(|| DbError::damaged(format_args!("there is no directory {id}")))?;
    Directory::read(row)
}

/// Finds a directory by its name.
pub(super) fn child(
    db: &Connection,
    parent: i64,
    name: &[u8],
) -> Result<Option<Directory>, DbError> {
    let sql = format!("SELECT {DIRECTORY_COLUMNS} FROM directories WHERE parent = ? AND name = ?");
    let mut statement = db.prepare_cached(&sql)?;
    let mut rows = statement.query((parent, name))?;
    rows.next()?.map(Directory::read).transpose()
}

/// Finds a directory by its path from the root.
pub(super) fn at_path(db: &Connection, path: &Path) -> Result<Option<Directory>, DbError> {
    match beneath(db, ROOT, path)? {
        Some(id) => directory(db, id).map(Some),
        None => Ok(None),
    }
}

/// Finds the number of a directory by its path from another.
pub(super) fn beneath(db: &Connection, above: i64, down: &Path) -> Result<Option<i64>, DbError> {
    let mut found = above;
    for component in down.components() {
        let Component::Normal(name) = component else {
            let message = "a path that does not lead down from the root";
            return Err(DbError::new(CatalogueErrorKind::Outside, message));
        };
        match child(db, found, name.as_bytes())? {
            Some(child) => found = child.id,
            None => return Ok(None),
        }
    }
    Ok(Some(found))
}

/// Returns the path from a directory down to a path in it; `None` if it is not in it.
///
/// Compares bytes: comparing the components of each directory of a deep tree would take most of the
/// time of a walk.
pub(super) fn down_from<'a>(above: &Path, path: &'a Path) -> Option<&'a Path> {
    let (above, bytes) = (above.as_bytes(), path.as_bytes());
    let down = bytes.strip_prefix(above)?;
    match down.first() {
        Some(b'/') if !above.is_empty() => Some(Path::from_bytes(&down[1..])),
        Some(_) if !above.is_empty() => None,
        _ => Some(Path::from_bytes(down)),
    }
}

/// The known subdirectories of one directory, in order, read in pages.
#[derive(Debug, Default)]
pub(super) struct Children {
    parent: i64,
    page: VecDeque<Directory>,
    last: Vec<u8>,
    exhausted: bool,
}

impl Children {
    pub(super) fn of(parent: i64) -> Children {
        Children { parent, ..Children::default() }
    }

    /// Returns the next one without consuming it.
    pub(super) fn peek(&mut self, db: &Connection) -> Result<Option<&Directory>, DbError> {
        if self.page.is_empty() && !self.exhausted {
            let sql = format!(
                "SELECT {DIRECTORY_COLUMNS} FROM directories WHERE parent = ? AND name > ? \
                 ORDER BY name LIMIT ?"
            );
            let mut statement = db.prepare_cached(&sql)?;
            let mut rows = statement.query((self.parent, self.last.as_slice(), PAGE_LEN as i64))?;
            while let Some(row) = rows.next()? {
                let child = Directory::read(row)?;
                let before = self.page.back().map_or(&self.last, |before| &before.name);
                if child.parent != self.parent || child.name <= *before {
                    return Err(DbError::damaged("subdirectories are not in order"));
                }
                self.page.push_back(child);
            }
            self.exhausted = self.page.len() < PAGE_LEN;
            if let Some(last) = self.page.back() {
                self.last.clone_from(&last.name);
            }
        }
        Ok(self.page.front())
    }

    /// Consumes and returns the next one.
    pub(super) fn next(&mut self, db: &Connection) -> Result<Option<Directory>, DbError> {
        self.peek(db)?;
        Ok(self.page.pop_front())
    }
}

/// Paths of directories by their numbers, with a cache of the last ones.
#[derive(Debug, Default)]
pub(super) struct Paths {
    known: HashMap<i64, PathBuf>,
}

impl Paths {
    /// Returns a directory's path from the root; empty for the root itself.
    pub(super) fn of(&mut self, db: &Connection, id: i64) -> Result<&Path, DbError> {
        if !self.known.contains_key(&id) {
            if self.known.len() >= PATHS_MAX {
                self.known.clear();
            }
            let path = self.build(db, id)?;
            self.known.insert(id, path);
        }
        Ok(&self.known[&id])
    }

    /// Builds the path of a directory from that of the nearest cached ancestor.
    fn build(&self, db: &Connection, id: i64) -> Result<PathBuf, DbError> {
        let mut names = Vec::new();
        let mut at = directory(db, id)?;
        let mut path = loop {
            if at.id == ROOT {
                break PathBuf::new();
            }
            names.push(OsString::from_vec(at.name));
            if let Some(above) = self.known.get(&at.parent) {
                break above.clone();
            }
            at = directory(db, at.parent)?;
        };
        path.extend(names.into_iter().rev());
        Ok(path)
    }

    /// Returns the path of a file in a directory.
    pub(super) fn file(
        &mut self,
        db: &Connection,
        id: i64,
        name: &[u8],
    ) -> Result<PathBuf, DbError> {
        Ok(self.of(db, id)?.join(Path::from_bytes(name)))
    }
}
