//! Leaves that are kept beside tags: where they are, and how they come to be there.
//!
//! In: the bytes of a file, as a run reads them to tag it, then the tag. Out: the leaves of its
//! pages, whole or not at all under their name. They are named after the tag, so that those of
//! other contents are not found; where they are beside the file, their header says whose they are.
//! In memory are so many bytes of each file's leaves; what is more goes to a draft.

use std::ffi::OsString;
use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use steadfast_digest::{Algorithm, Lanes};
use steadfast_verity::{LeafHasher, Tree, VerityHash, VerityParams};

use crate::catalogue;
use crate::error::Error;
use crate::monitor::{FileEvent, Trouble};
use crate::pages::{HEADER_LEN, Header, Kept, MAGIC, PAGE_LEN_DEFAULT, PagesUse, SIDECAR_SUFFIX};
use crate::tag::Tag;

/// Bytes of one file's leaves that wait in memory: those of 8 MiB, at 4 KiB a page.
const WAITING_LEN_MAX: usize = 64 << 10;

/// Shorter digests do not tell one file's contents from another's.
const DIGEST_LEN_MIN: usize = 16;

/// How drafts in a tree's folder begin.
const DRAFT: &str = "draft-";

/// What follows the name of a file of leaves while it is written beside its file.
const DRAFT_SUFFIX: &str = ".new";

const KEEPING: &str = "keep its leaves";

/// Says whether a name is that of leaves kept beside a file, and of which file; drafts included.
pub(crate) fn companion(name: &std::ffi::OsStr) -> Option<&std::ffi::OsStr> {
    use std::os::unix::ffi::OsStrExt as _;
    let bytes = name.as_bytes();
    let bytes = bytes.strip_suffix(DRAFT_SUFFIX.as_bytes()).unwrap_or(bytes);
    let bytes = bytes.strip_suffix(SIDECAR_SUFFIX.as_bytes())?;
    (!bytes.is_empty()).then(|| std::ffi::OsStr::from_bytes(bytes))
}

/// Returns the folder of leaves that belongs to a catalogue: in the tree's own folder, or beside a
/// catalogue that is kept elsewhere.
fn folder_of(catalogue: &Path) -> PathBuf {
    let inside = catalogue.parent().is_some_and(|folder| folder.ends_with(catalogue::FOLDER));
    if inside && catalogue.ends_with(catalogue::FILE) {
        return catalogue.with_file_name("pages");
    }
    with_suffix(catalogue, ".pages")
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(suffix);
    PathBuf::from(name)
}

/// Returns the lengths of pages that a folder keeps leaves of.
fn page_lens(folder: &Path) -> Vec<usize> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut lens: Vec<usize> =
        entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
    lens.retain(|len| VerityParams::new(VerityHash::Sha256, *len, b"").is_ok());
    lens.sort_unstable();
    lens
}

/// Returns where a folder keeps the leaves that belong to a tag.
fn place_in(folder: &Path, page_len: usize, tag: &Tag) -> PathBuf {
    let digest = tag.digest.to_string();
    let name = format!("{}-{digest}", tag.algorithm.name());
    folder.join(page_len.to_string()).join(&digest[..2]).join(name)
}

