//! A destination: its open root, its device, and which names it can hold.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::hash::{BuildHasher as _, RandomState};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use steadfast_sys::file::{AlignedBuffer, Dir, Draft, File, Status};
use steadfast_sys::names::NameBytes as _;
use steadfast_sys::storage::{Volume, volume};

use super::draft_names::DraftNames;
use crate::belongings::{Belongings, Trust, disinherit};
use crate::beneath::{self, LastDir, Presence};
use crate::catalogue::{Catalogue, DOS, real_of};
use crate::error::Error;
use crate::known::SeenFile;
use crate::manifest::folded;
use crate::safe::{Device, FileIdentity, HeldPath, UncachedFile};

/// Characters that some file systems refuse, and names that end with a dot or a space.
const DOS_REFUSED: &[u8] = b"\"*:<>?\\|";

/// What is compared of the ends of a copy: file systems read such blocks past their caches.
const BLOCK_LEN: usize = 4096;

/// The longest file of vfat.
const VFAT_LENGTH_MAX: u64 = u32::MAX as u64;

/// Marks a folder that a run made and has not given its rights and times yet.
const UNFINISHED: &str = "folder";

/// The longest name of nearly every file system, in bytes.
const NAME_LEN_MAX: usize = 255;

/// A destination.
pub(super) struct Destination {
    pub(super) path: PathBuf,
    pub(super) device: Device,
    root: Arc<Dir>,
    held: HeldPath,
    file_system: String,
    cached_for: Duration,
    pub(super) free_bytes: u64,
    folds_case: bool,
    folds_form: bool,
    draft_names: DraftNames,
    /// The directories that were opened last.
    dirs: HashMap<PathBuf, Arc<Dir>>,
    /// Directories that were made, with their sources.
    made: BTreeMap<PathBuf, PathBuf>,
    /// Names so far, without case or normal form, as hashes.
    names: HashSet<u64>,
    hasher: RandomState,
}

/// What is done about a destination that is absent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Absent {
    /// It is made.
    Made,
    /// It is judged by the directory above it.
    Foreseen,
}

/// Opens the root of a destination, or the directory above it. Returns it with its path.
fn root_of<'a>(path: &'a Path, within: &[PathBuf], absent: Absent) -> io::Result<(Dir, &'a Path)> {
    if within.is_empty() {
        return match beneath::presence_of(path) {
            Presence::Gone => {
                let (above, name) = Dir::parent_of(path)?;
                let parent = path.parent().filter(|it| !it.as_os_str().is_empty());
                made(above, &name, path, (parent.unwrap_or(Path::new(".")), absent))
            }
            Presence::Unknown(error) => Err(error),
            Presence::There(_) | Presence::Replaced(_) => Ok((Dir::open(path)?, path)),
        };
    }
    match beneath::directory_within(within, path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let above = path.parent().ok_or(error)?;
            let dir = beneath::directory_within(within, above)?;
            made(dir, path.file_name().unwrap_or_default(), path, (above, absent))
        }
        found => found.map(|dir| (dir, path)),
    }
}

fn made<'a>(
    above: Dir,
    name: &OsStr,
    path: &'a Path,
    (parent, absent): (&'a Path, Absent),
) -> io::Result<(Dir, &'a Path)> {
    match absent {
        Absent::Made => Ok((above.make_dir(name)?, path)),
        Absent::Foreseen => Ok((above, parent)),
    }
}

/// The most directories that are kept open.
const DIRS_MAX: usize = 64;

