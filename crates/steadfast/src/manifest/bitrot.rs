//! The database of `bitrot`: `.bitrot.db`, one SQLite table.
//!
//! In: the bytes of a database, or records. Out: records, or the bytes of a database. Both are
//! held whole in memory, up to [`DATABASE_LEN_MAX`]. SQL of the document's own (views, computed
//! columns) is refused, not run.
//!
//! Source: `bitrot` 1.0.1. Paths begin with `./` and are in Unicode's NFKD, whatever the file's own
//! name is: see [`folded`]. Times are whole seconds; the digest is SHA-1, and in
//! forks any that its length tells.

use std::collections::VecDeque;
use std::io::{self, BufRead, Read as _, Write};
use std::path::Path;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, MAIN_DB, Row};
use steadfast_digest::Algorithm;
use steadfast_sys::file::Timestamp;

use super::lines::LINE_LEN_MAX;
use super::sums::{digest_of, told_by_length};
use super::write::{Put, chosen, utf8_path};
use super::{Fault, FaultKind, Format, Mtime, Place, Record, Step, WriteError, confine, folded};

/// Name of the database.
pub const DATABASE_NAME: &str = ".bitrot.db";

/// The longest database that is read, in bytes: some two million files.
pub const DATABASE_LEN_MAX: u64 = 1 << 30;

/// How every SQLite database begins.
pub(super) const MAGIC: &[u8] = b"SQLite format 3\0";

/// Rows that are fetched at once.
const BATCH_LEN: usize = 256;

const TABLE: &str = "bitrot";

/// Reads records row by row.
pub(super) struct Records<R> {
    /// The document, until it is loaded.
    reader: Option<R>,
    connection: Option<Connection>,
    /// The last row fetched.
    last: i64,
    batch: VecDeque<Result<Record, Fault>>,
}

impl<R: BufRead> Records<R> {
    pub(super) fn new(reader: R) -> Records<R> {
        Records { reader: Some(reader), connection: None, last: i64::MIN, batch: VecDeque::new() }
    }

    fn fetch(&mut self) -> Result<(), Fault> {
        if let Some(reader) = self.reader.take() {
            self.connection = Some(load(reader)?);
        }
        let Some(connection) = &self.connection else { return Ok(()) };
        let fetched = fetch(connection, self.last, &mut self.batch);
        match fetched.map_err(|error| damaged(&error))? {
            Some(last) if last > self.last => self.last = last,
            // A damaged tree of pages can lead in circles.
            Some(_) => return Err(document(FaultKind::Check, "the rows are out of order")),
            None => self.connection = None,
        }
        Ok(())
    }
}

impl<R: BufRead> Iterator for Records<R> {
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
    Fault::new(Place::Document, kind, what)
}

fn damaged(error: &rusqlite::Error) -> Fault {
    document(FaultKind::Syntax, format!("the database cannot be read: {error}"))
}

/// Takes the bytes into a database in memory and makes sure that its table is a plain one.
fn load(reader: impl BufRead) -> Result<Connection, Fault> {
    let mut bytes = Vec::new();
    let read = reader.take(DATABASE_LEN_MAX + 1).read_to_end(&mut bytes);
    read.map_err(|error| Fault::io(Place::Document, &error))?;
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

/// Says whether pages are missing at the end: SQLite reads a database without its last page as if
/// rows had never been there.
fn is_cut(bytes: &[u8]) -> bool {
    let Some(header) = bytes.first_chunk::<100>() else { return false };
    let number = |at: usize| -> u64 {
        let bytes = header[at..at + 4].try_into().expect("four bytes of a hundred");
        u64::from(u32::from_be_bytes(bytes))
    };
    // The number of pages means something only if whoever wrote last wrote it, too.
    let counted = number(24) == number(92);
    let page_len_bytes = match u16::from_be_bytes([header[16], header[17]]) {
        1 => 65_536,
        len => u64::from(len),
    };
    counted && page_len_bytes * number(28) > bytes.len() as u64
}

/// Whether the table is an ordinary one with ordinary columns: nothing in it is computed.
fn is_plain(connection: &Connection) -> rusqlite::Result<bool> {
    let tables = "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = ?1 \
                  AND sql NOT LIKE 'create virtual%'";
    let tables: i64 = connection.query_row(tables, [TABLE], |row| row.get(0))?;
    let columns = "SELECT count(*) FROM pragma_table_xinfo(?1) WHERE hidden = 0 \
                   AND name IN ('path', 'mtime', 'hash', 'timestamp')";
    let columns: i64 = connection.query_row(columns, [TABLE], |row| row.get(0))?;
    Ok(tables == 1 && columns == 4)
}

/// Fetches rows after `last`; returns the last of them, `None` if there was none, and `last` itself
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
        let place = Place::Row { table: TABLE, row: number };
        batch.push_back(record(row)?.map_err(|what| Fault::new(place, FaultKind::Value, what)));
    }
    Ok(fetched)
}

