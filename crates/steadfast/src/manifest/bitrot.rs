//! The database of `bitrot`: `.bitrot.db`, one SQLite table.
//!
//! Reads the records of a database, and writes a database of records. Both are held in memory, up
//! to [`DATABASE_LEN_MAX`]. SQL in the document (views, computed columns) is refused, not executed.
//!
//! `steadfast_manifest` interprets the rows.

use std::collections::VecDeque;
use std::io::{self, BufRead, Read as _, Write};

use rusqlite::types::ValueRef;
use rusqlite::{Connection, MAIN_DB};
use steadfast_manifest::Put;
use steadfast_manifest::bitrot::{BitrotRow, MAGIC, NewBitrotRow, SqlValue};

use super::{DocumentPlace, Error, Fault, FaultKind, Record};

/// Name of the database.
pub const DATABASE_NAME: &str = ".bitrot.db";

/// The longest database that is read, in bytes: about two million files.
pub const DATABASE_LEN_MAX: u64 = 1 << 30;

/// How many rows are fetched at once.
const BATCH_LEN: usize = 256;

const TABLE: &str = "bitrot";

/// Reads records row by row.
pub(super) struct DatabaseRecords<R> {
    /// The document, until it is loaded.
    reader: Option<R>,
    connection: Option<Connection>,
    /// The last row fetched.
    last: i64,
    batch: VecDeque<Result<Record, Fault>>,
}

impl<R: BufRead> DatabaseRecords<R> {
    pub(super) fn new(reader: R) -> DatabaseRecords<R> {
        DatabaseRecords {
            reader: Some(reader),
            connection: None,
            last: i64::MIN,
            batch: VecDeque::new(),
        }
    }

    fn fetch(&mut self) -> Result<(), Fault> {
        if let Some(reader) = self.reader.take() {
            self.connection = Some(load(reader)?);
        }
        let Some(connection) = &self.connection else { return Ok(()) };
        let fetched = fetch(connection, self.last, &mut self.batch);
        match fetched.map_err(|error| damaged(&error))? {
            Some(last) if last > self.last => self.last = last,
            // A damaged tree of pages can have cycles.
            Some(_) => return Err(document(FaultKind::Check, "the rows are out of order")),
            None => self.connection = None,
        }
        Ok(())
    }
}

impl<R: BufRead> Iterator for DatabaseRecords<R> {
    type Item = Result<Record, Fault>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.batch.is_empty()
            && let Err(fault) = self.fetch()
        {
            self.connection = None;
            self.batch.push_back(Err(fault));
        }
        self.batch.pop_front()
    }
}

fn document(kind: FaultKind, what: impl Into<std::borrow::Cow<'static, str>>) -> Fault {
    Fault::new(DocumentPlace::Document, kind, what)
}

fn damaged(error: &rusqlite::Error) -> Fault {
    document(FaultKind::Syntax, format!("the database cannot be read: {error}"))
}

/// Loads the bytes into a database in memory and checks that its table is an ordinary one.
fn load(reader: impl BufRead) -> Result<Connection, Fault> {
    let mut bytes = Vec::new();
    let read = reader.take(DATABASE_LEN_MAX + 1).read_to_end(&mut bytes);
    read.map_err(|error| Fault::io(DocumentPlace::Document, &error))?;
    if bytes.len() as u64 > DATABASE_LEN_MAX {
        return Err(document(FaultKind::Limit, "the database is longer than 1 GiB"));
    }
    if !bytes.starts_with(MAGIC) {
        return Err(document(FaultKind::Syntax, "the document is not an SQLite database"));
    }
    if is_cut(&bytes) {
        return Err(document(FaultKind::Check, "the database is shorter than it says it is"));
    }
    let opened = || -> rusqlite::Result<Option<Connection>> {
        let mut connection = Connection::open_in_memory()?;
        connection.execute_batch("PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON;")?;
        connection.deserialize_read_exact(MAIN_DB, &bytes[..], bytes.len(), true)?;
        let is_plain = is_plain(&connection)?;
        Ok(is_plain.then_some(connection))
    };
    let connection = opened().map_err(|error| damaged(&error))?;
    connection.ok_or_else(|| {
        document(FaultKind::Syntax, "the database has no table `bitrot` as `bitrot` makes it")
    })
}

/// Returns whether pages are missing at the end: SQLite reads a database without its last pages as
/// if their rows had never existed.
fn is_cut(bytes: &[u8]) -> bool {
    let Some(header) = bytes.first_chunk::<100>() else { return false };
    let number = |at: usize| -> u64 {
        let bytes = header[at..at + 4].try_into().expect("four bytes of a hundred");
        u64::from(u32::from_be_bytes(bytes))
    };
    // The number of pages is valid only if the last writer updated it.
    let counted = number(24) == number(92);
    let page_len_bytes = match u16::from_be_bytes([header[16], header[17]]) {
        1 => 65_536,
        len => u64::from(len),
    };
    counted && page_len_bytes * number(28) > bytes.len() as u64
}

