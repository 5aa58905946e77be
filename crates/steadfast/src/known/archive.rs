//! An archive: a tree with a catalogue, a catalogue whose tree is not mounted, a tree of tagged
//! files, or a list.

use std::cell::RefCell;
use std::ffi::OsStr;
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use steadfast_digest::Algorithm;
use steadfast_sys::file::{ChangeTimes, Dir, Status};
use steadfast_sys::storage::{StoragePlace, storage_place};

use super::KnownPlace;
use super::list::ListedFiles;
use super::worklist::{DigestFilter, HeldPlace, SeenFile, Worklist};
use crate::beneath::{self, LastDir};
use crate::catalogue::{
    Catalogue, CatalogueError, CatalogueErrorKind, RecordedContents, TreeList, is_inside, real_of,
};
use crate::error::Error;
use crate::event::Notice;
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
    /// The list that it is, if it is one. Its root is the path of the list.
    listed: Option<ListedFiles>,
    /// Whether the catalogue that is there is of another tree. It is not used.
    pub(super) is_other: bool,
    /// The part of the tree that was named.
    part: PathBuf,
    /// That part, if the tree is there.
    dir: Option<Dir>,
    last: RefCell<LastDir>,
    ignores_change_times: bool,
}

/// Says whether a path is the file of a catalogue.
pub(super) fn is_catalogue_file(path: &Path) -> bool {
    beneath::is_file(path)
        && (path.file_name() == Some(OsStr::new(FILE))
            || (path.extension() == Some(OsStr::new("sqlite"))
                && Catalogue::open_reader(path).is_ok()))
}

impl Archive {
    /// Opens the archive that a path names. Its tree is reached by names alone from one of the
    /// directories `within`, if there are any.
    ///
    /// # Errors
    /// If there is none, or its catalogue cannot be read.
    pub(crate) fn open(
        path: &Path,
        within: &[PathBuf],
        options: &Options,
    ) -> Result<Archive, Error> {
        let real = path.canonicalize();
        if let Ok(real) = real.as_ref()
            && beneath::is_file(real)
        {
            if let Some(list) = ListedFiles::open(path)? {
                return Ok(Archive {
                    root: path.to_owned(),
                    real: real.clone(),
                    catalogue: None,
                    listed: Some(list),
                    is_other: false,
                    part: PathBuf::new(),
                    dir: None,
                    last: RefCell::default(),
                    ignores_change_times: options.ignore_change_times,
                });
            }
            return Archive::of_catalogue(path, None, (within, options));
        }
        let trees = options.catalogue.trees.as_deref().map(TreeList::at);
        let listed = trees.zip(real_of(path)).and_then(|(it, root)| it.of_root(&root));
        let listed = listed.map(|tree| tree.catalogue).filter(|file| Catalogue::is_found(file));
        let found = listed.or_else(|| Catalogue::find(real.as_ref().ok()?));
        let archive =
            found.map(|file| Archive::of_catalogue(&file, real.as_deref().ok(), (within, options)));
        let archive = archive.transpose()?;
        let is_other = archive.as_ref().is_some_and(|archive| archive.is_other);
        if let Some(archive) = archive.filter(|archive| !archive.is_other) {
            return Ok(archive);
        }
        let opened = real.and_then(|real| Ok((opened(path, within)?, real)));
        let (dir, real) =
            opened.map_err(|error| Error::system("open the archive", error).at(path))?;
        Ok(Archive {
            root: path.to_owned(),
            real,
            catalogue: None,
            listed: None,
            is_other,
            part: PathBuf::new(),
            dir: Some(dir),
            last: RefCell::default(),
            ignores_change_times: options.ignore_change_times,
        })
    }

    fn of_catalogue(
        file: &Path,
        named: Option<&Path>,
        (within, options): (&[PathBuf], &Options),
    ) -> Result<Archive, Error> {
        let catalogue = Catalogue::open_reader(file)?;
        let root = catalogue.root().to_owned();
        let part = named.and_then(|named| named.strip_prefix(&root).ok()).unwrap_or(Path::new(""));
        let guarded = catalogue.guard();
        let is_refused = |error: CatalogueError| error.kind() == CatalogueErrorKind::OtherVolume;
        let dir = guarded.as_ref().ok().and_then(|()| opened(&root.join(part), within).ok());
        // That of a tree which is not mounted is kept elsewhere.
        let is_other = guarded.is_err_and(is_refused) && is_inside(&root, file);
        let (real, part, last) = (root.clone(), part.to_owned(), RefCell::default());
        let ignores_change_times = options.ignore_change_times;
        let catalogue = Some(catalogue);
        let listed = None;
        Ok(Archive {
            root,
            real,
            catalogue,
            listed,
            is_other,
            part,
            dir,
            last,
            ignores_change_times,
        })
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
        let is_listed = self.listed.is_some();
        KnownPlace { path: self.root.join(path), is_there: self.is_mounted(), is_listed }
    }

    /// Returns the list that it is, if it is one.
    pub(crate) fn listed(&self) -> Option<&ListedFiles> {
        self.listed.as_ref()
    }

    /// Returns whether its tree is there.
    pub(crate) fn is_mounted(&self) -> bool {
        self.dir.is_some()
    }

    /// Returns the directory that was named, or the root of its tree.
    pub(crate) fn named(&self) -> PathBuf {
        match self.part.as_os_str().is_empty() {
            true => self.root.clone(),
            false => self.root.join(&self.part),
        }
    }

    /// Returns the path of a place, if the tree is there.
    pub(crate) fn path_of(&self, place: &Path) -> Option<PathBuf> {
        self.is_mounted().then(|| self.root.join(place))
    }

