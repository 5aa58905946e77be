//! A folder for the files of a measurement, within a named folder.
//!
//! The folder is removed when its value is dropped. A file in it names its process and stays locked
//! while the process runs, so the next measurement can remove folders that killed ones left. Only
//! this module writes files for workloads: beneath an open folder, under its own names, never over
//! existing files or through symlinks.

use std::ffi::{OsStr, OsString};
use std::fs::{self, TryLockError};
use std::hash::{BuildHasher as _, RandomState};
use std::io::{self, Read as _, Write as _};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process;
use std::thread;
use std::time::Duration;

use steadfast_sys::file::{Dir, File, FileKind};
use steadfast_sys::qos::process::Process;

use crate::error::Error;

/// Prefix of the names of these folders. 16 random hexadecimal digits follow.
const PREFIX: &str = ".steadfast-measure-";

/// The file in the folder that names its process.
const OWNER: &str = "owner";

/// The file that names the process is shorter. A longer one belongs to another program.
const OWNER_LEN_MAX: u64 = 400;

/// How many names are tried. The first fails only if another measurement cleans up at this moment.
const TRIES: usize = 10;

/// How often and how long to wait until the last file of a folder is closed. A program that mounts
/// a share may list removed files for seconds.
const WAITS: usize = 300;
const WAIT: Duration = Duration::from_millis(10);

/// Bytes that stay free: a twentieth of the volume, at most this many.
const MARGIN_BYTES_MAX: u64 = 2_000_000_000;

/// A folder for the files of a measurement. Dropping it removes it.
#[derive(Debug)]
pub struct Scratch {
    parent: Dir,
    own: Dir,
    name: OsString,
    path: PathBuf,
    removed: bool,
    /// The locked file that names the process, while the folder is in use.
    owner: Option<fs::File>,
}

/// The outcome of removing the folders that other measurements left.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Left {
    /// Folders of dead processes that were removed.
    pub removed: usize,
    /// Folders that could not be removed, or whose process may still run, and why.
    pub kept: Vec<(PathBuf, String)>,
}

impl Scratch {
    /// Makes a folder, and removes those that killed measurements left.
    ///
    /// `is_local` means that no other machine writes there: see [`crate::place::Site`].
    ///
    /// # Errors
    /// If it is not a folder, is a symlink, or cannot be written to.
    pub fn make(folder: &Path, is_local: bool) -> Result<(Scratch, Left), Error> {
        let failed = |error| Error::system("make a folder in it", error).at(folder);
        // Without this, the symlinks `link/` and `link/.` would be followed.
        let folder = folder.components().as_path();
        let status = steadfast_sys::file::Status::of_link(folder).map_err(failed)?;
        if status.kind == FileKind::Symlink {
            return Err(Error::usage("is a symlink: name the folder itself").at(folder));
        }
        let parent = Dir::open(folder).map_err(failed)?;
        let left = remove_left(&parent, folder, is_local);
        let mut outcome = Err(io::ErrorKind::AlreadyExists.into());
        for _ in 0..TRIES {
            let name = OsString::from(format!("{PREFIX}{:016x}", by_chance()));
            outcome = make_own(&parent, &name);
            match outcome {
                Ok((own, owner)) => {
                    let path = folder.join(&name);
                    let (removed, owner) = (false, Some(owner));
                    let scratch = Scratch { parent, own, name, path, removed, owner };
                    return Ok((scratch, left));
                }
                // The name is taken, or the folder was removed while it was empty.
                Err(ref error) if is_chance(error) => {}
                Err(_) => break,
            }
        }
        outcome.map(|_| unreachable!("success returns above")).map_err(failed)
    }

    /// Returns the folder's path, for programs that are started.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns a file's path, for programs that are started.
    pub fn path_of(&self, number: u32) -> PathBuf {
        self.path.join(name_of(number))
    }

    /// Makes a file, for writing and reading back.
    ///
    /// # Errors
    ///
    /// If the file cannot be made.
    pub fn create(&self, number: u32) -> io::Result<fs::File> {
        self.own.create_file(&name_of(number))
    }

