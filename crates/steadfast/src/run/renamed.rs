//! Missing files that are there under other names, found without reading them.
//!
//! Takes the names that a look at the tree found new, and what is known of a missing file; returns
//! the new name of that file. `identity` decides.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use steadfast_sys::file::{Status, Timestamp};

use crate::beneath;
use crate::catalogue::{Catalogue, FileFacts, KnownFile};
use crate::identity::{CandidateFile, NameState, Observed, WhichFile, identity};
use crate::store::{StoredTag, tag_at};
use steadfast_manifest::tag::Tag;

/// The most new names that are compared. Files beyond are found when they are read.
const NEW_MAX: usize = 100_000;

/// The most new names of one length and time that are opened for their tags.
const OPENED_MAX: usize = 64;

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
    keeps_inodes: bool,
    /// Paths beneath the root, and what is there. `None` once a missing file was found to be it.
    files: Vec<Option<(PathBuf, Status)>>,
    by_extent: HashMap<(u64, Timestamp), Vec<usize>>,
    by_inode: HashMap<u64, usize>,
}

impl<'a> NewNames<'a> {
    /// Takes names of the tree of a catalogue.
    pub(super) fn of(catalogue: &Catalogue, root: &'a Path) -> NewNames<'a> {
        let keeps_inodes = catalogue.keeps_inodes();
        let (files, by_extent, by_inode) = (Vec::new(), HashMap::new(), HashMap::new());
        NewNames { root, keeps_inodes, files, by_extent, by_inode }
    }

    /// Adds a path, relative to the root.
    pub(super) fn add(&mut self, path: PathBuf) {
        if self.files.len() < NEW_MAX
            && let Ok(status) = Status::of_link(&self.root.join(&path))
        {
            let at = self.files.len();
            self.by_inode.insert(status.inode, at);
            self.by_extent.entry((status.length, status.mtime)).or_default().push(at);
            self.files.push(Some((path, status)));
        }
    }

    /// Takes the name that a missing file has now, if there is one.
    pub(super) fn take(&mut self, from: &Path, known: &KnownFile) -> Option<RenamedFile> {
        let facts = known.facts;
        let of_inode = self.by_inode.get(&facts.inode).filter(|_| self.keeps_inodes);
        let alike = self.by_extent.entry((facts.length, facts.mtime)).or_default();
        alike.retain(|at| self.files[*at].is_some());
        let places = of_inode.into_iter().chain(alike.iter()).copied();
        let places: Vec<usize> = places.filter(|at| self.files[*at].is_some()).collect();
        let decide = |at: usize, is_opened: bool| {
            let (path, status) = self.files[at].as_ref()?;
            let tag = if is_opened { self.tag_of(path) } else { None };
            Some(self.which(from, known, (path, status), tag.as_ref()))
        };
        let is_it = |answer: &Option<WhichFile>| matches!(answer, Some(WhichFile::Moved(_)));
        let is_perhaps = |at: &usize| matches!(decide(*at, false), Some(WhichFile::Ambiguous(_)));
        let certain = places.iter().find(|at| is_it(&decide(**at, false)));
        let certain = certain
            .or_else(|| places.iter().take(OPENED_MAX).find(|at| is_it(&decide(**at, true))));
        let is_certain = certain.is_some();
        let at = *certain.or_else(|| places.iter().find(|at| is_perhaps(at)))?;
        let (to, _) = self.files[at].take()?;
        Some(RenamedFile { from: from.to_owned(), to: self.root.join(to), is_certain })
    }

    /// Decides whether a new name is that of a missing file.
    fn which(
        &self,
        from: &Path,
        known: &KnownFile,
        (path, status): (&Path, &Status),
        tag: Option<&Tag>,
    ) -> WhichFile {
        let missing = CandidateFile {
            traits: known.facts.traits(self.keeps_inodes),
            tag: known.tag.as_ref(),
            is_proved: known.standing.proves(),
            names: NameState::Gone,
            is_namesake: path.file_name() == from.file_name(),
            seen_together: false,
        };
        let observed = Observed::unread(FileFacts::from(status).traits(self.keeps_inodes));
        identity(&Observed { tag, ..observed }, &[missing]).answer
    }

    /// Returns the tag that a file has itself.
    fn tag_of(&self, path: &Path) -> Option<Tag> {
        let file = beneath::file(self.root, path);
        match file.and_then(|file| tag_at(&file, &self.root.join(path))) {
            Ok(StoredTag::Whole(tag)) => Some(tag),
            _ => None,
        }
    }
}
