//! How version 2 sealed the rows of a slice: all records together, and the runs by a check value.

use steadfast_digest::{Algorithm, AlgorithmHasher};

use super::column;
use super::entry::{FileFacts, FileRecord, FileRow, SEAL_LEN, SliceSeal};

/// Returns the seal of rows, and the check value over their runs.
pub(super) fn seal(directory: i64, rows: &[FileRow], buffer: &mut Vec<u8>) -> (SliceSeal, u32) {
    buffer.clear();
    buffer.extend_from_slice(&directory.to_le_bytes());
    for row in rows {
        write(&row.record, &row.name, buffer);
    }
    let mut hasher = AlgorithmHasher::new(Algorithm::Blake3);
    hasher.update(buffer);
    let digest = hasher.finalize();
    let seal = digest.as_bytes()[..SEAL_LEN].try_into().expect("BLAKE3 has 32 bytes");
    let runs = rows.iter().flat_map(|row| [row.first_run, row.checked_run, row.proved_run]);
    (seal, runs.fold(0, |sum, run| crc32c::crc32c_append(sum, &run.to_le_bytes())))
}

/// Appends the bytes of a record.
fn write(record: &FileRecord, name: &[u8], to: &mut Vec<u8>) {
    let FileFacts { length, mtime, ctime, inode } = record.facts;
    to.extend_from_slice(&(name.len() as u32).to_le_bytes());
    to.extend_from_slice(name);
    to.extend_from_slice(&length.to_le_bytes());
    to.extend_from_slice(&inode.to_le_bytes());
    to.extend_from_slice(&column::packed(mtime));
    to.extend_from_slice(&column::packed(ctime));
    to.push(record.standing.number());
    let Some(tag) = &record.tag else { return to.push(0) };
    let algorithm = tag.algorithm.name().as_bytes();
    to.push(algorithm.len() as u8);
    to.extend_from_slice(algorithm);
    to.extend_from_slice(tag.digest.as_bytes());
    to.extend_from_slice(&tag.length.to_le_bytes());
    to.extend_from_slice(&column::packed(tag.mtime));
    to.extend_from_slice(&tag.tagged.seconds.to_le_bytes());
}
