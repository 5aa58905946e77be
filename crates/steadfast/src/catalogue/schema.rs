//! The tables of a catalogue, and connections to them.
//!
//! Takes the folder of a database; returns a connection to tables of this version, after a
//! migration if they were older. `docs/formats/catalogue.md` specifies the columns and is
//! authoritative.

use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::functions::FunctionFlags;
use rusqlite::limits::Limit;
use rusqlite::{Connection, OpenFlags, Row};
use steadfast_sys::sqlite::HeldDatabase;

use super::error::{CatalogueErrorKind, DbError};
use super::home::Home;
use super::work;
use crate::file_state::FileState;
use crate::tree_folder::DRAFT;

/// The version of the tables, kept as `user_version`.
pub(super) const VERSION: i64 = 2;

/// Marks the file as a catalogue, for `file(1)` and for ourselves: "STDF".
pub(super) const APPLICATION_ID: i64 = 0x5354_4446;

/// The tables of version 1. SQLite stores this text, and it is compared on opening.
const TABLES_1: &[&str] = &[
    "CREATE TABLE meta (key TEXT PRIMARY KEY, value ANY NOT NULL) STRICT, WITHOUT ROWID",
    "CREATE TABLE directories (
  id INTEGER PRIMARY KEY,
  parent INTEGER NOT NULL,
  name BLOB NOT NULL,
  mounted INTEGER NOT NULL,
  sum INTEGER NOT NULL,
  UNIQUE (parent, name)
) STRICT",
    "CREATE TABLE slices (
  directory INTEGER NOT NULL,
  first BLOB NOT NULL,
  entries INTEGER NOT NULL,
  tagged INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  apart INTEGER NOT NULL,
  checked_run INTEGER NOT NULL,
  marks INTEGER NOT NULL,
  seal BLOB NOT NULL,
  sum INTEGER NOT NULL,
  PRIMARY KEY (directory, first)
) STRICT, WITHOUT ROWID",
    "CREATE TABLE entries (
  directory INTEGER NOT NULL,
  name BLOB NOT NULL,
  length INTEGER NOT NULL,
  mtime_ns ANY NOT NULL,
  ctime_ns ANY NOT NULL,
  inode INTEGER NOT NULL,
  algorithm TEXT,
  digest BLOB,
  tagged_s INTEGER,
  tag_length INTEGER,
  tag_mtime_ns ANY,
  standing INTEGER NOT NULL,
  first_run INTEGER NOT NULL,
  checked_run INTEGER NOT NULL,
  proved_run INTEGER NOT NULL,
  PRIMARY KEY (directory, name)
) STRICT, WITHOUT ROWID",
    "CREATE TABLE runs (
  id INTEGER PRIMARY KEY,
  verb TEXT NOT NULL,
  version TEXT NOT NULL,
  read_from TEXT NOT NULL,
  backend TEXT NOT NULL,
  started_s INTEGER NOT NULL,
  latest_s INTEGER NOT NULL,
  state INTEGER NOT NULL,
  files INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  all_directories INTEGER NOT NULL,
  all_slices INTEGER NOT NULL,
  all_entries INTEGER NOT NULL,
  all_coverage INTEGER NOT NULL,
  all_events INTEGER NOT NULL,
  sum INTEGER NOT NULL
) STRICT",
    "CREATE TABLE counts (
  run INTEGER NOT NULL,
  what TEXT NOT NULL,
  count INTEGER NOT NULL,
  PRIMARY KEY (run, what)
) STRICT, WITHOUT ROWID",
    "CREATE TABLE coverage (
  directory INTEGER NOT NULL,
  run INTEGER NOT NULL,
  first BLOB NOT NULL,
  last BLOB,
  beneath INTEGER NOT NULL,
  sum INTEGER NOT NULL,
  PRIMARY KEY (directory, run, first)
) STRICT, WITHOUT ROWID",
    "CREATE TABLE events (
  directory INTEGER NOT NULL,
  name BLOB NOT NULL,
  run INTEGER NOT NULL,
  number INTEGER NOT NULL,
  at_s INTEGER NOT NULL,
  what TEXT NOT NULL,
  standing INTEGER NOT NULL,
  algorithm TEXT,
  digest BLOB,
  tagged_s INTEGER,
  tag_length INTEGER,
  tag_mtime_ns ANY,
  other BLOB,
  sum INTEGER NOT NULL,
  PRIMARY KEY (directory, name, run, number)
) STRICT, WITHOUT ROWID",
    "CREATE INDEX events_by_run ON events (run, what)",
    "CREATE VIEW paths (directory, path) AS
