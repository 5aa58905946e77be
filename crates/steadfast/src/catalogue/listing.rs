//! The files of a catalogue, with what is known of each.
//!
//! Takes a path to begin after; visits files by directory and name. The rows are compared with
//! their seals, as everywhere.

use std::ffi::OsStr;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use steadfast_sys::names::NameBytes as _;

use steadfast_sys::file::Timestamp;

use super::audit::each_slice;
use super::directory::{Paths, at_path};
use super::entry::FileRow;
use super::error::DbError;
use super::slice::{rows_of, slice_with};
use super::slice_cache::reading;
use super::{Catalogue, CatalogueError, runs};
use crate::file_state::FileState;

/// A file that a catalogue knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedFile {
    /// Its path from the root.
    pub path: PathBuf,
    /// Its length in bytes when a run saw it last.
    pub length: u64,
    /// Its modification time then.
    pub mtime: Timestamp,
    /// Its state.
    pub standing: FileState,
    /// Whether it has a tag.
    pub tagged: bool,
    /// Time of the last proof; `None` if it was never proved.
    pub last_proof: Option<Timestamp>,
}

impl Catalogue {
    /// Visits the files after `after`, a path from the root, by directory and name; `None` begins
    /// with the first. If its directory is not known any more, there are none.
    ///
    /// # Errors
    /// If the catalogue cannot be read, or the path does not lead down from the root.
    pub fn files(
        &self,
        after: Option<&Path>,
        visit: &mut dyn FnMut(ListedFile) -> ControlFlow<()>,
    ) -> Result<(), CatalogueError> {
        reading(&self.db, || files(&self.db, after, visit)).map_err(|fault| self.wrong(fault))
    }
}

fn files(
    db: &Connection,
    after: Option<&Path>,
    visit: &mut dyn FnMut(ListedFile) -> ControlFlow<()>,
) -> Result<(), DbError> {
    let starts = runs::starts(db, Timestamp::MAX)?;
    let mut paths = Paths::default();
    let mut tell = |directory: i64, slice_run: i64, row: &FileRow| {
        let proof = starts.get(&row.last_proved(slice_run)).copied();
        Ok::<_, DbError>(visit(ListedFile {
            path: paths.file(db, directory, &row.name)?,
            length: row.record.facts.length,
            mtime: row.record.facts.mtime,
            standing: row.record.standing,
            tagged: row.record.tag.is_some(),
            last_proof: proof.map(super::seconds),
        }))
    };
    let mut from = None;
    if let Some(path) = after {
        let name = path.file_name().map(OsStr::as_bytes).unwrap_or_default();
        let parent = path.parent().unwrap_or(Path::new(""));
        let Some(directory) = at_path(db, parent)?.map(|directory| directory.id) else {
            return Ok(());
        };
        if let Some((slice, next)) = slice_with(db, directory, name)? {
            for row in &rows_of(db, directory, &slice, next.as_deref(), &mut Vec::new())? {
                if row.name.as_slice() > name && tell(directory, slice.checked_run, row)?.is_break()
                {
                    return Ok(());
                }
            }
            from = Some((directory, slice.first));
        }
    }
    each_slice(db, from, &mut |directory, slice, rows| {
        for row in &rows()? {
            if tell(directory, slice.checked_run, row)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    })
}
