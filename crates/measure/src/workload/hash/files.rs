//! The files that are read and hashed. They are made once, and brought into memory or dropped from
//! it before each sample.
//!
//! The bytes are incompressible, and the digest of the written bytes is known. Dropping
//! [`FileStore`] removes everything.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use steadfast::{Algorithm, Digest};
use steadfast_digest::AlgorithmHasher;
use steadfast_sys::cache::cached_bytes;

use crate::contents::TestBytes;
use crate::error::Error;
use crate::runner::{End, PlaceId, Session};
use crate::workload::storage::folder::OwnFolder;
use crate::workload::storage::plan::PlannedFile;
use crate::workload::storage::way::Way;

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
    folder: OwnFolder,
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
        let folder = OwnFolder::open(session, folder, lengths.iter().sum())?;
        let mut files = Vec::new();
        for (number, &length) in (0..).zip(lengths) {
            session.doing("writing files")?;
            let mut hasher = AlgorithmHasher::new(algorithm);
            let file = PlannedFile { number, set: 0, length };
            // What is not on the medium cannot be dropped from the page cache, and writing it back
            // later would disturb the samples.
            folder.write(session, contents, file, true, |part| hasher.update(part))?;
            let (path, digest) = (folder.scratch.path_of(number), hasher.finalize());
            files.push(Made { number, path, length, digest });
        }
        Ok(FileStore { folder, algorithm, files })
    }

    /// Removes everything.
    ///
    /// # Errors
    ///
    /// If something could not be removed.
    pub(super) fn close(self) -> Result<(), Error> {
        self.folder.scratch.close()
    }

    /// Returns where the files are.
    pub(super) fn place(&self) -> PlaceId {
        self.folder.place
    }

    /// Drops a file from the page cache, or brings it there, and returns how many of its bytes are
    /// there then, if the system tells.
    ///
    /// # Errors
    ///
    /// If it cannot be read.
    pub(super) fn prepare(&self, file: &Made, way: Way) -> Result<Option<u64>, Error> {
        let failed = |error| Error::system("read a file", error).at(&file.path);
        let opened = self.folder.scratch.open(file.number).map_err(failed)?;
        match way {
            Way::Warm if cached_bytes(&opened, file.length).ok() == Some(file.length) => {}
            Way::Warm => {
                let read = self.folder.scratch.open(file.number).map_err(failed)?;
                io::copy(&mut fs::File::from(read.into_fd()), &mut io::sink()).map_err(failed)?;
            }
            Way::Cold | Way::Direct => {
                return Ok(self.folder.site.empty_caches(&opened, file.length));
            }
        }
        Ok(cached_bytes(&opened, file.length).ok())
    }
}
