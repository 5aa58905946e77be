//! The work of a repair that has begun and not ended: `.steadfast/damaged/unfinished` in its tree.
//!
//! A file that is replaced has a draft there, `INODE.draft`, where INODE is that of the file. When
//! the two exchange their names, the damaged file has this name, until it is moved to where damaged
//! files are kept. Before, `INODE.path` is written: the inode of the draft, and the path of the
//! file. So it is always known which of the two has the name. A file that is repaired in place has
//! its journal there, `INODE.pages`. A missing file on another file system has its draft in such a
//! folder there, and `DEVICE.away` has the path of the folder with it.
//!
//! A repair that is killed leaves them. The next one removes drafts, moves damaged files to where
//! they are kept, and finishes what was begun in place.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{self, Write as _};
use std::ops::ControlFlow;
use std::os::fd::AsFd as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use steadfast_sys::file::{Dir, Draft, Existing, File, FileKind, Stranger, TrustedUsers};
use steadfast_sys::names::{NameBuf as _, NameBytes as _};
use steadfast_sys::source::ReadAt as _;

use super::journal::{PATH_LEN_MAX, RepairJournal};
use crate::beneath;
use crate::pages::Descriptor;
use crate::tree_above::TreeAbove;
use crate::tree_folder::{DAMAGED, FOLDER};
use crate::trust::refuse;

/// The folder beside the damaged files of runs.
const UNFINISHED: &str = "unfinished";

/// The file beside it that a repair holds locked.
const LOCK: &str = "lock";

/// The kinds of files there.
const DRAFT: &str = "draft";
const PATH: &str = "path";
const PAGES: &str = "pages";
const AWAY: &str = "away";

/// The open folder, locked.
#[derive(Debug)]
pub(super) struct Unfinished {
    /// The path of the root.
    path: PathBuf,
    root: Dir,
    folder: Dir,
    damaged: Dir,
    dir: Arc<Dir>,
    _lock: fs::File,
}

impl Unfinished {
    /// Opens the folder of a tree, and makes it if it is absent.
    ///
    /// # Errors
    /// `WouldBlock` if another repair has it; otherwise whatever the system says. A link in its
    /// place is not followed.
    pub(super) fn make(root: &Path) -> io::Result<Unfinished> {
        Unfinished::make_in(Dir::open(root)?, root)
    }

