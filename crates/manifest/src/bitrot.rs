//! The rows of `bitrot`'s database, `.bitrot.db`: one SQLite table.
//!
//! Converts rows into records and records into rows. The caller reads and stores rows by SQLite.
//!
//! Source: `bitrot` 1.0.1. Paths begin with `./` and are in Unicode's NFKD, whatever the file's own
//! name: see [`folded`]. Times are whole seconds. The digest is SHA-1; forks use other algorithms,
//! which the length identifies.

use std::path::Path;

use steadfast_digest::Algorithm;

use crate::calendar;
use crate::lines::LINE_LEN_MAX;
use crate::sums::{algorithm_of_length, digest_of};
use crate::write::{chosen, confined, known_steps, utf8_path};
use crate::{Error, Format, Mtime, Record, Step, folded};

/// The first bytes of every SQLite database.
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
    /// A fraction or a blob, which `bitrot` never stores.
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

/// A row that was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BitrotRow<'a> {
    /// The file.
    pub path: SqlValue<'a>,
    /// Its modification time in seconds since 1970.
    pub mtime: SqlValue<'a>,
    /// The digest as hexadecimal digits.
    pub hash: SqlValue<'a>,
    /// When the digest was made, `YYYY-MM-DD HH:MM:SS` in UTC.
    pub timestamp: SqlValue<'a>,
}

impl BitrotRow<'_> {
    /// Makes the record of the row.
    ///
    /// # Errors
    ///
    /// A reason in words, if the path, the time or the digest is not valid.
    pub fn record(self) -> Result<Record, &'static str> {
        let path = self.path.text().ok_or("`path` is no text")?;
        if path.is_empty() || path.contains(&0) || path.len() > LINE_LEN_MAX {
            return Err("`path` is none");
        }
        let hash = self.hash.text().ok_or("`hash` is no text")?;
        let algorithm = algorithm_of_length(hash.len()).ok_or("`hash` has the wrong length")?;
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

/// A row to write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewBitrotRow {
    /// The file: `./` and its path in NFKD.
    pub path: String,
    /// Its modification time in seconds since 1970.
    pub mtime: i64,
    /// The digest as hexadecimal digits.
    pub hash: String,
    /// When the digest was made, `YYYY-MM-DD HH:MM:SS` in UTC.
    pub timestamp: String,
}

impl NewBitrotRow {
    /// Makes the row of a record.
    ///
    /// # Errors
    ///
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