WITH RECURSIVE chain (id, path) AS (
  SELECT id, '' FROM directories WHERE parent = 0
  UNION ALL
  SELECT d.id, chain.path || CAST(d.name AS TEXT) || '/'
  FROM directories AS d JOIN chain ON d.parent = chain.id
)
SELECT id, path FROM chain",
];

/// The tables that version 2 adds. Their rows are not known until a run sees the files.
const TABLES_2: &[&str] = &["CREATE TABLE belongings (
  directory INTEGER NOT NULL,
  name BLOB NOT NULL,
  ctime_ns ANY NOT NULL,
  mtime_ns ANY NOT NULL,
  links INTEGER NOT NULL,
  mode INTEGER NOT NULL,
  uid INTEGER NOT NULL,
  gid INTEGER NOT NULL,
  attributes BLOB,
  sum INTEGER NOT NULL,
  PRIMARY KEY (directory, name)
) STRICT, WITHOUT ROWID"];

/// Migrations from one version of the tables to the next: statements, by the version that they
/// migrate.
const MIGRATIONS: &[(i64, &[&str])] = &[(1, TABLES_2)];

/// Returns the tables of a version.
pub(super) fn tables(version: i64) -> impl Iterator<Item = &'static str> {
    let later = if version < 2 { &[] } else { TABLES_2 };
    TABLES_1.iter().chain(later).copied()
}

/// Says whether a catalogue has the table of version 2.
pub(super) fn has_belongings(db: &Connection) -> Result<bool, DbError> {
    Ok(version_of(db)? >= 2)
}

fn version_of(db: &Connection) -> Result<i64, DbError> {
    Ok(db.query_row("PRAGMA user_version", (), |row| row.get(0))?)
}

/// How long to wait for a lock that is held briefly.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);

/// The longest value or row in bytes: extended attributes and paths take 64 KiB.
const VALUE_LEN_MAX: i32 = 1 << 20;

/// The longest statement in bytes, and the longest of a table.
const SQL_LEN_MAX: i32 = 1 << 16;
const TABLE_LEN_MAX: i32 = 2048;

/// Memory that SQLite takes at most in the whole process. A connection's pages take 16 MiB.
const HEAP_LEN_MAX: i64 = 512 << 20;

/// Temporary tables are in memory if the catalogue is shorter. They have fewer rows than it has.
const TEMPORARY_LEN_MAX: u64 = 32 << 20;

/// The purpose of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    /// Make the tables in an empty draft.
    Create,
    /// Read and write.
    Write,
    /// Read in the process that writes.
    Beside,
    /// Read a file and its log.
    ReadLog,
    /// Read a file that has no log.
    Read,
}

impl Access {
    fn writes(self) -> bool {
        matches!(self, Access::Create | Access::Write | Access::Beside)
    }
}