fn record(row: &Row<'_>) -> rusqlite::Result<Result<Record, &'static str>> {
    let (path, hash) = (row.get_ref(1)?, row.get_ref(3)?);
    let (mtime, timestamp) = (row.get_ref(2)?, row.get_ref(4)?);
    let record = || {
        let path = text(path).ok_or("`path` is no text")?;
        if path.is_empty() || path.contains(&0) || path.len() > LINE_LEN_MAX {
            return Err("`path` is none");
        }
        let hash = text(hash).ok_or("`hash` is no text")?;
        let algorithm = told_by_length(hash.len()).ok_or("`hash` has the wrong length")?;
        let digest = digest_of(hash, algorithm).map_err(|_| "`hash` is not a digest")?;
        let mtime = match mtime {
            ValueRef::Integer(seconds) => Some(Mtime::from_steps(seconds, Step::Second)),
            ValueRef::Null => None,
            _ => return Err("`mtime` is not a whole number"),
        };
        let tagged = text(timestamp).and_then(|text| moment(str::from_utf8(text).ok()?));
        let digests = vec![(algorithm, digest)];
        Ok(Record { digests, mtime, tagged, ..Record::new(path.to_vec()) })
    };
    Ok(record())
}

fn text(value: ValueRef<'_>) -> Option<&[u8]> {
    match value {
        ValueRef::Text(text) => Some(text),
        _ => None,
    }
}

/// Makes a database; the rows are gathered in memory and written at the end.
#[derive(Default)]
pub(super) struct Rows {
    connection: Option<Connection>,
}

impl Rows {
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

    fn insert(&mut self, row: (String, i64, String, String)) -> rusqlite::Result<bool> {
        let insert = "INSERT OR IGNORE INTO bitrot VALUES (?1, ?2, ?3, ?4)";
        let mut statement = self.connection()?.prepare_cached(insert)?;
        Ok(statement.execute(row)? == 1)
    }

    fn serialized(&mut self) -> rusqlite::Result<Vec<u8>> {
        self.connection()?.execute_batch("COMMIT")?;
        let connection = self.connection.as_mut().expect("it was made at the latest just now");
        Ok(connection.serialize(MAIN_DB)?.to_vec())
    }
}

fn output(error: rusqlite::Error) -> WriteError {
    WriteError::Io(io::Error::other(error))
}

impl Put for Rows {
    fn put(&mut self, record: &Record, _: &mut dyn Write) -> Result<(), WriteError> {
        let unwritable = |why: &'static str| WriteError::unwritable(&record.path, why);
        let (_, digest) = chosen(record, Some(Algorithm::Sha1))?;
        let path = confine(Path::new(utf8_path(record)?), Format::Bitrot)
            .map_err(|fault| WriteError::unwritable(&record.path, fault.to_string()))?;
        let path = Path::new(".").join(folded(&path));
        let path = path.to_str().expect("a normal form of text is text").to_owned();
        let mtime = record.mtime.ok_or_else(|| unwritable("the time is not known"))?;
        let seconds = mtime.to_steps(Step::Second);
        let seconds = seconds.ok_or_else(|| unwritable("the time is out of range"))?;
        let tagged = record.tagged.map_or(seconds, |tagged| tagged.seconds);
        let tagged = moment_text(tagged).ok_or_else(|| unwritable("the date is out of range"))?;
        match self.insert((path, seconds, digest.to_string(), tagged)).map_err(output)? {
            true => Ok(()),
            false => Err(unwritable("another file has the same name in NFKD")),
        }
    }

    fn finish(&mut self, out: &mut dyn Write) -> Result<(), WriteError> {
        let bytes = self.serialized().map_err(output)?;
        Ok(out.write_all(&bytes)?)
    }
}

/// Reads `YYYY-MM-DD HH:MM:SS`, UTC.
fn moment(text: &str) -> Option<Timestamp> {
    let (date, time) = text.split_once([' ', 'T'])?;
    let numbers = |text: &str, separator| -> Option<[i64; 3]> {
        let parts: Option<Vec<i64>> =
            text.split(separator).map(|part| part.parse::<u16>().ok().map(i64::from)).collect();
        parts?.try_into().ok()
    };
    let ([year, month, day], [hour, minute, second]) = (numbers(date, '-')?, numbers(time, ':')?);
    let fits = (1..=12).contains(&month) && (1..=31).contains(&day);
    let fits = fits && hour < 24 && minute < 60 && second < 61;
    let seconds = ((days(year, month, day) * 24 + hour) * 60 + minute) * 60 + second;
    fits.then_some(Timestamp { seconds, nanoseconds: 0 })
}

/// Writes a moment as [`moment`] reads it; `None` outside of the years 0 to 9999.
fn moment_text(seconds: i64) -> Option<String> {
    let (number, rest) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    if !(days(0, 1, 1)..=days(9999, 12, 31)).contains(&number) {
        return None;
    }
    let (year, month, day) = date(number);
    let (hour, minute, second) = (rest / 3_600, rest / 60 % 60, rest % 60);
    Some(format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}"))
}

/// Days from 1970-01-01 to a date of the Gregorian calendar.
///
/// Source: counting from a 1 March, so that the leap day ends the year; a cycle of 400 years has
/// 146,097 days, and 719,468 of them lie between 0000-03-01 and 1970-01-01.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let (cycle, year) = (year.div_euclid(400), year.rem_euclid(400));
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    cycle * 146_097 + year * 365 + year / 4 - year / 100 + day_of_year - 719_468
}

