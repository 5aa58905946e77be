//! Files that lost their tag and were written, in runs that did not read them.
//!
//! The row of such a file keeps the length and the time of the last reading, so that a comparison
//! goes on to find the file. What the run met is kept in an event: if the file is renamed before a
//! run reads it, nothing else says that it is this one.

use rusqlite::Connection;

use super::entry::FileFacts;
use super::error::DbError;

/// Says in SQL that a run met a file `at` as the name of `row`, and did not read it.
pub(super) fn was_met(row: &str, at: &str) -> String {
    format!(
        "EXISTS (SELECT 1 FROM events AS met \
         WHERE met.directory = {row}.directory AND met.name = {row}.name \
         AND met.what = 'written' AND met.other = CAST(printf('%d %d %d', \
         {at}.inode, {at}.length, {at}.mtime_ns) AS BLOB))"
    )
}

/// Returns what an event keeps of a file; `None` if its time is beyond the year 2262.
pub(super) fn trace(facts: &FileFacts) -> Option<String> {
    let FileFacts { length, mtime, inode, .. } = *facts;
    let mtime_ns = i64::try_from(mtime.as_nanoseconds()).ok()?;
    Some(format!("{} {} {mtime_ns}", inode.cast_signed(), length.cast_signed()))
}

/// Returns whether a run met a file at a name, and did not read it.
pub(super) fn is_written(
    db: &Connection,
    directory: i64,
    name: &[u8],
    facts: &FileFacts,
) -> Result<bool, DbError> {
    let Some(trace) = trace(facts) else { return Ok(false) };
    let mut statement = db.prepare_cached(
        "SELECT 1 FROM events WHERE directory = ? AND name = ? AND what = 'written' AND other = ?",
    )?;
    Ok(statement.exists((directory, name, trace.as_bytes()))?)
}
