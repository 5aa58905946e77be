//! What belongs to each folder: the rows of `folders`.

use rusqlite::{Connection, Row};

use super::column;
use super::entry::RecordedBelongings;
use super::error::DbError;

/// Selects rows of folders: the number, and what [`RecordedBelongings::read`] reads.
const SELECT_FOLDERS: &str = "SELECT directory, links, mode, uid, gid, attributes, mtime_ns, \
    ctime_ns, sum FROM folders";

fn read_folder(row: &Row<'_>) -> Result<(i64, RecordedBelongings), DbError> {
    let directory = column::integer(row, 0)?;
    let own = RecordedBelongings::read(row, 1, None)?;
    let own = own.ok_or_else(|| DbError::damaged("a folder without links"))?;
    own.sum_of_place(directory, b"").ensure(column::integer(row, 8)?, "folders")?;
    Ok((directory, own))
}

/// Visits what is known of each folder.
pub(super) fn each_folder(
    db: &Connection,
    mut visit: impl FnMut(i64, &RecordedBelongings) -> Result<(), DbError>,
) -> Result<(), DbError> {
    let mut statement = db.prepare(SELECT_FOLDERS)?;
    let mut rows = statement.query(())?;
    while let Some(row) = rows.next()? {
        let (directory, own) = read_folder(row)?;
        visit(directory, &own)?;
    }
    Ok(())
}

/// Writes the row of a folder.
pub(super) fn put_folder(
    db: &Connection,
    directory: i64,
    own: &RecordedBelongings,
) -> Result<(), DbError> {
    let mut statement =
        db.prepare_cached("REPLACE INTO main.folders VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)")?;
    statement.raw_bind_parameter(1, directory)?;
    RecordedBelongings::bind(Some(own), &mut statement, 2, None)?;
    statement.raw_bind_parameter(9, own.sum_of_place(directory, b"").value())?;
    statement.raw_execute()?;
    Ok(())
}

/// Returns what is known of a folder.
pub(super) fn folder(
    db: &Connection,
    directory: i64,
) -> Result<Option<RecordedBelongings>, DbError> {
    let mut statement = db.prepare_cached(&format!("{SELECT_FOLDERS} WHERE directory = ?"))?;
    let mut rows = statement.query((directory,))?;
    let own = rows.next()?.map(|row| read_folder(row).map(|(_, own)| own));
    own.transpose()
}
