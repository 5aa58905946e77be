//! Where the parity of a tree is: in the tree, in a folder that the user names, or in one that the
//! tree remembers.
//!
//! A tree remembers a folder by a record in its own folder of parity, and the folder has a record
//! of the tree. Both have the same random number. Whoever can write to the tree can write its
//! record, so a remembered folder is opened only through directories, without links; only if
//! nobody but trusted users can change it; and only if its own record has the same number. It is
//! changed only for the tree at the path that its record has.

use std::ffi::{OsStr, OsString};
use std::hash::{BuildHasher as _, RandomState};
use std::io::{self, Write as _};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use steadfast_sys::file::{Dir, Draft, Existing, TrustedUsers};
use steadfast_sys::names::{NameBuf as _, NameBytes as _};
use steadfast_sys::source::ReadAt as _;

use super::identity::{hex, id_of};
use crate::advice::Advice;
use crate::belongings::is_ours_alone;
use crate::beneath;
use crate::error::Error;
use crate::event::Notice;
use crate::pages::Descriptor;
use crate::tree_above::{TreeAbove, trees_above};
use crate::tree_folder::{FOLDER, PARITY};
use crate::trust::{Distrusted, open_trusted, trusted_with};

/// The record in a tree: which folder has its parity.
const ELSEWHERE: &str = "elsewhere";

/// The mark in a tree that tags were written while that folder was not there.
const BEHIND: &str = "behind";

/// The record in a folder: of which tree it has the parity.
const TREE: &str = "tree";

/// The end of the names of drafts.
const DRAFT: &str = ".draft";

/// The longest record in bytes: a number in hexadecimal, the end of the line, and a path.
const RECORD_LEN_MAX: u64 = 33 + 4096;

/// A tree, and where its parity is.
#[derive(Clone, Debug)]
pub struct ParityPlace {
    /// The root as the user wrote it.
    shown: PathBuf,
    /// Its real path.
    root: PathBuf,
    home: ParityHome,
    /// Who is trusted with what is there.
    trusted: TrustedUsers,
}

/// Where parity is.
#[derive(Clone, Debug)]
enum ParityHome {
    /// In the tree.
    Tree,
    /// In a folder that the user names.
    Named(PathBuf),
    /// In the folder that the tree remembers.
    Remembered(PlaceRecord),
}

/// What a tree and a folder record of each other.
#[derive(Clone, Debug, PartialEq, Eq)]
struct PlaceRecord {
    /// The random number of the pair.
    number: [u8; 16],
    /// The real path of the other one.
    path: PathBuf,
}

impl ParityPlace {
    /// Takes the root of a tree, and the folder of its parity if that is not in the tree. Without a
    /// folder, it is the one that the tree remembers, if it does.
    ///
    /// # Errors
    /// `Usage` if the root is no directory; `System` if what the tree remembers cannot be read.
    pub fn new(root: &Path, elsewhere: Option<&Path>) -> Result<ParityPlace, Error> {
        let real = root.canonicalize().map_err(|error| Error::system("open it", error).at(root))?;
        if !beneath::is_folder(&real) {
            return Err(Error::usage("parity is of a directory").at(root));
        }
        let trusted =
            trusted_with(&real).map_err(|error| Error::system("open it", error).at(root))?;
        ParityPlace::with(root, real, elsewhere, trusted)
    }

    /// Takes the real path of a root. A link that was planted in it since is not followed.
    ///
    /// # Errors
    /// As [`ParityPlace::new`].
    pub fn unlinked(root: &Path) -> Result<ParityPlace, Error> {
        let trusted = Dir::open_real(root).and_then(|dir| TrustedUsers::own().and_owner_of(&dir));
        let trusted = trusted.map_err(|error| Error::system("open it", error).at(root))?;
        ParityPlace::with(root, root.to_owned(), None, trusted)
    }

    fn with(
        root: &Path,
        real: PathBuf,
        elsewhere: Option<&Path>,
        trusted: TrustedUsers,
    ) -> Result<ParityPlace, Error> {
        let home = match elsewhere {
            Some(folder) => ParityHome::Named(folder.to_owned()),
            None => match remembered(&real, &trusted) {
                Ok(None) => ParityHome::Tree,
                Ok(Some(record)) => ParityHome::Remembered(record),
                Err(error) => {
                    let failed = Error::system("read where its parity is", error);
                    return Err(failed.at(&root.join(FOLDER).join(PARITY).join(ELSEWHERE)));
                }
            },
        };
        Ok(ParityPlace { shown: root.to_owned(), root: real, home, trusted })
    }

