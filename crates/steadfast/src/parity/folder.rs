//! The folder of a tree's parity: one file for each set, `XX/ID`, where `ID` is the identity of the
//! set in hexadecimal and `XX` are its first two digits.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{self, BufWriter, Write as _};
use std::ops::ControlFlow;
use std::sync::Arc;

use steadfast_parity::{ParityPages, SetFile, SetIndex, SetOrigin};
use steadfast_sys::file::{Dir, Draft, Existing, File};
use steadfast_sys::source::ReadAt as _;

use super::identity::{SetId, id_of, names_of};
use super::place::{ParityPlace, open_private, remove_empty, system};
use crate::error::Error;
use crate::pages::Descriptor;
use crate::tree_folder::is_within_ours;

/// The file that a run holds locked while it changes the folder.
const LOCK: &str = "lock";

/// Suffix of a file that was not finished.
const DRAFT: &str = ".draft";

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
        Ok(ParityFolder { dir: Arc::new(place.open()?) })
    }

    /// Opens the folder to change it, and makes it if it is absent.
    ///
    /// # Errors
    /// `Usage` if another tree uses it; otherwise the error of the system. A link in its place is
    /// not followed.
    pub(super) fn make(place: &ParityPlace) -> Result<ParityFolder, Error> {
        let dir = place.make()?;
        place.ensure_own(&dir)?;
        Ok(ParityFolder { dir: Arc::new(dir) })
    }

    /// Opens the folder to change it.
    ///
    /// # Errors
    /// As [`ParityFolder::make`]; `Usage` if there is no parity.
    pub(super) fn open_to_change(place: &ParityPlace) -> Result<ParityFolder, Error> {
        let folder = ParityFolder::open(place)?;
        place.ensure_own(&folder.dir)?;
        Ok(folder)
    }

    /// Makes the tree remember a folder that the user named. Only for who has the lock. Returns
    /// what the user should know of the folder.
    ///
    /// # Errors
    /// If the folder cannot be written.
    pub(super) fn remember(&self, place: &ParityPlace) -> Result<Vec<String>, Error> {
        place.remember(&self.dir)
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
        if set.index().members().iter().any(|member| is_within_ours(&member.file.path)) {
            return Err(SetFault::Damaged("it names files in `.steadfast`".to_owned()));
        }
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

    /// Reads all parity.
    ///
    /// # Errors
    /// If a page is damaged or cannot be read.
    pub(super) fn parity(&self) -> io::Result<ParityPages> {
        let mut bytes = vec![0; steadfast_parity::PAGE_LEN];
        let mut parity = ParityPages::zeros(self.set.index().geometry());
        for page in 0..parity.geometry().parity_pages() {
            if !self.read_parity(page, &mut bytes) {
                return Err(io::Error::other(format!("parity page {page} is damaged")));
            }
            parity.add_page(page, &bytes);
        }
        Ok(parity)
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
    let folder = ParityFolder::open_to_change(place)?;
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
    place.forget(&folder.dir).map_err(failed)?;
    Ok(ids.len() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calibration::fastest_lanes;
    use std::path::PathBuf;
    use steadfast_parity::{Geometry, Member, PAGE_LEN, PageMark, ProtectedFile, Redundancy};

    #[test]
    fn a_set_of_files_in_a_folder_of_ours_is_refused() {
        let root = tempfile::tempdir().unwrap();
        let place = ParityPlace::new(root.path(), None).unwrap();
        let folder = ParityFolder::make(&place).unwrap();
        let is_used = |path: &str| {
            let path = PathBuf::from(path);
            let file =
                ProtectedFile { path, length: 1, mode: 0o600, uid: 0, gid: 0, tag: vec![0; 60] };
            let member = Member { file, start: 0, length: 1, sets: 1, page: 0, offset: 0 };
            let parity = ParityPages::zeros(Geometry::new(1, 16).unwrap());
            let marks = PageMark::of_all(fastest_lanes(), &[0; PAGE_LEN]);
            let index =
                SetIndex::new(parity.geometry(), vec![member], marks, |page| parity.page(page));
            let origin =
                SetOrigin { redundancy: Redundancy::new(10).unwrap(), tree: [0; 16], made_s: 1 };
            let (id, _) = folder.write(&index.unwrap(), &parity, origin).unwrap();
            folder.set(&id).is_ok()
        };
        assert!(is_used("a/steadfast"));
        for path in [".steadfast/catalogue.sqlite", "a/.steadfast/damaged/1/b", ".SteadFast/x"] {
            assert!(!is_used(path), "{path}");
        }
    }
}
