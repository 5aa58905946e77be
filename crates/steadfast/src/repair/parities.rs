//! The parity of trees as a source of contents, after the copies.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::atomic::AtomicBool;

use super::copies::{OpenCopy, Own};
use super::target::RepairTarget;
use crate::advice::Advice;
use crate::beneath;
use crate::byte_ranges::ByteRanges;
use crate::catalogue::Catalogue;
use crate::event::FileError;
use crate::parity::{ParityPlace, ParitySource, ProtectedBelongings};

/// Returns a path of the tree of a target as its parity has it.
fn beneath(source: &ParitySource, target: &RepairTarget, path: &Path) -> Option<PathBuf> {
    target.root.join(path).strip_prefix(source.place().root()).map(Path::to_owned).ok()
}

/// The parity of a tree, and what is said of parity that is not used.
type FoundPlace = Result<Option<ParityPlace>, (String, Option<Advice>)>;

/// The parity of the trees of a repair, by root. Each is opened once, because that reads the index
/// of every set.
#[derive(Default)]
pub(super) struct Parities {
    sources: OpenParity,
    /// The place that was found last, the folder of its targets, and what was selected above it.
    place: Option<((PathBuf, PathBuf), FoundPlace)>,
    /// The catalogue that was opened last.
    catalogue: Option<(PathBuf, Option<Rc<Catalogue>>)>,
}

/// Parity that was opened, or why it could not be, by root.
pub(super) type OpenParity = BTreeMap<PathBuf, Result<ParitySource, String>>;

impl Parities {
    /// Goes on with what was opened before.
    pub(super) fn of(sources: OpenParity) -> Parities {
        Parities { sources, ..Parities::default() }
    }

    /// Returns what was opened.
    pub(super) fn into_open(self) -> OpenParity {
        self.sources
    }

    /// Rebuilds a file from parity; `None` if no parity has it. The copy has what is not right in
    /// the parts that the file is `lacking`, or all pages if these are not given.
    ///
    /// # Errors
    /// If the parity or the copy cannot be used, or the run was stopped.
    pub(super) fn copy_of(
        &mut self,
        target: &RepairTarget,
        own: Option<&Own>,
        lacking: Option<&ByteRanges>,
        stop: &AtomicBool,
    ) -> Result<Option<OpenCopy>, FileError> {
        let Some((source, relative)) = self.source(target)? else { return Ok(None) };
        let own = own.map(|own| &own.file);
        let mut copy = source.copy_of(&relative, &target.tag, own, lacking, stop)?;
        for former in target.former.iter().filter_map(|former| beneath(source, target, former)) {
            if copy.is_none() {
                copy = source.copy_of(&former, &target.tag, own, lacking, stop)?;
            }
        }
        Ok(copy.map(|copy| OpenCopy {
            path: source.place().folder(),
            file: copy.file,
            length: target.tag.length,
        }))
    }

    /// Opens the catalogue of a tree. `None` if there is none, or it cannot be read.
    pub(super) fn catalogue(&mut self, file: Option<&Path>) -> Option<Rc<Catalogue>> {
        let file = file?;
        let last = self.catalogue.take().filter(|(last, _)| last == file);
        let open = || (file.to_owned(), Catalogue::open_reader(file).ok().map(Rc::new));
        self.catalogue.insert(last.unwrap_or_else(open)).1.clone()
    }

    /// Returns what belonged to a file when it was protected.
    pub(super) fn belongings_of(&mut self, target: &RepairTarget) -> Option<ProtectedBelongings> {
        let (source, relative) = self.source(target).ok().flatten()?;
        source.belongings_of(&relative, &target.tag)
    }

    /// Says whether some parity was made of the contents of a file. How much of it is left is not
    /// looked at.
    pub(super) fn has(&mut self, target: &RepairTarget) -> bool {
        let source = self.source(target).ok().flatten();
        source.is_some_and(|(source, relative)| {
            let former = target.former.iter().filter_map(|former| beneath(source, target, former));
            let mut paths = [relative].into_iter().chain(former);
            paths.any(|path| source.has(&path, &target.tag))
        })
    }

    /// Returns the parity of the tree that a file is in, and its path there; `None` if the tree has
    /// none.
    fn source(
        &mut self,
        target: &RepairTarget,
    ) -> Result<Option<(&ParitySource, PathBuf)>, FileError> {
        let unusable = |reason: String, advice: Option<Advice>| FileError {
            advice: advice.map(Box::new),
            ..FileError::new("use its parity", reason)
        };
        // A tree is at its real path, and its files are beneath it.
        let path = target.root.join(&target.relative);
        let folder = path.parent().unwrap_or(&target.root).to_owned();
        let above = target.selected.components().count().max(1);
        let selected = path.ancestors().nth(above).unwrap_or(&target.root).to_owned();
        let key = (folder, selected);
        let last = self.place.take().filter(|(last, _)| *last == key);
        let (_, place) = self.place.insert(last.unwrap_or_else(|| (key, find_place(target))));
        let place = match place {
            Ok(Some(place)) => place.clone(),
            Ok(None) => return Ok(None),
            Err((reason, advice)) => return Err(unusable(reason.clone(), advice.clone())),
        };
        let Ok(relative) = path.strip_prefix(place.root()) else { return Ok(None) };
        let source = self.sources.entry(place.root().to_owned());
        let source =
            source.or_insert_with(|| ParitySource::open(&place).map_err(|error| error.to_string()));
        match source {
            Ok(source) => Ok(Some((source, relative.to_owned()))),
            Err(reason) => Err(unusable(reason.clone(), None)),
        }
    }
}

/// Finds the parity of the tree that a file is in.
fn find_place(target: &RepairTarget) -> FoundPlace {
    let path = target.root.join(&target.relative);
    // The folder of a missing file may be missing too.
    let folder = path.parent().and_then(beneath::folder_above);
    let Some(folder) = folder.filter(|it| it.starts_with(&target.root)) else { return Ok(None) };
    let mut passed = None;
    let place = ParityPlace::find(folder, &target.selected_path(), &mut |notice| {
        passed = Some(notice);
    });
    match (place.map_err(|error| (error.message(), error.advice().cloned()))?, passed) {
        (Some(place), _) => Ok(Some(place)),
        (None, Some(notice)) => Err((notice.text, notice.advice)),
        (None, None) => Ok(None),
    }
}
