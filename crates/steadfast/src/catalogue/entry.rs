//! One file as a catalogue knows it, and the seal over many.
//!
//! Takes what was seen of a file, or a row; returns a [`FileRecord`] that compares the same
//! whichever it came from. Must not know runs or where a file is.

use rusqlite::types::Null;
use rusqlite::{Row, Statement};

use steadfast_digest::sha256;
use steadfast_sys::file::{Ownership, Status, Timestamp};

use super::column;
use super::error::DbError;
use crate::belongings::ATTRIBUTES_LEN_MAX;
use crate::evidence::LastProof;
use crate::file_state::FileState;
use crate::identity::FileTraits;
use steadfast_manifest::tag::Tag;

/// What the file system said of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileFacts {
    /// Length in bytes.
    pub length: u64,
    /// When the contents were last changed.
    pub mtime: Timestamp,
    /// When the inode was last changed.
    pub ctime: Timestamp,
    /// The inode's number.
    pub inode: u64,
}

impl FileFacts {
    /// Returns what identifies the file, on a volume where files keep their inodes or not.
    pub(crate) fn traits(&self, keeps_inodes: bool) -> FileTraits {
        FileTraits {
            inode: Some(self.inode).filter(|_| keeps_inodes),
            birth: None,
            length: Some(self.length),
            mtime: Some(self.mtime),
        }
    }
}

impl From<&Status> for FileFacts {
    fn from(status: &Status) -> FileFacts {
        let Status { length, mtime, ctime, inode, .. } = *status;
        FileFacts { length, mtime, ctime, inode }
    }
}

/// Reads the state of a file from a column.
pub(super) fn state_at(row: &Row<'_>, at: usize) -> Result<FileState, DbError> {
    let name = column::text(row, at)?;
    name.parse().map_err(|_| DbError::damaged(format_args!("a state `{name}`")))
}

/// What a catalogue holds of one file, its name and its runs apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FileRecord {
    pub(super) facts: FileFacts,
    pub(super) tag: Option<Tag>,
    pub(super) standing: FileState,
}

/// What belonged to a file beside its contents when a run last read that.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RecordedBelongings {
    /// The change time of the inode then. A run reads them again only if that moved.
    pub(super) seen_ctime: Timestamp,
    pub(super) mtime: Timestamp,
    /// The number of hard links.
    pub(super) links: u64,
    pub(super) ownership: Ownership,
    /// Encoded; `None` if they could not be read, or were too long.
    pub(super) attributes: Option<Box<[u8]>>,
}

impl RecordedBelongings {
    fn sum(&self, sum: RowSum) -> RowSum {
        let times = [self.seen_ctime, self.mtime];
        let sum = times.iter().fold(sum, |sum, time| sum.bytes(&column::packed(*time)));
        let Ownership { mode, uid, gid } = self.ownership;
        let sum = sum.number(self.links.cast_signed());
        let sum = [mode, uid, gid].into_iter().fold(sum, |sum, number| sum.number(number.into()));
        let sum = sum.number(i64::from(self.attributes.is_some()));
        sum.bytes(self.attributes.as_deref().unwrap_or_default())
    }

    /// Returns the check value of those of a folder, or of a file of version 2.
    pub(super) fn sum_of_place(&self, directory: i64, name: &[u8]) -> RowSum {
        self.sum(RowSum::of("belongings").number(directory).bytes(name))
    }

    /// Reads columns from `at` on: links, mode, owner, group, attributes, and the modification and
    /// change time, which are NULL if they are those of the file. `None` if the first is NULL.
    pub(super) fn read(
        row: &Row<'_>,
        at: usize,
        seen: Option<(Timestamp, Timestamp)>,
    ) -> Result<Option<RecordedBelongings>, DbError> {
        if column::is_null(row, at)? {
            return Ok(None);
        }
        let number = |at| {
            let number = u32::try_from(column::integer(row, at)?);
            number.map_err(|_| DbError::damaged("an owner or a mode that no file can have"))
        };
        let time = |at, same: Option<Timestamp>| match same {
            Some(same) if column::is_null(row, at)? => Ok(same),
            _ => column::moment(row, at),
        };
        let ownership =
            Ownership { mode: number(at + 1)?, uid: number(at + 2)?, gid: number(at + 3)? };
        let attributes = match column::is_null(row, at + 4)? {
            true => None,
            false => Some(column::bytes(row, at + 4, ATTRIBUTES_LEN_MAX)?.into()),
        };
        Ok(Some(RecordedBelongings {
            links: column::unsigned(row, at)?,
            ownership,
            attributes,
            mtime: time(at + 5, seen.map(|(mtime, _)| mtime))?,
            seen_ctime: time(at + 6, seen.map(|(_, ctime)| ctime))?,
        }))
    }

