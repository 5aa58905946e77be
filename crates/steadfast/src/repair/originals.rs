//! Where damaged files are kept after their repair: `.steadfast/damaged/RUN` in their tree.

use std::collections::{BTreeMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};

use steadfast_sys::file::{Dir, FileKind, Status};

use super::unfinished::{Unfinished, discard_journals, names_in};
use crate::beneath;
use crate::error::Error;
use crate::tree_above::trees_above;
use crate::tree_folder::{DAMAGED, FOLDER};

/// How many numbers of runs are tried, if others take them meanwhile.
const TRIES: u64 = 100;

/// The damaged files that one repair of a tree replaces. The folder is made for the first of them.
#[derive(Debug)]
pub(crate) struct Originals {
    root: PathBuf,
    run: OnceLock<u64>,
    /// Open from the first use on, so that no other repair of the tree begins meanwhile.
    work: OnceLock<Unfinished>,
    /// The same on other file systems of the tree, by their devices.
    away: Mutex<BTreeMap<u64, Unfinished>>,
    /// The files that were kept, by their paths beneath the root, as they were then.
    kept: Mutex<Vec<(PathBuf, Status)>>,
    /// Paths of the files that were repaired.
    repaired: Mutex<HashSet<PathBuf>>,
}

impl Originals {
    /// Prepares to keep the damaged files of a tree; `root` is its real path.
    pub(crate) fn of(root: &Path) -> Originals {
        Originals {
            root: root.to_owned(),
            run: OnceLock::new(),
            work: OnceLock::new(),
            away: Mutex::default(),
            kept: Mutex::default(),
            repaired: Mutex::default(),
        }
    }

    /// Notes that a file was repaired.
    pub(super) fn note_repaired(&self, relative: &Path) {
        self.repaired.lock().expect("no thread panics with it").insert(relative.to_owned());
    }

    /// Says whether a file was repaired.
    pub(super) fn has_repaired(&self, relative: &Path) -> bool {
        self.repaired.lock().expect("no thread panics with it").contains(relative)
    }

    /// Opens the folder for what is not finished.
    pub(super) fn work(&self) -> io::Result<&Unfinished> {
        if self.work.get().is_none() {
            let _ = self.work.set(Unfinished::make(&self.root)?);
        }
        Ok(self.work.get().expect("it was set above"))
    }

    /// Opens the folder for what is not finished on another file system, which has a folder beneath
    /// the root: in the uppermost one there that can be written. The tree has a note of it, so that
    /// the next repair clears it up.
    pub(super) fn work_on(&self, device: u64, parent: &Path) -> io::Result<Arc<Dir>> {
        let mut away = self.away.lock().expect("no thread panics with it");
        if let Some(work) = away.get(&device) {
            return Ok(Arc::clone(work.dir()));
        }
        let mut above: Vec<&Path> = parent.ancestors().collect();
        above.reverse();
        let mut outcome = Err(io::ErrorKind::NotFound.into());
        for relative in above {
            let dir = beneath::directory(&self.root, relative)?;
            if dir.status()?.device != device {
                continue;
            }
            self.work()?.note_away(device, relative)?;
            match Unfinished::make_in(dir, &self.root.join(relative)) {
                Ok(work) => {
                    let dir = Arc::clone(work.dir());
                    away.insert(device, work);
                    return Ok(dir);
                }
                Err(error) => {
                    self.work()?.forget_away(device);
                    outcome = Err(error);
                }
            }
        }
        outcome
    }

    /// Clears up what killed repairs of the tree left. Returns the paths of damaged files that were
    /// moved to where they are kept.
    pub(crate) fn clear_up(&self) -> io::Result<Vec<PathBuf>> {
        self.work()?.clear_up(&|relative| self.dir_for(relative))
    }

