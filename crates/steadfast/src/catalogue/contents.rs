//! The contents that a catalogue has a proved record of, in one pass over its rows.
//!
//! Takes a filter of digests; visits the files that pass it. Only the rows of these have their path
//! put together, so ten million rows take seconds.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use steadfast_sys::names::NameBytes as _;

use super::directory::{Paths, at_path};
use super::entry::{FileFacts, state_at};
use super::error::DbError;
use super::slice_cache::reading;
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
                       SELECT count(*) FROM down JOIN entries ON directory = down.id \
                       WHERE NOT is_missing(standing)";
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
    let mut statement = db.prepare(
        "SELECT digest, directory, name, standing, length, mtime_ns, \
         algorithm, digest, tagged_s, tag_length, tag_mtime_ns, ctime_ns, inode \
         FROM entries WHERE digest IS NOT NULL",
    )?;
    let mut rows = statement.query(())?;
    let mut paths = Paths::default();
    while let Some(row) = rows.next()? {
        if !is_wanted(column::bytes(row, 0, Digest::LEN_MAX)?) || !state_at(row, 3)?.proves() {
            continue;
        }
        let (length, mtime) = (column::unsigned(row, 4)?, column::moment(row, 5)?);
        let (ctime, inode) = (column::moment(row, 11)?, column::unsigned(row, 12)?);
        let facts = FileFacts { length, mtime, ctime, inode };
        let tag = column::tag(row, 6, length, mtime)?;
        let tag = tag.ok_or_else(|| DbError::damaged("a digest without an algorithm"))?;
        if tag.length != length {
            continue;
        }
        let directory = paths.of(db, column::integer(row, 1)?)?;
        let path = directory.join(Path::from_bytes(column::name(row, 2)?));
        if visit(RecordedContents { path, tag, facts }).is_break() {
            break;
        }
    }
    Ok(())
}
