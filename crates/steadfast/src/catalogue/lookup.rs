//! Looks up the files of a catalogue by digest or by name.
//!
//! The tables have an index by path only, so a lookup reads each row once, however many digests and
//! names it has. What it finds is compared with the seals.

use std::ffi::{OsStr, OsString};
use std::ops::ControlFlow;
use std::path::PathBuf;

use rusqlite::{Connection, params_from_iter};
use steadfast_sys::names::{NameBuf as _, NameBytes as _};

use steadfast_digest::{Algorithm, Digest};

use super::column;
use super::directory::Paths;
use super::entry::FileRecord;
use super::error::DbError;
use super::slice_cache::{SliceCache, reading};
use super::{Catalogue, CatalogueError};
use crate::file_state::FileState;
use steadfast_manifest::tag::Tag;

/// The most digests, and the most names, in one statement: SQLite allows 32,766 parameters.
pub(crate) const LOOKUP_MAX: usize = 16_000;

/// A file that a lookup found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LookupMatch {
    /// Its path from the root.
    pub path: PathBuf,
    /// Its name.
    pub name: OsString,
    /// Its inode.
    pub inode: u64,
    /// Its tag.
    pub tag: Tag,
    /// Its state when it was last judged.
    pub standing: FileState,
}

impl Catalogue {
    /// Visits the tagged files that have one of these digests or one of these names.
    ///
    /// Two files of one digest may have another algorithm or length: ask [`Tag::same_contents`].
    ///
    /// # Errors
    /// If the catalogue cannot be read.
    ///
    /// # Panics
    /// If there are more than 16,000 digests or more than 16,000 names.
    pub fn look_up(
        &self,
        digests: &[Digest],
        names: &[&OsStr],
        visit: &mut dyn FnMut(LookupMatch) -> ControlFlow<()>,
    ) -> Result<(), CatalogueError> {
        assert!(digests.len().max(names.len()) <= LOOKUP_MAX, "too many to look up at once");
        let result = reading(&self.db, || look_up(&self.db, digests, names, visit));
        result.map_err(|fault| self.wrong(fault))
    }

    /// Returns paths of the file of an inode, at most so many.
    ///
    /// # Errors
    /// If the catalogue cannot be read.
    pub(crate) fn names_of_inode(
        &self,
        inode: u64,
        most: usize,
    ) -> Result<Vec<PathBuf>, CatalogueError> {
        let result = reading(&self.db, || names_of_inode(&self.db, inode, most));
        result.map_err(|fault| self.wrong(fault))
    }

    /// Returns the algorithms of its tags, in the order of [`Algorithm::ALL`].
    ///
    /// # Errors
    ///
    /// If the catalogue cannot be read.
    pub fn algorithms(&self) -> Result<Vec<Algorithm>, CatalogueError> {
        algorithms(&self.db).map_err(|fault| self.wrong(fault))
    }
}

/// How much of a digest the index has, in bytes.
const FRONT_LEN: usize = 8;

fn look_up(
    db: &Connection,
    digests: &[Digest],
    names: &[&OsStr],
    visit: &mut dyn FnMut(LookupMatch) -> ControlFlow<()>,
) -> Result<(), DbError> {
    let places = |count: usize| vec!["?"; count].join(",");
    // The first condition has an index.
    let mut sql = format!(
        "SELECT directory, name FROM known_files \
         WHERE digest IS NOT NULL AND substr(digest, 1, 8) IN ({0}) AND digest IN ({0})",
        places(digests.len()),
    );
    if !names.is_empty() {
        sql.push_str(&format!(
            " UNION SELECT directory, name FROM known_files \
             WHERE digest IS NOT NULL AND name IN ({})",
            places(names.len()),
        ));
    }
    let mut statement = db.prepare(&sql)?;
    let fronts = digests.iter().map(|digest| {
        let bytes = digest.as_bytes();
        &bytes[..bytes.len().min(FRONT_LEN)]
    });
    let values = fronts.chain(digests.iter().map(|digest| digest.as_bytes()));
    let values = values.chain(names.iter().map(|name| name.as_bytes()));
    let mut rows = statement.query(params_from_iter(values))?;
    let (mut slices, mut paths) = (SliceCache::default(), Paths::default());
    while let Some(row) = rows.next()? {
        let (directory, name) = (column::integer(row, 0)?, column::name(row, 1)?);
        let FileRecord { tag, facts, standing } = slices.sealed(db, directory, name)?;
        let found = LookupMatch {
            path: paths.file(db, directory, name)?,
            name: OsString::from_vec(name.to_vec()),
            inode: facts.inode,
            tag: tag.ok_or_else(|| DbError::damaged("a digest without an algorithm"))?,
            standing,
        };
        if visit(found).is_break() {
            break;
        }
    }
    Ok(())
}

fn names_of_inode(db: &Connection, inode: u64, most: usize) -> Result<Vec<PathBuf>, DbError> {
    let mut statement = db.prepare(
        "SELECT directory, name FROM known_files WHERE inode = ? AND NOT is_missing(state) LIMIT ?",
    )?;
    let mut rows = statement.query((inode.cast_signed(), most as i64))?;
    let mut paths = Paths::default();
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(paths.file(db, column::integer(row, 0)?, column::name(row, 1)?)?);
    }
    Ok(found)
}

fn algorithms(db: &Connection) -> Result<Vec<Algorithm>, DbError> {
    let mut statement =
        db.prepare("SELECT DISTINCT algorithm FROM known_files WHERE algorithm IS NOT NULL")?;
    let mut rows = statement.query(())?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(column::text(row, 0)?.to_owned());
    }
    let known = Algorithm::ALL.iter().copied();
    Ok(known.filter(|algorithm| found.iter().any(|name| name == algorithm.name())).collect())
}
