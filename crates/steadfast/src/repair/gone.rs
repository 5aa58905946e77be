//! Missing files that parity alone knows of: without a catalogue, a check does not miss them.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use steadfast_digest::Digest;
use steadfast_manifest::tag::Tag;
use steadfast_sys::file::Status;

use crate::advice::Advice;
use crate::beneath;
use crate::error::Error;
use crate::event::Notice;
use crate::identity::{CandidateFile, NameState, Observed, WhichFile, identity};
use crate::parity::{ParityPlace, ParitySource};

/// The most missing files with the same contents that are compared with one that was found.
const ALIKE_MAX: usize = 64;

/// The files of the parity of a tree that are gone from it.
#[derive(Default)]
pub(super) struct GoneFiles {
    source: Option<ParitySource>,
    /// Paths beneath the root of the parity, and tags, by digest.
    files: HashMap<Digest, Vec<(PathBuf, Tag)>>,
    /// New files of the tree with these digests, at most as many as are gone.
    arrived: HashMap<Digest, Vec<(PathBuf, Tag)>>,
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
        let there = beneath::folder_above(path);
        let mut passed = Vec::new();
        let place = there.map(|it| ParityPlace::find(it, it, &mut |notice| passed.push(notice)));
        let Some(place) = place.transpose()?.flatten() else {
            return Ok(GoneFiles { passed, ..GoneFiles::default() });
        };
        let source = ParitySource::open(&place)?;
        let (missing, is_incomplete) = source.missing()?;
        let mut files: HashMap<Digest, Vec<(PathBuf, Tag)>> = HashMap::new();
        for (file, tag) in missing {
            if place.root().join(&file).starts_with(path) {
                files.entry(tag.digest).or_default().push((file, tag));
            }
        }
        let doubt = is_incomplete.then(|| {
            let text =
                "a set of the parity cannot be read, and files that only it has may be missing";
            Notice::failure(text).advise(Advice::VerifyParity)
        });
        let arrived = HashMap::new();
        Ok(GoneFiles { source: Some(source), files, arrived, doubt, passed })
    }

    /// Notes that the file at a real path is as its tag says.
    pub(super) fn see(&mut self, path: &Path, tag: &Tag) {
        let Some((source, gone)) = self.source.as_ref().zip(self.files.get(&tag.digest)) else {
            return;
        };
        let relative = path.strip_prefix(source.place().root());
        if let Ok(relative) = relative.map(Path::to_owned)
            && !source.protects(&relative)
        {
            let arrived = self.arrived.entry(tag.digest).or_default();
            if arrived.len() < gone.len() {
                arrived.push((relative, *tag));
            }
        }
    }

    /// Returns the real paths that files of these contents are gone from.
    pub(super) fn paths_of(&self, tag: &Tag) -> impl Iterator<Item = PathBuf> {
        let root = self.source.as_ref().map(|source| source.place().root().to_owned());
        let files = self.files.get(&tag.digest).into_iter().flatten();
        let files = files.filter(|(_, of)| of.same_contents(tag));
        files.filter_map(move |(file, _)| Some(root.as_ref()?.join(file)))
    }

    /// Returns the tag that the parity has of the file at a real path, if the file has the
    /// modification time of the tag.
    pub(super) fn recorded(&self, path: &Path, status: &Status) -> Option<Tag> {
        let source = self.source.as_ref()?;
        let relative = path.strip_prefix(source.place().root()).ok()?;
        source.tags(relative).into_iter().find(|tag| tag.mtime == status.mtime)
    }

    /// Returns the real paths and the tags of the files that are nowhere in the tree, in the order
    /// of the paths.
    pub(super) fn missing(self) -> Vec<(PathBuf, Tag)> {
        let GoneFiles { source, mut files, arrived, .. } = self;
        let Some(source) = source else { return Vec::new() };
        for (digest, arrived) in arrived {
            let gone = files.entry(digest).or_default();
            for (at, (path, tag)) in arrived.iter().enumerate() {
                let candidates = gone.iter().take(ALIKE_MAX).map(|(file, of)| CandidateFile {
                    is_namesake: file.file_name() == path.file_name(),
                    ..CandidateFile::tagged(of, NameState::Gone)
                });
                let candidates: Vec<CandidateFile<'_>> = candidates.collect();
                // With more gone than are compared, the rest must have been found as well.
                let left = arrived.len() - at;
                let alike = if left < gone.len() { left.min(ALIKE_MAX - 1) } else { left };
                let found = identity(&Observed::tagged(tag, alike), &candidates);
                if let WhichFile::Moved(at) = found.answer {
                    gone.remove(at);
                }
            }
        }
        let mut files: Vec<_> = files.into_values().flatten().collect();
        files.sort_unstable_by(|one, next| one.0.cmp(&next.0));
        files.into_iter().map(|(file, tag)| (source.place().root().join(file), tag)).collect()
    }
}