/// The date that is so many days from 1970-01-01. Undoes [`days`].
fn date(number: i64) -> (i64, i64, i64) {
    let number = number + 719_468;
    let (cycle, day) = (number.div_euclid(146_097), number.rem_euclid(146_097));
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day_of_year = day - (365 * year + year / 4 - year / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    (cycle * 400 + year + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_go_there_and_back() {
        for (text, seconds) in [
            ("1970-01-01 00:00:00", 0),
            ("2024-02-29 23:59:59", 1_709_251_199),
            ("1969-12-31 23:59:59", -1),
            ("2000-03-01 00:00:00", 951_868_800),
            ("9999-12-31 23:59:59", 253_402_300_799),
        ] {
            assert_eq!(moment(text), Some(Timestamp { seconds, nanoseconds: 0 }), "{text}");
            assert_eq!(moment_text(seconds).as_deref(), Some(text));
        }
        for number in (days(0, 1, 1)..=days(9999, 12, 31)).step_by(13) {
            let (year, month, day) = date(number);
            assert_eq!(days(year, month, day), number);
        }
        for text in ["", "2024-02-29", "2024-13-01 00:00:00", "2024-02-29 24:00:00", "x-y a:b:c"] {
            assert_eq!(moment(text), None, "{text}");
        }
        assert_eq!(moment_text(i64::MAX), None);
    }
}
