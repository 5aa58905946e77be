//! A folder of our own in the place that is measured. Its files are written, read and compared.
//!
//! Writing and reading are timed here. A stop between two chunks leaves an incomplete file and no
//! sample.

use std::io::{self, Write as _};
use std::path::Path;
use std::sync::atomic::Ordering;

use steadfast::Origin;
use steadfast_sys::cache::cached_bytes;
use steadfast_sys::file::{AlignedBuffer, Flush, flush};

use super::beside::Counted;
use super::plan::PlannedFile;
use super::way::Way;
use crate::contents::{CHUNK_LEN_BYTES, TestBytes};
use crate::error::Error;
use crate::place::Site;
use crate::record::Sample;
use crate::runner::{End, PlaceId, Session, Timed};
use crate::scratch::{Scratch, require_room};

/// The file that is asked which alignment direct reads need: a folder has none.
const PROBE: u32 = 99_999_999;

/// A folder of our own, and the place that it is in.
#[derive(Debug)]
pub(in crate::workload) struct OwnFolder {
    pub(in crate::workload) site: Site,
    pub(in crate::workload) place: PlaceId,
    pub(in crate::workload) scratch: Scratch,
}

impl OwnFolder {
    /// Examines a place, makes a folder of our own in it, and checks that it has room for this many
    /// bytes. Warns of what makes figures doubtful, and of folders of other measurements that stay.
    ///
    /// # Errors
    /// As [`Site::examine`], [`Scratch::make`] and [`require_room`].
    pub(in crate::workload) fn open(
        session: &mut Session<'_>,
        folder: &Path,
        bytes: u64,
    ) -> Result<OwnFolder, End> {
        let mut site = Site::examine(folder)?;
        let (scratch, left) = Scratch::make(folder, site.is_local)?;
        if left.removed > 0 {
            // The removed folders took room that is free now.
            let now = Site::examine(folder)?.place;
            (site.place.free_bytes, site.place.total_bytes) = (now.free_bytes, now.total_bytes);
        }
        for (path, why) in left.kept {
            session.warn(format!("`{}` was left by another measurement: {why}", path.display()));
        }
        require_room(&site.place, bytes)?;
        let probed = scratch.create(PROBE).and_then(|_| scratch.open(PROBE));
        let probed = probed.and_then(|file| {
            site.note_alignment(&file);
            scratch.remove(PROBE)
        });
        probed.map_err(|error| Error::system("make a file in it", error).at(folder))?;
        site.warnings().iter().for_each(|warning| session.warn(warning));
        let place = session.add_place(site.place.clone());
        Ok(OwnFolder { site, place, scratch })
    }

    /// Makes an error of a failed system call.
    pub(in crate::workload) fn failed(&self, doing: &str, error: io::Error) -> Error {
        Error::system(doing, error).at(self.scratch.path())
    }

    /// Makes a file, writes it chunk by chunk, flushes it if requested, and closes it; all of that
    /// is timed. Every chunk is passed to `each`. Returns how far the flush went.
    pub(in crate::workload) fn write(
        &self,
        session: &Session<'_>,
        contents: &mut TestBytes,
        file: PlannedFile,
        sync: bool,
        mut each: impl FnMut(&[u8]),
    ) -> Result<(Timed, Option<Flush>), End> {
        let stop = session.stop_flag();
        let (timed, written) = session.time(|| {
            let mut written = self.scratch.create(file.number)?;
            for (index, length) in chunks(file.length) {
                if stop.load(Ordering::Relaxed) {
                    return Ok(None);
                }
                let chunk = contents.chunk(file.number, index, length);
                each(chunk);
                written.write_all(chunk)?;
            }
            let flushed = if sync { Some(flush(&written)?) } else { None };
            Ok(Some(flushed))
        });
        let written = written.map_err(|error| self.failed("write a file", error))?;
        Ok((timed, written.ok_or(End::Stopped)?))
    }

