//! Files that left the name by which the catalogue knows them, and the ones that have it now.
//!
//! The row of a file that lost its tag and was written, in a run that did not read it, keeps the
//! length and the time of the last reading, so that a comparison goes on to find the file. What the
//! run met is kept in an event: if the file is renamed before a run reads it, nothing else says
//! that it is this one.

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

/// Selects what is known of files whose names have other files since, as far as runs could tell:
/// other known files, of which an event tells (`run`, `number`); edited ones, which may have been
/// saved as new files; and written ones that no run has read. Their tags are those of the files
/// that left.
pub(super) const LEFT: &str = "
SELECT e.directory, e.name, e.run, e.number, e.digest, e.tag_length AS length,
  e.tag_mtime_ns AS mtime_ns
FROM events AS e WHERE e.what = 'overwritten' AND e.digest IS NOT NULL
UNION ALL
SELECT n.directory, n.name, 0, 0, n.digest, coalesce(n.tag_length, n.length), n.tag_mtime_ns
FROM known_files AS n
WHERE NOT (proves(n.state) OR is_missing(n.state))
  AND n.digest IS NOT NULL AND n.tag_mtime_ns IS NOT NULL
UNION ALL
SELECT n.directory, n.name, 0, 0, n.digest, coalesce(n.tag_length, n.length),
  coalesce(n.tag_mtime_ns, n.mtime_ns)
FROM events AS met
CROSS JOIN known_files AS n ON n.directory = met.directory AND n.name = met.name
WHERE met.what = 'written' AND proves(n.state) AND n.digest IS NOT NULL
  AND instr(met.other, CAST(printf('%d ', n.inode) AS BLOB)) = 1
  AND met.other <> CAST(printf('%d %d %d', n.inode, n.length, n.mtime_ns) AS BLOB)";

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

/// Returns whether only the catalogue has the tag of a name, because the file could not take it.
pub(super) fn is_catalogue_only(
    db: &Connection,
    directory: i64,
    name: &[u8],
) -> Result<bool, DbError> {
    let mut statement = db.prepare_cached(
        "SELECT what = 'catalogue only' FROM events WHERE directory = ? AND name = ? AND what IN \
         ('catalogue only', 'new', 'tagged', 'retagged', 'refreshed', 'adopted', 'accepted') \
         ORDER BY run DESC, number DESC LIMIT 1",
    )?;
    let mut rows = statement.query((directory, name))?;
    Ok(rows.next()?.map(|row| row.get(0)).transpose()?.unwrap_or(false))
}
