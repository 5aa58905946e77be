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
use steadfast_time::Timestamp;

use crate::lines::LINE_LEN_MAX;
use crate::sums::{digest_of, told_by_length};
use crate::write::{chosen, utf8_path};
use crate::{Format, Mtime, Record, Step, WriteError, confine, folded};

/// How every SQLite database begins.
pub const MAGIC: &[u8] = b"SQLite format 3\0";

/// A value of a row, by the types of SQLite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value<'a> {
    /// Text of any bytes.
    Text(&'a [u8]),
    /// A whole number.
    Integer(i64),
    /// Nothing.
    Null,
    /// A fraction or a blob, which `bitrot` stores nowhere.
    Other,
}

impl<'a> Value<'a> {
    fn text(self) -> Option<&'a [u8]> {
        match self {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }
}

/// A row as it is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row<'a> {
    /// The file.
    pub path: Value<'a>,
    /// Its modification time in seconds since 1970.
    pub mtime: Value<'a>,
    /// The digest in hexadecimal.
    pub hash: Value<'a>,
    /// When the digest was made, `YYYY-MM-DD HH:MM:SS` in UTC.
    pub timestamp: Value<'a>,
}

impl Row<'_> {
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
            Value::Integer(seconds) => Some(Mtime::from_steps(seconds, Step::Second)),
            Value::Null => None,
            _ => return Err("`mtime` is not a whole number"),
        };
        let timestamp = self.timestamp.text().and_then(|text| str::from_utf8(text).ok());
        let tagged = timestamp.and_then(moment);
        let digests = vec![(algorithm, digest)];
        Ok(Record { digests, mtime, tagged, ..Record::new(path.to_vec()) })
    }
}

/// A row as it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewRow {
    /// The file: `./` and its path in NFKD.
    pub path: String,
    /// Its modification time in seconds since 1970.
    pub mtime: i64,
    /// The digest in hexadecimal.
    pub hash: String,
    /// When the digest was made, `YYYY-MM-DD HH:MM:SS` in UTC.
    pub timestamp: String,
}

impl NewRow {
    /// Makes the row of a record.
    ///
    /// # Errors
    /// If the record has no SHA-1 digest or no time, or its path is not text or leads out of the
    /// tree.
    pub fn of(record: &Record) -> Result<NewRow, WriteError> {
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
        let timestamp =
            moment_text(tagged).ok_or_else(|| unwritable("the date is out of range"))?;
        Ok(NewRow { path, mtime: seconds, hash: digest.to_string(), timestamp })
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