    /// Returns whether its path still leads to the directory that was opened. What was opened
    /// beneath that is opened anew from now on.
    pub(crate) fn is_here(&self) -> bool {
        *self.last.borrow_mut() = LastDir::default();
        let is_same = |dir: &Dir| {
            let (now, then) = (Status::of(&self.named())?, dir.status()?);
            Ok::<_, io::Error>((now.device, now.inode) == (then.device, then.inode))
        };
        self.dir.as_ref().is_none_or(|dir| is_same(dir).unwrap_or(false))
    }

    /// Returns the status of what is at a place now. No link is followed.
    ///
    /// # Errors
    /// Whatever the system says; also if the tree is not there.
    pub(crate) fn status_of(&self, place: &Path) -> io::Result<Status> {
        let dir = self.dir.as_ref().ok_or(io::ErrorKind::NotFound)?;
        let below = place.strip_prefix(&self.part).map_err(io::Error::other)?;
        self.last.borrow_mut().status(dir, below)
    }

    /// Returns whether a file is the recorded one and was not written since, as far as its status
    /// shows.
    fn is_as_recorded(&self, place: &HeldPlace, there: &Status) -> bool {
        let (was, now) = (place.recorded, SeenFile::of(there));
        let keeps_change_times = || match beneath::file(&self.root, &place.path()) {
            Ok(file) => file.change_times() != ChangeTimes::Unknown,
            Err(_) => true,
        };
        let is_same = (was.inode, was.changed) == (now.inode, now.changed);
        (was.length, was.mtime) == (now.length, now.mtime)
            && (is_same || self.ignores_change_times || !keeps_change_times())
    }

    /// Returns how many files it has beneath a directory, if a catalogue tells.
    pub(super) fn files_beneath(&self, dir: &Path) -> Result<Option<u64>, Error> {
        let Some(catalogue) = &self.catalogue else { return Ok(None) };
        Ok(Some(catalogue.files_beneath(dir)?))
    }

    /// Lists the files of an archive without a catalogue by their tags, if these are up to date, or
    /// by the list that it is. Returns how many have no tag.
    pub(super) fn list_tags(
        &self,
        at: usize,
        list: &mut Worklist,
        (within, options): (&[PathBuf], &Options),
        notice: &mut dyn FnMut(Notice),
    ) -> Result<u64, Error> {
        if let Some(listed) = &self.listed {
            let all = !list.reads_all();
            let counts = |algorithm: Algorithm| all || algorithm.proves_sameness();
            return listed.hold(at, list, counts, notice).map(|()| 0);
        }
        if self.catalogue.is_some() {
            return Ok(0);
        }
        let selection = match within.is_empty() {
            true => Selection::of([&self.root]),
            false => Selection::default().with(|it| {
                it.listed = vec![self.root.clone()];
                it.within = within.to_owned();
            }),
        };
        let (stop, excludes) = (&options.controls.stop, Excludes::new(&[])?);
        let (mut outcome, mut unrecorded) = (Ok(()), 0);
        walk(&selection, &excludes, has_tag, stop, &mut |found| {
            let WalkItem::File(entry) = found else { return ControlFlow::Continue(()) };
            let full = entry.path.to_path();
            let tagged = entry.open().and_then(|file| Ok((tag_at(&file, &full)?, file.status()?)));
            if let Ok((StoredTag::Whole(tag), status)) = tagged
                && (tag.length, tag.mtime) == (status.length, status.mtime)
                && let Ok(path) = full.strip_prefix(&self.root)
            {
                let it = RecordedContents { path: path.to_owned(), tag, facts: (&status).into() };
                outcome = list.hold(at, &it);
            } else {
                unrecorded += 1;
            }
            if outcome.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        outcome.map(|()| unrecorded)
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
        if self.is_mounted() {
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
            if it.path.starts_with(&self.part) {
                outcome = visit(&it);
            }
            if outcome.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })?;
        outcome
    }
}

fn opened(path: &Path, within: &[PathBuf]) -> io::Result<Dir> {
    if within.is_empty() { Dir::open(path) } else { beneath::directory_within(within, path) }
}

/// What is asked about: the real paths, and where their folders lie.
#[derive(Default)]
pub(super) struct OwnPlaces {
    pub(super) paths: Vec<PathBuf>,
    pub(super) shown: Vec<StoragePlace>,
}

/// Compares the listed places of mounted archives with what is there, and removes those whose
/// record describes another file. Returns how many. What is beneath what is asked about, or is
/// shown by it, is no other place, and is removed too.
pub(super) fn remove_stale(
    archives: &[Archive],
    own: &OwnPlaces,
    list: &Worklist,
) -> Result<u64, Error> {
    let (mut after, mut stale) = (0, 0);
    let shown = archives.iter().map(|archive| match own.shown.is_empty() {
        true => None,
        false => storage_place(&archive.named()).ok(),
    });
    let shown: Vec<Option<StoragePlace>> = shown.collect();
    loop {
        let places = list.unchecked(after, BATCH_LEN)?;
        let Some(last) = places.last() else { return Ok(stale) };
        after = last.row;
        for place in &places {
            let archive = &archives[place.archive];
            if !archive.is_mounted() {
                continue;
            }
            let path = archive.real.join(place.path());
            let is_own = || {
                let below = place.path();
                let below = below.strip_prefix(&archive.part).unwrap_or(&below);
                let lies = shown[place.archive].as_ref();
                lies.is_some_and(|it| own.shown.iter().any(|own| it.is_beneath(below, own)))
            };
            if own.paths.iter().any(|own| path.starts_with(own)) || is_own() {
                list.settle(place.row, None)?;
                continue;
            }
            let there = archive.status_of(&place.path()).ok();
            let there = there.filter(|there| archive.is_as_recorded(place, there));
            stale += u64::from(there.is_none());
            list.settle(place.row, there.as_ref())?;
        }
    }
}
