//! A file of the tree, read in order and compared with its tag.

use std::io;
use std::path::Path;

use steadfast_digest::AlgorithmHasher;
use steadfast_manifest::tag::Tag;
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

/// A file that is read in order and compared with its tag.
pub(super) struct TaggedFile {
    pub(super) file: File,
    status: Status,
    tag: Tag,
    ignores_change_times: bool,
    origin: Option<Origin>,
    /// Takes the bytes that were read.
    pub(super) hasher: AlgorithmHasher,
    /// The next byte.
    pub(super) offset: u64,
}

impl TaggedFile {
    /// Opens a file by names beneath the root, and refuses one of another length than its tag.
    pub(super) fn open(
        place: &ParityPlace,
        relative: &Path,
        tag: Tag,
        ignores_change_times: bool,
    ) -> Result<TaggedFile, WhyNot> {
        let file = beneath::file(place.root(), relative).map_err(|error| unreadable(&error))?;
        let status = file.status().map_err(|error| unreadable(&error))?;
        let hasher = AlgorithmHasher::new(tag.algorithm);
        let (origin, offset) = (None, 0);
        let open = TaggedFile { file, status, tag, ignores_change_times, origin, hasher, offset };
        let Status { length, mtime, .. } = status;
        match length == tag.length {
            true => Ok(open),
            false => Err((open.judge(Reading::Resized { length, mtime }), None)),
        }
    }

    /// Judges what was read by the tag.
    fn judge(&self, reading: Reading<'_>) -> Verdict {
        let proof = LastProof::Tagged(self.tag.tagged);
        let ignores = self.ignores_change_times;
        let evidence = || evidence_of(&self.file, &self.status, Some(proof), ignores);
        Judgement::of(Stored::Tag(&self.tag), reading, evidence).verdict
    }

    /// Prepares to read it.
    pub(super) fn prepare(mut self, engine: &dyn Engine) -> Result<TaggedFile, WhyNot> {
        let origin = engine.prepare(&self.file, &self.status);
        self.origin = Some(origin.map_err(|error| unreadable(&error))?);
        Ok(self)
    }

    /// Reads the next bytes, but not beyond a place. The caller gives them to `hasher`. The buffer
    /// is as an engine needs it.
    pub(super) fn read<'b>(
        &mut self,
        engine: &dyn Engine,
        bytes: &'b mut [u8],
        end: u64,
    ) -> Result<&'b [u8], WhyNot> {
        match engine.read_at(&self.file, bytes, self.offset) {
            Ok(0) => Err((Verdict::Unstable, None)),
            Ok(read) => {
                let read = (read as u64).min(end - self.offset) as usize;
                self.offset += read as u64;
                Ok(&bytes[..read])
            }
            Err(error) => Err(unreadable(&error)),
        }
    }

    /// Compares what was read with the tag, and returns how many bytes came from the medium.
    pub(super) fn finish(self, engine: &dyn Engine) -> Result<u64, WhyNot> {
        let (before, hasher) = (self.status, self.hasher.clone());
        let now = self.file.status().map_err(|error| unreadable(&error))?;
        let actual = Tag { digest: hasher.finalize(), mtime: now.mtime, ..self.tag };
        let times = |status: Status| (status.length, status.mtime, status.ctime);
        let is_same = times(now) == times(before);
        match self.judge(if is_same { Reading::Whole(&actual) } else { Reading::Changed }) {
            Verdict::Intact | Verdict::Touched => {
                let origin = self.origin.map(|it| engine.confirm(&self.file, &before, it));
                Ok(if origin == Some(Origin::Media) { self.offset } else { 0 })
            }
            verdict => Err((verdict, None)),
        }
    }
}