    /// Opens a file for reading.
    ///
    /// # Errors
    ///
    /// If the file cannot be opened.
    pub fn open(&self, number: u32) -> io::Result<File> {
        self.own.open_file(&name_of(number))
    }

    /// Removes a file.
    ///
    /// # Errors
    ///
    /// If the file cannot be removed.
    pub fn remove(&self, number: u32) -> io::Result<()> {
        patiently(io::ErrorKind::ResourceBusy, || self.own.remove_file(&name_of(number)))
    }

    /// Returns the numbers of the files in the order in which the file system lists them.
    ///
    /// # Errors
    ///
    /// If the folder cannot be listed.
    pub fn listed(&self) -> io::Result<Vec<u32>> {
        let mut numbers = Vec::new();
        self.own.entries(&mut |entry| {
            numbers.extend(number_of(entry.name));
            ControlFlow::Continue(())
        })?;
        Ok(numbers)
    }

    /// Removes the folder with its files.
    ///
    /// # Errors
    /// If it cannot be removed, or contains a file of another program. That file stays.
    pub fn close(mut self) -> Result<(), Error> {
        self.removed = true;
        remove_own(&self.parent, &self.own, &self.name, self.owner.take())
            .map_err(|error| Error::system("remove it", error).at(&self.path))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if !self.removed {
            // A drop cannot report an error. The next measurement tries again.
            let _ = remove_own(&self.parent, &self.own, &self.name, self.owner.take());
        }
    }
}

/// Checks that a volume has room for this many bytes and a margin. Volumes that report a size of 0,
/// as some FUSE file systems do, are not checked.
///
/// # Errors
/// If there is too little room. The message has the numbers.
pub fn require_room(place: &crate::record::Place, bytes: u64) -> Result<(), Error> {
    let margin = (place.total_bytes / 20).min(MARGIN_BYTES_MAX);
    if place.total_bytes == 0 || bytes.saturating_add(margin) <= place.free_bytes {
        return Ok(());
    }
    // All three in the unit of the largest. Needed bytes are rounded up, free ones down.
    let greatest = bytes.max(margin).max(place.free_bytes);
    let (tenth, unit) = match greatest {
        0..10_000_000_000 => (100_000, "MB"),
        10_000_000_000..10_000_000_000_000 => (100_000_000, "GB"),
        _ => (100_000_000_000, "TB"),
    };
    let usual = |tenths: u64| format!("{}.{} {unit}", tenths / 10, tenths % 10);
    Err(Error::usage(format!(
        "too little room: needs {} and leaves {} free, but there are only {}",
        usual(bytes.div_ceil(tenth)),
        usual(margin.div_ceil(tenth)),
        usual(place.free_bytes / tenth)
    ))
    .at(Path::new(&place.path)))
}

/// Returns the name of a file by its number. Names sort in the order of the numbers.
fn name_of(number: u32) -> OsString {
    OsString::from(format!("f{number:08}"))
}

/// Returns the number of a file that a measurement made.
fn number_of(name: &OsStr) -> Option<u32> {
    let number = name.to_str()?.strip_prefix('f')?.parse().ok()?;
    (name_of(number) == name).then_some(number)
}

/// Returns an unpredictable number, from the keys of the maps of the standard library.
pub fn by_chance() -> u64 {
    RandomState::new().hash_one(process::id())
}

fn is_chance(error: &io::Error) -> bool {
    use io::ErrorKind::{AlreadyExists, NotFound, WouldBlock};
    matches!(error.kind(), AlreadyExists | NotFound | WouldBlock)
}