    /// Returns the number of the repair and the folder, if something was kept.
    pub(crate) fn place(&self) -> Option<(u64, PathBuf)> {
        let run = *self.run.get()?;
        let folder = Path::new(FOLDER).join(DAMAGED).join(run.to_string());
        // It is made before the exchange, which may have been refused. What cannot be listed counts
        // as kept.
        let has_files = beneath::directory(&self.root, &folder).and_then(|dir| has_files(&dir));
        has_files.unwrap_or(true).then(|| (run, self.root.join(folder)))
    }

    /// Removes the folder of damaged files if there are none in it.
    fn remove_if_empty(&self) -> io::Result<()> {
        let Some(run) = self.run.get().filter(|_| self.place().is_none()) else { return Ok(()) };
        let damaged = beneath::directory(&self.root, &Path::new(FOLDER).join(DAMAGED))?;
        remove_folders(&damaged, OsStr::new(&run.to_string()))
    }

    /// Notes that a file was moved to where damaged files are kept.
    pub(super) fn note_kept(&self, relative: &Path, status: Status) {
        self.kept.lock().expect("no thread panics with it").push((relative.to_owned(), status));
    }

    /// Returns the paths beneath the root of files that a program had open while they were
    /// replaced, and wrote to since or still may, and where the bytes that it wrote are.
    pub(crate) fn written_since(&self) -> Vec<(PathBuf, PathBuf)> {
        let Some((_, folder)) = self.place() else { return Vec::new() };
        let kept = self.kept.lock().expect("no thread panics with it");
        let is_written = |(relative, before): &&(PathBuf, Status)| {
            let below = folder.strip_prefix(&self.root).unwrap_or(&folder).join(relative);
            // One that somebody removed or moved is his.
            let Ok(file) = beneath::file(&self.root, &below) else { return false };
            let same = |now: Status| (now.length, now.mtime) == (before.length, before.mtime);
            !file.status().is_ok_and(same) || file.hold_off_writers().is_err()
        };
        let written = kept.iter().filter(is_written);
        written.map(|(relative, _)| (relative.clone(), folder.join(relative))).collect()
    }

    /// Opens the directory in which the original of a file is to be kept, and makes it.
    pub(super) fn dir_for(&self, relative: &Path) -> io::Result<Dir> {
        let damaged = Dir::open(&self.root)?.make_own_dir(OsStr::new(FOLDER))?;
        let damaged = damaged.make_own_dir(OsStr::new(DAMAGED))?;
        let mut dir = match self.run.get() {
            Some(run) => damaged.open_dir(OsStr::new(&run.to_string()))?,
            None => {
                let (run, dir) = next(&damaged)?;
                let _ = self.run.set(run);
                dir
            }
        };
        let parent = relative.parent().unwrap_or(Path::new(""));
        for name in parent.components() {
            dir = dir.make_dir(name.as_os_str())?;
        }
        Ok(dir)
    }
}

impl Drop for Originals {
    /// Removes the folder in which nothing was kept, and forgets those on other file systems in
    /// which nothing is left.
    fn drop(&mut self) {
        let _ = self.remove_if_empty();
        let Ok(away) = self.away.get_mut() else { return };
        for (device, work) in std::mem::take(away) {
            let dir = Arc::clone(work.dir());
            drop(work);
            // A folder that is gone cannot be listed.
            let is_empty = names_in(&dir).map_or(true, |names| names.is_empty());
            if let Some(work) = self.work.get().filter(|_| is_empty) {
                work.forget_away(device);
            }
        }
    }
}

/// Makes the folder of the next run.
fn next(damaged: &Dir) -> io::Result<(u64, Dir)> {
    let mut last = 0_u64;
    damaged.entries(&mut |entry| {
        let number = entry.name.to_str().and_then(|name| name.parse().ok());
        last = last.max(number.unwrap_or(0));
        ControlFlow::Continue(())
    })?;
    let mut outcome = Err(io::ErrorKind::AlreadyExists.into());
    for run in last.saturating_add(1)..last.saturating_add(1 + TRIES) {
        outcome = damaged.create_dir(OsStr::new(&run.to_string())).map(|dir| (run, dir));
        match &outcome {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            _ => break,
        }
    }
    outcome
}