    /// Opens the folder of an open directory, whose path is `path`.
    ///
    /// # Errors
    /// As [`Unfinished::make`].
    pub(super) fn make_in(root: Dir, path: &Path) -> io::Result<Unfinished> {
        let trusted = TrustedUsers::own().and_owner_of(&root)?;
        let (top, path) = (path.to_owned(), path.join(FOLDER));
        let folder = root.make_own_dir(OsStr::new(FOLDER))?;
        let damaged = folder.make_own_dir(OsStr::new(DAMAGED))?;
        ensure_trusted(&path, [&folder, &damaged], &trusted)?;
        let lock = lock(&damaged)?;
        let dir = match damaged.open_dir(OsStr::new(UNFINISHED)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                damaged.create_dir(OsStr::new(UNFINISHED))
            }
            opened => opened,
        }?;
        refuse(&path.join(DAMAGED).join(UNFINISHED), trusted.stranger_in(&dir))?;
        Ok(Unfinished { path: top, root, folder, damaged, dir: Arc::new(dir), _lock: lock })
    }

    /// Returns the folder.
    pub(super) fn dir(&self) -> &Arc<Dir> {
        &self.dir
    }

    /// Makes the draft of a file that is to be replaced.
    ///
    /// # Errors
    /// Whatever the system says.
    pub(super) fn draft(&self, inode: u64) -> io::Result<Draft> {
        Draft::named(&self.dir, &name_of(inode, DRAFT))
    }

    /// Writes which file is about to be replaced by a draft.
    ///
    /// # Errors
    /// Whatever the system says.
    pub(super) fn note(&self, inode: u64, relative: &Path, by: &Draft) -> io::Result<()> {
        let mut draft = Draft::new(&self.dir)?;
        draft.write_all(&by.to_file()?.status()?.inode.to_le_bytes())?;
        draft.write_all(relative.as_bytes())?;
        draft.publish(&name_of(inode, PATH), Existing::Replace)
    }

    /// Removes what [`Unfinished::note`] wrote. If that fails, the next repair does it.
    pub(super) fn forget(&self, inode: u64) {
        let _ = self.dir.remove_file(&name_of(inode, PATH));
    }

    /// Writes that a folder on another device, at a path beneath the root, has unfinished work.
    ///
    /// # Errors
    /// Whatever the system says.
    pub(super) fn note_away(&self, device: u64, relative: &Path) -> io::Result<()> {
        let mut draft = Draft::new(&self.dir)?;
        draft.write_all(&device.to_le_bytes())?;
        draft.write_all(relative.as_bytes())?;
        draft.publish(&name_of(device, AWAY), Existing::Replace)
    }

    /// Removes what [`Unfinished::note_away`] wrote.
    pub(super) fn forget_away(&self, device: u64) {
        let _ = self.dir.remove_file(&name_of(device, AWAY));
    }

    /// Reads the inode of the draft and the path of the file that it was about to replace; `None`
    /// if they cannot be read.
    fn noted(&self, name: &OsStr) -> Option<(u64, PathBuf)> {
        let status = self.dir.status_of_own(name).ok()??;
        let len_bytes = Some(status.length).filter(|length| *length <= 8 + PATH_LEN_MAX)?;
        let file = self.dir.open_file(name).ok()?;
        let mut bytes = vec![0; len_bytes as usize];
        Descriptor { file: &file, len_bytes }.read_exact_at(&mut bytes, 0).ok()?;
        let (inode, path) = bytes.split_first_chunk()?;
        let path = PathBuf::from_vec(path.to_vec());
        Some((u64::from_le_bytes(*inode), path))
    }

    /// Returns the names of the journals.
    ///
    /// # Errors
    /// Whatever the system says.
    pub(super) fn journals(&self) -> io::Result<Vec<OsString>> {
        let names = names_in(&self.dir)?.into_iter();
        Ok(names.filter(|name| matches!(parse(name), Some((_, PAGES)))).collect())
    }

    /// Opens a journal.
    ///
    /// # Errors
    /// `InvalidData` if it is damaged; otherwise whatever the system says.
    pub(super) fn journal(&self, name: &OsStr) -> io::Result<RepairJournal> {
        journal(&self.dir, name)
    }

    /// Clears up what killed repairs left. Damaged files are moved to the directory that `keeper`
    /// opens for their path beneath the root. Returns these paths.
    ///
    /// # Errors
    /// Whatever the system says.
    pub(super) fn clear_up(
        &self,
        keeper: &dyn Fn(&Path) -> io::Result<Dir>,
    ) -> io::Result<Vec<PathBuf>> {
        let mut kept = Vec::new();
        let names = names_in(&self.dir)?;
        for name in &names {
            match parse(name) {
                Some((inode, DRAFT)) => kept.extend(self.clear_draft(name, inode, keeper)?),
                // A draft of a missing file, of a note or of a journal.
                None if is_random_draft(name) => remove_regular(&self.dir, name)?,
                Some((_, AWAY)) => self.clear_away(name)?,
                _ => {}
            }
        }
        // Only now: a damaged file needs its path until it is moved.
        for name in names.iter().filter(|name| matches!(parse(name), Some((_, PATH)))) {
            remove_regular(&self.dir, name)?;
        }
        Ok(kept)
    }

    /// Removes the drafts in a folder on another file system, and the note of it.
    fn clear_away(&self, name: &OsStr) -> io::Result<()> {
        use io::ErrorKind::{NotADirectory, NotFound};
        let relative = self.noted(name).map(|(_, relative)| relative).unwrap_or_default();
        // A planted note may name the tree itself, which is being cleared up.
        if !relative.as_os_str().is_empty() {
            match beneath::directory(&self.path, &relative.join(folder_path())) {
                Err(error) if matches!(error.kind(), NotFound | NotADirectory) => {}
                opened => {
                    opened?;
                    let dir = beneath::directory(&self.path, &relative)?;
                    let away = Unfinished::make_in(dir, &self.path.join(&relative))?;
                    let names = names_in(&away.dir)?;
                    let mut drafts = names.iter().filter(|name| is_random_draft(name));
                    drafts.try_for_each(|name| remove_regular(&away.dir, name))?;
                }
            }
        }
        remove_regular(&self.dir, name)
    }

    /// Removes a draft. If it is the damaged file already, it is moved and its path returned.
    fn clear_draft(
        &self,
        name: &OsStr,
        inode: u64,
        keeper: &dyn Fn(&Path) -> io::Result<Dir>,
    ) -> io::Result<Option<PathBuf>> {
        let note = name_of(inode, PATH);
        let is_noted = self.dir.status_of(&note).is_ok();
        // In doubt, it is what the user had.
        let (draft, relative) = match self.noted(&note) {
            Some((draft, relative)) => (Some(draft), relative),
            None => (None, PathBuf::from(name)),
        };
        if !is_noted || Some(self.dir.status_of(name)?.inode) == draft {
            remove_regular(&self.dir, name)?;
            return Ok(None);
        }
        let former = relative.file_name().unwrap_or(name);
        self.dir.move_to(name, &keeper(&relative)?, former)?;
        Ok(Some(relative))
    }
}