    /// Binds the same columns from parameter `at` on.
    pub(super) fn bind(
        own: Option<&RecordedBelongings>,
        statement: &mut Statement<'_>,
        at: usize,
        seen: Option<(Timestamp, Timestamp)>,
    ) -> rusqlite::Result<()> {
        let Some(own) = own else {
            return (at..at + 7).try_for_each(|at| statement.raw_bind_parameter(at, Null));
        };
        let Ownership { mode, uid, gid } = own.ownership;
        statement.raw_bind_parameter(at, own.links.cast_signed())?;
        statement.raw_bind_parameter(at + 1, mode)?;
        statement.raw_bind_parameter(at + 2, uid)?;
        statement.raw_bind_parameter(at + 3, gid)?;
        statement.raw_bind_parameter(at + 4, own.attributes.as_deref())?;
        let is_other = |now, was: Option<Timestamp>| was != Some(now);
        let mtime = is_other(own.mtime, seen.map(|it| it.0)).then_some(column::Moment(own.mtime));
        statement.raw_bind_parameter(at + 5, mtime)?;
        let ctime = is_other(own.seen_ctime, seen.map(|it| it.1));
        statement.raw_bind_parameter(at + 6, ctime.then_some(column::Moment(own.seen_ctime)))
    }
}

/// A file's row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FileRow {
    /// The number of the file, which is never given to another one; 0 in version 2.
    pub(super) file: i64,
    pub(super) name: Vec<u8>,
    pub(super) record: FileRecord,
    /// The run that first saw it.
    pub(super) first_run: i64,
    /// The run that last judged it by itself, rather than with its whole slice; 0 for none. Of a
    /// missing file, the last run that saw it.
    pub(super) checked_run: i64,
    /// The run that last proved its contents, while its standing does not; 0 for none.
    pub(super) proved_run: i64,
    /// What belongs to it; `None` until a run opens it.
    pub(super) own: Option<RecordedBelongings>,
}

/// The number of each file in version 2, whose rows are sealed by their slices alone.
pub(super) const NO_NUMBER: i64 = 0;

/// The number of the first file of a catalogue.
pub(super) const FIRST_FILE: i64 = 1;

/// The columns of a [`FileRow`], in the order in which they are read and bound.
pub(super) const COLUMNS: &str = "name, length, mtime_ns, ctime_ns, inode, state, \
    first_run, checked_run, proved_run, algorithm, digest, tagged_s, tag_length, tag_mtime_ns, \
    file, links, mode, uid, gid, attributes, seen_mtime_ns, seen_ctime_ns, sum";

impl FileRow {
    /// Reads [`COLUMNS`].
    pub(super) fn read(row: &Row<'_>) -> Result<FileRow, DbError> {
        let facts = FileFacts {
            length: column::unsigned(row, 1)?,
            mtime: column::moment(row, 2)?,
            ctime: column::moment(row, 3)?,
            inode: column::unsigned(row, 4)?,
        };
        let tag = column::tag(row, 9, facts.length, facts.mtime)?;
        let found = FileRow {
            file: column::integer(row, 14)?,
            name: column::name(row, 0)?.to_vec(),
            record: FileRecord { facts, tag, standing: state_at(row, 5)? },
            first_run: column::integer(row, 6)?,
            checked_run: column::integer(row, 7)?,
            proved_run: column::integer(row, 8)?,
            own: RecordedBelongings::read(row, 15, Some((facts.mtime, facts.ctime)))?,
        };
        if found.file != NO_NUMBER {
            found.sum().ensure(column::integer(row, 22)?, "files")?;
        }
        Ok(found)
    }

    /// Makes the check value over all that is known of the file.
    fn sum(&self) -> RowSum {
        let FileFacts { length, mtime, ctime, inode } = self.record.facts;
        let numbers = [self.file, inode.cast_signed(), length.cast_signed()];
        let runs = [self.first_run, self.checked_run, self.proved_run];
        let sum = numbers.into_iter().chain(runs).fold(RowSum::of("files"), RowSum::number);
        let sum = sum.bytes(&column::packed(mtime)).bytes(&column::packed(ctime));
        let sum = sum.bytes(self.record.standing.name().as_bytes());
        let sum = match &self.record.tag {
            Some(tag) => sum.tag(tag),
            None => sum.number(0),
        };
        match &self.own {
            Some(own) => own.sum(sum.number(1)),
            None => sum.number(0),
        }
    }

    /// Returns what the seal of its slice has of it. The seals of all rows, combined by
    /// exclusive or, are that of the slice.
    pub(super) fn seal(&self, directory: i64, buffer: &mut Vec<u8>) -> SliceSeal {
        buffer.clear();
        for number in [directory, self.file, self.sum().value()] {
            buffer.extend_from_slice(&number.to_le_bytes());
        }
        buffer.extend_from_slice(&self.name);
        sha256(buffer).as_bytes()[..SEAL_LEN].try_into().expect("SHA-256 has 32 bytes")
    }