/// Makes the folder and the file that names its process.
fn make_own(parent: &Dir, name: &OsStr) -> io::Result<(Dir, fs::File)> {
    let own = parent.create_dir(name)?;
    let owner = own.create_file(OsStr::new(OWNER)).and_then(|mut owner| {
        // Another measurement has it locked and is about to remove it.
        if let Err(TryLockError::WouldBlock) = owner.try_lock() {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        owner.write_all(owner_text().as_bytes())?;
        Ok(owner)
    });
    match owner {
        // Another measurement may have removed it before it was locked.
        Ok(owner) if is_there(parent, &own, name)? => Ok((own, owner)),
        Ok(_) => Err(io::ErrorKind::NotFound.into()),
        Err(error) => {
            let _ = remove_own(parent, &own, name, None);
            Err(error)
        }
    }
}

fn is_there(parent: &Dir, own: &Dir, name: &OsStr) -> io::Result<bool> {
    let owner = own.status_of(OsStr::new(OWNER));
    let there = parent.status_of(name);
    Ok(owner.is_ok() && there.is_ok_and(|there| own.status().is_ok_and(|own| own == there)))
}

/// Removes the files of the folder and the folder. Files of other programs stay, and then the
/// folder stays too.
///
/// The file that names the process stays open for its lock until it is removed. NFS and many FUSE
/// file systems rename such a file within the folder until it is closed; SMB refuses to remove it.
fn remove_own(
    parent: &Dir,
    own: &Dir,
    name: &OsStr,
    mut owner: Option<fs::File>,
) -> io::Result<()> {
    let mut names = Vec::new();
    own.entries(&mut |entry| {
        names.push(entry.name.to_owned());
        ControlFlow::Continue(())
    })?;
    let stranger = names.iter().find(|name| is_stranger(name)).cloned();
    // The owner's file goes last, because it tells other measurements whose folder this is. A
    // program that mounts a share may list an old state of the folder without it.
    names.retain(|name| name != OWNER);
    names.push(OWNER.into());
    for name in &names {
        if is_stranger(name) || (name == OWNER && stranger.is_some()) {
            continue;
        }
        match own.remove_file(name) {
            Err(error) if error.kind() == io::ErrorKind::ResourceBusy => {
                drop(owner.take());
                patiently(io::ErrorKind::ResourceBusy, || own.remove_file(name))?;
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            outcome => outcome?,
        }
    }
    if let Some(name) = stranger {
        let why = format!(
            "no measurement made `{}` in it, so it stays",
            name.to_string_lossy().escape_debug()
        );
        return Err(io::Error::new(io::ErrorKind::DirectoryNotEmpty, why));
    }
    drop(owner);
    match patiently(io::ErrorKind::DirectoryNotEmpty, || parent.remove_dir(name)) {
        // Another measurement may have removed the folder once it had no owner.
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        outcome => outcome,
    }
}

/// Returns whether a file belongs to another program. The names that NFS and FUSE give to removed
/// open files do not.
fn is_stranger(name: &OsStr) -> bool {
    let bytes = name.as_encoded_bytes();
    let is_hidden = bytes.starts_with(b".nfs") || bytes.starts_with(b".fuse_hidden");
    name != OWNER && number_of(name).is_none() && !is_hidden
}

/// Retries an action for some seconds while it fails with this kind of error. The kernel tells a
/// FUSE file system that a file is closed only after `close` has returned.
fn patiently(kind: io::ErrorKind, mut act: impl FnMut() -> io::Result<()>) -> io::Result<()> {
    for _ in 0..WAITS {
        match act() {
            Err(error) if error.kind() == kind => thread::sleep(WAIT),
            outcome => return outcome,
        }
    }
    act()
}

/// Returns what the owner's file says: when this process started, with the identifier of the boot.
fn owner_text() -> String {
    let started = Process::find(process::id()).map(|process| process.started);
    format!("steadfast measure\nstarted {}\n", started.unwrap_or_default())
}

/// Returns whether the process that wrote this has ended, if the lock is free. A process of another
/// boot may run on another machine, whose locks are invisible, unless the folder is local.
fn is_dead(text: &str, is_local: bool) -> bool {
    let boot = |text: &str| {
        let mut lines = text.strip_prefix("steadfast measure\n")?.lines();
        let started = lines.find_map(|line| line.strip_prefix("started "))?;
        started.split(':').next().map(str::to_owned)
    };
    let of_owner = boot(text);
    // An empty file is of a process that was killed before it wrote it.
    text.is_empty() || of_owner.is_some() && (is_local || of_owner == boot(&owner_text()))
}

/// Removes the folders of processes that have ended.
fn remove_left(parent: &Dir, folder: &Path, is_local: bool) -> Left {
    let mut left = Left::default();
    let mut names = Vec::new();
    let listed = parent.entries(&mut |entry| {
        if is_name(entry.name) {
            names.push(entry.name.to_owned());
        }
        ControlFlow::Continue(())
    });
    if let Err(error) = listed {
        left.kept.push((folder.into(), format!("cannot be listed: {error}")));
    }
    for name in names {
        match remove_one(parent, &name, is_local) {
            Ok(Fate::Removed) => left.removed += 1,
            Ok(Fate::Alive) => {}
            Ok(Fate::Unknown) => {
                let why = "nobody can say whether its process lives".to_owned();
                left.kept.push((folder.join(name), why));
            }
            Err(error) => left.kept.push((folder.join(name), error.to_string())),
        }
    }
    left
}

fn is_name(name: &OsStr) -> bool {
    let digits = name.to_str().and_then(|name| name.strip_prefix(PREFIX));
    digits.is_some_and(|digits| {
        digits.len() == 16 && digits.bytes().all(|digit| digit.is_ascii_hexdigit())
    })
}

enum Fate {
    Removed,
    Alive,
    Unknown,
}

fn remove_one(parent: &Dir, name: &OsStr, is_local: bool) -> io::Result<Fate> {
    let own = parent.open_dir(name)?;
    let path = OsStr::new(OWNER);
    let owner = match own.status_of(path) {
        Ok(status) if status.kind == FileKind::Regular && status.length <= OWNER_LEN_MAX => {
            fs::File::from(own.open_file(path)?.into_fd())
        }
        Ok(_) => return Ok(Fate::Unknown),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            // Another measurement is creating or removing it. Removing an empty folder is safe.
            return Ok(match parent.remove_dir(name) {
                Ok(()) => Fate::Removed,
                Err(error) if error.kind() == io::ErrorKind::NotFound => Fate::Removed,
                Err(_) => Fate::Unknown,
            });
        }
        Err(error) => return Err(error),
    };
    match owner.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Ok(Fate::Alive),
        Err(TryLockError::Error(_)) => return Ok(Fate::Unknown),
    }
    let mut text = String::new();
    (&owner).take(OWNER_LEN_MAX).read_to_string(&mut text)?;
    if !is_dead(&text, is_local) {
        return Ok(Fate::Unknown);
    }
    remove_own(parent, &own, name, Some(owner))?;
    Ok(Fate::Removed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_removed_only_if_its_process_has_ended() {
        let elsewhere = "steadfast measure\nstarted another:1\n";
        for is_local in [false, true] {
            assert!(is_dead(&owner_text(), is_local), "its lock is free");
            assert!(is_dead("", is_local), "it was killed before it wrote its name");
            assert_eq!(is_dead(elsewhere, is_local), is_local);
            for text in ["steadfast measure\n", "started x:1\n", "steadfast measure\nx\n", "other"]
            {
                assert!(!is_dead(text, is_local), "{text}");
            }
        }
    }

    #[test]
    fn only_our_names_are_ours() {
        assert_eq!(number_of(OsStr::new("f00000012")), Some(12));
        for name in ["f12", "f000000012", "g00000012", "f-0000012", "owner", "f+0000012"] {
            assert_eq!(number_of(OsStr::new(name)), None, "{name}");
        }
        assert!(is_name(OsStr::new(".steadfast-measure-0123456789abcdef")));
        assert!(!is_name(OsStr::new(".steadfast-measure-0123456789abcde")));
        assert!(!is_name(OsStr::new(".steadfast-probe-0123456789abcdef")));
    }
}
