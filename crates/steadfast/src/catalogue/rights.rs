//! Who can read a catalogue, and what to say if this user may not.
//!
//! A catalogue has the names and the digests of private files. It belongs to its owner alone unless
//! a person opens it to others.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::ops::ControlFlow;
use std::path::Path;

use steadfast_sys::file::{File, FileKind, Status, user_name};
use steadfast_sys::names::NameBytes as _;
use steadfast_sys::storage::volume;
use strum::{EnumMessage, IntoStaticStr, VariantArray};

use super::error::{CatalogueErrorKind, DbError};
use super::home::{Home, PARTS};
use crate::advice::Advice;
use crate::beneath;
use crate::tree_folder::FOLDER;

/// File systems of which many have no rights of their own for each file.
pub(crate) const DOS: [&str; 6] = ["vfat", "msdos", "exfat", "ntfs", "ntfs3", "fuseblk"];

/// Read and write for the owner alone.
const OWNERS: u32 = 0o600;

/// Who can read a catalogue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumMessage, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "lowercase")]
pub enum Readers {
    /// Its owner alone.
    Owner,
    /// Its group too.
    Group,
    /// Everybody.
    All,
}

impl Readers {
    /// Returns who can read the catalogue in a file; `None` if it is not there, or its volume has
    /// no rights of its own.
    pub fn of(file: &Path) -> Option<Readers> {
        let status = Status::of_link(file).ok().filter(|it| it.kind == FileKind::Regular)?;
        let volume = volume(file.parent().filter(|it| !it.as_os_str().is_empty())?).ok()?;
        let has_rights = !DOS.contains(&&*volume.file_system);
        has_rights.then_some(match status.mode {
            mode if mode & 0o004 != 0 => Readers::All,
            mode if mode & 0o040 != 0 => Readers::Group,
            _ => Readers::Owner,
        })
    }

    /// Returns a mode with these readers. Who of them may write stays as it was.
    fn mode(self, before: u32) -> u32 {
        match self {
            Readers::Owner => before & 0o700,
            Readers::Group => before & 0o770 | 0o040,
            Readers::All => before & 0o777 | 0o044,
        }
    }

    /// Gives them to the files of a catalogue, which the caller has locked.
    pub(super) fn give_to(self, home: &Home) -> Result<(), DbError> {
        let give = || {
            if home.folder().ends_with(FOLDER) {
                let folder = home.dir().to_file()?;
                let read = self.mode(0) & 0o044;
                folder.set_mode(folder.status()?.mode & 0o7777 | read | read >> 2)?;
            }
            for part in PARTS {
                match home.dir().open_file(&home.name(part)) {
                    Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                    file => {
                        let file = file?;
                        let mode = self.mode(file.status()?.mode);
                        file.set_mode(mode)?;
                        if file.status()?.mode & 0o777 != mode {
                            return Err(io::Error::other("its volume has no rights of its own"));
                        }
                    }
                }
            }
            Ok(())
        };
        give().map_err(|error: io::Error| DbError::io("change its rights", &error))
    }
}

/// Opens a locked lock to those who may write the catalogue, and to nobody else: whoever can open
/// it can keep others from writing.
pub(super) fn fit_lock(home: &Home, lock: &fs::File) {
    let writers = home.dir().status_of(&home.name("")).map_or(0, |it| it.mode & 0o022);
    let mode = OWNERS | writers | writers << 1;
    let Ok(lock) = File::of(lock) else { return };
    if lock.status().is_ok_and(|lock| lock.mode & 0o777 != mode) {
        // Only its owner can, and not on every volume.
        let _ = lock.set_mode(mode);
    }
}

/// Gives the draft of a catalogue the rights of the one that it takes the place of, if that was put
/// aside here.
pub(super) fn inherit(draft: &File, home: &Home) -> io::Result<()> {
    let aside = home.name(".damaged-");
    let mut latest: Option<OsString> = None;
    home.dir().entries(&mut |entry| {
        let name = entry.name.as_bytes();
        let is_part = PARTS[1..].iter().any(|part| name.ends_with(part.as_bytes()));
        if name.starts_with(aside.as_bytes()) && !is_part {
            latest = latest.take().max(Some(entry.name.to_owned()));
        }
        ControlFlow::Continue(())
    })?;
    let Some(latest) = latest else { return Ok(()) };
    let (former, own) = (home.dir().status_of(&latest)?.ownership(), draft.ownership()?);
    // Somebody else may have planted it, or its group may be another one.
    match (former.uid, former.gid) == (own.uid, own.gid) {
        true => draft.set_mode(former.mode & 0o666 | OWNERS),
        false => Ok(()),
    }
}

/// Fails if this user may not read a catalogue, with the name of its owner.
pub(super) fn ensure_readable(home: &Home, file: &Path) -> Result<(), DbError> {
    let name = home.name("");
    let Ok(Some(owner)) = home.dir().status_of_own(&name) else { return Ok(()) };
    match home.dir().open_file(&name) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            Err(unreadable(&owner, file))
        }
        _ => Ok(()),
    }
}

/// Makes the error of a catalogue that this user may not read.
pub(super) fn unreadable(owner: &Status, file: &Path) -> DbError {
    let owner = user_name(owner.ownership().uid);
    let message = format!("it belongs to {owner}, and this user may not read it");
    let error = DbError::new(CatalogueErrorKind::Unreadable, message);
    error.advise(Advice::OpenCatalogue(file.to_owned()))
}

/// Returns the folder of a tree's catalogue that this user may not enter.
pub(super) fn closed_folder(file: &Path) -> Option<Status> {
    let folder = file.parent().filter(|folder| folder.ends_with(FOLDER))?;
    let looked = Status::of_link(file).and_then(|_| fs::read_dir(folder).map(drop));
    let is_closed = looked.is_err_and(|error| error.kind() == io::ErrorKind::PermissionDenied);
    let status = beneath::presence_of(folder).of_kind(FileKind::Directory).status();
    status.filter(|_| is_closed)
}
