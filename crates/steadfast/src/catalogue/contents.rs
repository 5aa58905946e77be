//! The contents that a catalogue has a proved record of, in one pass over its rows.
//!
//! Takes a filter of digests; visits the files that pass it. Only the rows of these are compared
//! with their seals and have their path put together, so ten million rows take seconds.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use steadfast_sys::names::NameBytes as _;

use super::directory::{Paths, at_path};
use super::entry::{FileFacts, FileRecord};
use super::error::DbError;
use super::slice_cache::{SliceCache, reading};
use super::{Catalogue, CatalogueError, column};
use steadfast_digest::Digest;
use steadfast_manifest::tag::Tag;

/// A file and its contents, by the record of a run that proved them.
#[derive(Clone, Debug)]
pub(crate) struct RecordedContents {
    /// Its path from the root.
    pub(crate) path: PathBuf,
    /// The record: algorithm, digest and length of the contents.
    pub(crate) tag: Tag,
    /// Its status when a run proved it last: inode, modification time and change time.
    pub(crate) facts: FileFacts,
}

impl Catalogue {
    /// Visits the files whose last verdict proves that they have the contents of their record, if
    /// the digest is wanted.
    ///
    /// # Errors
    /// If the catalogue cannot be read.
    pub(crate) fn contents(
        &self,
        is_wanted: &dyn Fn(&[u8]) -> bool,
        visit: &mut dyn FnMut(RecordedContents) -> ControlFlow<()>,
    ) -> Result<(), CatalogueError> {
        let result = reading(&self.db, || contents(&self.db, is_wanted, visit));
        result.map_err(|fault| self.wrong(fault))
    }

    /// Returns how many files the catalogue knows beneath a directory.
    ///
    /// # Errors
    /// If the catalogue cannot be read.
    pub(crate) fn files_beneath(&self, path: &Path) -> Result<u64, CatalogueError> {
        let files = || {
            let Some(directory) = at_path(&self.db, path)? else { return Ok(0) };
            let sql = "WITH RECURSIVE down(id) AS (SELECT ? UNION \
                       SELECT it.id FROM directories AS it JOIN down ON it.parent = down.id) \
                       SELECT count(*) FROM down JOIN known_files ON directory = down.id \
                       WHERE NOT is_missing(state)";
            let count: i64 =
                self.db.prepare_cached(sql)?.query_row([directory.id], |it| it.get(0))?;
            Ok(count.cast_unsigned())
        };
        files().map_err(|fault: DbError| self.wrong(fault))
    }
}

fn contents(
    db: &Connection,
    is_wanted: &dyn Fn(&[u8]) -> bool,
    visit: &mut dyn FnMut(RecordedContents) -> ControlFlow<()>,
) -> Result<(), DbError> {
    let mut statement =
        db.prepare("SELECT digest, directory, name FROM known_files WHERE digest IS NOT NULL")?;
    let mut rows = statement.query(())?;
    let (mut slices, mut paths) = (SliceCache::default(), Paths::default());
    let mut tagged = 0;
    while let Some(row) = rows.next()? {
        tagged += 1;
        if !is_wanted(column::bytes(row, 0, Digest::LEN_MAX)?) {
            continue;
        }
        // Only what fits a seal is known.
        let (directory, name) = (column::integer(row, 1)?, column::name(row, 2)?);
        let FileRecord { tag, facts, standing } = slices.sealed(db, directory, name)?;
        let Some(tag) = tag.filter(|tag| standing.proves() && tag.length == facts.length) else {
            continue;
        };
        let path = paths.of(db, directory)?.join(Path::from_bytes(name));
        if visit(RecordedContents { path, tag, facts }).is_break() {
            return Ok(());
        }
    }
    let all: i64 =
        db.query_row("SELECT coalesce(sum(tagged), 0) FROM slices", (), |row| row.get(0))?;
    if tagged == all { Ok(()) } else { Err(DbError::damaged("files are lost")) }
}
