//! An archive: a tree with a catalogue, a catalogue whose tree is not mounted, or a tree of tagged
//! files.

use std::ffi::OsStr;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use steadfast_digest::Algorithm;
use steadfast_sys::file::Status;

use super::KnownPlace;
use super::worklist::{DigestFilter, Worklist};
use crate::beneath::LastDir;
use crate::catalogue::{Catalogue, RecordedContents, TreeList, real_of};
use crate::error::Error;
use crate::run::Options;
use crate::selection::Selection;
use crate::store::{StoredTag, has_tag, tag_at};
use crate::tree_folder::FILE;
use crate::walk::{Excludes, WalkItem, walk};

/// Places that are compared with what is there at a time.
const BATCH_LEN: usize = 16_384;

/// An archive.
pub(crate) struct Archive {
    /// The directory that the paths of its places begin at.
    root: PathBuf,
    /// The same without links, as far as it is there.
    real: PathBuf,
    /// The catalogue of the root, if there is one.
    catalogue: Option<Catalogue>,
    /// The part of the tree that was named.
    within: PathBuf,
    /// Whether the tree is there.
    is_mounted: bool,
}

/// Says whether a path is the file of a catalogue.
pub(super) fn is_catalogue_file(path: &Path) -> bool {
    path.is_file()
        && (path.file_name() == Some(OsStr::new(FILE))
            || (path.extension() == Some(OsStr::new("sqlite"))
                && Catalogue::open_reader(path).is_ok()))
}

impl Archive {
    /// Opens the archive that a path names.
    ///
    /// # Errors
    /// If there is none, or its catalogue cannot be read.
    pub(crate) fn open(path: &Path, options: &Options) -> Result<Archive, Error> {
        let real = path.canonicalize();
        if real.as_ref().is_ok_and(|real| real.is_file()) {
            return Archive::of_catalogue(path, None);
        }
        let trees = options.catalogue.trees.as_deref().map(TreeList::at);
        let listed = trees.zip(real_of(path)).and_then(|(it, root)| it.of_root(&root));
        if let Some(tree) = listed.filter(|tree| Catalogue::is_found(&tree.catalogue)) {
            return Archive::of_catalogue(&tree.catalogue, None);
        }
        let real = real.map_err(|error| Error::system("open the archive", error).at(path))?;
        match Catalogue::find(&real) {
            Some(file) => Archive::of_catalogue(&file, Some(&real)),
            None => Ok(Archive {
                root: path.to_owned(),
                real,
                catalogue: None,
                within: PathBuf::new(),
                is_mounted: true,
            }),
        }
    }

    fn of_catalogue(file: &Path, named: Option<&Path>) -> Result<Archive, Error> {
        let catalogue = Catalogue::open_reader(file)?;
        let root = catalogue.root().to_owned();
        let within =
            named.and_then(|named| named.strip_prefix(&root).ok()).unwrap_or(Path::new(""));
        let is_mounted = catalogue.guard().is_ok();
        let (real, within) = (root.clone(), within.to_owned());
        Ok(Archive { root, real, catalogue: Some(catalogue), within, is_mounted })
    }

    /// Returns the algorithms of its catalogue.
    pub(super) fn algorithms(&self) -> Result<Vec<Algorithm>, Error> {
        match &self.catalogue {
            Some(catalogue) => Ok(catalogue.algorithms()?),
            None => Ok(Vec::new()),
        }
    }

    /// Returns a place of the archive for a report.
    pub(crate) fn place(&self, path: &Path) -> KnownPlace {
        KnownPlace { path: self.root.join(path), is_there: self.is_mounted }
    }

    /// Returns the root of an archive whose tree is there.
    pub(crate) fn mounted_root(&self) -> Option<&Path> {
        self.is_mounted.then_some(&*self.root)
    }

