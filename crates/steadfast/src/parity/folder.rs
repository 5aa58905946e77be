//! The folder of a tree's parity: one file for each set, `XX/ID`, where `ID` is the identity of the
//! set in hexadecimal and `XX` are its first two digits.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{self, BufWriter, Write as _};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use steadfast_parity::{ParityPages, SetFile, SetIndex, SetOrigin};
use steadfast_sys::file::{Dir, Draft, Existing, File};
use steadfast_sys::source::ReadAt as _;

use crate::error::Error;
use crate::pages::Descriptor;
use crate::tree_folder::{FOLDER, PARITY};

/// The file that a run holds locked while it changes the folder.
const LOCK: &str = "lock";

/// Suffix of a file that was not finished.
const DRAFT: &str = ".draft";

/// The identity of a set.
pub(super) type SetId = [u8; 16];

/// A tree, and where its parity is.
#[derive(Clone, Debug)]
pub struct ParityPlace {
    /// The root as the user wrote it.
    shown: PathBuf,
    /// Its real path.
    root: PathBuf,
    /// The folder, if it is not in the tree.
    elsewhere: Option<PathBuf>,
}

impl ParityPlace {
    /// Takes the root of a tree, and the folder of its parity if that is not in the tree.
    ///
    /// # Errors
    /// `Usage` if the root is no directory.
    pub fn new(root: &Path, elsewhere: Option<&Path>) -> Result<ParityPlace, Error> {
        let real = root.canonicalize().map_err(|error| Error::system("open it", error).at(root))?;
        if !real.is_dir() {
            return Err(Error::usage("parity is of a directory").at(root));
        }
        let elsewhere = elsewhere.map(Path::to_owned);
        Ok(ParityPlace { shown: root.to_owned(), root: real, elsewhere })
    }

    /// Finds the nearest tree with parity, at a path or above it.
    pub fn nearest(path: &Path) -> Option<ParityPlace> {
        let real = path.canonicalize().ok()?;
        let mut above = real.ancestors().map(Path::to_owned);
        let root = above.find(|root| {
            let folder = Dir::open(root).and_then(|dir| dir.open_dir(OsStr::new(FOLDER)));
            folder.and_then(|dir| dir.open_dir(OsStr::new(PARITY))).is_ok()
        })?;
        Some(ParityPlace { shown: root.clone(), root, elsewhere: None })
    }

    /// Returns the real path of the root.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the folder of the parity.
    pub fn folder(&self) -> PathBuf {
        let in_tree = || self.shown.join(FOLDER).join(PARITY);
        self.elsewhere.clone().unwrap_or_else(in_tree)
    }

    /// Returns a path beneath the root as the user would write it.
    pub(super) fn shown(&self, relative: &Path) -> PathBuf {
        match self.shown == Path::new(".") {
            true => relative.to_owned(),
            false => self.shown.join(relative),
        }
    }
}

/// The open folder of a tree's parity.
pub(super) struct ParityFolder {
    dir: Arc<Dir>,
}

