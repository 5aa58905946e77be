//! Missing files that are there under other names, found without reading them.
//!
//! Takes the names that a look at the tree found new, and what is known of a missing file; returns
//! the new name of that file.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use steadfast_sys::file::{Status, Timestamp};

use crate::beneath;
use crate::catalogue::KnownFile;
use crate::store::{StoredTag, tag_at};

/// The most new names that are compared. Files beyond are found when they are read.
const NEW_MAX: usize = 100_000;

/// A file that was renamed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RenamedFile {
    /// Its former path, relative to the root of the catalogue's tree.
    pub from: PathBuf,
    /// Its present path, beginning with the root.
    pub to: PathBuf,
    /// Whether its inode and time, or the tag at the file, prove it. Otherwise it only has the
    /// length, and the time or the inode, of the missing file, and must be read.
    pub is_certain: bool,
}

/// New names of a tree.
pub(super) struct NewNames<'a> {
    root: &'a Path,
    by_extent: HashMap<(u64, Timestamp), Vec<(PathBuf, u64)>>,
    /// By inode, for files of which the length or the time was changed as well.
    by_inode: HashMap<u64, (PathBuf, u64, Timestamp)>,
    count: usize,
}

impl<'a> NewNames<'a> {
    pub(super) fn beneath(root: &'a Path) -> NewNames<'a> {
        NewNames { root, by_extent: HashMap::new(), by_inode: HashMap::new(), count: 0 }
    }

    /// Adds a path, relative to the root.
    pub(super) fn add(&mut self, path: PathBuf) {
        if self.count < NEW_MAX
            && let Ok(status) = Status::of_link(&self.root.join(&path))
        {
            self.count += 1;
            let extent = (status.length, status.mtime);
            self.by_inode.insert(status.inode, (path.clone(), status.length, status.mtime));
            self.by_extent.entry(extent).or_default().push((path, status.inode));
        }
    }

    /// Takes the name that a missing file has now, if there is one.
    pub(super) fn take(&mut self, from: &Path, known: &KnownFile) -> Option<RenamedFile> {
        let facts = known.facts;
        let has_tag = |path: &Path| {
            let file = beneath::file(self.root, path);
            let tag = file.and_then(|file| tag_at(&file, &self.root.join(path)));
            let Ok(StoredTag::Whole(tag)) = tag else { return false };
            facts.length > 0 && known.tag.is_some_and(|known| known.same_contents(&tag))
        };
        let extent = (facts.length, facts.mtime);
        let is_there = |(to, length, mtime): &&(PathBuf, u64, Timestamp)| {
            // Decay, or a program that keeps dates, cuts or extends a file beneath its time. The
            // inode of a file that is gone can be that of a new one.
            let is_beneath = *mtime == facts.mtime && mtime.nanoseconds != 0;
            (*length, *mtime) != extent && (is_beneath || has_tag(to))
        };
        if let Some((to, length, mtime)) = self.by_inode.get(&facts.inode).filter(is_there) {
            let (to, key) = (to.clone(), (*length, *mtime));
            self.by_inode.remove(&facts.inode);
            self.by_extent.entry(key).or_default().retain(|(path, _)| *path != to);
            let (from, to) = (from.to_owned(), self.root.join(to));
            return Some(RenamedFile { from, to, is_certain: true });
        }
        let alike = self.by_extent.get_mut(&extent).filter(|alike| !alike.is_empty());
        let Some(alike) = alike else {
            let (_, length, _) = self.by_inode.get(&facts.inode)?;
            let may_be = facts.length > 0 && *length == facts.length;
            let (to, ..) = self.by_inode.remove(&facts.inode).filter(|_| may_be)?;
            let (from, to) = (from.to_owned(), self.root.join(to));
            return Some(RenamedFile { from, to, is_certain: false });
        };
        let certain = alike.iter().position(|(_, inode)| *inode == facts.inode);
        let certain = certain.or_else(|| alike.iter().position(|(path, _)| has_tag(path)));
        // Empty files are all alike.
        let at = certain.or((facts.length > 0).then_some(0))?;
        let (to, _) = alike.swap_remove(at);
        let (from, to) = (from.to_owned(), self.root.join(to));
        Some(RenamedFile { from, to, is_certain: certain.is_some() })
    }
}