    /// Returns how many files it has beneath a directory, if a catalogue tells.
    pub(super) fn files_beneath(&self, dir: &Path) -> Result<Option<u64>, Error> {
        let Some(catalogue) = &self.catalogue else { return Ok(None) };
        Ok(Some(catalogue.files_beneath(dir)?))
    }

    /// Lists the files of an archive without a catalogue by their tags, if these are up to date.
    pub(super) fn list_tags(
        &self,
        at: usize,
        list: &mut Worklist,
        options: &Options,
    ) -> Result<(), Error> {
        if self.catalogue.is_some() {
            return Ok(());
        }
        let selection = Selection::of([&self.root]);
        let (stop, excludes) = (&options.controls.stop, Excludes::new(&[])?);
        let mut outcome = Ok(());
        walk(&selection, &excludes, has_tag, stop, &mut |found| {
            let WalkItem::File(entry) = found else { return ControlFlow::Continue(()) };
            let full = entry.path.to_path();
            let tagged = entry.open().and_then(|file| Ok((tag_at(&file, &full)?, file.status()?)));
            if let Ok((StoredTag::Whole(tag), status)) = tagged
                && (tag.length, tag.mtime) == (status.length, status.mtime)
                && let Ok(path) = full.strip_prefix(&self.root)
            {
                let it = RecordedContents { path: path.to_owned(), tag, mtime: status.mtime };
                outcome = list.hold(at, &it);
            }
            if outcome.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        outcome
    }

    /// Lists the files of a catalogue that pass a filter.
    pub(super) fn list_contents(
        &self,
        at: usize,
        algorithm: Algorithm,
        filter: &DigestFilter,
        list: &mut Worklist,
    ) -> Result<(), Error> {
        self.each(&|digest| filter.has(digest), &mut |it| match it.tag.algorithm == algorithm {
            true => list.hold(at, it),
            false => Ok(()),
        })
    }

    /// Lists its files as those that are looked for, by their records.
    ///
    /// # Errors
    /// If the tree is there: its files may have changed since, so the tree is to be named.
    pub(super) fn list_as_selection(&self, list: &mut Worklist) -> Result<(), Error> {
        if self.is_mounted {
            let text = "the tree of this catalogue is there: name the tree, not its catalogue";
            return Err(Error::usage(text).at(&self.root));
        }
        self.each(&|_| true, &mut |it| list.add_recorded(&self.root, it))
    }

    fn each(
        &self,
        is_wanted: &dyn Fn(&[u8]) -> bool,
        visit: &mut dyn FnMut(&RecordedContents) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let Some(catalogue) = &self.catalogue else { return Ok(()) };
        let mut outcome = Ok(());
        catalogue.contents(is_wanted, &mut |it| {
            if it.path.starts_with(&self.within) {
                outcome = visit(&it);
            }
            if outcome.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })?;
        outcome
    }
}

/// Compares the listed places of mounted archives with what is there, and removes those whose
/// record describes another file. Returns how many. What is beneath one of `own`, the real paths
/// that are asked about, is no other place, and is removed too.
pub(super) fn remove_stale(
    archives: &[Archive],
    own: &[PathBuf],
    list: &Worklist,
) -> Result<u64, Error> {
    let (mut after, mut stale) = (0, 0);
    let mut dirs = LastDir::default();
    loop {
        let places = list.unchecked(after, BATCH_LEN)?;
        let Some(last) = places.last() else { return Ok(stale) };
        after = last.row;
        for place in &places {
            let Some(root) = archives[place.archive].mounted_root() else { continue };
            let path = archives[place.archive].real.join(place.path());
            if own.iter().any(|own| path.starts_with(own)) {
                list.settle(place.row, None)?;
                continue;
            }
            let there = dirs.status(root, &place.path()).ok();
            let same = |it: &Status| (it.length, it.mtime) == (place.length, place.mtime);
            let there = there.filter(same);
            stale += u64::from(there.is_none());
            list.settle(place.row, there.as_ref())?;
        }
    }
}
