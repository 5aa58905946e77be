//! The rows of `bitrot`'s database, `.bitrot.db`: one SQLite table.
//!
//! A row is read into a record, and a record is written as a row. This file does not know SQLite:
//! whoever does reads and stores the rows.
//!
//! Source: `bitrot` 1.0.1. Paths begin with `./` and are in Unicode's NFKD, whatever the file's own
//! name is: see [`folded`]. Times are whole seconds; the digest is SHA-1, and in
//! forks any that its length tells.

use std::path::Path;

use steadfast_digest::Algorithm;

use crate::calendar;
use crate::lines::LINE_LEN_MAX;
use crate::sums::{digest_of, told_by_length};
use crate::write::{chosen, confined, known_steps, utf8_path};
use crate::{Error, Format, Mtime, Record, Step, folded};

/// How every SQLite database begins.
pub const MAGIC: &[u8] = b"SQLite format 3\0";

/// A value of a row, by the types of SQLite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SqlValue<'a> {
    /// Text of any bytes.
    Text(&'a [u8]),
    /// A whole number.
    Integer(i64),
    /// Nothing.
    Null,
    /// A fraction or a blob, which `bitrot` stores nowhere.
    Other,
}

impl<'a> SqlValue<'a> {
    fn text(self) -> Option<&'a [u8]> {
        match self {
            SqlValue::Text(text) => Some(text),
            _ => None,
        }
    }
}

/// A row as it is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BitrotRow<'a> {
    /// The file.
    pub path: SqlValue<'a>,
    /// Its modification time in seconds since 1970.
    pub mtime: SqlValue<'a>,
    /// The digest in hexadecimal.
    pub hash: SqlValue<'a>,
    /// When the digest was made, `YYYY-MM-DD HH:MM:SS` in UTC.
    pub timestamp: SqlValue<'a>,
}

impl BitrotRow<'_> {
    /// Reads a record from the row.
    ///
    /// # Errors
    /// In words, if the path, the time or the digest is none.
    pub fn record(self) -> Result<Record, &'static str> {
        let path = self.path.text().ok_or("`path` is no text")?;
        if path.is_empty() || path.contains(&0) || path.len() > LINE_LEN_MAX {
            return Err("`path` is none");
        }
        let hash = self.hash.text().ok_or("`hash` is no text")?;
        let algorithm = told_by_length(hash.len()).ok_or("`hash` has the wrong length")?;
        let digest = digest_of(hash, algorithm).map_err(|_| "`hash` is not a digest")?;
        let mtime = match self.mtime {
            SqlValue::Integer(seconds) => Some(Mtime::from_steps(seconds, Step::Second)),
            SqlValue::Null => None,
            _ => return Err("`mtime` is not a whole number"),
        };
        let timestamp = self.timestamp.text().and_then(|text| str::from_utf8(text).ok());
        let tagged = timestamp.and_then(calendar::parse_utc);
        let digests = vec![(algorithm, digest)];
        Ok(Record { digests, mtime, tagged, ..Record::new(path.to_vec()) })
    }
}

/// A row as it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewBitrotRow {
    /// The file: `./` and its path in NFKD.
    pub path: String,
    /// Its modification time in seconds since 1970.
    pub mtime: i64,
    /// The digest in hexadecimal.
    pub hash: String,
    /// When the digest was made, `YYYY-MM-DD HH:MM:SS` in UTC.
    pub timestamp: String,
}

impl NewBitrotRow {
    /// Makes the row of a record.
    ///
    /// # Errors
    /// If the record has no SHA-1 digest or no time, or its path is not text or leads out of the
    /// tree.
    pub fn of(record: &Record) -> Result<NewBitrotRow, Error> {
        let unwritable = |why: &'static str| Error::unwritable(&record.path, why);
        let (_, digest) = chosen(record, Some(Algorithm::Sha1))?;
        utf8_path(record)?;
        let path = Path::new(".").join(folded(&confined(record, Format::Bitrot)?));
        let path = path.to_str().expect("a normal form of text is text").to_owned();
        let seconds = known_steps(record, Step::Second)?;
        let tagged = record.tagged.map_or(seconds, |tagged| tagged.seconds);
        let timestamp = calendar::print_utc(tagged);
        let timestamp = timestamp.ok_or_else(|| unwritable("the date is out of range"))?;
        Ok(NewBitrotRow { path, mtime: seconds, hash: digest.to_string(), timestamp })
    }
}
