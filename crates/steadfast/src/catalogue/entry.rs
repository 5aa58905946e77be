//! One file as a catalogue knows it, and the seal over many.
//!
//! In: what was seen of a file, or a row. Out: a [`FileRecord`] that compares and seals the same
//! whichever it came from. Knows nothing of runs or of where a file is.

use rusqlite::{Row, Statement};

use steadfast_digest::{Algorithm, AlgorithmHasher};
use steadfast_sys::file::{Status, Timestamp};

use super::column;
use super::error::DbError;
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

/// Reads how a file stood from a column.
pub(super) fn state_at(row: &Row<'_>, at: usize) -> Result<FileState, DbError> {
    let number = column::integer(row, at)?;
    let standing = usize::try_from(number).ok().and_then(|at| FileState::ALL.get(at));
    standing.copied().ok_or_else(|| DbError::damaged(format_args!("standing number {number}")))
}

/// What a catalogue holds of one file, its name and its runs apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FileRecord {
    pub(super) facts: FileFacts,
    pub(super) tag: Option<Tag>,
    pub(super) standing: FileState,
}

impl FileRecord {
    /// Appends the bytes that are sealed.
    fn write(&self, name: &[u8], to: &mut Vec<u8>) {
        let FileFacts { length, mtime, ctime, inode } = self.facts;
        to.extend_from_slice(&(name.len() as u32).to_le_bytes());
        to.extend_from_slice(name);
        to.extend_from_slice(&length.to_le_bytes());
        to.extend_from_slice(&inode.to_le_bytes());
        to.extend_from_slice(&column::packed(mtime));
        to.extend_from_slice(&column::packed(ctime));
        to.push(self.standing as u8);
        let Some(tag) = &self.tag else { return to.push(0) };
        let algorithm = tag.algorithm.name().as_bytes();
        to.push(algorithm.len() as u8);
        to.extend_from_slice(algorithm);
        to.extend_from_slice(tag.digest.as_bytes());
        to.extend_from_slice(&tag.length.to_le_bytes());
        to.extend_from_slice(&column::packed(tag.mtime));
        to.extend_from_slice(&tag.tagged.seconds.to_le_bytes());
    }
}

/// A file's row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FileRow {
    pub(super) name: Vec<u8>,
    pub(super) record: FileRecord,
    /// The run that first saw it.
    pub(super) first_run: i64,
    /// The run that last judged it by itself, rather than with its whole slice; 0 for none. Of a
    /// missing file, the last run that saw it.
    pub(super) checked_run: i64,
    /// The run that last proved its contents, while its standing does not; 0 for none.
    pub(super) proved_run: i64,
}

/// The columns of a [`FileRow`], in the order in which they are read and bound.
pub(super) const COLUMNS: &str = "name, length, mtime_ns, ctime_ns, inode, standing, \
    first_run, checked_run, proved_run, algorithm, digest, tagged_s, tag_length, tag_mtime_ns";

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
        Ok(FileRow {
            name: column::name(row, 0)?.to_vec(),
            record: FileRecord { facts, tag, standing: state_at(row, 5)? },
            first_run: column::integer(row, 6)?,
            checked_run: column::integer(row, 7)?,
            proved_run: column::integer(row, 8)?,
        })
    }

    /// Binds [`COLUMNS`] from the second parameter on; the first is the directory.
    pub(super) fn bind(&self, statement: &mut Statement<'_>) -> rusqlite::Result<()> {
        let FileFacts { length, mtime, ctime, inode } = self.record.facts;
        statement.raw_bind_parameter(2, self.name.as_slice())?;
        statement.raw_bind_parameter(3, length.cast_signed())?;
        statement.raw_bind_parameter(4, column::Moment(mtime))?;
        statement.raw_bind_parameter(5, column::Moment(ctime))?;
        statement.raw_bind_parameter(6, inode.cast_signed())?;
        statement.raw_bind_parameter(7, self.record.standing.number())?;
        statement.raw_bind_parameter(8, self.first_run)?;
        statement.raw_bind_parameter(9, self.checked_run)?;
        statement.raw_bind_parameter(10, self.proved_run)?;
        let seen = Some((length, mtime));
        column::bind_tag(statement, 11, self.record.tag.as_ref(), seen)
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

/// Names exactly the records of a run of files, their names and their directory.
///
/// It must hold against whoever sets attributes to pass a changed tag for the known one, so it is
/// the front of a BLAKE3 digest.
pub(super) type SliceSeal = [u8; SEAL_LEN];

/// Seals records. `buffer` is room to write in, and is left with what was sealed.
pub(super) fn seal<'r>(
    directory: i64,
    records: impl Iterator<Item = (&'r [u8], &'r FileRecord)>,
    buffer: &mut Vec<u8>,
) -> SliceSeal {
    buffer.clear();
    buffer.extend_from_slice(&directory.to_le_bytes());
    for (name, record) in records {
        record.write(name, buffer);
    }
    let mut hasher = AlgorithmHasher::new(Algorithm::Blake3);
    hasher.update(buffer);
    let digest = hasher.finalize();
    digest.as_bytes()[..SEAL_LEN].try_into().expect("BLAKE3 has 32 bytes")
}

