//! A temporary table that sorts any number of rows on disk: what many runs found, to be recorded
//! as one.
//!
//! In: rows in any order. Out: the same rows, by their keys. SQLite removes the table's file when
//! it is closed; it is in the folder of `SQLITE_TMPDIR` or `TMPDIR`, or in `/var/tmp`.

use rusqlite::{Connection, params};

/// The table. After a crash nothing of it is needed. 64 MiB of memory hold its pages.
const TABLE: &str = "\
PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -65536;
CREATE TABLE sorted (key BLOB NOT NULL, source INTEGER NOT NULL, row BLOB NOT NULL);
BEGIN;";

/// Sorts rows.
pub(crate) struct SortedRows(Connection);

/// Receives the source, the key and the bytes of a row.
type RowVisitor<'a, E> = dyn FnMut(u32, &[u8], &[u8]) -> Result<(), E> + 'a;

impl SortedRows {
    /// Makes an empty table.
    pub(crate) fn new() -> rusqlite::Result<SortedRows> {
        let table = Connection::open("")?;
        table.execute_batch(TABLE)?;
        Ok(SortedRows(table))
    }

    /// Adds a row of a source.
    pub(crate) fn put(&self, source: u32, key: &[u8], row: &[u8]) -> rusqlite::Result<()> {
        let mut put = self.0.prepare_cached("INSERT INTO sorted VALUES (?, ?, ?)")?;
        put.execute(params![key, source, row]).map(drop)
    }

    /// Visits the source, the key and the row of all, by their keys and sources, until an error.
    pub(crate) fn visit<E>(
        &self,
        visit: &mut RowVisitor<'_, E>,
    ) -> rusqlite::Result<Result<(), E>> {
        let sorted = "SELECT source, key, row FROM sorted ORDER BY key, source";
        let mut sorted = self.0.prepare(sorted)?;
        let mut rows = sorted.query(())?;
        while let Some(row) = rows.next()? {
            let (key, text) = (row.get_ref(1)?.as_blob()?, row.get_ref(2)?.as_blob()?);
            if let Err(error) = visit(row.get(0)?, key, text) {
                return Ok(Err(error));
            }
        }
        Ok(Ok(()))
    }
}