    /// Finds the nearest tree with parity, at a path or above it. Parity above it that another
    /// person could have put there is passed over.
    ///
    /// # Errors
    /// As [`ParityPlace::find`].
    pub fn nearest(path: &Path) -> Result<Option<ParityPlace>, Error> {
        ParityPlace::find(path, path, &mut |_| ())
    }

    /// Finds the nearest tree with parity, at a path or above it. `selected` is the path itself, or
    /// one above it that the user named. `passed` hears of parity above what was selected that is
    /// not used, because another person could have put it there, or it cannot be read.
    ///
    /// # Errors
    /// `Usage` if another person can change the parity of the tree itself; otherwise as
    /// [`ParityPlace::new`]: a tree whose parity cannot be found is not one without parity.
    pub fn find(
        path: &Path,
        selected: &Path,
        passed: &mut dyn FnMut(Notice),
    ) -> Result<Option<ParityPlace>, Error> {
        use io::ErrorKind::{NotADirectory, NotFound};
        for TreeAbove { root, is_own, trusted } in trees_above(path, selected) {
            let folder = root.join(FOLDER).join(PARITY);
            let mut pass = |error: &dyn std::fmt::Display| {
                passed(Notice::new(format!("this parity is not used: {error}")).at(&folder));
            };
            match open_trusted(&root, &[FOLDER, PARITY], &trusted) {
                Err(error) if matches!(error.kind(), NotFound | NotADirectory) => continue,
                Err(error) if is_own && Distrusted::is(&error) => {
                    let text = format!("the parity of this tree is not used: {error}");
                    return Err(Error::usage(text).at(&folder));
                }
                Err(error) if !is_own => {
                    pass(&error);
                    continue;
                }
                // Whoever opens it says why that fails.
                Ok(_) | Err(_) => {}
            }
            match ParityPlace::with(&root, root.clone(), None, trusted) {
                Err(error) if !is_own => pass(&error),
                found => return found.map(Some),
            }
        }
        Ok(None)
    }

    /// Takes a path at or beneath the root of a tree with parity, and returns the tree and the path
    /// beneath its root. A directory without such a tree is a root itself.
    ///
    /// # Errors
    /// As [`ParityPlace::new`].
    pub fn around(path: &Path, elsewhere: Option<&Path>) -> Result<(ParityPlace, PathBuf), Error> {
        let mut passed = None;
        let found = match elsewhere {
            Some(_) => None,
            None => ParityPlace::find(path, path, &mut |notice| passed = Some(notice))?,
        };
        if let Some(Notice { text, advice, path: Some(at), .. }) =
            passed.filter(|_| found.is_none())
        {
            return Err(Error::usage(text).advise(advice).at(&at));
        }
        let real = path.canonicalize().ok();
        let beneath = |place: &ParityPlace| Some(real?.strip_prefix(&place.root).ok()?.to_owned());
        match found {
            Some(place) => Ok((place.clone(), beneath(&place).unwrap_or_default())),
            None => Ok((ParityPlace::new(path, elsewhere)?, PathBuf::new())),
        }
    }

    /// Returns the real path of the root.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the folder of the parity.
    pub fn folder(&self) -> PathBuf {
        match &self.home {
            ParityHome::Tree => self.shown.join(FOLDER).join(PARITY),
            ParityHome::Named(folder) => folder.clone(),
            ParityHome::Remembered(record) => record.path.clone(),
        }
    }

    /// Says whether only the user and root can write to a set, and to the folders that it is in.
    pub(super) fn is_ours_alone(&self, (folder, name): &(OsString, OsString)) -> bool {
        let set = Path::new(folder).join(name);
        match self.is_elsewhere() {
            true => is_ours_alone(&self.folder(), &set),
            false => is_ours_alone(&self.root, &Path::new(FOLDER).join(PARITY).join(set)),
        }
    }

    /// Says whether the folder is not in the tree.
    pub(super) fn is_elsewhere(&self) -> bool {
        !matches!(self.home, ParityHome::Tree)
    }

    /// Returns a path beneath the root as the user would write it.
    pub(super) fn shown(&self, relative: &Path) -> PathBuf {
        match self.shown == Path::new(".") {
            true => relative.to_owned(),
            false => self.shown.join(relative),
        }
    }

