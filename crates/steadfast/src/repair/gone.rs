//! Missing files that parity alone knows of: without a catalogue, a check does not miss them.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use steadfast_digest::Digest;
use steadfast_manifest::tag::Tag;
use steadfast_sys::file::Status;

use crate::advice::Advice;
use crate::error::Error;
use crate::event::Notice;
use crate::parity::{ParityPlace, ParitySource};

/// The files of the parity of a tree that are gone from it.
#[derive(Default)]
pub(super) struct GoneFiles {
    source: Option<ParitySource>,
    /// Paths beneath the root of the parity, and tags.
    files: Vec<(PathBuf, Tag)>,
    /// Their digests.
    digests: HashSet<Digest>,
    /// Digests that new files of the tree have: these files were moved.
    moved: HashSet<Digest>,
    /// Why others may be gone, of which nothing is known.
    pub(super) doubt: Option<Notice>,
    /// What is said of parity above the tree that is not used.
    pub(super) passed: Vec<Notice>,
}

impl GoneFiles {
    /// Looks for the files of the nearest parity that belong at a real path or beneath it.
    pub(super) fn beneath(path: &Path) -> GoneFiles {
        GoneFiles::find(path).unwrap_or_else(|error| {
            let doubt = format!("missing files that only parity knows are not found: {error}");
            GoneFiles { doubt: Some(Notice::failure(doubt)), ..GoneFiles::default() }
        })
    }

    fn find(path: &Path) -> Result<GoneFiles, Error> {
        let there = path.ancestors().find(|above| above.is_dir());
        let mut passed = Vec::new();
        let place = there.map(|it| ParityPlace::find(it, it, &mut |notice| passed.push(notice)));
        let Some(place) = place.transpose()?.flatten() else {
            return Ok(GoneFiles { passed, ..GoneFiles::default() });
        };
        let source = ParitySource::open(&place)?;
        let (mut files, is_incomplete) = source.missing()?;
        files.retain(|(file, _)| place.root().join(file).starts_with(path));
        let digests = files.iter().map(|(_, tag)| tag.digest).collect();
        let doubt = is_incomplete.then(|| {
            let text =
                "a set of the parity cannot be read, and files that only it has may be missing";
            Notice::failure(text).advise(Advice::VerifyParity)
        });
        Ok(GoneFiles { source: Some(source), files, digests, moved: HashSet::new(), doubt, passed })
    }

    /// Notes that the file at a real path is as its tag says.
    pub(super) fn see(&mut self, path: &Path, tag: &Tag) {
        let Some(source) = self.source.as_ref().filter(|_| self.digests.contains(&tag.digest))
        else {
            return;
        };
        let relative = path.strip_prefix(source.place().root());
        if relative.is_ok_and(|relative| !source.protects(relative)) {
            self.moved.insert(tag.digest);
        }
    }

    /// Returns the real paths that files of these contents are gone from.
    pub(super) fn paths_of(&self, tag: &Tag) -> impl Iterator<Item = PathBuf> {
        let root = self.source.as_ref().map(|source| source.place().root().to_owned());
        let files = self.files.iter().filter(|(_, of)| of.same_contents(tag));
        files.filter_map(move |(file, _)| Some(root.as_ref()?.join(file)))
    }

    /// Returns the tag that the parity has of the file at a real path, if the file has the
    /// modification time of the tag.
    pub(super) fn recorded(&self, path: &Path, status: &Status) -> Option<Tag> {
        let source = self.source.as_ref()?;
        let relative = path.strip_prefix(source.place().root()).ok()?;
        source.tags(relative).into_iter().find(|tag| tag.mtime == status.mtime)
    }

    /// Returns the real paths and the tags of the files that are nowhere in the tree.
    pub(super) fn missing(self) -> Vec<(PathBuf, Tag)> {
        let GoneFiles { source, files, moved, .. } = self;
        let Some(source) = source else { return Vec::new() };
        let files = files.into_iter().filter(|(_, tag)| !moved.contains(&tag.digest));
        files.map(|(file, tag)| (source.place().root().join(file), tag)).collect()
    }
}
