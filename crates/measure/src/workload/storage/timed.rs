//! Writes or reads one file for timing, and verifies its bytes afterwards.
//!
//! The caller has the clock. A stop between two chunks leaves an incomplete file and no sample.

use std::io::{self, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};

use steadfast::Origin;
use steadfast::read::Engine;
use steadfast_sys::file::{AlignedBuffer, File, Flush, flush};

use super::plan::PlannedFile;
use crate::contents::{CHUNK_LEN_BYTES, TestBytes};
use crate::error::Error;
use crate::scratch::Scratch;

/// How a timed step ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::workload) enum Went<T> {
    /// It was completed.
    Through(T),
    /// The session was stopped.
    Stopped,
}

/// Makes a file, writes it chunk by chunk, flushes it if requested, and closes it. Returns how far
/// the flush went.
pub(in crate::workload) fn write(
    scratch: &Scratch,
    contents: &mut TestBytes,
    file: PlannedFile,
    sync: bool,
    stop: &AtomicBool,
) -> io::Result<Went<Option<Flush>>> {
    let mut written = scratch.create(file.number)?;
    for (index, length) in chunks(file.length) {
        if stop.load(Ordering::Relaxed) {
            return Ok(Went::Stopped);
        }
        written.write_all(contents.chunk(file.number, index, length))?;
    }
    let flushed = if sync { Some(flush(&written)?) } else { None };
    Ok(Went::Through(flushed))
}

/// Reads an open file to its end, chunk by chunk, and returns its length and the origin of its
/// bytes.
pub(in crate::workload) fn read(
    engine: &dyn Engine,
    file: &File,
    buffer: &mut AlignedBuffer,
    stop: &AtomicBool,
) -> io::Result<Went<(u64, Origin)>> {
    read_into(engine, file, buffer, stop, |_| {})
}

/// As [`read`], and passes every chunk to `taken`, whose time counts.
pub(in crate::workload) fn read_into(
    engine: &dyn Engine,
    file: &File,
    buffer: &mut AlignedBuffer,
    stop: &AtomicBool,
    mut taken: impl FnMut(&[u8]),
) -> io::Result<Went<(u64, Origin)>> {
    let status = file.status()?;
    let origin = engine.prepare(file, &status)?;
    let mut offset = 0;
    // As a check reads: up to the length from the file's status. A longer read finds the end.
    while offset < status.length {
        if stop.load(Ordering::Relaxed) {
            return Ok(Went::Stopped);
        }
        match engine.read_at(file, buffer, offset)? {
            0 => break,
            count => {
                taken(&buffer[..count]);
                offset += count as u64;
            }
        }
    }
    Ok(Went::Through((offset, engine.confirm(file, &status, origin))))
}

/// Compares every byte of a file with the written bytes, by reading it again.
///
/// # Errors
///
/// If it cannot be read, or a byte differs.
pub(in crate::workload) fn compare(
    scratch: &Scratch,
    contents: &mut TestBytes,
    file: PlannedFile,
    buffer: &mut AlignedBuffer,
    stop: &AtomicBool,
) -> Result<Went<()>, Error> {
    let failed = |error| Error::system("read a file back", error).at(scratch.path());
    let read = scratch.open(file.number).map_err(failed)?;
    for (index, length) in chunks(file.length) {
        if stop.load(Ordering::Relaxed) {
            return Ok(Went::Stopped);
        }
        let offset = index * CHUNK_LEN_BYTES as u64;
        let mut filled = 0;
        while filled < length {
            let rest = &mut buffer[filled..length];
            match read.read_at(rest, offset + filled as u64).map_err(failed)? {
                0 => break,
                count => filled += count,
            }
        }
        if contents.chunk(file.number, index, length) != &buffer[..filled] {
            let number = file.number;
            let message = format!(
                "file {number} is not what was written, from byte {offset} on within {length}"
            );
            return Err(Error::wrong(message).at(scratch.path()));
        }
    }
    Ok(Went::Through(()))
}

/// The chunks of a file: index and length.
pub(in crate::workload) fn chunks(length: u64) -> impl Iterator<Item = (u64, usize)> {
    let chunk = CHUNK_LEN_BYTES as u64;
    (0..length.div_ceil(chunk)).map(move |index| {
        let left = length - index * chunk;
        (index, left.min(chunk) as usize)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_wrong_byte_or_a_short_file_is_found() {
        let root = tempfile::tempdir().unwrap();
        let (scratch, _) = Scratch::make(root.path(), true).unwrap();
        let (mut contents, stop) = (TestBytes::new(5), AtomicBool::new(false));
        let mut buffer = AlignedBuffer::new(CHUNK_LEN_BYTES);
        let file = PlannedFile { number: 0, set: 0, length: 2 * CHUNK_LEN_BYTES as u64 + 5_000 };
        write(&scratch, &mut contents, file, true, &stop).unwrap();
        let mut compared = || compare(&scratch, &mut contents, file, &mut buffer, &stop);
        assert_eq!(compared().unwrap(), Went::Through(()));
        let path = scratch.path().join("f00000000");
        let sound = std::fs::read(&path).unwrap();
        for at in [0, CHUNK_LEN_BYTES + 17, sound.len() - 1] {
            let mut damaged = sound.clone();
            damaged[at] ^= 1;
            std::fs::write(&path, &damaged).unwrap();
            let error = compared().unwrap_err();
            assert_eq!(error.kind(), crate::ErrorKind::Wrong, "byte {at}: {error}");
        }
        std::fs::write(&path, &sound[..sound.len() - 1]).unwrap();
        assert_eq!(compared().unwrap_err().kind(), crate::ErrorKind::Wrong);
        stop.store(true, Ordering::Relaxed);
        assert_eq!(compared().unwrap(), Went::Stopped);
    }

    #[test]
    fn chunks_cover_a_file_and_no_more() {
        let chunk = CHUNK_LEN_BYTES as u64;
        for length in [1, chunk - 1, chunk, chunk + 1, 5 * chunk + 7] {
            let parts: Vec<(u64, usize)> = chunks(length).collect();
            assert_eq!(parts.iter().map(|part| part.1 as u64).sum::<u64>(), length);
            assert!(parts.iter().enumerate().all(|(at, part)| part.0 == at as u64));
        }
        assert_eq!(chunks(0).count(), 0);
    }
}
