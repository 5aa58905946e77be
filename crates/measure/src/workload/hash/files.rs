//! The files that are read and hashed. They are made once, and brought into memory or dropped from
//! it before each sample.
//!
//! The bytes are incompressible, and the digest of the written bytes is known. Dropping
//! [`FileStore`] removes everything.

use std::io;
use std::path::{Path, PathBuf};

use steadfast::{Algorithm, Digest};
use steadfast_digest::AlgorithmHasher;
use steadfast_sys::cache::cached_bytes;
use steadfast_sys::file::File;

use crate::contents::TestBytes;
use crate::error::Error;
use crate::place::Site;
use crate::runner::{End, PlaceId, Session};
use crate::scratch::{self, Scratch, write_test_file};

/// Bytes read at a time to bring a file into memory.
const WARMING_LEN_BYTES: usize = 1 << 20;

/// One file.
#[derive(Clone, Debug)]
pub(super) struct Made {
    pub(super) number: u32,
    pub(super) path: PathBuf,
    pub(super) length: u64,
    /// The digest of the written bytes, computed while writing.
    pub(super) digest: Digest,
}

/// A folder of files, and the facts about its storage.
pub(super) struct FileStore {
    site: Site,
    scratch: Scratch,
    pub(super) place: PlaceId,
    /// The algorithm of the files' digests.
    pub(super) algorithm: Algorithm,
    pub(super) files: Vec<Made>,
}

impl FileStore {
    /// Makes files of these lengths in a folder of its own beneath `folder`.
    ///
    /// # Errors
    /// If there is too little room, writing fails, or it was stopped.
    pub(super) fn make(
        session: &mut Session<'_>,
        folder: &Path,
        (lengths, algorithm): (&[u64], Algorithm),
        contents: &mut TestBytes,
    ) -> Result<FileStore, End> {
        let (site, scratch) = scratch::prepare(session, folder, lengths.iter().sum())?;
        site.warnings().iter().for_each(|warning| session.warn(warning));
        let place = session.add_place(site.place.clone());
        let mut store = FileStore { site, scratch, place, algorithm, files: Vec::new() };
        for (number, &length) in (0..).zip(lengths) {
            let mut hasher = AlgorithmHasher::new(algorithm);
            let file = (&store.scratch, number);
            write_test_file(session, file, (&mut *contents, length), |part| hasher.update(part))?;
            let (path, digest) = (store.scratch.path_of(number), hasher.finalize());
            store.files.push(Made { number, path, length, digest });
        }
        Ok(store)
    }

    /// Removes everything.
    ///
    /// # Errors
    ///
    /// If something could not be removed.
    pub(super) fn close(self) -> Result<(), Error> {
        self.scratch.close()
    }

    /// Opens a file for reading.
    ///
    /// # Errors
    ///
    /// If it cannot be opened.
    pub(super) fn open(&self, file: &Made) -> Result<File, Error> {
        self.scratch.open(file.number).map_err(|error| failed("read a file", error, &file.path))
    }

    /// Drops a file from the page cache, and returns how many of its bytes are still there, if the
    /// system tells.
    ///
    /// # Errors
    ///
    /// If it cannot be opened.
    pub(super) fn cool(&self, file: &Made) -> Result<Option<u64>, Error> {
        Ok(self.site.empty_caches(&self.open(file)?, file.length))
    }

    /// Brings a file into the page cache, and returns how many of its bytes are there, if the
    /// system tells.
    ///
    /// # Errors
    ///
    /// If it cannot be read.
    pub(super) fn warm(&self, file: &Made) -> Result<Option<u64>, Error> {
        warm(&self.open(file)?, file.length)
            .map_err(|error| failed("read a file", error, &file.path))
    }
}

/// Brings a file into the page cache, and returns how many of its bytes are there, if the system
/// tells.
pub(super) fn warm(file: &File, length: u64) -> io::Result<Option<u64>> {
    if cached_bytes(file, length).ok() == Some(length) {
        return Ok(Some(length));
    }
    let mut buffer = vec![0; WARMING_LEN_BYTES];
    let mut offset = 0;
    loop {
        match file.read_at(&mut buffer, offset)? {
            0 => return Ok(cached_bytes(file, length).ok()),
            read => offset += read as u64,
        }
    }
}

fn failed(doing: &str, error: io::Error, path: &Path) -> Error {
    Error::system(doing, error).at(path)
}