impl Destination {
    /// Opens a destination. It is reached by names alone from one of the directories `within`, if
    /// there are any. `trees` is the list of catalogued trees, beside which a secret is kept.
    ///
    /// # Errors
    /// If it is no directory, or nothing can be written there.
    pub(super) fn open(
        path: &Path,
        within: &[PathBuf],
        (absent, trees): (Absent, Option<&Path>),
    ) -> Result<Destination, Error> {
        let open = || {
            let (root, opened) = root_of(path, within, absent)?;
            let root = Arc::new(root);
            let volume = volume(opened)?;
            let held = HeldPath::of(opened, root.to_file()?)?;
            let device = Device::of(opened)?;
            if !held.is_here() {
                return Err(io::Error::other("another folder is there by now"));
            }
            let real = real_of(path).unwrap_or_else(|| path.to_owned());
            let draft_names = DraftNames::at(&real, trees.filter(|_| absent == Absent::Made))?;
            let takes_for_one = |one: &str, other: &str| {
                let name = draft_names.name("test", Path::new(""));
                let name = |part: &str| format!(".steadfast-{part}{}", name.display());
                takes_for_one(&root, &name(one), &name(other))
            };
            Ok::<_, io::Error>(Destination {
                path: path.to_owned(),
                device,
                held,
                cached_for: cached_for(&volume),
                file_system: volume.file_system,
                free_bytes: volume.free_bytes,
                folds_case: takes_for_one("a", "A")?,
                // A file system that refuses such names says so of each file.
                folds_form: takes_for_one("\u{e9}", "e\u{301}").unwrap_or(false),
                draft_names,
                root,
                dirs: HashMap::new(),
                made: BTreeMap::new(),
                names: HashSet::new(),
                hasher: RandomState::new(),
            })
        };
        open().map_err(|error| Error::system("use the destination", error).at(path))
    }

