//! A file of the tree, read in order and held to its tag.

use std::io;
use std::path::Path;
use std::sync::Arc;

use steadfast_digest::{Algorithm, AlgorithmHasher, Digest, Lanes, Sha256};
use steadfast_manifest::tag::Tag;
use steadfast_parity::{PageMark, ProtectedFile};
use steadfast_sys::file::{File, Status};

use super::place::ParityPlace;
use crate::beneath;
use crate::event::FileError;
use crate::evidence::{LastProof, evidence_of};
use crate::read::{Engine, Origin};
use crate::verdict::{Judgement, Reading, Stored, Verdict};

/// Why a file is not protected.
pub(super) type WhyNot = (Verdict, Option<FileError>);

pub(super) fn unreadable(error: &io::Error) -> WhyNot {
    (Verdict::Unreadable, Some(FileError::from_io("read it", error)))
}

/// A file of the tree, opened by names beneath its root.
pub(super) struct OpenMember {
    pub(super) file: File,
    status: Status,
    ignores_change_times: bool,
}

impl OpenMember {
    pub(super) fn open(
        place: &ParityPlace,
        relative: &Path,
        ignores_change_times: bool,
    ) -> Result<OpenMember, WhyNot> {
        let file = beneath::file(place.root(), relative).map_err(|error| unreadable(&error))?;
        let status = file.status().map_err(|error| unreadable(&error))?;
        Ok(OpenMember { file, status, ignores_change_times })
    }

    /// Judges what was read by the tag.
    fn judge(&self, tag: &Tag, reading: Reading<'_>) -> Verdict {
        let proof = LastProof::Tagged(tag.tagged);
        let ignores = self.ignores_change_times;
        let evidence = || evidence_of(&self.file, &self.status, Some(proof), ignores);
        Judgement::of(Stored::Tag(tag), reading, evidence).verdict
    }

    /// Refuses a file of another length than its tag.
    pub(super) fn ensure_length(&self, tag: &Tag) -> Result<(), WhyNot> {
        let Status { length, mtime, .. } = self.status;
        match length == tag.length {
            true => Ok(()),
            false => Err((self.judge(tag, Reading::Resized { length, mtime }), None)),
        }
    }
}

/// The digest of a tag, of a file's bytes as they come.
pub(super) enum TagHasher {
    /// Of SHA-256, which shares lanes with the marks of pages.
    Sha256(Sha256),
    /// Of any other algorithm.
    Other(AlgorithmHasher),
}

impl TagHasher {
    fn new(algorithm: Algorithm, lanes: Lanes) -> TagHasher {
        match algorithm {
            Algorithm::Sha256 => TagHasher::Sha256(Sha256::new(lanes.backend_alone())),
            other => TagHasher::Other(AlgorithmHasher::new(other)),
        }
    }

    /// Takes the next bytes.
    pub(super) fn update(&mut self, bytes: &[u8]) {
        match self {
            TagHasher::Sha256(hasher) => hasher.update(bytes),
            TagHasher::Other(hasher) => hasher.update(bytes),
        }
    }

    /// Takes the next bytes, which are whole pages, and returns the marks of these.
    pub(super) fn update_and_mark(&mut self, lanes: Lanes, pages: &[u8]) -> Vec<PageMark> {
        match self {
            TagHasher::Sha256(hasher) => PageMark::of_all_beside(lanes, pages, hasher),
            TagHasher::Other(hasher) => {
                hasher.update(pages);
                PageMark::of_all(lanes, pages)
            }
        }
    }

    fn finalize(self) -> Digest {
        match self {
            TagHasher::Sha256(hasher) => hasher.finalize(),
            TagHasher::Other(hasher) => hasher.finalize(),
        }
    }
}

/// A file that is read in order and held to its tag.
pub(super) struct HeldFile {
    open: OpenMember,
    tag: Tag,
    /// Takes the bytes that were read.
    pub(super) hasher: TagHasher,
    engine: Arc<dyn Engine>,
    origin: Origin,
    /// The next byte.
    pub(super) offset: u64,
}

impl HeldFile {
    pub(super) fn open(
        place: &ParityPlace,
        file: &ProtectedFile,
        engine: &Arc<dyn Engine>,
        lanes: Lanes,
        ignores_change_times: bool,
    ) -> Result<HeldFile, WhyNot> {
        let open = OpenMember::open(place, &file.path, ignores_change_times)?;
        let tag = Tag::decode(&file.tag).map_err(|error| unreadable(&io::Error::other(error)))?;
        open.ensure_length(&tag)?;
        let origin = engine.prepare(&open.file, &open.status);
        let origin = origin.map_err(|error| unreadable(&error))?;
        let hasher = TagHasher::new(tag.algorithm, lanes);
        Ok(HeldFile { open, tag, hasher, engine: Arc::clone(engine), origin, offset: 0 })
    }

    /// Reads the next bytes, but not beyond a place. The caller gives them to `hasher`. The buffer
    /// is as an engine needs it.
    pub(super) fn read<'b>(&mut self, bytes: &'b mut [u8], end: u64) -> Result<&'b [u8], WhyNot> {
        match self.engine.read_at(&self.open.file, bytes, self.offset) {
            Ok(0) => Err((Verdict::Unstable, None)),
            Ok(read) => {
                let read = (read as u64).min(end - self.offset) as usize;
                self.offset += read as u64;
                Ok(&bytes[..read])
            }
            Err(error) => Err(unreadable(&error)),
        }
    }

    /// Compares what was read with the tag, and returns where it was read from.
    pub(super) fn finish(self) -> Result<Origin, WhyNot> {
        let status = self.open.file.status().map_err(|error| unreadable(&error))?;
        let (now, before) = ((status.length, status.mtime), self.open.status);
        let actual = Tag { digest: self.hasher.finalize(), mtime: status.mtime, ..self.tag };
        let reading = match now == (before.length, before.mtime) && status.ctime == before.ctime {
            true => Reading::Whole(&actual),
            false => Reading::Changed,
        };
        match self.open.judge(&self.tag, reading) {
            Verdict::Intact | Verdict::Touched => {
                Ok(self.engine.confirm(&self.open.file, &self.open.status, self.origin))
            }
            verdict => Err((verdict, None)),
        }
    }
}