    /// Binds [`COLUMNS`] from the second parameter on; the first is the directory.
    pub(super) fn bind(&self, statement: &mut Statement<'_>) -> rusqlite::Result<()> {
        let FileFacts { length, mtime, ctime, inode } = self.record.facts;
        statement.raw_bind_parameter(2, self.name.as_slice())?;
        statement.raw_bind_parameter(3, length.cast_signed())?;
        statement.raw_bind_parameter(4, column::Moment(mtime))?;
        statement.raw_bind_parameter(5, column::Moment(ctime))?;
        statement.raw_bind_parameter(6, inode.cast_signed())?;
        statement.raw_bind_parameter(7, self.record.standing.name())?;
        statement.raw_bind_parameter(8, self.first_run)?;
        statement.raw_bind_parameter(9, self.checked_run)?;
        statement.raw_bind_parameter(10, self.proved_run)?;
        let seen = Some((length, mtime));
        column::bind_tag(statement, 11, self.record.tag.as_ref(), seen)?;
        statement.raw_bind_parameter(16, self.file)?;
        RecordedBelongings::bind(self.own.as_ref(), statement, 17, Some((mtime, ctime)))?;
        statement.raw_bind_parameter(24, self.sum().value())
    }

    /// Returns the run that last judged it, of a slice that `slice_run` judged as a whole.
    pub(super) fn last_checked(&self, slice_run: i64) -> i64 {
        self.checked_run.max(slice_run)
    }

    /// Returns the last run that is known to have seen the file, as far as runs leave a record of
    /// that: it judged the file, or met it first.
    pub(super) fn last_seen(&self, slice_run: i64) -> i64 {
        let judged = match (self.record.standing, &self.record.tag) {
            // Its slice was judged without it.
            (FileState::Missing, _) => self.checked_run.max(self.proved_run),
            (_, None) => self.checked_run,
            (_, Some(_)) => self.last_checked(slice_run),
        };
        judged.max(self.first_run)
    }

    /// Returns the run that last proved its contents; 0 for none.
    pub(super) fn last_proved(&self, slice_run: i64) -> i64 {
        match self.record.tag {
            None => 0,
            Some(_) if self.record.standing.proves() => self.last_checked(slice_run),
            Some(_) => self.proved_run,
        }
    }

    /// Returns when the contents of the tag were last modified, as far as a proof shows, which may
    /// be later than the tag says; `None` if the file may have been written since.
    pub(super) fn proved_mtime(&self) -> Option<Timestamp> {
        let is_as_proved = match self.record.standing {
            // The last run that saw it proved it.
            FileState::Missing => self.checked_run == self.proved_run && self.proved_run > 0,
            standing => standing.proves() || standing.keeps_date(),
        };
        is_as_proved.then_some(self.record.facts.mtime)
    }

    /// Returns the last proof of the file's contents, as far as it is known. Its change time is
    /// kept until the next proof.
    pub(super) fn last_proof(&self, slice_run: i64) -> Option<LastProof> {
        let FileRecord { facts, tag, standing } = self.record;
        let tag = tag?;
        let mtime = if standing.keeps_date() { facts.mtime } else { tag.mtime };
        match standing {
            // Earlier programs put the change time of the edit here.
            FileState::Modified => Some(LastProof::WrittenSince { mtime: None }),
            FileState::Suspect => Some(LastProof::WrittenSince { mtime: Some(mtime) }),
            _ if self.last_proved(slice_run) == 0 => None,
            _ => Some(LastProof::Recorded { ctime: facts.ctime, inode: facts.inode, mtime }),
        }
    }
}

/// The length of a seal in bytes.
pub(super) const SEAL_LEN: usize = 16;

/// Names exactly the files of a slice: their names, their numbers and all that is known of them.
///
/// It is the exclusive or of a digest of each file, so that a file comes or goes without the other
/// rows, and one that was damaged before remains so.
pub(super) type SliceSeal = [u8; SEAL_LEN];

/// Seals files.
pub(super) fn seal<'r>(
    directory: i64,
    rows: impl Iterator<Item = &'r FileRow>,
    buffer: &mut Vec<u8>,
) -> SliceSeal {
    let seals = rows.map(|row| u128::from_le_bytes(row.seal(directory, buffer)));
    seals.fold(0, |all, seal| all ^ seal).to_le_bytes()
}

/// A check value over the columns of a row that no seal covers.
pub(super) struct RowSum(u32);

impl RowSum {
    /// Begins with the name of the table, so that no row passes for one of another.
    pub(super) fn of(table: &str) -> RowSum {
        RowSum(crc32c::crc32c(table.as_bytes()))
    }