    /// Makes a draft beneath it. What a killed process left of that name is removed.
    pub(super) fn draft(&self, name: &OsStr) -> io::Result<Draft> {
        match Draft::named(&self.root, name) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                self.root.remove_file(name)?;
                Draft::named(&self.root, name)
            }
            draft => draft,
        }
    }

    /// Returns whether its path still leads to the directory that was opened.
    pub(super) fn is_here(&self) -> bool {
        self.held.is_here()
    }

    /// Returns whether its path and that of a copy beneath it lead to the file that was proved.
    pub(super) fn has(&self, relative: &Path, proved: &Status) -> bool {
        let same = |now: Status| self.identity(&now) == self.identity(proved);
        self.is_here() && beneath::status(&self.path, relative).is_ok_and(same)
    }

    /// Opens a copy anew by its path, and reads its beginning and its end past caches. Returns
    /// whether it is the copy that was proved, of a source that is open. A status alone proves
    /// nothing: a file system on top of others may remember it.
    pub(super) fn still_has(
        &self,
        relative: &Path,
        (copy, of): (&Status, &Status),
        source: &File,
    ) -> bool {
        let look = || {
            let file = beneath::file(&self.path, relative)?;
            let status = file.status()?;
            let is_same = self.copy_identity(&status, of) == self.copy_identity(copy, of);
            Ok::<bool, io::Error>(is_same && has_same_ends(source, &file, status.length)?)
        };
        self.is_here() && look().unwrap_or(false)
    }

    /// Returns for how long names and contents that are gone may still be shown.
    pub(super) fn cached_for(&self) -> Duration {
        self.cached_for
    }

    /// Returns the status of what is at a path beneath it.
    pub(super) fn status_of(&self, relative: &Path, last: &mut LastDir) -> io::Result<Status> {
        last.status(&self.root, relative)
    }

    /// Returns what tells a file there from others.
    pub(super) fn identity(&self, status: &Status) -> FileIdentity {
        FileIdentity::of(SeenFile::of(status), Some(&self.device))
    }

    /// Returns what tells a copy from other files, until the end of the run.
    pub(super) fn copy_identity(&self, copy: &Status, source: &Status) -> FileIdentity {
        let identity = self.identity(copy);
        if source.links > 1 { identity.of_linked() } else { identity }
    }

    /// Says why it cannot hold a file, if that is known.
    pub(super) fn refusal(&mut self, relative: &Path, length: u64) -> Option<String> {
        let is_dos = DOS.contains(&&*self.file_system);
        for name in relative.iter() {
            let bytes = name.as_bytes();
            if bytes.len() > NAME_LEN_MAX {
                return Some("its name is too long".to_owned());
            }
            let last = bytes.last();
            let is_refused = |byte: &u8| *byte < 0x20 || DOS_REFUSED.contains(byte);
            if is_dos && (bytes.iter().any(is_refused) || matches!(last, Some(b'.' | b' '))) {
                return Some(format!("{} does not allow its name", self.file_system));
            }
        }
        if self.file_system == "vfat" && length > VFAT_LENGTH_MAX {
            return Some("vfat holds no file of 4 GiB or more".to_owned());
        }
        if self.folds_case || self.folds_form {
            let form = if self.folds_form { folded(relative) } else { relative.to_owned() };
            let name = form.to_string_lossy();
            let name = if self.folds_case { name.to_lowercase() } else { name.into_owned() };
            if !self.names.insert(self.hasher.hash_one(name)) {
                let reason = "another name differs from its name only in case or normal form";
                return Some(reason.to_owned());
            }
        }
        None
    }

    /// Says whether it keeps times to two seconds only.
    pub(super) fn has_coarse_times(&self) -> bool {
        matches!(&*self.file_system, "vfat" | "msdos")
    }

    /// Returns the name of the draft of a file.
    pub(super) fn draft_name(&self, relative: &Path) -> OsString {
        self.draft_names.name("file", relative)
    }

    /// Opens the directory of a path beneath the root, and makes what of it is missing, so that
    /// nobody else can enter it yet. `source` is the directory that it is a copy of.
    pub(super) fn directory(&mut self, relative: &Path, source: &Path) -> io::Result<Arc<Dir>> {
        if let Some(dir) = self.dirs.get(relative) {
            return Ok(Arc::clone(dir));
        }
        let Some((above, name)) = relative.parent().zip(relative.file_name()) else {
            return Ok(Arc::clone(&self.root));
        };
        let above = self.directory(above, source.parent().unwrap_or(source))?;
        let mark = self.draft_names.name(UNFINISHED, relative);
        let dir = match above.open_dir(name) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                make_marked(&above, name, &mark)?
            }
            opened => opened?,
        };
        // It is there too if a run was killed that made the folder.
        if dir.status_of(&mark).is_ok() {
            self.made.insert(relative.to_owned(), source.to_owned());
        }
        if self.dirs.len() >= DIRS_MAX {
            self.dirs.clear();
        }
        let dir = Arc::new(dir);
        self.dirs.insert(relative.to_owned(), Arc::clone(&dir));
        Ok(dir)
    }

    /// Opens a directory that is there, beneath the directory that was opened.
    pub(super) fn open_dir(&self, relative: &Path) -> io::Result<Arc<Dir>> {
        let mut dir = Arc::clone(&self.root);
        for component in relative.iter() {
            dir = Arc::new(dir.open_dir(component)?);
        }
        Ok(dir)
    }

    /// Makes a further name of a copy that was proved beneath the root. Returns its status, and
    /// whether it was there before.
    ///
    /// # Errors
    /// Whatever the system says; `AlreadyExists` if another file has the first or the new name.
    pub(super) fn link(
        &self,
        (first, proved): (&Path, &Status),
        dir: &Dir,
        name: &OsStr,
    ) -> io::Result<(Status, bool)> {
        let parent = self.open_dir(first.parent().unwrap_or(Path::new("")))?;
        let first = first.file_name().unwrap_or_default();
        let is_proved = |it: &Status| (it.device, it.inode) == (proved.device, proved.inode);
        if !is_proved(&parent.status_of(first)?) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        let was_there = match parent.link_to(first, dir, name) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => true,
            linked => linked.map(|()| false)?,
        };
        let now = dir.status_of(name)?;
        match is_proved(&now) {
            true => self.flush().map(|()| (now, was_there)),
            false => Err(io::ErrorKind::AlreadyExists.into()),
        }
    }

    /// Returns whether the destination is in a catalogued tree.
    pub(super) fn is_catalogued(&self) -> bool {
        Catalogue::find(&self.path).is_some()
    }

    /// Makes everything that was written permanent.
    pub(super) fn flush(&self) -> io::Result<()> {
        self.root.sync_volume()
    }

    /// Gives the directories that were made the mode, the owner, the attributes and the times of
    /// their sources, as far as the system allows it; the lowest first, so that nothing changes one
    /// afterwards. The sources are reached by names alone from one of the directories `within`.
    pub(super) fn finish(&mut self, within: &[PathBuf]) -> io::Result<()> {
        for (relative, source) in std::mem::take(&mut self.made).iter().rev() {
            // One that was removed meanwhile gets nothing.
            let _ = self.finish_folder(relative, (source, within));
        }
        self.flush()
    }

    fn finish_folder(
        &self,
        relative: &Path,
        (source, within): (&Path, &[PathBuf]),
    ) -> io::Result<()> {
        let dir = self.open_dir(relative)?;
        let to = dir.to_file()?;
        let from = beneath::directory_within(within, source).and_then(|dir| dir.to_file());
        let mark = self.draft_names.name(UNFINISHED, relative);
        let Ok(all) = from.and_then(|from| Belongings::of(&from)) else {
            // The folder above is the only sign of who should enter it.
            let above = self.open_dir(relative.parent().unwrap_or(Path::new("")))?;
            to.set_mode(above.status()?.mode & 0o755)?;
            return dir.remove_file(&mark);
        };
        // A run that is killed meanwhile leaves the mark. Its removal needs the right to write, and
        // changes the time.
        let mut open = all.clone();
        open.ownership.mode |= 0o700;
        open.give_to(&to, relative, Trust::Own);
        dir.remove_file(&mark)?;
        if open != all {
            to.set_mode(to.ownership()?.mode & (all.ownership.mode | !0o700))?;
        }
        to.set_times(all.atime, all.mtime)
    }
}

