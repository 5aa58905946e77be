//! The parity of trees as a source of contents, after the copies.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use super::copies::{OpenCopy, Own};
use super::target::RepairTarget;
use crate::event::FileError;
use crate::parity::{ParityPlace, ParitySource};

/// The parity of the trees of a repair, by root. Each is opened once, because that reads the index
/// of every set.
#[derive(Default)]
pub(super) struct Parities {
    sources: BTreeMap<PathBuf, Option<ParitySource>>,
}

impl Parities {
    /// Rebuilds a file from parity; `None` if no parity has it. With `is_whole`, the copy has all
    /// pages, otherwise those that are not right in the file itself.
    ///
    /// # Errors
    /// If the copy cannot be written, or the run was stopped.
    pub(super) fn copy_of(
        &mut self,
        target: &RepairTarget,
        own: Option<&Own>,
        is_whole: bool,
        stop: &AtomicBool,
    ) -> Result<Option<OpenCopy>, FileError> {
        let Some((source, relative)) = self.source(target) else { return Ok(None) };
        let own = own.map(|own| &own.file);
        let copy = source.copy_of(&relative, &target.tag, own, is_whole, stop)?;
        Ok(copy.map(|copy| OpenCopy {
            path: source.place().folder(),
            file: copy.file,
            length: target.tag.length,
        }))
    }

    /// Says whether some parity was made of the contents of a file. How much of it is left is not
    /// looked at.
    pub(super) fn has(&mut self, target: &RepairTarget) -> bool {
        self.source(target).is_some_and(|(source, relative)| source.has(&relative, &target.tag))
    }

    /// Returns the parity of the tree that a file is in, and its path there.
    fn source(&mut self, target: &RepairTarget) -> Option<(&ParitySource, PathBuf)> {
        let root = target.root.canonicalize().ok()?;
        let path = root.join(&target.relative);
        // The folder of a missing file may be missing too.
        let mut above = path.ancestors().skip(1).filter(|above| above.starts_with(&root));
        let place = ParityPlace::nearest(above.find(|above| above.is_dir())?)?;
        let relative = path.strip_prefix(place.root()).ok()?.to_owned();
        let source = self.sources.entry(place.root().to_owned());
        let source = source.or_insert_with(|| ParitySource::open(&place).ok());
        Some((source.as_ref()?, relative))
    }
}