impl Drop for Unfinished {
    /// Removes what is empty. Whatever stays is used by the next repair.
    fn drop(&mut self) {
        let _ = self.damaged.remove_dir(OsStr::new(UNFINISHED));
        let _ = self.damaged.remove_file(OsStr::new(LOCK));
        let _ = self.folder.remove_dir(OsStr::new(DAMAGED));
        let _ = self.root.remove_dir(OsStr::new(FOLDER));
    }
}

/// Locks a folder for damaged files.
fn lock(damaged: &Dir) -> io::Result<fs::File> {
    let busy = || io::Error::new(io::ErrorKind::WouldBlock, "another repair of the tree goes on");
    let file = damaged.open_own(OsStr::new(LOCK))?;
    match file.try_lock() {
        Ok(()) => {}
        Err(fs::TryLockError::WouldBlock) => return Err(busy()),
        Err(fs::TryLockError::Error(error)) => return Err(error),
    }
    // The other repair may have removed it when it ended.
    let inode = File::of(&file)?.status()?.inode;
    let is_there = damaged.status_of(OsStr::new(LOCK)).is_ok_and(|status| status.inode == inode);
    if is_there { Ok(file) } else { Err(busy()) }
}

/// Fails if another person put our folder or the one for damaged files there, or can change the
/// second. `path` is that of the first, which others may share: a group that keeps a catalogue.
fn ensure_trusted(
    path: &Path,
    [folder, damaged]: [&Dir; 2],
    trusted: &TrustedUsers,
) -> io::Result<()> {
    let owner = |stranger: &Stranger| matches!(stranger, Stranger::Owner(_));
    refuse(path, trusted.stranger_in(folder).map(|it| it.filter(owner)))?;
    refuse(&path.join(DAMAGED), trusted.stranger_in(damaged))
}

/// What repairs of a tree left. Reading it writes nothing.
#[derive(Debug, Default)]
pub(super) struct Remains {
    /// Journals of files into which pages were written.
    pub(super) journals: Vec<LeftJournal>,
    /// Whether there is anything else.
    pub(super) has_others: bool,
}

/// A journal of a repair in place that did not end.
#[derive(Debug)]
pub(super) struct LeftJournal {
    /// The file; if the journal cannot be read, the journal.
    pub(super) path: PathBuf,
    /// Why it cannot be read.
    pub(super) fault: Option<io::Error>,
}