/// Returns for how long a file system may show names and contents that are gone: as its mount
/// options say, or else the longest time that it uses by itself.
fn cached_for(volume: &Volume) -> Duration {
    let options = volume.options.as_deref().unwrap_or_default().split(',');
    let mut told = None;
    for option in options {
        match option.split_once('=') {
            Some(("acregmax" | "acdirmax" | "actimeo" | "closetimeo", seconds)) => {
                told = told.max(seconds.parse().ok());
            }
            None if option == "noac" => return Duration::ZERO,
            _ => {}
        }
    }
    let (is_told, seconds) = match &*volume.file_system {
        "nfs" | "nfs4" => (true, 60),
        "cifs" | "smb2" | "smb3" => (true, 2),
        "afpfs" | "webdav" => (false, 60),
        // Its own cache, of which the table of mounts does not tell.
        "fuse.sshfs" => (false, 21),
        "smbfs" | "9p" | "ceph" | "afs" | "virtiofs" => (false, 2),
        name if name.starts_with("fuse") => (false, 2),
        _ => (false, 0),
    };
    // The time may have begun a moment before, and is counted in ticks.
    let told = told.filter(|_| is_told).map(|told: u64| told + 1);
    Duration::from_secs(told.unwrap_or(seconds))
}

/// Makes a folder that nobody else can enter, with a mark in it until it has its rights and times.
/// It never has its name without the mark.
fn make_marked(above: &Dir, name: &OsStr, mark: &OsStr) -> io::Result<Dir> {
    let dir = match above.create_dir(mark) {
        // A run that was killed left it.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => above.open_dir(mark)?,
        made => made?,
    };
    disinherit(&dir.to_file()?)?;
    match dir.create_file(mark) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    above.rename(mark, name)?;
    Ok(dir)
}

