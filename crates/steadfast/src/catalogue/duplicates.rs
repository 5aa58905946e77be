//! Files with the same contents, according to the tags in a catalogue.
//!
//! Takes a minimum length; returns groups of paths. SQLite sorts, on disk if necessary.

use std::ops::ControlFlow;
use std::path::PathBuf;

use rusqlite::Connection;

use steadfast_sys::file::Timestamp;

use super::column;
use super::directory::Paths;
use super::error::DbError;
use super::{Catalogue, CatalogueError};
use steadfast_manifest::tag::Tag;

/// Files with the same contents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Duplicates {
    /// A tag of them. Algorithm, digest and length are the same for all; the rest is the first
    /// file's.
    pub tag: Tag,
    /// Their paths from the root, two or more.
    pub paths: Vec<PathBuf>,
}

impl Catalogue {
    /// Visits all groups of files with the same contents and at least `length_min` bytes. Several
    /// names of one inode also form a group.
    ///
    /// # Errors
    ///
    /// If the catalogue cannot be read, or there is no space to sort.
    pub fn duplicates(
        &self,
        length_min: u64,
        visit: &mut dyn FnMut(Duplicates) -> ControlFlow<()>,
    ) -> Result<(), CatalogueError> {
        duplicates(&self.db, length_min, visit).map_err(|fault| self.wrong(fault))
    }
}

/// A tag, and the directories and names of the files that have it.
type DuplicateGroup = (Tag, Vec<(i64, Vec<u8>)>);

fn duplicates(
    db: &Connection,
    length_min: u64,
    visit: &mut dyn FnMut(Duplicates) -> ControlFlow<()>,
) -> Result<(), DbError> {
    let mut statement = db.prepare(
        "SELECT directory, name, algorithm, digest, tagged_s, tag_length, mtime_ns, length \
         FROM known_files WHERE digest IS NOT NULL AND NOT is_missing(state) \
         AND coalesce(tag_length, length) >= ?1 \
         ORDER BY digest, algorithm, coalesce(tag_length, length), directory, name",
    )?;
    let length_min = i64::try_from(length_min).unwrap_or(i64::MAX);
    let mut rows = statement.query((length_min,))?;
    let mut paths = Paths::default();
    let mut group: Option<DuplicateGroup> = None;
    loop {
        let next = match rows.next()? {
            Some(row) => {
                let (mtime, length) = (column::moment(row, 6)?, column::unsigned(row, 7)?);
                let tag = tag(row, length, mtime)?;
                Some((tag, column::integer(row, 0)?, column::name(row, 1)?.to_vec()))
            }
            None => None,
        };
        if let (Some((first, files)), Some((tag, directory, name))) = (&mut group, &next)
            && first.same_contents(tag)
        {
            files.push((*directory, name.clone()));
            continue;
        }
        if let Some((tag, files)) = group.take().filter(|(_, files)| files.len() > 1) {
            let files = files.iter().map(|(directory, name)| paths.file(db, *directory, name));
            let paths = files.collect::<Result<Vec<PathBuf>, DbError>>()?;
            if visit(Duplicates { tag, paths }).is_break() {
                return Ok(());
            }
        }
        let Some((tag, directory, name)) = next else { return Ok(()) };
        group = Some((tag, vec![(directory, name)]));
    }
}

fn tag(row: &rusqlite::Row<'_>, length: u64, mtime: Timestamp) -> Result<Tag, DbError> {
    let tag = column::tag(row, 2, length, mtime)?;
    tag.ok_or_else(|| DbError::damaged("a digest without an algorithm"))
}