    /// Opens the folder.
    ///
    /// # Errors
    /// `Usage` if there is no parity; otherwise the error of the system.
    pub(super) fn open(&self) -> Result<Dir, Error> {
        let (opened, record) = match &self.home {
            ParityHome::Tree => (self.own_folder(), None),
            ParityHome::Named(folder) => (Dir::open(folder), None),
            ParityHome::Remembered(record) => (open_unlinked(&record.path), Some(record)),
        };
        let failed = |error| system("open the parity", error, self);
        let is_absent = |error: &io::Error| error.kind() == io::ErrorKind::NotFound;
        match (opened, record) {
            (Ok(dir), None) => Ok(dir),
            (Ok(dir), Some(record)) => {
                self.ensure_ours(&dir, record)?;
                Ok(dir)
            }
            (Err(error), Some(_)) if is_absent(&error) => {
                let message = "the parity of this tree is there, and there is no such folder: is \
                               its disk mounted?";
                let error = Error::usage(message).advise(Advice::NameParityFolder);
                Err(error.at(&self.folder()))
            }
            (Err(error), None) if is_absent(&error) => Err(none_at(self)),
            (Err(error), _) => Err(failed(error)),
        }
    }

    /// Says whether the tree remembers a folder that is not there, as when its disk is not mounted.
    pub(super) fn is_away(&self) -> bool {
        let ParityHome::Remembered(record) = &self.home else { return false };
        match open_unlinked(&record.path) {
            Ok(dir) => matches!(read_record(&dir, TREE), Ok(None)),
            Err(error) => error.kind() == io::ErrorKind::NotFound,
        }
    }

    /// Marks that the parity is not as the tags are.
    ///
    /// # Errors
    /// The error of the system.
    pub(super) fn mark_behind(&self) -> io::Result<()> {
        write_small(&Arc::new(self.make_own_folder()?), BEHIND, b"")
    }

    /// Says whether this is marked.
    pub(super) fn is_behind(&self) -> bool {
        self.own_folder().is_ok_and(|own| own.status_of(OsStr::new(BEHIND)).is_ok())
    }

    /// Removes the mark, if it is there.
    ///
    /// # Errors
    /// The error of the system.
    pub(super) fn unmark_behind(&self) -> io::Result<()> {
        match self.own_folder() {
            Ok(own) => remove_small(&own, BEHIND),
            // No folder in the tree has no mark.
            Err(_) => Ok(()),
        }
    }

    /// Refuses a remembered folder that does not have the tree's number, or of a stranger.
    fn ensure_ours(&self, dir: &Dir, record: &PlaceRecord) -> Result<(), Error> {
        let failed = |error| system("open the parity", error, self);
        let refused = |why: &str| {
            let error = Error::usage(format!("{why}: it is not used"));
            Err(error.advise(Advice::NameParityFolder).at(&self.folder()))
        };
        if let Some(stranger) = self.trusted.stranger_in(dir).map_err(failed)? {
            return refused(&format!(
                "the tree remembers this folder, which is not trusted: {stranger}"
            ));
        }
        match read_record(dir, TREE).map_err(failed)? {
            Some(theirs) if theirs.number == record.number => Ok(()),
            Some(_) => refused("the tree remembers this folder, which is of another tree"),
            None => refused(
                "the tree remembers this folder, which has no parity of it (is its disk mounted?)",
            ),
        }
    }

    /// Returns who is trusted with what is in the open folder.
    ///
    /// # Errors
    /// The error of the system.
    pub(super) fn trusted_in(&self, dir: &Dir) -> Result<TrustedUsers, Error> {
        let trusted = self.trusted.clone();
        match &self.home {
            // The user named it.
            ParityHome::Named(_) => trusted
                .and_owner_of(dir)
                .map_err(|error| system("look whose the parity is", error, self)),
            ParityHome::Tree | ParityHome::Remembered(_) => Ok(trusted),
        }
    }

    /// Opens the folder of parity in the tree.
    fn own_folder(&self) -> io::Result<Dir> {
        open_trusted(&self.root, &[FOLDER, PARITY], &self.trusted)
    }

    /// Opens the folder of parity in the tree, and makes it if it is absent.
    fn make_own_folder(&self) -> io::Result<Dir> {
        let folder = Dir::open_real(&self.root)?.make_own_dir(OsStr::new(FOLDER))?;
        folder.make_private_dir(OsStr::new(PARITY))?;
        self.own_folder()
    }