/// Returns whether two files of a length have the same first and last block. The second one is read
/// past the cache where the system can.
fn has_same_ends(one: &File, other: &File, length: u64) -> io::Result<bool> {
    let uncached = UncachedFile::prepare(other)?;
    let mut buffers = [AlignedBuffer::new(BLOCK_LEN), AlignedBuffer::new(BLOCK_LEN)];
    for offset in [0, length.saturating_sub(1) / BLOCK_LEN as u64 * BLOCK_LEN as u64] {
        let [first, second] = &mut buffers;
        let wanted = (length - offset.min(length)).min(BLOCK_LEN as u64) as usize;
        let found = uncached.read_at(second, offset)?;
        if one.read_at(first, offset)? < wanted || found < wanted {
            return Ok(false);
        }
        if first[..wanted] != second[..wanted] {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Finds out whether a directory takes two names for one.
fn takes_for_one(dir: &Arc<Dir>, name: &str, other: &str) -> io::Result<bool> {
    let (name, other) = (OsStr::new(name), OsStr::new(other));
    let draft = match Draft::named(dir, name) {
        // A process that was killed left it, or another one is here at the same time.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => None,
        draft => Some(draft?),
    };
    let is_one = dir.status_of(other).is_ok();
    if draft.is_none() {
        let _ = dir.remove_file(name);
    }
    Ok(is_one)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    #[test]
    fn waits_are_those_of_the_mount_where_it_tells_them() {
        let wait = |name: &str, options: &str| {
            let (file_system, options) = (name.to_owned(), Some(options.to_owned()));
            cached_for(&Volume { file_system, options, ..Volume::default() }).as_secs()
        };
        assert_eq!(wait("nfs4", "rw,vers=4.2,hard"), 60);
        assert_eq!(wait("nfs4", "rw,acregmin=1,acregmax=3,acdirmax=600"), 601);
        assert_eq!(wait("nfs", "rw,noac"), 0);
        assert_eq!(wait("cifs", "rw,actimeo=1"), 2);
        assert_eq!(wait("cifs", "rw,acdirmax=30,acregmax=1"), 31);
        assert_eq!(wait("fuse.sshfs", "rw,acregmax=1"), 21, "not one of its options");
        assert_eq!((wait("fuse.mergerfs", ""), wait("ext4", "rw")), (2, 0));
    }

    #[test]
    fn a_folder_is_private_until_a_run_comes_to_its_end() {
        let root = tempfile::tempdir().unwrap();
        let path = |name: &str| root.path().join(name);
        let mode = |name: &str| fs::metadata(path(name)).unwrap().permissions().mode() & 0o7777;
        let set = |name: &str, mode| {
            fs::set_permissions(path(name), fs::Permissions::from_mode(mode)).unwrap();
        };
        fs::create_dir_all(path("from/open/closed")).unwrap();
        fs::create_dir_all(path("to/there")).unwrap();
        set("from/open", 0o755);
        set("from/open/closed", 0o500);
        set("to/there", 0o750);
        let within = [path("from")];
        let begin = || {
            let trees = path("state/trees");
            let mut to = Destination::open(&path("to"), &[], (Absent::Made, Some(&trees))).unwrap();
            to.directory(Path::new("open/closed"), &path("from/open/closed")).unwrap();
            to.directory(Path::new("there"), &path("from/open")).unwrap();
            to
        };
        // As if it were killed.
        drop(begin());
        assert_eq!((mode("to/open"), mode("to/open/closed")), (0o700, 0o700));
        begin().finish(&within).unwrap();
        assert_eq!((mode("to/open"), mode("to/open/closed")), (0o755, 0o500));
        assert_eq!(mode("to/there"), 0o750, "it was there before");
        assert_eq!(fs::read_dir(path("to/open/closed")).unwrap().count(), 0);
        assert_eq!(fs::read_dir(path("to")).unwrap().count(), 2);
        let time = |name: &str| fs::metadata(path(name)).unwrap().modified().unwrap();
        assert_eq!(time("to/open/closed"), time("from/open/closed"));
        // Killed before the folder had its name.
        let mark = begin().draft_names.name(UNFINISHED, Path::new("new"));
        fs::create_dir(path("to").join(mark)).unwrap();
        let mut to = begin();
        to.directory(Path::new("new"), &path("absent")).unwrap();
        to.finish(&within).unwrap();
        assert_eq!(mode("to/new"), mode("to") & 0o755, "without a source");
        assert_eq!(fs::read_dir(path("to")).unwrap().count(), 3);
    }
}
