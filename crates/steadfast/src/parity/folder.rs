//! The folder of a tree's parity: one file for each set, `XX/ID`, where `ID` is the identity of the
//! set in hexadecimal and `XX` are its first two digits. The folder `earlier` is another one, of
//! sets of files that were edited since.

use std::ffi::OsStr;
use std::fs;
use std::io::{self, BufWriter, Write as _};
use std::ops::ControlFlow;
use std::os::fd::AsFd as _;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use steadfast_parity::{ParityPages, SetFile, SetIndex, SetOrigin};
use steadfast_sys::file::{Dir, Draft, Existing, File, Timestamp, TrustedUsers};
use steadfast_sys::source::ReadAt as _;

use super::identity::{SetId, hex, id_of, names_of};
use super::needed::Unneeded;
use super::place::{ParityPlace, remove_empty, remove_small, system};
use crate::error::Error;
use crate::pages::Descriptor;
use crate::tree_folder::is_within_ours;
use crate::trust::refuse;

/// The file that a run holds locked while it changes the folder.
const LOCK: &str = "lock";

/// The folder of earlier sets.
const EARLIER: &str = "earlier";

/// The text that has for how many seconds earlier sets are kept.
pub(super) const KEEP_EARLIER: &str = "keep-earlier";

/// The open folder of a tree's parity.
pub(super) struct ParityFolder {
    pub(super) dir: Arc<Dir>,
    /// Who is trusted with what is in it.
    trusted: TrustedUsers,
}

impl ParityFolder {
    /// Opens the folder.
    ///
    /// # Errors
    /// `Usage` if there is no parity; otherwise the error of the system.
    pub(super) fn open(place: &ParityPlace) -> Result<ParityFolder, Error> {
        ParityFolder::of(place, place.open()?)
    }

    /// Opens the folder to change it, and makes it if it is absent.
    ///
    /// # Errors
    /// `Usage` if another tree uses it; otherwise the error of the system. A link in its place is
    /// not followed.
    pub(super) fn make(place: &ParityPlace) -> Result<ParityFolder, Error> {
        let dir = place.make()?;
        place.ensure_own(&dir)?;
        ParityFolder::of(place, dir)
    }

