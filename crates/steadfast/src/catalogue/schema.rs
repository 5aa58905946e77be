//! The tables of a catalogue, and connections to them.
//!
//! Takes the folder of a database; returns a connection to tables of this version, after a
//! conversion if they were older. A reader gets those of version 2 as they are, through views.
//! `docs/formats/catalogue.md` specifies the columns and is authoritative.

use std::fmt;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::functions::FunctionFlags;
use rusqlite::limits::Limit;
use rusqlite::{Connection, OpenFlags, Row};
use steadfast_sys::sqlite::HeldDatabase;

use super::error::{CatalogueErrorKind, DbError};
use super::home::Home;
use super::tables::{MINORS, SHARED, TABLES, VIEWS};
use super::{version2, work};
use crate::file_state::FileState;
use crate::tree_folder::DRAFT;

/// The version of the tables.
pub(super) const VERSION: TablesVersion =
    TablesVersion { major: 3, minor: MINORS.len() as i64 - 1 };

/// The version of a catalogue's tables, kept as `user_version`: a hundred times the minor number,
/// and the version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct TablesVersion {
    pub(super) major: i64,
    pub(super) minor: i64,
}

impl TablesVersion {
    const TWO: TablesVersion = TablesVersion { major: 2, minor: 0 };

    fn of(db: &Connection) -> Result<TablesVersion, DbError> {
        let number: i64 = db.query_row("PRAGMA user_version", (), |row| row.get(0))?;
        Ok(TablesVersion { major: number % 100, minor: number / 100 })
    }

    fn number(self) -> i64 {
        100 * self.minor + self.major
    }

    /// Returns the statements that make its tables.
    fn tables(self) -> impl Iterator<Item = &'static str> {
        let minors = usize::try_from(self.minor).map_or(0, |minor| minor + 1);
        let of_two = if self.major == 2 { version2::TABLES } else { &[] };
        let own = if self.major == 2 { &[] } else { &MINORS[..minors.min(MINORS.len())] };
        of_two.iter().copied().chain(own.iter().flat_map(|tables| tables.iter().copied()))
    }
}

impl fmt::Display for TablesVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

/// Marks the file as a catalogue, for `file(1)` and for ourselves: "STDF".
pub(super) const APPLICATION_ID: i64 = 0x5354_4446;

/// Returns the statements that make the tables of this version.
pub(super) fn tables() -> impl Iterator<Item = &'static str> {
    VERSION.tables()
}

/// Returns whether a catalogue is of version 2, which a reader reads as it is.
pub(super) fn is_version_2(db: &Connection) -> Result<bool, DbError> {
    Ok(TablesVersion::of(db)? == TablesVersion::TWO)
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
    match is_version_2(&db)? {
        true => version2::make_views(&db)?,
        false => db.execute_batch(VIEWS)?,
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

/// Lets statements ask what a state means, by its name in a row, and name that of version 2.
fn name_states(db: &Connection) -> Result<(), DbError> {
    let flags = FunctionFlags::SQLITE_DETERMINISTIC | FunctionFlags::SQLITE_DIRECTONLY;
    type Question = fn(FileState) -> bool;
    let is_missing: Question = |state| state == FileState::Missing;
    let is_bad: Question = |state| !matches!(state, FileState::Fine | FileState::Touched);
    let proves: Question = FileState::proves;
    for (name, question) in [("proves", proves), ("is_missing", is_missing), ("is_bad", is_bad)] {
        db.create_scalar_function(name, 1, flags, move |row| {
            let name = row.get_raw(0).as_str().ok();
            Ok(name.and_then(|name| name.parse().ok()).is_some_and(question))
        })?;
    }
    Ok(db.create_scalar_function("state_name", 1, flags, |row| {
        let at = usize::try_from(row.get::<i64>(0)?).ok();
        Ok(at.and_then(|at| FileState::ALL.get(at)).map(|state| state.name()))
    })?)
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
    let version = TablesVersion::of(db)?;
    if version > VERSION {
        let message =
            format!("the catalogue has version {version}; this program knows version {VERSION}");
        return Err(DbError::new(CatalogueErrorKind::Newer, message));
    }
    if version < TablesVersion::TWO || version.major == 2 && version.minor > 0 {
        return Err(DbError::damaged(format_args!("its version is {version}")));
    }
    Ok(())
}

fn create(db: &Connection) -> Result<(), DbError> {
    // A log, and no journal, also while the tables are made.
    db.execute_batch("PRAGMA page_size = 4096; PRAGMA journal_mode = MEMORY;")?;
    db.execute_batch("PRAGMA journal_mode = WAL;")?;
    let mut script = String::from("BEGIN IMMEDIATE;\n");
    for table in tables() {
        script.push_str(table);
        script.push_str(";\n");
    }
    script.push_str(&format!("PRAGMA application_id = {APPLICATION_ID};\n"));
    script.push_str(&format!("PRAGMA user_version = {};\nCOMMIT;", VERSION.number()));
    Ok(db.execute_batch(&script)?)
}

/// Converts version 2, and adds the tables of later minor numbers, each in one transaction.
fn bring_up(db: &Connection) -> Result<(), DbError> {
    let version = TablesVersion::of(db)?;
    if version == TablesVersion::TWO {
        version2::make_views(db)?;
        let first = TablesVersion { major: VERSION.major, minor: 0 };
        let finish = format!("PRAGMA user_version = {}", first.number());
        version2::convert(db, &TABLES[SHARED..], &finish)?;
    }
    for minor in TablesVersion::of(db)?.minor + 1..=VERSION.minor {
        let tables = usize::try_from(minor).ok().and_then(|minor| MINORS.get(minor));
        let (tables, number) =
            (tables.copied().unwrap_or_default(), TablesVersion { minor, ..VERSION }.number());
        let script = tables.join(";\n");
        db.execute_batch(&format!(
            "BEGIN IMMEDIATE;\n{script};\nPRAGMA user_version = {number};\nCOMMIT;"
        ))?;
    }
    Ok(())
}

/// Checks that the tables are exactly those of the file's version, before any is used.
///
/// Otherwise a trigger or an additional index in a planted file would be executed on writing.
fn ensure_tables(db: &Connection) -> Result<(), DbError> {
    let own = Connection::open_in_memory()?;
    TablesVersion::of(db)?.tables().try_for_each(|table| own.execute_batch(table))?;
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
