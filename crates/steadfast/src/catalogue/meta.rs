//! Properties of the catalogue itself, by name.

use rusqlite::Connection;
use rusqlite::types::ToSql;

use super::column;
use super::error::DbError;

pub(super) fn put(db: &Connection, key: &str, value: impl ToSql) -> Result<(), DbError> {
    db.prepare_cached("REPLACE INTO meta VALUES (?, ?)")?.execute((key, value))?;
    Ok(())
}

pub(super) fn integer(db: &Connection, key: &str) -> Result<i64, DbError> {
    get(db, key, |row| column::integer(row, 0))
}

pub(super) fn text(db: &Connection, key: &str) -> Result<String, DbError> {
    get(db, key, |row| Ok(column::text(row, 0)?.to_owned()))
}

pub(super) fn bytes(db: &Connection, key: &str) -> Result<Vec<u8>, DbError> {
    const PATH_LEN_MAX: usize = 1 << 16;
    get(db, key, |row| Ok(column::bytes(row, 0, PATH_LEN_MAX)?.to_vec()))
}

pub(super) fn has(db: &Connection, key: &str) -> Result<bool, DbError> {
    let mut statement = db.prepare_cached("SELECT 1 FROM meta WHERE key = ?")?;
    Ok(statement.exists((key,))?)
}

fn get<T>(
    db: &Connection,
    key: &str,
    read: impl FnOnce(&rusqlite::Row<'_>) -> Result<T, DbError>,
) -> Result<T, DbError> {
    let mut statement = db.prepare_cached("SELECT value FROM meta WHERE key = ?")?;
    let mut rows = statement.query((key,))?;
    match rows.next()? {
        Some(row) => read(row),
        None => Err(DbError::damaged(format_args!("`{key}` is missing"))),
    }
}