impl ParityFolder {
    /// Opens the folder.
    ///
    /// # Errors
    /// `Usage` if there is no parity; otherwise the error of the system.
    pub(super) fn open(place: &ParityPlace) -> Result<ParityFolder, Error> {
        let dir = match &place.elsewhere {
            Some(folder) => Dir::open(folder),
            None => Dir::open(&place.root)
                .and_then(|root| root.open_dir(OsStr::new(FOLDER)))
                .and_then(|folder| folder.open_dir(OsStr::new(PARITY))),
        };
        match dir {
            Ok(dir) => Ok(ParityFolder { dir: Arc::new(dir) }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Err(none_at(place)),
            Err(error) => Err(system("open the parity", error, place)),
        }
    }

    /// Opens the folder, and makes it if it is absent.
    ///
    /// # Errors
    /// The error of the system. A link in its place is not followed.
    pub(super) fn make(place: &ParityPlace) -> Result<ParityFolder, Error> {
        let dir = match &place.elsewhere {
            Some(folder) => match Dir::open(folder) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    Dir::parent_of(folder).and_then(|(above, name)| above.create_dir(&name))
                }
                opened => opened,
            },
            None => Dir::open(&place.root)
                .and_then(|root| root.make_dir(OsStr::new(FOLDER)))
                .and_then(|folder| open_private(&folder, OsStr::new(PARITY))),
        };
        let dir = dir.map_err(|error| system("make the folder of the parity", error, place))?;
        Ok(ParityFolder { dir: Arc::new(dir) })
    }

    /// Locks the folder until the file is closed.
    ///
    /// # Errors
    /// `System` if another run has it locked, or the file cannot be made.
    pub(super) fn lock(&self, place: &ParityPlace) -> Result<fs::File, Error> {
        let failed = |error| system("lock the parity", error, place);
        let file = self.dir.open_own(OsStr::new(LOCK)).map_err(failed)?;
        match file.try_lock() {
            Ok(()) => Ok(file),
            Err(fs::TryLockError::WouldBlock) => {
                Err(failed(io::Error::other("another run is changing it")))
            }
            Err(fs::TryLockError::Error(error)) => Err(failed(error)),
        }
    }

    /// Returns the identities of all sets, in order.
    ///
    /// # Errors
    /// The error of the system.
    pub(super) fn ids(&self) -> io::Result<Vec<SetId>> {
        let mut ids = Vec::new();
        self.each_folder(&mut |dir| {
            dir.entries(&mut |entry| {
                ids.extend(id_of(entry.name));
                ControlFlow::Continue(())
            })
        })?;
        ids.sort_unstable();
        ids.dedup();
        Ok(ids)
    }

    /// Calls a function for each folder of parity files.
    fn each_folder(&self, f: &mut dyn FnMut(&Dir) -> io::Result<()>) -> io::Result<()> {
        for number in 0..=u8::MAX {
            match self.dir.open_dir(OsStr::new(&format!("{number:02x}"))) {
                Ok(dir) => f(&dir)?,
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Opens a set and reads its index.
    ///
    /// # Errors
    /// Why it cannot be used.
    pub(super) fn set(&self, id: &SetId) -> Result<StoredSet, SetFault> {
        let (above, name) = names_of(id);
        let opened = self.dir.open_dir(&above).and_then(|dir| dir.open_file(&name));
        let opened = opened.and_then(|file| Ok((file.status()?.length, file)));
        let (len_bytes, file) = opened.map_err(SetFault::Unreadable)?;
        let source = Descriptor { file: &file, len_bytes };
        let set = SetFile::read(len_bytes, &mut |at, bytes| source.read_exact_at(bytes, at));
        let set = set.map_err(|error| SetFault::Damaged(error.to_string()))?;
        match set.header().set() == *id {
            true => Ok(StoredSet { file, len_bytes, set }),
            false => Err(SetFault::Damaged("it is another set than its name says".to_owned())),
        }
    }

    /// Writes a set, whole or not at all, and returns its identity, and whether there was none of
    /// it. Only its owner can read the file, because parity discloses contents.
    ///
    /// # Errors
    /// The error of the system.
    pub(super) fn write(
        &self,
        index: &SetIndex,
        parity: &ParityPages,
        origin: SetOrigin,
    ) -> io::Result<(SetId, bool)> {
        let draft = Draft::new(&self.dir)?;
        draft.set_private()?;
        let mut out = BufWriter::with_capacity(1 << 20, draft);
        let id = SetFile::write(index, parity, origin, &mut out)?.set();
        out.flush()?;
        let draft = out.into_inner().map_err(io::IntoInnerError::into_error)?;
        let (above, name) = names_of(&id);
        let dir = open_private(&self.dir, &above)?;
        let is_new = dir.status_of(&name).is_err();
        draft.publish_in(&dir, &name, Existing::Replace)?;
        dir.flush()?;
        Ok((id, is_new))
    }

    /// Removes a set.
    ///
    /// # Errors
    /// The error of the system.
    pub(super) fn remove(&self, id: &SetId) -> io::Result<()> {
        let (above, name) = names_of(id);
        self.dir.open_dir(&above)?.remove_file(&name)
    }
    /// Removes what earlier runs did not finish. Only for who has the lock.
    ///
    /// # Errors
    /// The error of the system.
    pub(super) fn remove_drafts(&self) -> io::Result<()> {
        let mut drafts: Vec<OsString> = Vec::new();
        self.dir.entries(&mut |entry| {
            let name = entry.name.as_encoded_bytes();
            if name.starts_with(b".steadfast-") && name.ends_with(DRAFT.as_bytes()) {
                drafts.push(entry.name.to_owned());
            }
            ControlFlow::Continue(())
        })?;
        drafts.iter().try_for_each(|name| self.dir.remove_file(name))
    }
}

/// An open parity file.
pub(super) struct StoredSet {
    file: File,
    /// Length of the file in bytes.
    pub(super) len_bytes: u64,
    /// Its header and index.
    pub(super) set: SetFile,
}

impl StoredSet {
    /// Reads a parity page; false if it is damaged or cannot be read.
    pub(super) fn read_parity(&self, page: u32, bytes: &mut [u8]) -> bool {
        let source = Descriptor { file: &self.file, len_bytes: self.len_bytes };
        let mut read = |at: u64, bytes: &mut [u8]| source.read_exact_at(bytes, at);
        self.set.read_parity(page, &mut read, bytes)
    }

    /// Returns how many parity pages are damaged or cannot be read.
    pub(super) fn damaged_parity(&self) -> u32 {
        let mut bytes = vec![0; steadfast_parity::PAGE_LEN];
        let pages = 0..self.set.index().geometry().parity_pages();
        pages.filter(|page| !self.read_parity(*page, &mut bytes)).count() as u32
    }
}

/// Why a set cannot be used.
#[derive(Debug, thiserror::Error)]
pub(super) enum SetFault {
    /// The system refused it.
    #[error("it cannot be read: {0}")]
    Unreadable(io::Error),
    /// Its bytes are not those of a whole set.
    #[error("{0}")]
    Damaged(String),
}

/// Removes the parity of a tree and nothing else, and returns how many sets there were.
///
/// # Errors
/// `Usage` if there is no parity; `System` if something could not be removed.
pub fn drop_parity(place: &ParityPlace) -> Result<u64, Error> {
    let folder = ParityFolder::open(place)?;
    let lock = folder.lock(place)?;
    let failed = |error| system("remove the parity", error, place);
    let ids = folder.ids().map_err(failed)?;
    ids.iter().try_for_each(|id| folder.remove(id)).map_err(failed)?;
    folder.remove_drafts().map_err(failed)?;
    for number in 0..=u8::MAX {
        remove_empty(&folder.dir, &format!("{number:02x}")).map_err(failed)?;
    }
    folder.dir.remove_file(OsStr::new(LOCK)).map_err(failed)?;
    drop(lock);
    if place.elsewhere.is_none() {
        let root = Dir::open(&place.root).map_err(failed)?;
        let above = root.open_dir(OsStr::new(FOLDER)).map_err(failed)?;
        remove_empty(&above, PARITY).map_err(failed)?;
        // A tree without a catalogue has nothing else there.
        remove_empty(&root, FOLDER).map_err(failed)?;
    }
    Ok(ids.len() as u64)
}

/// Removes a directory if it is there and empty.
fn remove_empty(dir: &Dir, name: &str) -> io::Result<()> {
    use io::ErrorKind::{AlreadyExists, DirectoryNotEmpty, NotFound};
    match dir.remove_dir(OsStr::new(name)) {
        Err(error) if !matches!(error.kind(), NotFound | DirectoryNotEmpty | AlreadyExists) => {
            Err(error)
        }
        _ => Ok(()),
    }
}

/// Makes the error of a system call on the folder.
pub(super) fn system(operation: &str, error: io::Error, place: &ParityPlace) -> Error {
    Error::system(operation, error).at(&place.folder())
}

/// Makes the error of a tree without parity.
pub(super) fn none_at(place: &ParityPlace) -> Error {
    Error::usage("there is no parity: `steadfast parity make` makes it").at(&place.folder())
}

/// Opens a directory, and makes one that only its owner can enter if it is absent.
fn open_private(above: &Dir, name: &OsStr) -> io::Result<Dir> {
    match above.open_dir(name) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => above.create_dir(name),
        opened => opened,
    }
}

/// Returns an identity in hexadecimal.
pub(super) fn hex(id: &SetId) -> String {
    id.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns the folder and the name of a set.
fn names_of(id: &SetId) -> (OsString, OsString) {
    let name = hex(id);
    (OsString::from(&name[..2]), OsString::from(name))
}

/// Reads an identity from a name; `None` if it is another file's.
fn id_of(name: &OsStr) -> Option<SetId> {
    let name = name.to_str().filter(|name| name.len() == 32 && name.is_ascii())?;
    let mut id = [0; 16];
    for (byte, digits) in id.iter_mut().zip(name.as_bytes().chunks(2)) {
        let is_lower = |digit: &u8| matches!(digit, b'0'..=b'9' | b'a'..=b'f');
        let digits = std::str::from_utf8(digits).ok().filter(|d| d.as_bytes().iter().all(is_lower));
        *byte = u8::from_str_radix(digits?, 16).ok()?;
    }
    Some(id)
}
