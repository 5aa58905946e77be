//! The tables of a catalogue, and connections to them.
//!
//! Takes the folder of a database; returns a connection to tables of this version, after a
//! migration if they were older. `docs/formats/catalogue.md` specifies the columns and is
//! authoritative.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};
use steadfast_sys::sqlite::allocate_shared_memory;

use super::error::{CatalogueErrorKind, DbError};
use super::home::Home;
use crate::advice::Advice;
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

/// How long to wait for a lock that SQLite holds briefly.
const PATIENCE: Duration = Duration::from_secs(10);

/// The purpose of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    /// Make the tables in an empty draft.
    Create,
    /// Read and write.
    Write,
    /// Read beside a writer.
    Read,
    /// Read a file that has no writer.
    ReadFrozen,
    /// Read a file and its log where there is no room for shared memory. Keeps other processes out.
    ReadAlone,
}

/// Connects to a catalogue, or to the draft of one.
///
/// SQLite opens files by path. It is told to follow no links, and hard links, fifos and devices are
/// refused before. The folder is checked again once SQLite has opened its files.
pub(super) fn connect(home: &Home, access: Access) -> Result<Connection, DbError> {
    let flags = match access {
        // What reads alone writes nothing; it needs the right to lock the file.
        Access::Create | Access::Write | Access::ReadAlone => OpenFlags::SQLITE_OPEN_READ_WRITE,
        Access::Read => OpenFlags::SQLITE_OPEN_READ_ONLY,
        Access::ReadFrozen => OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI,
    };
    let flags = flags | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    let path = home.ensure_plain(if access == Access::Create { DRAFT } else { "" })?;
    allocate_shared_memory();
    let db = match access {
        Access::ReadFrozen => Connection::open_with_flags(frozen_uri(&path), flags)?,
        // This one keeps the index of the log in its own memory.
        Access::ReadAlone => Connection::open_with_flags_and_vfs(path, flags, c"unix-excl")?,
        _ => Connection::open_with_flags(path, flags)?,
    };
    db.busy_timeout(PATIENCE)?;
    // Otherwise SQLite makes a new plan for each lower bound of a range.
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    db.set_prepared_statement_cache_capacity(64);
    // A hostile file must not execute anything through its schema.
    db.execute_batch(
        "PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; PRAGMA cache_size = -16384; \
         PRAGMA mmap_size = 0;",
    )?;
    if access == Access::ReadAlone {
        db.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
        db.execute_batch("PRAGMA query_only = ON;")?;
    }
    if access == Access::Create {
        create(&db)?;
    } else {
        recognise(&db)?;
    }
    if matches!(access, Access::Create | Access::Write) {
        bring_up(&db)?;
        let mode: String = db.query_row("PRAGMA journal_mode = WAL", (), |row| row.get(0))?;
        if mode != "wal" {
            let message = no_shared_memory(&mode);
            let error = DbError::new(CatalogueErrorKind::System, message);
            return Err(error.advise(Advice::LocalCatalogue));
        }
        // On macOS, a flush goes to the drive only, and its cache is lost with the power, unless
        // SQLite asks for a full one. Other systems ignore that.
        db.execute_batch(
            "PRAGMA fullfsync = ON; PRAGMA checkpoint_fullfsync = ON; PRAGMA synchronous = FULL; \
             PRAGMA journal_size_limit = 16777216;",
        )?;
    }
    if access != Access::Create {
        ensure_tables(&db)?;
    }
    home.ensure_here()?;
    Ok(db)
}

/// Says why a file system holds no catalogue, and where one can be.
fn no_shared_memory(mode: &str) -> String {
    format!(
        "this file system cannot share memory between programs (journal mode `{mode}`), as network \
         volumes cannot"
    )
}

/// Merges the log into the file, so the file alone is the whole catalogue and can be copied. Other
/// connections would keep SQLite from merging when this one closes.
///
/// A busy reader may keep a part in the log. That is not an error: everything is stored, and the
/// next run merges it.
pub(super) fn merge_log(db: &Connection) {
    let _ = db.busy_timeout(Duration::ZERO);
    let _ = db.query_row("PRAGMA wal_checkpoint(TRUNCATE)", (), |_| Ok(()));
    let _ = db.busy_timeout(PATIENCE);
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
    db.execute_batch("PRAGMA page_size = 4096;")?;
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

/// Checks that the tables are exactly those of the file's version.
///
/// Otherwise a trigger or an additional index in a planted file would be executed on writing.
fn ensure_tables(db: &Connection) -> Result<(), DbError> {
    let mut statement = db.prepare(
        "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%'",
    )?;
    let mut rows = statement.query(())?;
    let mut expected: Vec<&str> = tables(version_of(db)?).collect();
    while let Some(row) = rows.next()? {
        let sql = row.get_ref(0)?.as_str().map_err(DbError::damaged)?;
        let Some(at) = expected.iter().position(|table| *table == sql) else {
            return Err(DbError::damaged("its tables are not those that this program makes"));
        };
        expected.swap_remove(at);
    }
    if expected.is_empty() { Ok(()) } else { Err(DbError::damaged("a table is missing")) }
}

/// Returns the URI of a file that does not change while it is read. Its path may have any bytes.
fn frozen_uri(path: &Path) -> String {
    let mut uri = String::from("file:");
    for &byte in path.as_os_str().as_bytes() {
        if byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte) {
            uri.push(char::from(byte));
        } else {
            uri.push_str(&format!("%{byte:02X}"));
        }
    }
    uri + "?immutable=1"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_of_any_bytes_becomes_a_uri() {
        let path = Path::new(std::ffi::OsStr::from_bytes(b"/a b/%?#\xff.sqlite"));
        assert_eq!(frozen_uri(path), "file:/a%20b/%25%3F%23%FF.sqlite?immutable=1");
    }

    #[test]
    fn versions_follow_one_another() {
        assert!(MIGRATIONS.iter().map(|(from, _)| *from).eq(1..VERSION));
    }
}
