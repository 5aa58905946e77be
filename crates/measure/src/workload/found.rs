//! The files that are in a folder already, for `measure hash --existing`.
//!
//! Lists every regular file once and opens it by name beneath the open folder. Follows no symlink,
//! leaves out mounts, and writes nothing.

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::io;
use std::ops::ControlFlow;
use std::path::PathBuf;

use steadfast_sys::file::{Dir, File, FileKind, Status};

/// Deeper folders are left out. They are probably a loop of mounts.
const DEPTH_MAX: usize = 64;

/// The most files. More do not improve the figures, and would fill a record.
pub(super) const FILES_MAX: usize = 10_000;

/// A file that was found.
#[derive(Clone, Debug)]
pub(super) struct FoundFile {
    /// The names of the folders that lead to it, and its own name.
    path: Vec<OsString>,
    pub(super) status: Status,
}

impl FoundFile {
    /// Returns its path relative to the folder.
    pub(super) fn path(&self) -> PathBuf {
        self.path.iter().collect()
    }

    /// Returns whether a status is that of the unchanged file.
    pub(super) fn is(&self, status: &Status) -> bool {
        let of = |status: &Status| (status.inode, status.length, status.mtime, status.ctime);
        of(&self.status) == of(status)
    }
}

/// The files of a folder.
#[derive(Debug)]
pub(super) struct FoundFiles {
    root: Dir,
    /// In the order of the file system. The first name of a file that has several.
    pub(super) files: Vec<FoundFile>,
}

impl FoundFiles {
    /// Lists every regular file that is not empty.
    pub(super) fn of(root: Dir) -> io::Result<FoundFiles> {
        let mut finding =
            FileSearch { files: Vec::new(), path: Vec::new(), linked: HashSet::new() };
        finding.find(&root)?;
        Ok(FoundFiles { root, files: finding.files })
    }

    /// Takes only the named file of a folder.
    pub(super) fn one(root: Dir, name: &OsStr) -> io::Result<FoundFiles> {
        let status = root.status_of(name)?;
        let files = vec![FoundFile { path: vec![name.to_owned()], status }];
        Ok(FoundFiles { root, files })
    }

    /// Leaves out the files for which `keeps` is false.
    pub(super) fn retain(&mut self, keeps: impl Fn(&FoundFiles, &FoundFile) -> bool) {
        let mut files = std::mem::take(&mut self.files);
        files.retain(|file| keeps(self, file));
        self.files = files;
    }

    pub(super) fn bytes(&self) -> u64 {
        self.files.iter().map(|file| file.status.length).sum()
    }

    /// Opens a file beneath the folder, one component at a time.
    pub(super) fn open(&self, found: &FoundFile) -> io::Result<File> {
        let (name, folders) = found.path.split_last().expect("a file has a name");
        let mut below: Option<Dir> = None;
        for name in folders {
            below = Some(below.as_ref().unwrap_or(&self.root).open_dir(name)?);
        }
        below.as_ref().unwrap_or(&self.root).open_file(name)
    }
}

/// A search in progress.
struct FileSearch {
    files: Vec<FoundFile>,
    path: Vec<OsString>,
    /// Inodes of the files that have several names. All are on one device.
    linked: HashSet<u64>,
}

impl FileSearch {
    /// Returns whether a regular file is to be read: not empty, here, and not found before.
    fn takes(&mut self, status: &Status) -> bool {
        status.length > 0
            && !status.dataless
            && (status.links < 2 || self.linked.insert(status.inode))
    }

    fn find(&mut self, dir: &Dir) -> io::Result<()> {
        let mut entries = Vec::new();
        dir.entries(&mut |entry| {
            entries.push(entry.name.to_owned());
            ControlFlow::Continue(())
        })?;
        let device = dir.status()?.device;
        for name in entries {
            // A file that was removed meanwhile is left out.
            let Ok(status) = dir.status_of(&name) else { continue };
            self.path.push(name);
            match status.kind {
                _ if self.files.len() == FILES_MAX => {}
                FileKind::Regular if self.takes(&status) => {
                    self.files.push(FoundFile { path: self.path.clone(), status });
                }
                FileKind::Directory if self.path.len() < DEPTH_MAX && status.device == device => {
                    let name = self.path.last().expect("it was pushed above");
                    if let Ok(below) = dir.open_dir(name) {
                        self.find(&below)?;
                    }
                }
                _ => {}
            }
            self.path.pop();
        }
        Ok(())
    }
}