impl Remains {
    /// Returns those of a tree; `None` if there are none.
    ///
    /// # Errors
    /// [`Distrusted`](crate::trust::Distrusted) if another person could have put them there;
    /// otherwise whatever the system says.
    pub(super) fn of(tree: &TreeAbove) -> io::Result<Option<Remains>> {
        use io::ErrorKind::{NotADirectory, NotFound};
        let root = &tree.root;
        let opened = Dir::open(root).and_then(|root| root.open_dir(OsStr::new(FOLDER)));
        let opened = opened.and_then(|folder| {
            let damaged = folder.open_dir(OsStr::new(DAMAGED))?;
            let dir = damaged.open_dir(OsStr::new(UNFINISHED));
            ensure_trusted(&root.join(FOLDER), [&folder, &damaged], &tree.trusted).or_else(
                // Without anything in it, it is nobody's.
                |error| dir.as_ref().map_or(Ok(()), |_| Err(error)),
            )?;
            dir
        });
        let dir = match opened {
            Err(error) if matches!(error.kind(), NotFound | NotADirectory) => return Ok(None),
            opened => opened?,
        };
        refuse(&root.join(folder_path()), tree.trusted.stranger_in(&dir))?;
        let names = names_in(&dir)?;
        if names.is_empty() {
            return Ok(None);
        }
        let mut remains = Remains::default();
        for name in names {
            if !matches!(parse(&name), Some((_, PAGES))) {
                remains.has_others = true;
                continue;
            }
            remains.journals.push(match journal(&dir, &name) {
                Ok(journal) => {
                    LeftJournal { path: root.join(journal.subject.relative), fault: None }
                }
                Err(error) => {
                    LeftJournal { path: root.join(folder_path()).join(name), fault: Some(error) }
                }
            });
        }
        Ok(Some(remains))
    }
}

/// Removes the journals of repairs in place that cannot be finished; `tell` hears of each. Returns
/// how many there were.
///
/// # Errors
/// Whatever the system says.
pub(super) fn discard_journals(root: &Path, tell: &mut dyn FnMut(&Path)) -> io::Result<u64> {
    let work = Unfinished::make(root)?;
    let names = work.journals()?;
    for name in &names {
        remove_regular(&work.dir, name)?;
        tell(&folder_path().join(name));
    }
    Ok(names.len() as u64)
}

/// Opens a journal to read it.
fn journal(dir: &Dir, name: &OsStr) -> io::Result<RepairJournal> {
    dir.status_of_own(name)?;
    let file = dir.open_file(name)?.as_fd().try_clone_to_owned()?;
    RepairJournal::open(fs::File::from(file), name)
}

/// Returns the name of the journal of a file.
pub(super) fn journal_of(inode: u64) -> OsString {
    name_of(inode, PAGES)
}

fn folder_path() -> PathBuf {
    Path::new(FOLDER).join(DAMAGED).join(UNFINISHED)
}

/// Returns the names in a directory, sorted.
///
/// # Errors
/// Whatever the system says.
pub(super) fn names_in(dir: &Dir) -> io::Result<Vec<OsString>> {
    let mut names = Vec::new();
    dir.entries(&mut |entry| {
        names.push(entry.name.to_owned());
        ControlFlow::Continue(())
    })?;
    names.sort_unstable();
    Ok(names)
}

fn name_of(inode: u64, kind: &str) -> OsString {
    OsString::from(format!("{inode:016x}.{kind}"))
}

/// Reads the inode and the kind from a name; `None` if it is of no kind.
fn parse(name: &OsStr) -> Option<(u64, &'static str)> {
    let (inode, kind) = name.to_str()?.split_once('.').filter(|(inode, _)| inode.len() == 16)?;
    let kind = [DRAFT, PATH, PAGES, AWAY].into_iter().find(|known| *known == kind)?;
    Some((u64::from_str_radix(inode, 16).ok()?, kind))
}

/// Says whether a name is one that a draft gets by chance.
fn is_random_draft(name: &OsStr) -> bool {
    let name = name.as_bytes();
    name.starts_with(b".steadfast-") && name.ends_with(b".draft")
}

/// Removes a file. Anything but a regular file is foreign, and stays.
fn remove_regular(dir: &Dir, name: &OsStr) -> io::Result<()> {
    match dir.status_of(name)?.kind {
        FileKind::Regular => dir.remove_file(name),
        _ => Ok(()),
    }
}
