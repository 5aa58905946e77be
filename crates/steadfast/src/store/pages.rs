//! Stores the leaves of pages beside tags.
//!
//! Takes the bytes of a file, as a run reads them to tag it, then the tag. Stores the leaves of its
//! pages, either complete or not at all under their name. They are named after the tag, so that
//! leaves of other contents are not found. Leaves beside their file are checked by the tag in their
//! header. A limited amount of each file's leaves is in memory; the rest is in a draft.

mod place;

use std::ffi::OsString;
use std::fmt;
use std::io::{self, Seek as _, Write as _};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Once};

use steadfast_digest::Algorithm;
use steadfast_sys::file::{Dir, Draft, Existing, FileKind, Status};
use steadfast_sys::xattr;

use crate::advice::Advice;
use crate::beneath;
use crate::calibration::lanes_for;
use crate::error::Error;
use crate::event::{FileError, FileEvent};
use crate::pages::{
    DRAFT_SUFFIX, HEADER_LEN, Header, Kept, MAGIC, PAGE_LEN_DEFAULT, PagesUse, SIDECAR_SUFFIX,
};
use crate::verity::{LeafHasher, Tree, VerityHash, VerityParams};
pub(crate) use place::{LeavesFolder, with_suffix};
use place::{beside, ensure_leaves, sidecar};
use steadfast_manifest::tag::Tag;

/// Bytes of one file's leaves in memory: the leaves of 8 MiB, at 4 KiB a page.
const WAITING_LEN_MAX: usize = 64 << 10;

/// The shortest digest, in bytes, that distinguishes the contents of files.
const DIGEST_LEN_MIN: usize = 16;

/// The prefix of drafts in a tree's folder.
const DRAFT: &str = "draft-";

const KEEPING: &str = "keep its leaves";

/// Makes the error of unusable leaves, with how to make them again. `sidecars` means that they are
/// beside their file.
pub(crate) fn trouble(error: &io::Error, sidecars: bool) -> FileError {
    let trouble = FileError::from_io("use the leaves", error);
    if error.kind() == io::ErrorKind::InvalidData {
        return trouble.advise(Advice::TagPagesAgain { beside: sidecars });
    }
    trouble
}