/// Makes the check value over what a seal leaves out: the runs of each file.
pub(super) fn marks<'r>(rows: impl Iterator<Item = &'r FileRow>) -> u32 {
    rows.fold(0, |sum, row| {
        let sum = crc32c::crc32c_append(sum, &row.first_run.to_le_bytes());
        let sum = crc32c::crc32c_append(sum, &row.checked_run.to_le_bytes());
        crc32c::crc32c_append(sum, &row.proved_run.to_le_bytes())
    })
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
    use super::*;
    use steadfast_digest::Digest;

    fn record() -> FileRecord {
        let mtime = Timestamp { seconds: 5, nanoseconds: 7 };
        let tag = Tag {
            algorithm: Algorithm::Sha256,
            digest: Digest::from_slice(&[1; 32]).unwrap(),
            length: 10,
            mtime,
            tagged: Timestamp { seconds: 9, nanoseconds: 0 },
        };
        let facts = FileFacts { length: 10, mtime, ctime: mtime, inode: 3 };
        FileRecord { facts, tag: Some(tag), standing: FileState::Fine }
    }

    fn sealed(directory: i64, entries: &[(&[u8], FileRecord)]) -> SliceSeal {
        let entries = entries.iter().map(|(name, record)| (*name, record));
        seal(directory, entries, &mut Vec::new())
    }

    #[test]
    fn a_seal_changes_with_every_field() {
        let one = record();
        let tag = one.tag.unwrap();
        let other = Timestamp { seconds: 5, nanoseconds: 8 };
        let digest = Digest::from_slice(&[2; 32]).unwrap();
        let mut all = vec![
            sealed(1, &[(b"a", one)]),
            sealed(2, &[(b"a", one)]),
            sealed(1, &[(b"b", one)]),
            sealed(1, &[]),
            sealed(1, &[(b"a", one), (b"b", one)]),
        ];
        let with = |change: &dyn Fn(&mut FileRecord)| {
            let mut record = one;
            change(&mut record);
            sealed(1, &[(b"a", record)])
        };
        all.push(with(&|record| record.facts.length = 11));
        all.push(with(&|record| record.facts.mtime = other));
        all.push(with(&|record| record.facts.ctime = other));
        all.push(with(&|record| record.facts.inode = 4));
        all.push(with(&|record| record.standing = FileState::Touched));
        all.push(with(&|record| record.tag = None));
        all.push(with(&|record| record.tag = Some(Tag { algorithm: Algorithm::Blake3, ..tag })));
        all.push(with(&|record| record.tag = Some(Tag { digest, ..tag })));
        all.push(with(&|record| record.tag = Some(Tag { length: 11, ..tag })));
        all.push(with(&|record| record.tag = Some(Tag { mtime: other, ..tag })));
        all.push(with(&|record| record.tag = Some(Tag { tagged: other, ..tag })));
        let count = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), count);
    }

    #[test]
    fn standings_have_their_numbers() {
        for (number, standing) in FileState::ALL.into_iter().enumerate() {
            assert_eq!(standing.number(), number as i64);
        }
    }
}