/// Connects to a catalogue, or to the draft of one. The connection ends before the held database.
///
/// The index of the log is in the memory of each process, and never in the folder, where others
/// could cut it.
pub(super) fn connect(home: &Home, access: Access) -> Result<(Connection, HeldDatabase), DbError> {
    let draft = if access == Access::Create { DRAFT } else { "" };
    home.ensure_plain(draft)?;
    let held = HeldDatabase::new(home.dir(), &home.name(draft), access.writes());
    let flags = OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_URI;
    let path = format!("file:{}", held.path());
    let mut db = match access {
        // One process writes, and its connections share an index in its memory.
        Access::Create | Access::Write | Access::Beside => {
            let flags = flags | OpenFlags::SQLITE_OPEN_READ_WRITE;
            Connection::open_with_flags_and_vfs(path, flags, c"unix-excl")?
        }
        // What keeps writers out is the lock of the readers.
        Access::ReadLog | Access::Read => {
            let flags = flags | OpenFlags::SQLITE_OPEN_READ_ONLY;
            let query = if access == Access::Read { "?immutable=1" } else { "" };
            Connection::open_with_flags_and_vfs(path + query, flags, c"unix-none")?
        }
    };
    db.busy_timeout(PATIENCE)?;
    // Otherwise SQLite makes a new plan for each lower bound of a range.
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    // The log is merged only while nobody reads: `Catalogue::merge_log`.
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, access != Access::Create)?;
    db.set_prepared_statement_cache_capacity(64);
    bound(&mut db, access)?;
    name_states(&db)?;
    if access == Access::Create {
        create(&db)?;
    } else {
        recognise(&db)?;
        ensure_tables(&db)?;
        db.set_limit(Limit::SQLITE_LIMIT_SQL_LENGTH, SQL_LEN_MAX)?;
        work::bound(&mut db, home, None)?;
    }
    let temporary = if home.length() < TEMPORARY_LEN_MAX { "MEMORY" } else { "FILE" };
    db.execute_batch(&format!(
        "PRAGMA cell_size_check = ON; PRAGMA cache_size = -16384; PRAGMA mmap_size = 0; \
         PRAGMA temp_store = {temporary};"
    ))?;
    if matches!(access, Access::Create | Access::Write) {
        prepare_to_write(&db)?;
    }
    Ok((db, held))
}

/// Bounds what SQLite does to read the tables, before it reads anything: a hostile file executes
/// nothing through its schema, and has no more of it than a catalogue.
fn bound(db: &mut Connection, access: Access) -> Result<(), DbError> {
    let sql = if access == Access::Create { SQL_LEN_MAX } else { TABLE_LEN_MAX };
    for (limit, most) in [
        (Limit::SQLITE_LIMIT_LENGTH, VALUE_LEN_MAX),
        (Limit::SQLITE_LIMIT_SQL_LENGTH, sql),
        (Limit::SQLITE_LIMIT_ATTACHED, 0),
        (Limit::SQLITE_LIMIT_WORKER_THREADS, 0),
    ] {
        db.set_limit(limit, most)?;
    }
    if access != Access::Create {
        work::bound_schema(db)?;
    }
    let locking = if access == Access::ReadLog { "EXCLUSIVE" } else { "NORMAL" };
    Ok(db.execute_batch(&format!(
        "PRAGMA trusted_schema = OFF; PRAGMA hard_heap_limit = {HEAP_LEN_MAX}; \
         PRAGMA locking_mode = {locking};"
    ))?)
}

/// Lets statements ask what a state means, by its number in a row.
fn name_states(db: &Connection) -> Result<(), DbError> {
    let flags = FunctionFlags::SQLITE_DETERMINISTIC | FunctionFlags::SQLITE_DIRECTONLY;
    type Question = fn(FileState) -> bool;
    let is_missing: Question = |state| state == FileState::Missing;
    let is_bad: Question = |state| !matches!(state, FileState::Fine | FileState::Touched);
    let proves: Question = FileState::proves;
    for (name, question) in [("proves", proves), ("is_missing", is_missing), ("is_bad", is_bad)] {
        db.create_scalar_function(name, 1, flags, move |row| {
            let state = usize::try_from(row.get::<i64>(0)?).ok();
            Ok(state.and_then(|at| FileState::ALL.get(at)).copied().is_some_and(question))
        })?;
    }
    Ok(())
}

fn prepare_to_write(db: &Connection) -> Result<(), DbError> {
    bring_up(db)?;
    // On macOS, a flush goes to the drive only, and its cache is lost with the power, unless
    // SQLite asks for a full one. Other systems ignore that.
    Ok(db.execute_batch(
        "PRAGMA fullfsync = ON; PRAGMA checkpoint_fullfsync = ON; PRAGMA synchronous = FULL; \
         PRAGMA wal_autocheckpoint = 0;",
    )?)
}

