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
    /// Whether its inode, or the tag at the file, proves it. Otherwise it only has the length, and
    /// the time or the inode, of the missing file, and must be read.
    pub is_certain: bool,
}

/// New names of a tree.
pub(super) struct NewNames<'a> {
    root: &'a Path,
    by_extent: HashMap<(u64, Timestamp), Vec<(PathBuf, u64)>>,
    /// By inode and length, for files whose time was changed as well.
    by_inode: HashMap<(u64, u64), PathBuf>,
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
            self.by_inode.insert((status.inode, status.length), path.clone());
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
        let Some(alike) = self.by_extent.get_mut(&(facts.length, facts.mtime)) else {
            // The inode of a file that is gone can be that of a new one.
            let to = self.by_inode.remove(&(facts.inode, facts.length))?;
            let (is_certain, from) = (has_tag(&to), from.to_owned());
            let to = self.root.join(to);
            return (facts.length > 0).then_some(RenamedFile { from, to, is_certain });
        };
        let certain = alike.iter().position(|(_, inode)| *inode == facts.inode);
        let certain = certain.or_else(|| alike.iter().position(|(path, _)| has_tag(path)));
        // Empty files are all alike.
        let at = certain.or((facts.length > 0 && !alike.is_empty()).then_some(0))?;
        let (to, _) = alike.swap_remove(at);
        let (from, to) = (from.to_owned(), self.root.join(to));
        Some(RenamedFile { from, to, is_certain: certain.is_some() })
    }
}