    /// Opens the folder, and makes it if it is absent.
    ///
    /// # Errors
    /// The error of the system. A link in its place is not followed.
    pub(super) fn make(&self) -> Result<Dir, Error> {
        let dir = match &self.home {
            ParityHome::Tree => self.make_own_folder(),
            ParityHome::Named(folder) => match Dir::open(folder) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    Dir::parent_of(folder).and_then(|(above, name)| above.create_dir(&name))
                }
                opened => opened,
            },
            ParityHome::Remembered(_) => return self.open(),
        };
        dir.map_err(|error| system("make the folder of the parity", error, self))
    }

    /// Refuses to change a folder that another tree uses.
    ///
    /// # Errors
    /// `Usage` if it does; the error of the system if that cannot be told.
    pub(super) fn ensure_own(&self, dir: &Dir) -> Result<(), Error> {
        let theirs = read_record(dir, TREE);
        let theirs = theirs.map_err(|error| system("read of which tree it is", error, self))?;
        let Some(theirs) = theirs.filter(|theirs| theirs.path != self.root) else { return Ok(()) };
        let tree = theirs.path.display();
        let message = match &self.home {
            ParityHome::Tree => return Ok(()),
            ParityHome::Remembered(record) => {
                let error = Error::usage(format!("this parity was made for a tree at `{tree}`."));
                let advice = Advice::MakeParityAt(record.path.clone());
                return Err(error.advise(advice).at(&self.folder()));
            }
            ParityHome::Named(_) => {
                // A tree that was moved is not there any more.
                let in_use = trusted_with(&theirs.path);
                let in_use = in_use.and_then(|trusted| remembered(&theirs.path, &trusted));
                let in_use = in_use.ok().flatten();
                if in_use.is_none_or(|record| record.number != theirs.number) {
                    return Ok(());
                }
                format!("this is the parity of another tree, `{tree}`: one folder is for one tree")
            }
        };
        Err(Error::usage(message).at(&self.folder()))
    }

    /// Makes the tree remember the folder that the user named. Only for who has the lock. Returns
    /// what the user should know of the folder.
    ///
    /// # Errors
    /// If the folder cannot be written. A tree that cannot be written is told of.
    pub(super) fn remember(&self, dir: &Arc<Dir>) -> Result<Vec<String>, Error> {
        let ParityHome::Named(folder) = &self.home else { return Ok(Vec::new()) };
        let failed = |error| system("record of which tree it is", error, self);
        let real = folder.canonicalize().map_err(failed)?;
        let before = remembered(&self.root, &self.trusted).ok().flatten();
        let theirs = read_record(dir, TREE).map_err(failed)?;
        let known = theirs.as_ref().or(before.as_ref()).map(|record| record.number);
        let number = known.unwrap_or_else(random_number);
        let of_tree = PlaceRecord { number, path: self.root.clone() };
        let of_folder = PlaceRecord { number, path: real };
        if theirs.as_ref() != Some(&of_tree) {
            write_record(dir, TREE, &of_tree).map_err(failed)?;
        }
        let mut told = Vec::new();
        if before.as_ref() != Some(&of_folder) {
            let own = self.make_own_folder().map(Arc::new);
            if let Err(error) = own.and_then(|own| write_record(&own, ELSEWHERE, &of_folder)) {
                told.push(format!("the tree cannot remember it, name it again: {error}"));
            }
            if let Some(before) = before.filter(|before| before.path != of_folder.path) {
                told.push(format!("parity that is in `{}` stays there", before.path.display()));
            }
        }
        let device = |dir: &Dir| dir.status().map(|status| status.device).ok();
        if Dir::open(&self.root).is_ok_and(|root| device(&root) == device(dir)) {
            told.push("it is on the same device as the tree: one failure can take both".to_owned());
        }
        Ok(told)
    }

    /// Removes what earlier runs did not finish in the open folder, and in the one of the tree.
    /// Only for who has the lock.
    ///
    /// # Errors
    /// The error of the system.
    pub(super) fn remove_drafts(&self, dir: &Dir) -> io::Result<()> {
        remove_drafts(dir)?;
        match self.own_folder().ok().filter(|_| self.is_elsewhere()) {
            Some(own) => remove_drafts(&own),
            None => Ok(()),
        }
    }

    /// Removes what tree and folder record of each other, and directories in the tree that are
    /// empty then.
    ///
    /// # Errors
    /// The error of the system.
    pub(super) fn forget(&self, dir: &Dir) -> io::Result<()> {
        let here = dir.status()?;
        self.unmark_behind()?;
        if self.is_elsewhere() {
            remove_small(dir, TREE)?;
        }
        let root = Dir::open_real(&self.root)?;
        let Ok(above) = root.open_dir(OsStr::new(FOLDER)) else { return Ok(()) };
        if let Ok(own) = above.open_dir(OsStr::new(PARITY))
            && let Ok(Some(record)) = read_record(&own, ELSEWHERE)
        {
            let there = open_unlinked(&record.path).and_then(|dir| dir.status());
            if there.is_ok_and(|it| (it.device, it.inode) == (here.device, here.inode)) {
                remove_small(&own, ELSEWHERE)?;
            }
        }
        remove_empty(&above, PARITY)?;
        // A tree without a catalogue has nothing else there.
        remove_empty(&root, FOLDER)
    }
}