    pub(super) fn number(self, number: i64) -> RowSum {
        RowSum(crc32c::crc32c_append(self.0, &number.to_le_bytes()))
    }

    pub(super) fn bytes(self, bytes: &[u8]) -> RowSum {
        let sum = self.number(bytes.len() as i64);
        RowSum(crc32c::crc32c_append(sum.0, bytes))
    }

    pub(super) fn tag(self, tag: &Tag) -> RowSum {
        self.bytes(tag.algorithm.name().as_bytes())
            .bytes(tag.digest.as_bytes())
            .number(tag.length.cast_signed())
            .bytes(&column::packed(tag.mtime))
            .number(tag.tagged.seconds)
    }

    pub(super) fn value(self) -> i64 {
        i64::from(self.0)
    }

    /// Compares with what is stored.
    pub(super) fn ensure(self, stored: i64, table: &str) -> Result<(), DbError> {
        if self.value() == stored {
            return Ok(());
        }
        Err(DbError::damaged(format_args!("a row of `{table}` does not fit its check value")))
    }
}

#[cfg(test)]
mod tests {
    use std::slice::from_ref;

    use super::*;
    use steadfast_digest::{Algorithm, Digest};

    fn row() -> FileRow {
        let mtime = Timestamp { seconds: 5, nanoseconds: 7 };
        let tag = Tag {
            algorithm: Algorithm::Sha256,
            digest: Digest::from_slice(&[1; 32]).unwrap(),
            length: 10,
            mtime,
            tagged: Timestamp { seconds: 9, nanoseconds: 0 },
        };
        let facts = FileFacts { length: 10, mtime, ctime: mtime, inode: 3 };
        let record = FileRecord { facts, tag: Some(tag), standing: FileState::Fine };
        let ownership = Ownership { mode: 0o644, uid: 1, gid: 2 };
        let own = RecordedBelongings {
            seen_ctime: mtime,
            mtime,
            links: 1,
            ownership,
            attributes: Some([7].into()),
        };
        let (first_run, checked_run, proved_run) = (1, 2, 3);
        let name = b"a".to_vec();
        FileRow { file: 4, name, record, first_run, checked_run, proved_run, own: Some(own) }
    }

    fn sealed(directory: i64, rows: &[FileRow]) -> SliceSeal {
        seal(directory, rows.iter(), &mut Vec::new())
    }

    #[test]
    fn a_seal_changes_with_every_field() {
        let (one, tag) = (row(), row().record.tag.unwrap());
        let other = Timestamp { seconds: 5, nanoseconds: 8 };
        let digest = Digest::from_slice(&[2; 32]).unwrap();
        let mut all = vec![
            sealed(1, from_ref(&one)),
            sealed(2, from_ref(&one)),
            sealed(1, &[]),
            sealed(1, &[one.clone(), FileRow { name: b"b".to_vec(), ..one.clone() }]),
        ];
        let mut with = |change: &dyn Fn(&mut FileRow)| {
            let mut row = one.clone();
            change(&mut row);
            all.push(sealed(1, &[row]));
        };
        with(&|row| row.name = b"b".to_vec());
        with(&|row| row.file = 5);
        with(&|row| row.first_run = 2);
        with(&|row| row.checked_run = 3);
        with(&|row| row.proved_run = 4);
        with(&|row| row.record.facts.length = 11);
        with(&|row| row.record.facts.mtime = other);
        with(&|row| row.record.facts.ctime = other);
        with(&|row| row.record.facts.inode = 4);
        with(&|row| row.record.standing = FileState::Touched);
        with(&|row| row.record.tag = None);
        with(&|row| row.record.tag = Some(Tag { algorithm: Algorithm::Blake3, ..tag }));
        with(&|row| row.record.tag = Some(Tag { digest, ..tag }));
        with(&|row| row.record.tag = Some(Tag { length: 11, ..tag }));
        with(&|row| row.record.tag = Some(Tag { mtime: other, ..tag }));
        with(&|row| row.record.tag = Some(Tag { tagged: other, ..tag }));
        with(&|row| row.own = None);
        with(&|row| row.own.as_mut().unwrap().seen_ctime = other);
        with(&|row| row.own.as_mut().unwrap().mtime = other);
        with(&|row| row.own.as_mut().unwrap().links = 2);
        with(&|row| row.own.as_mut().unwrap().ownership.mode = 0o600);
        with(&|row| row.own.as_mut().unwrap().ownership.uid = 0);
        with(&|row| row.own.as_mut().unwrap().ownership.gid = 0);
        with(&|row| row.own.as_mut().unwrap().attributes = None);
        with(&|row| row.own.as_mut().unwrap().attributes = Some([8].into()));
        let count = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), count);
    }
}
