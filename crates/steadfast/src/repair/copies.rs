//! Where the contents of a file may be found again: what is left of it, copies of the tree, and
//! files of the catalogue with the same digest. Nothing that is found there is trusted.

use std::path::{Path, PathBuf};

use steadfast_sys::file::{File, FileKind, Status};

use super::remembered::CopyList;
use super::target::RepairTarget;
use super::{changed, refused, system};
use crate::beneath::{self, Presence};
use crate::catalogue::Catalogue;
use crate::error::Error;
use crate::event::FileError;
use crate::verdict::Verdict;

/// Names of one file that are asked of a catalogue.
const NAMES_MAX: usize = 8;

/// The file that is to be repaired, if it is there.
pub(crate) struct Own {
    pub(crate) file: File,
    pub(crate) status: Status,
}

impl Own {
    /// Opens the file of a target; `None` if it is missing.
    pub(super) fn open(target: &RepairTarget) -> Result<Option<Own>, FileError> {
        let file = match beneath::file(&target.root, &target.relative) {
            Ok(file) => file,
            Err(error) => {
                let presence = beneath::presence(&target.root, &target.relative);
                return match presence.of_kind(FileKind::Regular) {
                    Presence::Gone if target.verdict == Verdict::Missing => Ok(None),
                    Presence::Gone => Err(changed("it is gone meanwhile")),
                    Presence::Replaced(kind) => Err(refused(format!(
                        "a {kind} is in its place, or in that of a folder above: move it away"
                    ))),
                    _ => Err(FileError::from_io("open it", &error)),
                };
            }
        };
        let status = file.status().map_err(system("look at it"))?;
        if target.verdict == Verdict::Missing {
            return Err(changed("it is there again"));
        }
        read_past_cache(&file);
        Ok(Some(Own { file, status }))
    }

    /// Returns the other names of the file, as far as its catalogue knows them.
    pub(super) fn other_names(&self, target: &RepairTarget) -> Vec<PathBuf> {
        let catalogue = target.catalogue.as_deref().filter(|_| self.status.links > 1);
        let Some(Ok(catalogue)) = catalogue.map(Catalogue::open_reader) else { return Vec::new() };
        let mut names = catalogue.names_of_inode(self.status.inode, NAMES_MAX).unwrap_or_default();
        names.retain(|name| *name != target.relative);
        names
    }

    /// Returns what the system knows the file by.
    pub(super) fn identity(&self) -> (u64, u64) {
        (self.status.device, self.status.inode)
    }
}

/// Asks the system to read a file past the page cache. If it refuses, the cache is read.
fn read_past_cache(file: &File) {
    let _ = file.set_uncached();
}

/// Copies of trees, of parts of them, or of files.
#[derive(Clone, Debug, Default)]
pub struct Copies {
    roots: Vec<PathBuf>,
    /// Where the user's list of registered copies is.
    list: Option<CopyList>,
}

/// An open file that may have the contents.
pub(super) struct OpenCopy {
    pub(super) path: PathBuf,
    pub(super) file: File,
    pub(super) length: u64,
}

impl Copies {
    /// Takes the paths of copies: of the tree, of what was selected in it, or of the one file that
    /// is to be repaired.
    ///
    /// # Errors
    /// `Usage` if there is nothing at one of them.
    pub fn new(roots: &[PathBuf]) -> Result<Copies, Error> {
        for root in roots {
            Status::of(root).map_err(|error| {
                let message = format!("cannot look for copies there: {error}");
                Error::usage(message).at(root).caused_by(error)
            })?;
        }
        Ok(Copies { roots: roots.to_vec(), list: None })
    }

    /// Adds the copies that the user registered, after those that are named. One that is away is
    /// not used.
    pub(super) fn with_registered(&self, trees: Option<&Path>) -> Copies {
        Copies { list: trees.map(CopyList::beside), ..self.clone() }
    }

    /// Returns where those of the tree at a root are.
    pub(super) fn roots_of(&self, root: &Path) -> Vec<PathBuf> {
        // A list that cannot be read names none.
        let registered = self.list.as_ref().and_then(|list| list.of(root).ok());
        self.roots.iter().cloned().chain(registered.into_iter().flatten()).collect()
    }

    /// Opens the copies of a file that are there. One that cannot be opened is left out.
    pub(super) fn open(&self, target: &RepairTarget, own: Option<&Own>) -> Vec<OpenCopy> {
        let mut open: Vec<OpenCopy> = Vec::new();
        let mut identities: Vec<(u64, u64)> = own.map(Own::identity).into_iter().collect();
        for (root, relative) in self.places(target) {
            let Some((copy, identity)) = open_copy(&root, &relative) else { continue };
            if !identities.contains(&identity) {
                identities.push(identity);
                open.push(copy);
            }
        }
        open
    }

    /// Returns where copies may be: a root, and a path beneath it.
    fn places(&self, target: &RepairTarget) -> Vec<(PathBuf, PathBuf)> {
        let mut places = Vec::new();
        for root in &self.roots_of(&target.root) {
            if beneath::is_file(root) {
                let (Some(parent), Some(name)) = (root.parent(), root.file_name()) else {
                    continue;
                };
                let parent = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
                places.push((parent.to_owned(), PathBuf::from(name)));
                continue;
            }
            places.push((root.clone(), target.relative.clone()));
            // A copy may have been made before the file was renamed.
            places.extend(target.former.iter().map(|former| (root.clone(), former.clone())));
            let name = target.relative.file_name().map(PathBuf::from).unwrap_or_default();
            let is_given = target.selected.as_os_str().is_empty();
            let selected = if is_given { name } else { target.selected.clone() };
            let above = beneath_selected(&target.relative, &target.selected);
            let former = target.former.iter();
            let former = former.filter_map(|former| former.strip_prefix(above?).ok());
            places.extend(former.map(|former| (root.clone(), former.to_owned())));
            if selected != target.relative {
                places.push((root.clone(), selected));
            }
        }
        // Of a file that may have been edited, a file elsewhere with its former contents says
        // nothing.
        if target.verdict.is_damage() {
            let duplicates = target.duplicates.iter();
            places.extend(duplicates.map(|(path, _)| (target.root.clone(), path.clone())));
        }
        places
    }
}

/// Returns the path of what was selected, from the root of the tree; `None` if that is the file.
fn beneath_selected<'a>(relative: &'a Path, selected: &Path) -> Option<&'a Path> {
    let depth = selected.components().count();
    relative.ancestors().nth(depth).filter(|above| depth > 0 && !above.as_os_str().is_empty())
}

/// Opens a copy by names beneath its root; `None` if there is no regular file.
fn open_copy(root: &Path, relative: &Path) -> Option<(OpenCopy, (u64, u64))> {
    let file = beneath::file(root, relative).ok()?;
    let status = file.status().ok()?;
    read_past_cache(&file);
    let copy = OpenCopy { path: root.join(relative), file, length: status.length };
    Some((copy, (status.device, status.inode)))
}
