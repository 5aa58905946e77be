//! Reads all indexes of a tree in succession.
//!
//! Takes a directory; returns records with paths relative to it. Lists directories and opens
//! indexes only. Does not follow symbolic links.

use std::fs::{self, File};
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};

use steadfast_manifest::chkbit::records;

use super::{DocumentPlace, Fault, Record, Records};
use crate::beneath::{self, FileKind, Presence, Status};

pub use steadfast_manifest::chkbit::{DATABASE_NAME, INDEX_NAME, documents};

/// Reads the `.chkbit-db` of a tree, or else the `.chkbit` of every directory in it.
pub struct IndexTree {
    root: PathBuf,
    /// Directories that have not been read, relative to the root, the next one last.
    folders: Vec<PathBuf>,
    /// The current index, and the prefix of its paths.
    index: Option<(PathBuf, Records<'static>)>,
    /// The path of the current index.
    document: PathBuf,
}

/// A fault, and its document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexTreeFault {
    /// The index or directory, relative to the root.
    pub document: PathBuf,
    /// The fault.
    pub fault: Fault,
}

impl IndexTree {
    /// Determines which of the two a tree has.
    ///
    /// # Errors
    ///
    /// If the database exists and cannot be opened.
    pub fn open(root: &Path) -> io::Result<IndexTree> {
        let mut tree = IndexTree {
            root: root.to_owned(),
            folders: vec![PathBuf::new()],
            index: None,
            document: PathBuf::new(),
        };
        if let Some(file) = open_regular(&root.join(DATABASE_NAME))? {
            tree.folders.clear();
            tree.document = DATABASE_NAME.into();
            tree.index = Some((PathBuf::new(), Records::of(records(BufReader::new(file), true))));
        }
        Ok(tree)
    }

    /// Opens the index of a directory and notes its subdirectories.
    fn enter(&mut self, folder: &Path) -> io::Result<()> {
        let path = self.root.join(folder);
        let mut inner = Vec::new();
        for entry in fs::read_dir(&path)? {
            let entry = entry?;
            let name = folder.join(entry.file_name());
            if Status::of_link(&self.root.join(&name))?.kind == FileKind::Directory {
                inner.push(name);
            }
        }
        inner.sort_unstable_by(|a, b| b.cmp(a));
        self.folders.append(&mut inner);
        if let Some(file) = open_regular(&path.join(INDEX_NAME))? {
            self.document = folder.join(INDEX_NAME);
            self.index =
                Some((folder.to_owned(), Records::of(records(BufReader::new(file), false))));
        }
        Ok(())
    }
}

impl Iterator for IndexTree {
    type Item = Result<Record, IndexTreeFault>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some((folder, records)) = &mut self.index {
                match records.next() {
                    Some(Ok(mut record)) => {
                        record.path = folder.join(record.path);
                        return Some(Ok(record));
                    }
                    Some(Err(fault)) => {
                        return Some(Err(IndexTreeFault {
                            document: self.document.clone(),
                            fault,
                        }));
                    }
                    None => self.index = None,
                }
            }
            let folder = self.folders.pop()?;
            if let Err(error) = self.enter(&folder) {
                let fault = Fault::io(DocumentPlace::Document, &error);
                return Some(Err(IndexTreeFault { document: folder, fault }));
            }
        }
    }
}

impl std::fmt::Debug for IndexTree {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("IndexTree").field("root", &self.root).finish_non_exhaustive()
    }
}

/// Opens a regular file; `None` if the name does not exist or is something else.
fn open_regular(path: &Path) -> io::Result<Option<File>> {
    match beneath::presence_of(path) {
        Presence::There(status) if status.kind == FileKind::Regular => File::open(path).map(Some),
        Presence::Unknown(error) => Err(error),
        Presence::There(_) | Presence::Replaced(_) | Presence::Gone => Ok(None),
    }
}