/// Returns opened leaves if they belong to the contents of a tag.
fn of_tag(opened: io::Result<Kept>, tag: &Tag) -> io::Result<Option<Kept>> {
    match opened {
        Ok(kept) => Ok(kept.header().is_of(tag).then_some(kept)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Finds the leaves that are kept for a tag of a file: in the folder beside the catalogue, or
/// beside the file.
///
/// # Errors
/// If leaves with its name exist and none can be read.
pub(crate) fn find(
    tag: &Tag,
    path: &Path,
    folder: Option<&LeavesFolder>,
) -> io::Result<Option<(PathBuf, Kept)>> {
    let mut failed = None;
    let mut take = |place: PathBuf, opened| match of_tag(opened, tag) {
        Ok(kept) => kept.map(|kept| (place, kept)),
        Err(error) => {
            failed.get_or_insert(error);
            None
        }
    };
    let lens = folder.map(LeavesFolder::page_lens).unwrap_or_default();
    let kept = folder.iter().flat_map(|folder| lens.iter().map(move |len| (folder, *len)));
    let mut kept = kept.map(|(folder, len)| (folder.place(len, tag), folder.open(len, tag)));
    let found = kept.find_map(|(place, opened)| take(place, opened));
    let found = found.or_else(|| take(sidecar(path), Kept::open(&sidecar(path))));
    match (found, failed) {
        (None, Some(error)) => Err(error),
        (found, _) => Ok(found),
    }
}

/// Keeps the leaves of a run's files.
#[derive(Debug)]
pub(crate) struct PageKeeper {
    /// The folder of the catalogue's leaves.
    catalogue: Option<LeavesFolder>,
    /// Whether new leaves are stored beside each file.
    sidecars: bool,
    params: VerityParams,
    /// Whether leaves are kept for every file, or only for files that have some already.
    every: bool,
    /// Whether the user requested leaves. If so, they are made for files with a valid tag as well.
    asked: bool,
    drafts: AtomicU64,
    /// Done once the drafts of other runs are removed from the tree's folder.
    swept: Once,
    /// Set when the run should end.
    stop: Arc<AtomicBool>,
}

impl PageKeeper {
    /// Prepares to keep leaves, or only to find them.
    ///
    /// # Errors
    /// If leaves are requested and have no place.
    pub(crate) fn new(
        wanted: PagesUse,
        catalogue: Option<LeavesFolder>,
        stop: Arc<AtomicBool>,
    ) -> Result<PageKeeper, Error> {
        let lens = catalogue.as_ref().map(LeavesFolder::page_lens).unwrap_or_default();
        let (asked, page_len, sidecars) = match wanted {
            PagesUse::Kept => (false, None, lens.is_empty()),
            PagesUse::All { page_len, sidecars } => (true, page_len, sidecars),
        };
        if asked && catalogue.is_none() && !sidecars {
            let text = "leaves are kept where the tree's catalogue is, and there is none";
            return Err(Error::usage(text).advise(Advice::MakeCatalogueOrSidecars));
        }
        let sidecars = sidecars || catalogue.is_none();
        let there = lens.first().copied().filter(|_| !sidecars);
        if let (Some(there), Some(page_len)) = (there, page_len)
            && there != page_len
        {
            let why = format!("this tree keeps leaves of pages of {there} bytes");
            return Err(Error::usage(why));
        }
        let page_len = page_len.or(there).unwrap_or(PAGE_LEN_DEFAULT);
        let params = VerityParams::new(VerityHash::Sha256, page_len, b"");
        Ok(PageKeeper {
            every: asked || !sidecars,
            catalogue,
            sidecars,
            params: params.map_err(|error| Error::usage(error.to_string()))?,
            asked,
            drafts: AtomicU64::new(0),
            swept: Once::new(),
            stop,
        })
    }

    /// Returns whether leaves are kept beside their files.
    pub(crate) fn has_sidecars(&self) -> bool {
        self.folder().is_none()
    }

    /// Returns whether the user requested leaves, including those of files with a valid tag.
    pub(crate) fn is_asked(&self) -> bool {
        self.asked
    }

    /// Returns whether leaves should be made for a file that will have a tag of `algorithm`: the
    /// file has more than one page, the digest is long enough, and the leaves do not exist.
    pub(crate) fn wants(&self, event: &FileEvent, algorithm: Algorithm) -> bool {
        let Some(status) = event.visit.status else { return false };
        let lacks = self.lacks(event, &status, algorithm);
        if self.asked && !lacks {
            self.remove_drafts(&event.path.to_path(), &status);
        }
        lacks
    }

    fn lacks(&self, event: &FileEvent, status: &Status, algorithm: Algorithm) -> bool {
        if status.length <= self.params.page_len() as u64 || algorithm.digest_len() < DIGEST_LEN_MIN
        {
            return false;
        }
        let path = event.path.to_path();
        let there = || beneath::presence_of(&sidecar(&path)).of_kind(FileKind::Regular);
        let has_sidecar = || there().status().is_some();
        if !self.every && !has_sidecar() {
            return false;
        }
        let Some(stored) = event.stored else { return true };
        let stands = (stored.algorithm, stored.length, stored.mtime)
            == (algorithm, status.length, status.mtime);
        !stands || !self.has(&stored, &path)
    }

    /// Removes drafts of killed runs that no new leaves will replace.
    ///
    /// Errors are ignored, because a draft that stays only uses space.
    fn remove_drafts(&self, path: &Path, status: &Status) {
        if let Some(folder) = self.folder() {
            self.swept.call_once(|| {
                let opened = folder.open_existing(self.params.page_len());
                let _ = opened.map(|dir| remove_other_drafts(&dir));
            });
            return;
        }
        let _ = beside(path, status).and_then(|(dir, mut name)| {
            name.push(DRAFT_SUFFIX);
            ensure_leaves(&dir, &name)?;
            dir.remove_file(&name)
        });
    }

    /// Returns whether the leaves for a tag exist where this run would keep them, and are whole.
    fn has(&self, tag: &Tag, path: &Path) -> bool {
        let opened = match self.folder() {
            Some(folder) => folder.open(self.params.page_len(), tag),
            None => Kept::open(&sidecar(path)),
        };
        let kept = of_tag(opened, tag);
        matches!(kept, Ok(Some(kept)) if kept.ensure_whole(&self.stop).is_ok())
    }

    /// Checks that the leaves kept for a tag in the tree's folder are whole, if there are any.
    ///
    /// # Errors
    /// `InvalidData` if they are torn or damaged; `Interrupted` if the run was stopped; otherwise
    /// if they cannot be read.
    pub(crate) fn ensure_whole(&self, tag: &Tag) -> io::Result<()> {
        let Some(folder) = self.folder().filter(|_| self.every) else { return Ok(()) };
        match of_tag(folder.open(self.params.page_len(), tag), tag)? {
            Some(kept) => kept.ensure_whole(&self.stop),
            None => Ok(()),
        }
    }

    /// Returns the folder of new leaves; `None` if they are stored beside each file.
    fn folder(&self) -> Option<&LeavesFolder> {
        self.catalogue.as_ref().filter(|_| !self.sidecars)
    }

    /// Finds the leaves that are kept for a tag, in either place.
    pub(crate) fn find(&self, tag: &Tag, path: &Path) -> io::Result<Option<Kept>> {
        Ok(find(tag, path, self.catalogue.as_ref())?.map(|(_, kept)| kept))
    }

    /// Starts the leaves of a file.
    pub(crate) fn begin(self: &Arc<Self>, event: &FileEvent) -> Box<Leaves> {
        Box::new(Leaves {
            path: event.path.to_path(),
            status: event.visit.status,
            hasher: self.hasher(event.visit.status.map_or(0, |status| status.length)),
            tree: Tree::new(&self.params),
            check: 0,
            waiting: Vec::new(),
            draft: None,
            fault: None,
            keeper: Arc::clone(self),
        })
    }

    /// Makes the hasher for the pages of a file of this length.
    fn hasher(&self, length: u64) -> LeafHasher {
        LeafHasher::new(&self.params, lanes_for(length))
    }

    /// Creates a new file to write leaves to, under the name of a draft.
    fn draft(&self, path: &Path, status: Option<&Status>) -> io::Result<Draft> {
        let (dir, name) = match self.folder() {
            Some(folder) => {
                let number = self.drafts.fetch_add(1, Ordering::Relaxed);
                let dir = folder.make(self.params.page_len())?;
                self.swept.call_once(|| remove_other_drafts(&dir));
                (dir, OsString::from(format!("{}{number}", own_draft_prefix())))
            }
            None => {
                let unseen = || io::Error::other("its facts are not known");
                let (dir, mut name) = beside(path, status.ok_or_else(unseen)?)?;
                name.push(DRAFT_SUFFIX);
                (dir, name)
            }
        };
        let mut draft = match Draft::named(&dir, &name) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                // A killed run left it behind.
                ensure_leaves(&dir, &name)?;
                dir.remove_file(&name)?;
                Draft::named(&dir, &name)?
            }
            made => made?,
        };
        if self.has_sidecars() {
            // On file systems without attributes, torn leaves are recognised by their bytes alone.
            let _ = draft.to_file().and_then(|file| xattr::set(&file, xattr::LEAVES, b"1"));
        }
        let mut blank = [0; HEADER_LEN];
        blank[..MAGIC.len()].copy_from_slice(MAGIC);
        draft.write_all(&blank)?;
        Ok(draft)
    }
}

/// Returns the prefix of this process's drafts in a tree's folder.
fn own_draft_prefix() -> String {
    format!("{DRAFT}{}-", std::process::id())
}

/// Removes drafts that other processes left in a folder. None of them is in use, because a run that
/// writes to a catalogue has it locked.
fn remove_other_drafts(folder: &Dir) {
    let mut left = Vec::new();
    let own = own_draft_prefix();
    let is_left = |name: &str| name.starts_with(DRAFT) && !name.starts_with(&own);
    // Drafts that cannot be listed or removed only use space.
    let _ = folder.entries(&mut |entry| {
        left.extend(entry.name.to_str().filter(|name| is_left(name)).map(OsString::from));
        ControlFlow::Continue(())
    });
    for name in left {
        let _ = folder.remove_file(&name);
    }
}

/// The leaves of one file while it is read.
pub(crate) struct Leaves {
    path: PathBuf,
    /// The status of the file when it was opened.
    status: Option<Status>,
    hasher: LeafHasher,
    tree: Tree,
    check: u32,
    waiting: Vec<u8>,
    draft: Option<Draft>,
    /// The error of the draft. The file is hashed nevertheless.
    fault: Option<io::Error>,
    keeper: Arc<PageKeeper>,
}

impl Leaves {
    /// Takes the next bytes of the file.
    pub(crate) fn take(&mut self, data: &[u8]) {
        if self.fault.is_some() {
            return;
        }
        let before = self.waiting.len();
        self.hasher.update(data, &mut self.waiting);
        self.tree.push_all(&self.waiting[before..]);
        if self.waiting.len() >= WAITING_LEN_MAX {
            self.fault = self.pour().err();
        }
    }

    /// Writes the buffered leaves to the draft.
    fn pour(&mut self) -> io::Result<()> {
        let draft = match &mut self.draft {
            Some(draft) => draft,
            none => none.insert(self.keeper.draft(&self.path, self.status.as_ref())?),
        };
        draft.write_all(&self.waiting)?;
        self.check = crc32c::crc32c_append(self.check, &self.waiting);
        self.waiting.clear();
        Ok(())
    }

    /// Keeps the leaves once the whole file is read and has its tag. The leaves of the tag that it
    /// `replaces` are removed, because otherwise the folder would grow with every edit.
    pub(crate) fn keep(self, tag: &Tag, replaces: Option<&Tag>) -> Result<(), FileError> {
        self.try_keep(tag, replaces).map_err(|error| FileError::from_io(KEEPING, &error))
    }

    fn try_keep(mut self, tag: &Tag, replaces: Option<&Tag>) -> io::Result<()> {
        if let Some(fault) = self.fault.take() {
            return Err(fault);
        }
        let before = self.waiting.len();
        let none = self.keeper.hasher(0);
        std::mem::replace(&mut self.hasher, none).finish(&mut self.waiting);
        self.tree.push_all(&self.waiting[before..]);
        self.pour()?;
        let tree = std::mem::replace(&mut self.tree, Tree::new(&self.keeper.params));
        let header = Header {
            hash: self.keeper.params.hash(),
            page_len: self.keeper.params.page_len(),
            length: tag.length,
            root: tree.root(),
            algorithm: tag.algorithm,
            digest: tag.digest,
        };
        let mut draft = self.draft.take().expect("leaves were just poured into it");
        draft.write_all(&self.check.to_le_bytes())?;
        draft.rewind()?;
        draft.write_all(&header.encode())?;
        self.publish(draft, tag)?;
        let old = replaces.filter(|old| (old.algorithm, old.digest) != (tag.algorithm, tag.digest));
        if let (Some(folder), Some(old)) = (self.keeper.folder(), old) {
            // If another file had the same contents, its leaves are made again when they are
            // requested.
            let _ = folder.remove(self.keeper.params.page_len(), old);
        }
        Ok(())
    }

    /// Renames a complete draft. The directory is not flushed, because that doubles the cost and
    /// leaves lost in a power failure are made again.
    fn publish(&self, draft: Draft, tag: &Tag) -> io::Result<()> {
        if let Some(folder) = self.keeper.folder() {
            let (dir, name) = folder.make_for(self.keeper.params.page_len(), tag)?;
            return draft.publish_in(&dir, &name, Existing::Replace);
        }
        if let Some(status) = &self.status {
            // Whoever may read the file may read its leaves, as root leaves them too.
            let (of, file) = (status.ownership(), draft.to_file()?);
            let _ = file.set_owner(Some(of.uid), Some(of.gid));
            let _ = file.set_mode(of.mode & 0o666);
        }
        let dir = Arc::clone(draft.dir());
        let mut name = self.path.file_name().unwrap_or_default().to_owned();
        name.push(SIDECAR_SUFFIX);
        if dir.status_of(&name).is_ok() {
            ensure_leaves(&dir, &name)?;
        }
        draft.publish_in(&dir, &name, Existing::Replace)
    }
}

impl fmt::Debug for Leaves {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Leaves").field("path", &self.path).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drafts_are_known_as_such_and_whose_they_are() {
        let own = own_draft_prefix();
        assert!(own.starts_with(DRAFT) && own.contains(&std::process::id().to_string()));
    }
}