/// Opens leaves if they are of the contents that a tag is of.
fn open_for(place: &Path, tag: &Tag) -> io::Result<Option<Kept>> {
    match Kept::open(place) {
        Ok(kept) => Ok(kept.header().is_of(tag).then_some(kept)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Finds the leaves that are kept for a tag of a file: where the catalogue is, or beside the file.
///
/// # Errors
/// If there are some under its name and none can be read.
pub(crate) fn find(
    tag: &Tag,
    path: &Path,
    catalogue: Option<&Path>,
) -> io::Result<Option<(PathBuf, Kept)>> {
    let folder = catalogue.map(folder_of);
    let lens = folder.as_deref().map(page_lens).unwrap_or_default();
    let kept = folder.iter().flat_map(|folder| lens.iter().map(|len| place_in(folder, *len, tag)));
    let mut failed = None;
    for place in kept.chain([with_suffix(path, SIDECAR_SUFFIX)]) {
        match open_for(&place, tag) {
            Ok(Some(kept)) => return Ok(Some((place, kept))),
            Ok(None) => {}
            Err(error) => failed = failed.or(Some(error)),
        }
    }
    failed.map_or(Ok(None), Err)
}

/// Keeps the leaves of a run's files.
#[derive(Debug)]
pub(crate) struct PageKeeper {
    catalogue: Option<PathBuf>,
    /// The folder that new leaves go to; `None` for beside each file.
    folder: Option<PathBuf>,
    params: VerityParams,
    lanes: Lanes,
    /// Whether leaves are kept of every file, or only of those that have some beside them.
    every: bool,
    /// Whether that was asked for: then also of files whose tag stands.
    asked: bool,
    drafts: AtomicU64,
}

impl PageKeeper {
    /// Prepares to keep leaves, or only to find them.
    ///
    /// # Errors
    /// If they are asked for and have no place.
    pub(crate) fn new(
        wanted: &PagesUse,
        catalogue: Option<&Path>,
        lanes: Lanes,
    ) -> Result<PageKeeper, Error> {
        let folder = catalogue.map(folder_of);
        let lens = folder.as_deref().map(page_lens).unwrap_or_default();
        let (asked, page_len, sidecars) = match wanted {
            PagesUse::Kept => (false, None, lens.is_empty()),
            PagesUse::All { page_len, sidecars } => (true, *page_len, *sidecars),
        };
        let folder = folder.filter(|_| !sidecars);
        if asked && folder.is_none() && !sidecars {
            return Err(Error::usage(
                "leaves are kept where the tree's catalogue is, and there is none: `steadfast init \
                 DIR` makes one, or --sidecar keeps them beside each file",
            ));
        }
        let there = lens.first().copied().filter(|_| folder.is_some());
        if let (Some(there), Some(page_len)) = (there, page_len)
            && there != page_len
        {
            let why = format!("this tree keeps leaves of pages of {there} bytes");
            return Err(Error::usage(why));
        }
        let page_len = page_len.or(there).unwrap_or(PAGE_LEN_DEFAULT);
        let params = VerityParams::new(VerityHash::Sha256, page_len, b"");
        Ok(PageKeeper {
            catalogue: catalogue.map(Path::to_owned),
            every: asked || folder.is_some(),
            folder,
            params: params.map_err(|error| Error::usage(error.to_string()))?,
            lanes,
            asked,
            drafts: AtomicU64::new(0),
        })
    }

    /// Says whether leaves were asked for, of files whose tag stands too.
    pub(crate) fn is_asked(&self) -> bool {
        self.asked
    }

    /// Says whether the leaves of a file that is to have a tag of `algorithm` should be made:
    /// whether it has more than one page, its tag tells contents apart, and they are not there.
    pub(crate) fn wants(&self, event: &FileEvent, algorithm: Algorithm) -> bool {
        let Some(status) = event.status else { return false };
        if status.length <= self.params.page_len() as u64 || algorithm.digest_len() < DIGEST_LEN_MIN
        {
            return false;
        }
        let path = event.path.to_path();
        if !self.every && !with_suffix(&path, SIDECAR_SUFFIX).is_file() {
            return false;
        }
        let Some(stored) = event.stored else { return true };
        let stands = (stored.algorithm, stored.length, stored.mtime)
            == (algorithm, status.length, status.mtime);
        !stands || !self.has(&stored, &path)
    }

    /// Says whether the leaves for a tag are where this run would keep them.
    fn has(&self, tag: &Tag, path: &Path) -> bool {
        matches!(open_for(&self.place(tag, path), tag), Ok(Some(_)))
    }

    fn place(&self, tag: &Tag, path: &Path) -> PathBuf {
        match &self.folder {
            Some(folder) => place_in(folder, self.params.page_len(), tag),
            None => with_suffix(path, SIDECAR_SUFFIX),
        }
    }

    /// Finds what is kept for a tag, wherever it is.
    pub(crate) fn find(&self, tag: &Tag, path: &Path) -> io::Result<Option<Kept>> {
        Ok(find(tag, path, self.catalogue.as_deref())?.map(|(_, kept)| kept))
    }

    /// Begins with a file's leaves.
    pub(crate) fn begin(self: &Arc<Self>, event: &FileEvent) -> Box<Leaves> {
        Box::new(Leaves {
            path: event.path.to_path(),
            hasher: LeafHasher::new(&self.params, self.lanes),
            tree: Tree::new(&self.params),
            check: 0,
            waiting: Vec::new(),
            draft: None,
            fault: None,
            keeper: Arc::clone(self),
        })
    }

    /// Makes a new file to write leaves to, under a name that is not theirs yet.
    fn draft(&self, path: &Path) -> io::Result<Draft> {
        let place = match &self.folder {
            Some(folder) => {
                let number = self.drafts.fetch_add(1, Ordering::Relaxed);
                let folder = folder.join(self.params.page_len().to_string());
                let own = format!("{DRAFT}{}-", std::process::id());
                fs::create_dir_all(&folder)?;
                if number == 0 {
                    sweep(&folder, &own);
                }
                folder.join(format!("{own}{number}"))
            }
            None => with_suffix(&with_suffix(path, SIDECAR_SUFFIX), DRAFT_SUFFIX),
        };
        let file = match File::create_new(&place) {
            // What a run that was killed left behind.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && is_ours(&place) => {
                fs::remove_file(&place)?;
                File::create_new(&place)?
            }
            made => made?,
        };
        let mut draft = Draft { file, place, named: false };
        let mut blank = [0; HEADER_LEN];
        blank[..MAGIC.len()].copy_from_slice(MAGIC);
        draft.file.write_all(&blank)?;
        Ok(draft)
    }
}

/// Removes drafts that other processes left in a folder: whoever writes to the catalogue is alone.
fn sweep(folder: &Path, own: &str) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let is_left = |name: &str| name.starts_with(DRAFT) && !name.starts_with(own);
        if name.to_str().is_some_and(is_left) {
            // One that stays takes room, and no more.
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Says whether a file begins as kept leaves do.
fn is_ours(place: &Path) -> bool {
    let mut head = [0; MAGIC.len()];
    let is_file = fs::symlink_metadata(place).is_ok_and(|found| found.is_file());
    is_file
        && File::open(place).is_ok_and(|mut file| file.read_exact(&mut head).is_ok())
        && head == *MAGIC
}

/// A file of leaves under way, removed unless it gets its name.
struct Draft {
    file: File,
    place: PathBuf,
    named: bool,
}

impl Drop for Draft {
    fn drop(&mut self) {
        if !self.named {
            // What stays is found by its magic, and written over by the next run.
            let _ = fs::remove_file(&self.place);
        }
    }
}

/// The leaves of one file under way.
pub(crate) struct Leaves {
    path: PathBuf,
    hasher: LeafHasher,
    tree: Tree,
    check: u32,
    waiting: Vec<u8>,
    draft: Option<Draft>,
    /// What went wrong with the draft; the file is hashed all the same.
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

    /// Writes what waits to the draft.
    fn pour(&mut self) -> io::Result<()> {
        let draft = match &mut self.draft {
            Some(draft) => draft,
            none => none.insert(self.keeper.draft(&self.path)?),
        };
        draft.file.write_all(&self.waiting)?;
        self.check = crc32c::crc32c_append(self.check, &self.waiting);
        self.waiting.clear();
        Ok(())
    }

    /// Keeps the leaves, once the whole file was taken and has its tag. Those of the tag that it
    /// `replaces` go: a folder of leaves would grow with every edit.
    pub(crate) fn keep(self, tag: &Tag, replaces: Option<&Tag>) -> Result<(), Trouble> {
        self.try_keep(tag, replaces).map_err(|error| Trouble::from_io(KEEPING, &error))
    }

    fn try_keep(mut self, tag: &Tag, replaces: Option<&Tag>) -> io::Result<()> {
        if let Some(fault) = self.fault.take() {
            return Err(fault);
        }
        let before = self.waiting.len();
        let hasher = LeafHasher::new(&self.keeper.params, self.keeper.lanes);
        std::mem::replace(&mut self.hasher, hasher).finish(&mut self.waiting);
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
        draft.file.write_all(&self.check.to_le_bytes())?;
        draft.file.rewind()?;
        draft.file.write_all(&header.encode())?;
        let place = self.keeper.place(tag, &self.path);
        if self.keeper.folder.is_none() && place.symlink_metadata().is_ok() && !is_ours(&place) {
            return Err(io::Error::other("a file of that name is there, and is none of ours"));
        }
        publish(&mut draft, &place)?;
        let old = replaces.filter(|old| (old.algorithm, old.digest) != (tag.algorithm, tag.digest));
        if let (Some(folder), Some(old)) = (&self.keeper.folder, old) {
            // Of two files that were the same, the other gets its leaves back when it is asked for.
            let _ = fs::remove_file(place_in(folder, self.keeper.params.page_len(), old));
        }
        Ok(())
    }
}

/// Gives a draft its name. It is not waited for until it is on the medium: what is torn does not
/// fit its check value, and is made again.
fn publish(draft: &mut Draft, place: &Path) -> io::Result<()> {
    match fs::rename(&draft.place, place) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            fs::create_dir_all(place.parent().unwrap_or(Path::new(".")))?;
            fs::rename(&draft.place, place)?;
        }
        renamed => renamed?,
    }
    draft.named = true;
    Ok(())
}

impl fmt::Debug for Leaves {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Leaves").field("path", &self.path).finish_non_exhaustive()
    }
}
