//! Reads columns into the types of this crate, and checks every type and size.
//!
//! The file may be damaged or hostile. The result is a value or a [`DbError`], never a panic, and
//! never an allocation of a size from the file.

use rusqlite::types::{ToSql, ToSqlOutput, Value, ValueRef};
use rusqlite::{Row, Statement};

use steadfast_digest::{Algorithm, Digest};
use steadfast_sys::file::Timestamp;

use super::error::DbError;
use steadfast_manifest::tag::Tag;

/// The longest name of any file system, in bytes: 255 UTF-16 units of three bytes each.
pub(super) const NAME_LEN_MAX: usize = 765;

/// Reads a whole number.
pub(super) fn integer(row: &Row<'_>, at: usize) -> Result<i64, DbError> {
    match row.get_ref(at)? {
        ValueRef::Integer(value) => Ok(value),
        other => {
            Err(DbError::damaged(format_args!("a {} in place of a number", other.data_type())))
        }
    }
}

/// Reads a count.
pub(super) fn count(row: &Row<'_>, at: usize) -> Result<u64, DbError> {
    let value = integer(row, at)?;
    u64::try_from(value).map_err(|_| DbError::damaged(format_args!("a count of {value}")))
}

/// Reads an unsigned number of 64 bits, stored in the bits of a signed one.
pub(super) fn unsigned(row: &Row<'_>, at: usize) -> Result<u64, DbError> {
    Ok(integer(row, at)?.cast_unsigned())
}

/// Reads bytes, at most `len_max` of them.
pub(super) fn bytes<'r>(row: &'r Row<'_>, at: usize, len_max: usize) -> Result<&'r [u8], DbError> {
    match row.get_ref(at)? {
        ValueRef::Blob(bytes) if bytes.len() <= len_max => Ok(bytes),
        ValueRef::Blob(_) => Err(DbError::damaged("a name or a digest is too long")),
        other => Err(DbError::damaged(format_args!("a {} in place of bytes", other.data_type()))),
    }
}

/// Reads a name of one component.
pub(super) fn name<'r>(row: &'r Row<'_>, at: usize) -> Result<&'r [u8], DbError> {
    let name = bytes(row, at, NAME_LEN_MAX)?;
    if matches!(name, b"" | b"." | b"..") || name.contains(&b'/') || name.contains(&0) {
        return Err(DbError::damaged("a name that no file can have"));
    }
    Ok(name)
}

/// Reads a text of this program: one or two words.
pub(super) fn text<'r>(row: &'r Row<'_>, at: usize) -> Result<&'r str, DbError> {
    const TEXT_LEN_MAX: usize = 256;
    match row.get_ref(at)? {
        ValueRef::Text(text) if text.len() <= TEXT_LEN_MAX => {
            str::from_utf8(text).map_err(DbError::damaged)
        }
        other => Err(DbError::damaged(format_args!("a {} in place of a word", other.data_type()))),
    }
}

/// Returns whether the column is NULL.
pub(super) fn is_null(row: &Row<'_>, at: usize) -> Result<bool, DbError> {
    Ok(matches!(row.get_ref(at)?, ValueRef::Null))
}

/// A time in a column: nanoseconds since 1970 if they fit 64 bits, otherwise 12 bytes of seconds
/// and nanoseconds, big-endian.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moment(pub(super) Timestamp);

impl ToSql for Moment {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Owned(match i64::try_from(self.0.as_nanoseconds()) {
            Ok(nanoseconds) => Value::Integer(nanoseconds),
            Err(_) => Value::Blob(packed(self.0).to_vec()),
        }))
    }
}

/// Packs a time into 12 bytes.
pub(super) fn packed(moment: Timestamp) -> [u8; 12] {
    let mut bytes = [0; 12];
    bytes[..8].copy_from_slice(&moment.seconds.to_be_bytes());
    bytes[8..].copy_from_slice(&moment.nanoseconds.to_be_bytes());
    bytes
}

/// Reads a time.
pub(super) fn moment(row: &Row<'_>, at: usize) -> Result<Timestamp, DbError> {
    match row.get_ref(at)? {
        ValueRef::Integer(nanoseconds) => Ok(Timestamp::from_nanoseconds(i128::from(nanoseconds))),
        ValueRef::Blob(bytes) => {
            let (seconds, nanoseconds) =
                bytes.split_first_chunk().ok_or_else(|| DbError::damaged("a time cut short"))?;
            let nanoseconds: [u8; 4] =
                nanoseconds.try_into().map_err(|_| DbError::damaged("a time of another length"))?;
            let nanoseconds = u32::from_be_bytes(nanoseconds);
            if nanoseconds >= 1_000_000_000 {
                return Err(DbError::damaged("a time with too many nanoseconds"));
            }
            Ok(Timestamp { seconds: i64::from_be_bytes(*seconds), nanoseconds })
        }
        other => Err(DbError::damaged(format_args!("a {} in place of a time", other.data_type()))),
    }
}

/// Reads a tag from five columns that begin at `at`; `None` if the algorithm is NULL. `length` and
/// `mtime` replace columns that are NULL because the file had the same values.
pub(super) fn tag(
    row: &Row<'_>,
    at: usize,
    length: u64,
    mtime: Timestamp,
) -> Result<Option<Tag>, DbError> {
    if is_null(row, at)? {
        return Ok(None);
    }
    let name = text(row, at)?;
    let algorithm = Algorithm::ALL.iter().copied().find(|algorithm| algorithm.name() == name);
    let algorithm = algorithm.ok_or_else(|| DbError::damaged("an algorithm that nobody knows"))?;
    let digest = bytes(row, at + 1, Digest::LEN_MAX)?;
    if digest.len() != algorithm.digest_len() {
        return Err(DbError::damaged("a digest of another length than its algorithm gives"));
    }
    let digest = Digest::from_slice(digest).ok_or_else(|| DbError::damaged("an empty digest"))?;
    let tagged = Timestamp { seconds: integer(row, at + 2)?, nanoseconds: 0 };
    let length = if is_null(row, at + 3)? { length } else { unsigned(row, at + 3)? };
    let mtime = if is_null(row, at + 4)? { mtime } else { moment(row, at + 4)? };
    Ok(Some(Tag { algorithm, digest, length, mtime, tagged }))
}

/// Binds a tag to five parameters that begin at `at`; `length` and `mtime` as in [`tag`].
pub(super) fn bind_tag(
    statement: &mut Statement<'_>,
    at: usize,
    tag: Option<&Tag>,
    seen: Option<(u64, Timestamp)>,
) -> rusqlite::Result<()> {
    let Some(tag) = tag else {
        return (at..at + 5).try_for_each(|at| statement.raw_bind_parameter(at, Value::Null));
    };
    statement.raw_bind_parameter(at, tag.algorithm.name())?;
    statement.raw_bind_parameter(at + 1, tag.digest.as_bytes())?;
    statement.raw_bind_parameter(at + 2, tag.tagged.seconds)?;
    let same_length = seen.is_some_and(|(length, _)| length == tag.length);
    statement.raw_bind_parameter(at + 3, (!same_length).then(|| tag.length.cast_signed()))?;
    let same_mtime = seen.is_some_and(|(_, mtime)| mtime == tag.mtime);
    statement.raw_bind_parameter(at + 4, (!same_mtime).then_some(Moment(tag.mtime)))
}