    fn of(place: &ParityPlace, dir: Dir) -> Result<ParityFolder, Error> {
        let trusted = place.trusted_in(&dir)?;
        Ok(ParityFolder { dir: Arc::new(dir), trusted })
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
        for number in 0..=u8::MAX {
            match self.dir.open_dir(OsStr::new(&format!("{number:02x}"))) {
                Ok(dir) => dir.entries(&mut |entry| {
                    ids.extend(id_of(entry.name));
                    ControlFlow::Continue(())
                })?,
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        ids.sort_unstable();
        ids.dedup();
        Ok(ids)
    }

    /// Opens a set and reads its index.
    ///
    /// # Errors
    /// Why it cannot be used.
    pub(super) fn set(&self, id: &SetId) -> Result<StoredSet, SetFault> {
        let (above, name) = names_of(id);
        let path = Path::new(&above);
        let opened = self.dir.open_dir(&above).and_then(|dir| {
            refuse(path, self.trusted.stranger_in(&dir))?;
            let file = dir.open_file(&name)?;
            refuse(&path.join(&name), self.trusted.stranger_in(&file))?;
            Ok(file)
        });
        let opened = opened.and_then(|file| Ok((file.status()?.length, file)));
        let (len_bytes, file) = opened.map_err(SetFault::Unreadable)?;
        let source = Descriptor { file: &file, len_bytes };
        let set = SetFile::read(len_bytes, &mut |at, bytes| source.read_exact_at(bytes, at));
        let set = set.map_err(|error| SetFault::Damaged(error.to_string()))?;
        if set.index().members().iter().any(|member| is_within_ours(&member.file.path)) {
            return Err(SetFault::Damaged("it names files in `.steadfast`".to_owned()));
        }
        match set.header().set() {
            of if of == *id => Ok(StoredSet { file, len_bytes, set }),
            of => Err(SetFault::OtherSet(hex(&of))),
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
        let mut out = BufWriter::with_capacity(1 << 20, draft);
        let id = SetFile::write(index, parity, origin, &mut out)?.set();
        out.flush()?;
        let draft = out.into_inner().map_err(io::IntoInnerError::into_error)?;
        let (above, name) = names_of(&id);
        let dir = self.dir.make_private_dir(&above)?;
        let is_new = dir.status_of(&name).is_err();
        // A file of the same identity has the same pages and files, or is damaged.
        if let Err(SetFault::OtherSet(of)) = self.set(&id) {
            let name = name.display();
            return Err(io::Error::other(format!("`{name}` is a set with another name, {of}")));
        }
        draft.publish_in(&dir, &name, Existing::Replace)?;
        dir.flush()?;
        Ok((id, is_new))
    }

    /// Removes a set that is not needed, or moves it to the earlier sets if it can undo an edit and
    /// those are kept. Its modification time is then when it became one.
    ///
    /// # Errors
    /// The error of the system.
    pub(super) fn remove(
        &self,
        unneeded: &Unneeded,
        now: Timestamp,
        keeps_earlier: bool,
    ) -> io::Result<()> {
        let (above, name) = names_of(unneeded.id());
        let dir = self.dir.open_dir(&above)?;
        if !unneeded.is_to_undo() || !keeps_earlier {
            return dir.remove_file(&name);
        }
        set_time(&dir.open_file(&name)?, now)?;
        let earlier = self.dir.make_private_dir(OsStr::new(EARLIER))?.make_private_dir(&above)?;
        dir.replace_in(&name, &earlier)
    }

    /// Returns the folder of earlier sets; `None` if there is none.
    ///
    /// # Errors
    /// The error of the system.
    pub(super) fn earlier(&self) -> io::Result<Option<ParityFolder>> {
        match self.dir.open_dir(OsStr::new(EARLIER)) {
            Ok(dir) => {
                refuse(Path::new(EARLIER), self.trusted.stranger_in(&dir))?;
                let trusted = self.trusted.clone();
                Ok(Some(ParityFolder { dir: Arc::new(dir), trusted }))
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Returns the length of the file of a set, and since when it is an earlier one.
    ///
    /// # Errors
    /// The error of the system.
    pub(super) fn length_and_time(&self, id: &SetId) -> io::Result<(u64, Timestamp)> {
        let (above, name) = names_of(id);
        let status = self.dir.open_dir(&above)?.status_of(&name)?;
        Ok((status.length, status.mtime))
    }

    /// Sets from when a set is an earlier one.
    ///
    /// # Errors
    /// The error of the system.
    pub(super) fn set_earlier_since(&self, id: &SetId, now: Timestamp) -> io::Result<()> {
        let (above, name) = names_of(id);
        set_time(&self.dir.open_dir(&above)?.open_file(&name)?, now)
    }

    /// Removes the folders of sets that are empty.
    fn remove_empty_folders(&self) -> io::Result<()> {
        (0..=u8::MAX).try_for_each(|number| remove_empty(&self.dir, &format!("{number:02x}")))
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

    /// Says whether nothing in it is damaged.
    pub(super) fn is_sound(&self) -> bool {
        self.set.damaged_blocks() == 0 && self.set.has_its_length() && self.damaged_parity() == 0
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
    /// It is another set than its name says.
    #[error("it is another set than its name says: {0}")]
    OtherSet(String),
}

/// Sets the modification time of a file.
fn set_time(file: &File, time: Timestamp) -> io::Result<()> {
    let since = Duration::new(u64::try_from(time.seconds).unwrap_or(0), time.nanoseconds);
    let file = fs::File::from(file.as_fd().try_clone_to_owned()?);
    file.set_modified(SystemTime::UNIX_EPOCH + since)
}

/// Removes the parity of a tree and nothing else, and returns how many sets there were.
///
/// # Errors
/// `Usage` if there is no parity; `System` if something could not be removed.
pub fn drop_parity(place: &ParityPlace) -> Result<u64, Error> {
    let folder = ParityFolder::open_to_change(place)?;
    let lock = folder.lock(place)?;
    let failed = |error| system("remove the parity", error, place);
    if let Some(earlier) = folder.earlier().map_err(failed)? {
        remove_all(&earlier).map_err(failed)?;
        remove_empty(&folder.dir, EARLIER).map_err(failed)?;
    }
    let sets = remove_all(&folder).map_err(failed)?;
    place.remove_drafts(&folder.dir).map_err(failed)?;
    remove_small(&folder.dir, KEEP_EARLIER).map_err(failed)?;
    folder.dir.remove_file(OsStr::new(LOCK)).map_err(failed)?;
    drop(lock);
    place.forget(&folder.dir).map_err(failed)?;
    Ok(sets)
}

/// Removes all sets of a folder that a person asked to remove, and returns how many there were.
fn remove_all(folder: &ParityFolder) -> io::Result<u64> {
    let ids = folder.ids()?;
    for id in &ids {
        folder.remove(&Unneeded::by_decision(*id), Timestamp::MIN, false)?;
    }
    folder.remove_empty_folders()?;
    Ok(ids.len() as u64)
}

/// Removes one set, whatever is in it.
///
/// # Errors
/// `Usage` if there is no such set; `System` if it could not be removed.
pub fn drop_set(place: &ParityPlace, set: &str) -> Result<(), Error> {
    let folder = ParityFolder::open_to_change(place)?;
    let _lock = folder.lock(place)?;
    let none = || Error::usage(format!("there is no set `{set}`")).at(&place.folder());
    let id = id_of(OsStr::new(set)).ok_or_else(none)?;
    match folder.remove(&Unneeded::by_decision(id), Timestamp::MIN, false) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Err(none()),
        removed => removed.map_err(|error| system("remove the set", error, place)),
    }
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
            let file = ProtectedFile {
                path,
                length: 1,
                mode: 0o600,
                uid: 0,
                gid: 0,
                tag: vec![0; 60],
                attributes: None,
                has_links: false,
            };
            let member = Member { file, start: 0, length: 1, sets: 1, page: 0, offset: 0 };
            let parity = ParityPages::zeros(Geometry::new(1, 16).unwrap());
            let marks = PageMark::of_all(fastest_lanes(), &[0; PAGE_LEN], None);
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
