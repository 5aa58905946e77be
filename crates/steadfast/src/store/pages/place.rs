//! Where leaves are kept: names beneath the folder of a catalogue, or beside a file.
//!
//! Every step goes by one name beneath an open directory and follows no link, so a planted link
//! cannot redirect it.

use std::ffi::{OsStr, OsString};
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use steadfast_sys::file::{Dir, FileKind, Status};

use crate::pages::{Kept, SIDECAR_SUFFIX, is_ours};
use crate::verity::{VerityHash, VerityParams};
use steadfast_manifest::tag::Tag;

/// The folder of the leaves of a catalogue's files: in the tree's own folder, or beside a catalogue
/// that is kept elsewhere.
#[derive(Debug)]
pub(crate) struct LeavesFolder {
    /// The directory that contains it.
    above: Arc<Dir>,
    /// Its own path.
    path: PathBuf,
}

impl LeavesFolder {
    /// Returns the folder of this path, which need not exist, in its open directory.
    pub(crate) fn new(above: Arc<Dir>, path: PathBuf) -> LeavesFolder {
        LeavesFolder { above, path }
    }

    /// Returns the page lengths that it has leaves for.
    pub(super) fn page_lens(&self) -> Vec<usize> {
        let mut lens: Vec<usize> = Vec::new();
        let Ok(folder) = self.above.open_dir(self.name()) else { return lens };
        // If listing fails, the entries before the error are used.
        let _ = folder.entries(&mut |entry| {
            lens.extend(entry.name.to_str().and_then(|name| name.parse::<usize>().ok()));
            ControlFlow::Continue(())
        });
        lens.retain(|len| VerityParams::new(VerityHash::Sha256, *len, b"").is_ok());
        lens.sort_unstable();
        lens
    }

    /// Returns the path of the leaves of a tag.
    pub(super) fn place(&self, page_len: usize, tag: &Tag) -> PathBuf {
        let (group, name) = names(tag);
        self.path.join(page_len.to_string()).join(group).join(name)
    }

    /// Opens the leaves of a tag.
    pub(super) fn open(&self, page_len: usize, tag: &Tag) -> io::Result<Kept> {
        let (group, name) = names(tag);
        Kept::open_in(&self.group(page_len, &group)?, OsStr::new(&name))
    }

    /// Removes the leaves of a tag.
    pub(super) fn remove(&self, page_len: usize, tag: &Tag) -> io::Result<()> {
        let (group, name) = names(tag);
        self.group(page_len, &group)?.remove_file(OsStr::new(&name))
    }

    fn group(&self, page_len: usize, group: &str) -> io::Result<Dir> {
        self.open_existing(page_len)?.open_dir(OsStr::new(group))
    }

    /// Opens the directory of the leaves of one page length.
    pub(super) fn open_existing(&self, page_len: usize) -> io::Result<Dir> {
        self.above.open_dir(self.name())?.open_dir(OsStr::new(&page_len.to_string()))
    }

    /// Opens the directory of the leaves of one page length, and creates it if it is absent.
    pub(super) fn make(&self, page_len: usize) -> io::Result<Arc<Dir>> {
        // It has digests of private files.
        let folder = self.above.make_private_dir(self.name())?;
        Ok(Arc::new(folder.make_dir(OsStr::new(&page_len.to_string()))?))
    }

    /// Opens the directory for the leaves of a tag, and returns their name in it.
    pub(super) fn make_for(&self, page_len: usize, tag: &Tag) -> io::Result<(Dir, OsString)> {
        let (group, name) = names(tag);
        Ok((self.make(page_len)?.make_dir(OsStr::new(&group))?, OsString::from(name)))
    }

    fn name(&self) -> &OsStr {
        self.path.file_name().expect("it was made with a name")
    }
}

/// Returns the names for a tag's leaves: their directory's, and their own.
fn names(tag: &Tag) -> (String, String) {
    let digest = tag.digest.to_string();
    let name = format!("{}-{digest}", tag.algorithm.name());
    (digest[..2].to_owned(), name)
}

/// Returns the path of leaves that are kept beside a file.
pub(super) fn sidecar(path: &Path) -> PathBuf {
    with_suffix(path, SIDECAR_SUFFIX)
}

/// Opens the directory of a file and returns the name of its sidecar there.
///
/// The file was reached beneath open directories, but the directory is opened by its path. So the
/// file must still be found in it; otherwise a link was planted on the way.
pub(super) fn beside(path: &Path, status: &Status) -> io::Result<(Arc<Dir>, OsString)> {
    let (dir, mut name) = Dir::parent_of(path)?;
    let mut there = dir.status_of(&name)?;
    if there.kind == FileKind::Symlink {
        // A link that the user named, because a walk follows none.
        there = Status::of(path)?;
    }
    if (there.device, there.inode) != (status.device, status.inode) {
        return Err(io::Error::other("the file was replaced, or its folder was"));
    }
    name.push(SIDECAR_SUFFIX);
    Ok((Arc::new(dir), name))
}

/// Checks that a name is that of a file of leaves, whole or torn, so that no other file is
/// replaced.
pub(super) fn ensure_leaves(dir: &Dir, name: &OsStr) -> io::Result<()> {
    if dir.status_of(name)?.kind == FileKind::Regular && is_ours(&dir.open_file(name)?)? {
        return Ok(());
    }
    let name = name.to_string_lossy();
    Err(io::Error::other(format!("`{name}` is not a file of leaves: rename or remove it first")))
}

pub(crate) fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(suffix);
    PathBuf::from(name)
}