/// Opens an absolute path, one name at a time and through no link.
fn open_unlinked(path: &Path) -> io::Result<Dir> {
    let top = Path::new("/");
    let names = path.strip_prefix(top).map_err(|_| invalid("the path is not absolute"))?;
    beneath::directory(top, names)
}

/// Returns what a tree remembers; `None` if it does not, or if another person could have put its
/// folder there.
fn remembered(root: &Path, trusted: &TrustedUsers) -> io::Result<Option<PlaceRecord>> {
    use io::ErrorKind::{NotADirectory, NotFound};
    match open_trusted(root, &[FOLDER, PARITY], trusted) {
        Ok(dir) => read_record(&dir, ELSEWHERE),
        Err(error) if Distrusted::is(&error) => Ok(None),
        Err(error) if matches!(error.kind(), NotFound | NotADirectory) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Reads a file of ours of at most so many bytes; `None` if there is none.
pub(super) fn read_small(dir: &Dir, name: &str, most: u64) -> io::Result<Option<Vec<u8>>> {
    let name = OsStr::new(name);
    let Some(status) = dir.status_of_own(name)? else { return Ok(None) };
    if status.length > most {
        return Err(invalid("it is too long"));
    }
    let file = dir.open_file(name)?;
    let len_bytes = file.status()?.length.min(most);
    let mut bytes = vec![0; len_bytes as usize];
    Descriptor { file: &file, len_bytes }.read_exact_at(&mut bytes, 0)?;
    Ok(Some(bytes))
}

/// Writes a file of ours, whole or not at all.
pub(super) fn write_small(dir: &Arc<Dir>, name: &str, bytes: &[u8]) -> io::Result<()> {
    let mut draft = Draft::new(dir)?;
    draft.write_all(bytes)?;
    draft.publish(OsStr::new(name), Existing::Replace)
}

/// Removes a file of ours, if it is there.
pub(super) fn remove_small(dir: &Dir, name: &str) -> io::Result<()> {
    match dir.remove_file(OsStr::new(name)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Reads a record; `None` if there is none.
fn read_record(dir: &Dir, name: &str) -> io::Result<Option<PlaceRecord>> {
    let Some(bytes) = read_small(dir, name, RECORD_LEN_MAX)? else { return Ok(None) };
    let parts = bytes.split_at_checked(32).and_then(|(digits, rest)| {
        Some((id_of(OsStr::from_bytes(digits))?, rest.strip_prefix(b"\n")?))
    });
    let (number, path) = parts.ok_or_else(|| invalid("the record is damaged"))?;
    let path = PathBuf::from_vec(path.to_vec());
    match path.is_absolute() {
        true => Ok(Some(PlaceRecord { number, path })),
        false => Err(invalid("the path in the record is not absolute")),
    }
}

fn write_record(dir: &Arc<Dir>, name: &str, record: &PlaceRecord) -> io::Result<()> {
    let number = hex(&record.number);
    write_small(dir, name, &[number.as_bytes(), b"\n", record.path.as_bytes()].concat())
}

/// Makes a number that nobody else can know. The system gives a hasher its random keys.
fn random_number() -> [u8; 16] {
    let mut number = [0; 16];
    for half in number.chunks_mut(8) {
        half.copy_from_slice(&RandomState::new().hash_one(0).to_le_bytes());
    }
    number
}

fn invalid(reason: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, reason)
}

/// Removes drafts of sets and records from a directory.
fn remove_drafts(dir: &Dir) -> io::Result<()> {
    let mut drafts: Vec<OsString> = Vec::new();
    dir.entries(&mut |entry| {
        let name = entry.name.as_encoded_bytes();
        if name.starts_with(b".steadfast-") && name.ends_with(DRAFT.as_bytes()) {
            drafts.push(entry.name.to_owned());
        }
        ControlFlow::Continue(())
    })?;
    drafts.iter().try_for_each(|name| dir.remove_file(name))
}

/// Removes a directory if it is there and empty.
pub(super) fn remove_empty(dir: &Dir, name: &str) -> io::Result<()> {
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
    Error::usage("there is no parity").advise(Advice::MakeParity).at(&place.folder())
}