/// Returns whether the table is an ordinary one without computed columns.
fn is_plain(connection: &Connection) -> rusqlite::Result<bool> {
    let tables = "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = ?1 \
                  AND sql NOT LIKE 'create virtual%'";
    let tables: i64 = connection.query_row(tables, [TABLE], |row| row.get(0))?;
    let columns = "SELECT count(*) FROM pragma_table_xinfo(?1) WHERE hidden = 0 \
                   AND name IN ('path', 'mtime', 'hash', 'timestamp')";
    let columns: i64 = connection.query_row(columns, [TABLE], |row| row.get(0))?;
    Ok(tables == 1 && columns == 4)
}

/// Fetches rows after `last`. Returns the last of them, `None` if there are none, and `last` itself
/// if they do not ascend.
fn fetch(
    connection: &Connection,
    last: i64,
    batch: &mut VecDeque<Result<Record, Fault>>,
) -> rusqlite::Result<Option<i64>> {
    let query = "SELECT rowid, path, mtime, hash, timestamp FROM bitrot \
                 WHERE rowid > ?1 ORDER BY rowid LIMIT ?2";
    let mut statement = connection.prepare_cached(query)?;
    let mut rows = statement.query((last, BATCH_LEN as i64))?;
    let mut fetched: Option<i64> = None;
    while let Some(row) = rows.next()? {
        let number: i64 = row.get(0)?;
        if fetched.is_some_and(|before| before >= number) {
            return Ok(Some(last));
        }
        fetched = Some(number);
        let place = DocumentPlace::Row { table: TABLE, row: number };
        let row = BitrotRow {
            path: value(row.get_ref(1)?),
            mtime: value(row.get_ref(2)?),
            hash: value(row.get_ref(3)?),
            timestamp: value(row.get_ref(4)?),
        };
        batch.push_back(row.record().map_err(|what| Fault::new(place, FaultKind::Value, what)));
    }
    Ok(fetched)
}

fn value(value: ValueRef<'_>) -> SqlValue<'_> {
    match value {
        ValueRef::Text(text) => SqlValue::Text(text),
        ValueRef::Integer(number) => SqlValue::Integer(number),
        ValueRef::Null => SqlValue::Null,
        ValueRef::Real(_) | ValueRef::Blob(_) => SqlValue::Other,
    }
}

/// Makes a database. The rows are collected in memory and written at the end.
#[derive(Default)]
pub(super) struct DatabaseWriter {
    connection: Option<Connection>,
}

impl DatabaseWriter {
    fn connection(&mut self) -> rusqlite::Result<&Connection> {
        if self.connection.is_none() {
            let connection = Connection::open_in_memory()?;
            connection.execute_batch(
                "BEGIN; \
                 CREATE TABLE bitrot (path TEXT PRIMARY KEY, mtime INTEGER, hash TEXT, \
                 timestamp TEXT); \
                 CREATE INDEX bitrot_hash_idx ON bitrot (hash);",
            )?;
            self.connection = Some(connection);
        }
        Ok(self.connection.as_ref().expect("it was made just now"))
    }

    fn insert(&mut self, row: NewBitrotRow) -> rusqlite::Result<bool> {
        let insert = "INSERT OR IGNORE INTO bitrot VALUES (?1, ?2, ?3, ?4)";
        let mut statement = self.connection()?.prepare_cached(insert)?;
        Ok(statement.execute((row.path, row.mtime, row.hash, row.timestamp))? == 1)
    }

    fn serialized(&mut self) -> rusqlite::Result<Vec<u8>> {
        self.connection()?.execute_batch("COMMIT")?;
        let connection = self.connection.as_mut().expect("it was made at the latest just now");
        Ok(connection.serialize(MAIN_DB)?.to_vec())
    }
}

fn output(error: rusqlite::Error) -> Error {
    Error::from(io::Error::other(error))
}

impl Put for DatabaseWriter {
    fn put(&mut self, record: &Record, _: &mut dyn Write) -> Result<(), Error> {
        match self.insert(NewBitrotRow::of(record)?).map_err(output)? {
            true => Ok(()),
            false => {
                let why = "another file has the same name in NFKD";
                Err(Error::unwritable(&record.path, why))
            }
        }
    }

    fn finish(&mut self, out: &mut dyn Write) -> Result<(), Error> {
        let bytes = self.serialized().map_err(output)?;
        Ok(out.write_all(&bytes)?)
    }
}