    /// Reads a file to its end in one way, chunk by chunk, and returns a sample and the origin of
    /// its bytes. Every chunk is passed to `taken`, whose time counts.
    pub(in crate::workload) fn read(
        &self,
        session: &Session<'_>,
        file: PlannedFile,
        way: Way,
        buffer: &mut AlignedBuffer,
        mut taken: impl FnMut(&[u8]),
    ) -> Result<(Sample, Origin), End> {
        let failed = |error| self.failed("read a file", error);
        let before = self.scratch.open(file.number).map_err(failed)?;
        let mut cached = self.site.empty_caches(&before, file.length);
        if way == Way::Warm {
            self.to_end(session, file, way, buffer, &mut |_| {})?;
            cached = cached_bytes(&before, file.length).ok();
        }
        drop(before);
        let counted = Counted::now();
        let (timed, read) = session.time(|| self.to_end(session, file, way, buffer, &mut taken));
        let (length, origin) = read?;
        if length != file.length {
            let message = format!("a file of {} bytes had {length} when read", file.length);
            return Err(Error::wrong(message).at(self.scratch.path()).into());
        }
        let (cached_bytes, beside) = (cached, counted.beside(timed));
        Ok((Sample { cached_bytes, beside, ..timed.sample(file.set, file.length) }, origin))
    }

    /// Opens a file and reads it to its end. Returns its length and the origin of its bytes.
    fn to_end(
        &self,
        session: &Session<'_>,
        file: PlannedFile,
        way: Way,
        buffer: &mut AlignedBuffer,
        taken: &mut dyn FnMut(&[u8]),
    ) -> Result<(u64, Origin), End> {
        let failed = |error| self.failed("read a file", error);
        let engine = way.engine();
        let file = self.scratch.open(file.number).map_err(failed)?;
        let status = file.status().map_err(failed)?;
        let origin = engine.prepare(&file, &status).map_err(failed)?;
        let mut offset = 0;
        // As a check reads: up to the length from the file's status. A longer read finds the end.
        while offset < status.length {
            if session.stop_flag().load(Ordering::Relaxed) {
                return Err(End::Stopped);
            }
            match engine.read_at(&file, buffer, offset).map_err(failed)? {
                0 => break,
                count => {
                    taken(&buffer[..count]);
                    offset += count as u64;
                }
            }
        }
        Ok((offset, engine.confirm(&file, &status, origin)))
    }

    /// Compares every byte of a file with the written bytes, by reading it again.
    ///
    /// # Errors
    /// If it cannot be read, a byte differs, or it was stopped.
    pub(in crate::workload) fn compare(
        &self,
        session: &Session<'_>,
        contents: &mut TestBytes,
        file: PlannedFile,
        buffer: &mut AlignedBuffer,
    ) -> Result<(), End> {
        let failed = |error| self.failed("read a file back", error);
        let read = self.scratch.open(file.number).map_err(failed)?;
        for (index, length) in chunks(file.length) {
            if session.stop_flag().load(Ordering::Relaxed) {
                return Err(End::Stopped);
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
                return Err(Error::wrong(message).at(self.scratch.path()).into());
            }
        }
        Ok(())
    }
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
    use std::sync::atomic::AtomicBool;

    use super::*;
    use crate::runner::Unwatched;

    #[test]
    fn one_wrong_byte_or_a_short_file_is_found() {
        let root = tempfile::tempdir().unwrap();
        let (stop, mut unwatched) = (AtomicBool::new(false), Unwatched);
        let mut session = Session::begin("test".into(), Vec::new(), &stop, &mut unwatched);
        let folder = OwnFolder::open(&mut session, root.path(), 0).unwrap();
        let (mut contents, mut buffer) = (TestBytes::new(5), AlignedBuffer::new(CHUNK_LEN_BYTES));
        let file = PlannedFile { number: 0, set: 0, length: 2 * CHUNK_LEN_BYTES as u64 + 5_000 };
        folder.write(&session, &mut contents, file, true, |_| {}).unwrap();
        let mut compared = || folder.compare(&session, &mut contents, file, &mut buffer);
        compared().unwrap();
        let is_wrong = |found| match found {
            Err(End::Failed(error)) => error.kind() == crate::ErrorKind::Wrong,
            _ => false,
        };
        let path = folder.scratch.path().join("f00000000");
        let sound = std::fs::read(&path).unwrap();
        for at in [0, CHUNK_LEN_BYTES + 17, sound.len() - 1] {
            let mut damaged = sound.clone();
            damaged[at] ^= 1;
            std::fs::write(&path, &damaged).unwrap();
            assert!(is_wrong(compared()), "byte {at}");
        }
        std::fs::write(&path, &sound[..sound.len() - 1]).unwrap();
        assert!(is_wrong(compared()));
        stop.store(true, Ordering::Relaxed);
        assert!(matches!(compared(), Err(End::Stopped)));
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
