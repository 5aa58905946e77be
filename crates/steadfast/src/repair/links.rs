//! Whether all names of a file lie in its tree: who writes into a file writes under each of them.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use steadfast_sys::file::{Dir, FileKind, Status};

use super::mend::go_on;
use super::{refused, system};
use crate::beneath;
use crate::catalogue::Catalogue;
use crate::event::FileError;

/// Names of one file that are asked of a catalogue.
const NAMES_MAX: u64 = 1000;

/// Returns the names of a file beneath a root. Fails if it has one that is not: somebody may have
/// made it so that a repair changes a file outside. `catalogue` may know where the names are;
/// otherwise the tree is searched.
pub(super) fn ensure_all_beneath(
    root: &Path,
    relative: &Path,
    status: &Status,
    catalogue: Option<&Path>,
    stop: &AtomicBool,
) -> Result<Vec<PathBuf>, FileError> {
    if status.links < 2 {
        return Ok(vec![relative.to_owned()]);
    }
    let mut names = NamesOfFile { status, found: HashMap::new() };
    let catalogue = catalogue.map(Catalogue::open_reader).and_then(Result::ok);
    let most = status.links.min(NAMES_MAX) as usize;
    let known = catalogue.and_then(|it| it.names_of_inode(status.inode, most).ok());
    for path in known.unwrap_or_default().iter().map(PathBuf::as_path).chain([relative]) {
        let Ok(Some((parent, name))) = beneath::split(path) else { continue };
        if let Ok(dir) = beneath::directory(root, parent) {
            names.add(&dir, name, path);
        }
    }
    if !names.are_all() {
        names.search(root, stop).map_err(system("look for its other names"))?;
    }
    match names.are_all() {
        true => Ok(names.found.into_values().collect()),
        false => Err(refused(format!(
            "it has {} names (hard links), of which {} were found in `{}`: writing into it would \
             change it outside, too",
            status.links,
            names.found.len(),
            root.display()
        ))),
    }
}

/// The names of one file that were found, and their paths, by the identity of their directory: a
/// directory that is mounted twice does not count twice.
struct NamesOfFile<'a> {
    status: &'a Status,
    found: HashMap<((u64, u64), OsString), PathBuf>,
}

impl NamesOfFile<'_> {
    fn are_all(&self) -> bool {
        self.found.len() as u64 >= self.status.links
    }

    fn add(&mut self, dir: &Dir, name: &OsStr, path: &Path) {
        let (Ok(above), Ok(there)) = (dir.status(), dir.status_of(name)) else { return };
        if (there.device, there.inode) == (self.status.device, self.status.inode) {
            let key = ((above.device, above.inode), name.to_owned());
            self.found.insert(key, path.to_owned());
        }
    }

    /// Searches a tree until all are found. A directory that cannot be read shows none.
    fn search(&mut self, root: &Path, stop: &AtomicBool) -> io::Result<()> {
        let mut folders = vec![PathBuf::new()];
        while let Some(folder) = folders.pop() {
            go_on(stop)?;
            let Ok(dir) = beneath::directory(root, &folder) else { continue };
            // Links do not lead to another device.
            if dir.status()?.device != self.status.device && !folder.as_os_str().is_empty() {
                continue;
            }
            let mut same = Vec::new();
            let _ = dir.entries(&mut |entry| {
                let told = || dir.status_of(entry.name).map(|status| status.kind).ok();
                match entry.kind.or_else(told) {
                    Some(FileKind::Directory) => folders.push(folder.join(entry.name)),
                    _ if entry.inode == self.status.inode => same.push(entry.name.to_owned()),
                    _ => {}
                }
                ControlFlow::Continue(())
            });
            same.iter().for_each(|name| self.add(&dir, name, &folder.join(name)));
            if self.are_all() {
                break;
            }
        }
        Ok(())
    }
}