/// Removes the damaged files that a repair kept. Returns how many; `tell` hears of each, by its
/// path in the tree.
///
/// `path` is in the tree, or is its root.
///
/// # Errors
/// `Usage` if no repair of this number kept any; otherwise whatever the system says.
pub fn discard(path: &Path, run: u64, tell: &mut dyn FnMut(&Path)) -> Result<u64, Error> {
    let none = || {
        let text =
            format!("repair {run} kept no damaged files in this tree: see `{FOLDER}/{DAMAGED}`");
        Error::usage(text).at(path)
    };
    let name = run.to_string();
    let real = path.canonicalize().map_err(|error| Error::system("find", error).at(path))?;
    let damaged = Path::new(FOLDER).join(DAMAGED);
    let opened = real.ancestors().find_map(|root| {
        let damaged = beneath::directory(root, &damaged).ok()?;
        damaged.open_dir(OsStr::new(&name)).ok().map(|dir| (damaged, dir))
    });
    let (damaged, dir) = opened.ok_or_else(none)?;
    let system = |error| Error::system("remove the damaged files of", error).at(path);
    let removed = empty(&dir, Path::new(""), tell).map_err(system)?;
    damaged.remove_dir(OsStr::new(&name)).map_err(system)?;
    Ok(removed)
}

/// Removes the journals of repairs in place that were cut off and cannot be finished. Returns how
/// many; `tell` hears of each, by its path in the tree.
///
/// `path` is in the tree, or is its root.
///
/// # Errors
/// `Usage` if there are none; otherwise whatever the system says.
pub fn discard_unfinished(path: &Path, tell: &mut dyn FnMut(&Path)) -> Result<u64, Error> {
    let failed = |error| Error::system("remove the journals of", error).at(path);
    for tree in trees_above(path, path) {
        // Whose it is does not matter to who wants to be rid of it.
        let folder = Path::new(FOLDER).join(DAMAGED).join("unfinished");
        if beneath::directory(&tree.root, &folder).is_err() {
            continue;
        }
        return match discard_journals(&tree.root, tell).map_err(failed)? {
            0 => Err(Error::usage("no repair in place was cut off there").at(&tree.root)),
            removed => Ok(removed),
        };
    }
    Err(Error::usage("no repair in place was cut off there").at(path))
}

/// Says whether something other than folders is in a directory or beneath it.
fn has_files(dir: &Dir) -> io::Result<bool> {
    for name in names_in(dir)? {
        if dir.status_of(&name)?.kind != FileKind::Directory || has_files(&dir.open_dir(&name)?)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Removes a folder of folders. No file is removed: the system refuses to remove a folder with one.
fn remove_folders(above: &Dir, name: &OsStr) -> io::Result<()> {
    let dir = above.open_dir(name)?;
    names_in(&dir)?.iter().try_for_each(|inner| remove_folders(&dir, inner))?;
    above.remove_dir(name)
}

/// Removes everything in a directory, following no link. Returns how many files that were.
fn empty(dir: &Dir, path: &Path, tell: &mut dyn FnMut(&Path)) -> io::Result<u64> {
    let mut names: Vec<(OsString, bool)> = Vec::new();
    dir.entries(&mut |entry| {
        names.push((entry.name.to_owned(), false));
        ControlFlow::Continue(())
    })?;
    let mut removed = 0;
    for (name, is_dir) in &mut names {
        *is_dir = dir.status_of(name)?.kind == FileKind::Directory;
        if *is_dir {
            removed += empty(&dir.open_dir(name)?, &path.join(&*name), tell)?;
            dir.remove_dir(name)?;
        } else {
            dir.remove_file(name)?;
            tell(&path.join(&*name));
            removed += 1;
        }
    }
    Ok(removed)
}
