//! A file of the tree, read in order and held to its tag.

use std::io;
use std::path::Path;

use steadfast_digest::AlgorithmHasher;
use steadfast_manifest::tag::Tag;
use steadfast_parity::ProtectedFile;
use steadfast_sys::file::{File, Status};

use super::place::ParityPlace;
use crate::beneath;
use crate::event::FileError;
use crate::verdict::{Reading, Stored, Verdict};

/// Why a file is not protected.
pub(super) type WhyNot = (Verdict, Option<FileError>);

pub(super) fn unreadable(error: &io::Error) -> WhyNot {
    (Verdict::Unreadable, Some(FileError::from_io("read it", error)))
}

/// A file of the tree, opened by names beneath its root.
pub(super) struct OpenMember {
    pub(super) file: File,
    status: Status,
}

impl OpenMember {
    pub(super) fn open(place: &ParityPlace, relative: &Path) -> Result<OpenMember, WhyNot> {
        let file = beneath::file(place.root(), relative).map_err(|error| unreadable(&error))?;
        let status = file.status().map_err(|error| unreadable(&error))?;
        Ok(OpenMember { file, status })
    }

    /// Refuses a file of another length than its tag.
    pub(super) fn ensure_length(&self, tag: &Tag) -> Result<(), WhyNot> {
        let Status { length, mtime, .. } = self.status;
        match length == tag.length {
            true => Ok(()),
            false => Err((Verdict::of(Stored::Tag(tag), Reading::Resized { length, mtime }), None)),
        }
    }
}

/// A file that is read in order and held to its tag.
pub(super) struct HeldFile {
    open: OpenMember,
    tag: Tag,
    hasher: AlgorithmHasher,
    /// The next byte.
    pub(super) offset: u64,
}

impl HeldFile {
    pub(super) fn open(place: &ParityPlace, file: &ProtectedFile) -> Result<HeldFile, WhyNot> {
        let open = OpenMember::open(place, &file.path)?;
        let tag = Tag::decode(&file.tag).map_err(|error| unreadable(&io::Error::other(error)))?;
        open.ensure_length(&tag)?;
        open.file.advise_sequential();
        Ok(HeldFile { open, tag, hasher: AlgorithmHasher::new(tag.algorithm), offset: 0 })
    }

    /// Reads the next bytes, but not beyond a place.
    pub(super) fn read<'b>(&mut self, bytes: &'b mut [u8], end: u64) -> Result<&'b [u8], WhyNot> {
        let len = (end - self.offset).min(bytes.len() as u64) as usize;
        match self.open.file.read_at(&mut bytes[..len], self.offset) {
            Ok(0) => Err((Verdict::Unstable, None)),
            Ok(read) => {
                self.hasher.update(&bytes[..read]);
                self.offset += read as u64;
                Ok(&bytes[..read])
            }
            Err(error) => Err(unreadable(&error)),
        }
    }

    /// Compares what was read with the tag.
    pub(super) fn finish(self) -> Result<(), WhyNot> {
        let status = self.open.file.status().map_err(|error| unreadable(&error))?;
        let (now, before) = ((status.length, status.mtime), self.open.status);
        let actual = Tag { digest: self.hasher.finalize(), mtime: status.mtime, ..self.tag };
        let reading = match now == (before.length, before.mtime) && status.ctime == before.ctime {
            true => Reading::Whole(&actual),
            false => Reading::Changed,
        };
        match Verdict::of(Stored::Tag(&self.tag), reading) {
            Verdict::Intact | Verdict::Touched => Ok(()),
            verdict => Err((verdict, None)),
        }
    }
}