/// How much of a log was merged into the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Merged {
    /// All of it, and the log is empty.
    Whole,
    /// All of it, but a connection of this process keeps the log: the next writing may begin it
    /// anew.
    Kept,
    /// Not all of it.
    Part,
}

/// Merges the log into the file, so the file alone is the whole catalogue and can be copied. The
/// caller keeps readers out.
pub(super) fn merge_log(db: &Connection) -> Merged {
    let _ = db.busy_timeout(Duration::ZERO);
    let row = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
    let merged: Result<(i64, i64, i64), _> =
        db.query_row("PRAGMA wal_checkpoint(TRUNCATE)", (), row);
    let _ = db.busy_timeout(PATIENCE);
    match merged {
        Ok((0, ..)) => Merged::Whole,
        Ok((_, log, done)) if log == done => Merged::Kept,
        _ => Merged::Part,
    }
}

/// Fails if a file is not a catalogue, or one of a later version.
fn recognise(db: &Connection) -> Result<(), DbError> {
    let pragma = |name: &str| -> Result<i64, DbError> {
        Ok(db.query_row(&format!("PRAGMA {name}"), (), |row| row.get(0))?)
    };
    if pragma("application_id")? != APPLICATION_ID {
        return Err(DbError::damaged("it does not begin as a catalogue begins"));
    }
    let version = pragma("user_version")?;
    if version > VERSION {
        let message =
            format!("the catalogue has version {version}; this program knows version {VERSION}");
        return Err(DbError::new(CatalogueErrorKind::Newer, message));
    }
    if version < 1 {
        return Err(DbError::damaged(format_args!("its version is {version}")));
    }
    Ok(())
}

fn create(db: &Connection) -> Result<(), DbError> {
    // A log, and no journal, also while the tables are made.
    db.execute_batch("PRAGMA page_size = 4096; PRAGMA journal_mode = MEMORY;")?;
    db.execute_batch("PRAGMA journal_mode = WAL;")?;
    let mut script = String::from("BEGIN IMMEDIATE;\n");
    for table in tables(VERSION) {
        script.push_str(table);
        script.push_str(";\n");
    }
    script.push_str(&format!("PRAGMA application_id = {APPLICATION_ID};\n"));
    script.push_str(&format!("PRAGMA user_version = {VERSION};\nCOMMIT;"));
    Ok(db.execute_batch(&script)?)
}

/// Migrates tables of an earlier version, one version at a time, each in one transaction.
fn bring_up(db: &Connection) -> Result<(), DbError> {
    for (from, statements) in MIGRATIONS {
        if version_of(db)? == *from {
            let next = from + 1;
            let script = statements.join(";\n");
            db.execute_batch(&format!(
                "BEGIN IMMEDIATE;\n{script};\nPRAGMA user_version = {next};\nCOMMIT;"
            ))?;
        }
    }
    Ok(())
}

/// Checks that the tables are exactly those of the file's version, before any is used.
///
/// Otherwise a trigger or an additional index in a planted file would be executed on writing.
fn ensure_tables(db: &Connection) -> Result<(), DbError> {
    let own = Connection::open_in_memory()?;
    tables(version_of(db)?).try_for_each(|table| own.execute_batch(table))?;
    if objects(db)? != objects(&own)? {
        return Err(DbError::damaged("its tables are not those that this program makes"));
    }
    let shared = "SELECT count(*) - count(DISTINCT rootpage) FROM sqlite_schema WHERE rootpage > 1";
    match db.query_row(shared, (), |row| row.get::<_, i64>(0))? {
        0 => Ok(()),
        _ => Err(DbError::damaged("two of its tables are in one place")),
    }
}

/// Returns the type, the name, the table and the text of everything in a schema.
fn objects(db: &Connection) -> Result<Vec<[Option<String>; 4]>, DbError> {
    let mut statement =
        db.prepare("SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY name")?;
    let row = |row: &Row<'_>| Ok([row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?]);
    let objects = statement.query_map((), row)?.collect::<Result<_, _>>()?;
    Ok(objects)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_follow_one_another() {
        assert!(MIGRATIONS.iter().map(|(from, _)| *from).eq(1..VERSION));
    }
}
