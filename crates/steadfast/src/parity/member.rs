//! How a file of a set is found in the tree. Its contents are not read.

use std::collections::HashSet;
use std::hash::{BuildHasher as _, RandomState};
use std::io;
use std::path::Path;

use steadfast_manifest::tag::Tag;
use steadfast_parity::{PageMark, ProtectedFile};
use steadfast_sys::file::File;

use super::known::CataloguedFiles;
use super::place::ParityPlace;
use super::protected;
use crate::beneath;
use crate::store::carried::SidecarTags;
use crate::store::xattr::Xattr;
use crate::store::{Store as _, StoredTag, tag_at};

/// How a member of a set is found in the tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum MemberState {
    /// As the set has it.
    AsProtected,
    /// With the same contents according to its tag, and another time, mode or owner: as it is now.
    Restyled(ProtectedFile),
    /// With a tag of other contents.
    Changed {
        /// Why that is not an edit that was accepted.
        why_not_edited: Option<&'static str>,
    },
    /// Without a tag, and the catalogue knows none.
    Untagged,
    /// Not at all.
    Gone,
    /// That cannot be told, and why.
    Unknown(String),
}

/// Looks for a member in the tree.
pub(super) fn state_of(place: &ParityPlace, member: &ProtectedFile) -> MemberState {
    state_with(place, None, member)
}

/// Looks for a member in the tree. A file that lost its tag counts by the one that the catalogue
/// has.
pub(super) fn state_with(
    place: &ParityPlace,
    known: Option<&CataloguedFiles>,
    member: &ProtectedFile,
) -> MemberState {
    let before = Tag::decode(&member.tag);
    let mut path = &member.path;
    let mut opened = beneath::file(place.root(), path);
    let is_gone = |error: &io::Error| state_of_unopened(error) == MemberState::Gone;
    let moved = match (&opened, known, &before) {
        (Err(error), Some(known), Ok(before)) if is_gone(error) => {
            known.moved_and_retagged(path, before)
        }
        _ => None,
    };
    if let Some(moved) = &moved {
        opened = beneath::file(place.root(), moved);
        path = moved;
    }
    let file = match opened {
        Ok(file) => file,
        Err(error) => return state_of_unopened(&error),
    };
    let tag = match tag_at(&file, &place.root().join(path)) {
        Ok(StoredTag::Whole(tag)) => Some(tag),
        Ok(_) => known.and_then(|known| known.tag(path)),
        Err(error) => return MemberState::Unknown(format!("its tag cannot be read: {error}")),
    };
    let Some(tag) = tag else { return MemberState::Untagged };
    let now = match protected(path.clone(), &tag, &file) {
        Ok(now) => now,
        Err(error) => return MemberState::Unknown(format!("it cannot be looked at: {error}")),
    };
    match before {
        _ if now == *member => MemberState::AsProtected,
        Ok(before) if before.same_contents(&tag) => MemberState::Restyled(now),
        Ok(before) => MemberState::Changed {
            why_not_edited: why_not_edited(place, known, &file, path, (&before, &tag)),
        },
        Err(_) => MemberState::Changed { why_not_edited: Some("the set has no whole tag of it") },
    }
}

fn state_of_unopened(error: &io::Error) -> MemberState {
    use io::ErrorKind::{InvalidInput, NotADirectory, NotFound};
    match error.kind() {
        NotFound | NotADirectory => MemberState::Gone,
        // Something else has its name.
        InvalidInput => MemberState::Untagged,
        _ => MemberState::Unknown(format!("it cannot be opened: {error}")),
    }
}

/// Returns why a tag of other contents does not show that an edit was accepted; `None` if it does.
///
/// Contents that decayed keep their time. If such a file lost its tag, any verb that writes tags
/// would tag the decayed contents.
fn why_not_edited(
    place: &ParityPlace,
    known: Option<&CataloguedFiles>,
    file: &File,
    path: &Path,
    (before, now): (&Tag, &Tag),
) -> Option<&'static str> {
    let catalogued = known.and_then(|known| known.tag(path));
    if catalogued.is_some_and(|tag| tag.same_contents(before)) {
        return Some("another program replaced its tag, and the catalogue still has this one");
    }
    if before.mtime != now.mtime {
        return None;
    }
    let is_before = |found: io::Result<StoredTag>| match found {
        Ok(StoredTag::Whole(tag)) => tag.same_contents(before),
        _ => false,
    };
    let beside = || SidecarTags::of(&place.root().join(path)).map(|beside| beside.previous);
    match is_before(Xattr.previous(file)) || is_before(beside()) {
        true => None,
        false => Some("it lost its tag and has one of other contents, with the same time"),
    }
}

/// Digests with a random key, in place of files.
#[derive(Clone, Default)]
pub(super) struct FileKeys(RandomState);

impl FileKeys {
    /// Returns the key of a file: of its path and its tag.
    pub(super) fn of(&self, file: &ProtectedFile) -> u64 {
        self.of_parts(&file.path, &file.tag)
    }

    /// Returns the key of a path and a tag.
    pub(super) fn of_parts(&self, path: &Path, tag: &[u8]) -> u64 {
        self.0.hash_one((path, tag))
    }

    /// Returns the key of the pages of a set.
    pub(super) fn of_pages(&self, marks: &[PageMark]) -> u64 {
        self.0.hash_one(marks)
    }

    /// Returns the key of a tag alone.
    pub(super) fn of_tag(&self, tag: &[u8]) -> u64 {
        self.0.hash_one(tag)
    }
}

/// A set of paths, of which only digests with a random key are held.
#[derive(Default)]
pub(super) struct PathSet {
    key: RandomState,
    digests: HashSet<u64>,
}

impl PathSet {
    pub(super) fn insert(&mut self, path: &Path) -> bool {
        self.digests.insert(self.key.hash_one(path))
    }

    pub(super) fn contains(&self, path: &Path) -> bool {
        self.digests.contains(&self.key.hash_one(path))
    }
}
