//! What is recorded of the files of sets: by tags in the tree, by its catalogue if there is one,
//! and by what a person released. Contents are not read.

use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use steadfast_manifest::tag::Tag;
use steadfast_parity::ProtectedFile;
use steadfast_sys::file::File;

use super::needed::Recorded;
use super::place::ParityPlace;
use super::protected;
use crate::advice::Advice;
use crate::beneath;
use crate::catalogue::{
    Catalogue, CatalogueError, CatalogueErrorKind, CatalogueReader, FolderVolume,
};
use crate::error::Error;
use crate::event::{FileError, FilePath};
use crate::run::Options;
use crate::store::carried::SidecarTags;
use crate::store::xattr::Xattr;
use crate::store::{Store as _, StoredTag, tag_at};

/// Which missing files are released.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ReleasedMissing {
    /// Those whose loss was accepted, by this run or an earlier one, as the catalogue has it.
    Accepted,
    /// The same; without a catalogue, all.
    AcceptedOrAll,
    /// All that are gone from a folder that is there.
    All,
}

/// What is recorded of the files of a tree.
pub(super) struct TreeRecords<'a> {
    place: &'a ParityPlace,
    catalogue: Option<Result<(Catalogue, CatalogueReader), CatalogueError>>,
    missing: ReleasedMissing,
    /// Paths beneath the root. What is at or beneath them is released unless it is as protected.
    named: &'a [PathBuf],
}

impl<'a> TreeRecords<'a> {
    /// Takes the tags alone.
    pub(super) fn by_tags(place: &'a ParityPlace) -> TreeRecords<'a> {
        TreeRecords { place, catalogue: None, missing: ReleasedMissing::Accepted, named: &[] }
    }

    /// Takes the tags, the catalogue that a run with these options over a path uses, and what is
    /// released.
    ///
    /// # Errors
    /// If the catalogue is of another tree.
    pub(super) fn open(
        place: &'a ParityPlace,
        (options, path): (&Options, &Path),
        missing: ReleasedMissing,
        named: &'a [PathBuf],
    ) -> Result<TreeRecords<'a>, Error> {
        let file = options.catalogue.choice.of(path);
        let open = |file: PathBuf| -> Result<_, CatalogueError> {
            let catalogue = Catalogue::open_reader(&file)?;
            catalogue.guard_as(true)?;
            let reader = CatalogueReader::beside(&catalogue)?;
            Ok((catalogue, reader))
        };
        match file.map(open) {
            Some(Err(error)) if error.kind() == CatalogueErrorKind::OtherVolume => {
                Err(error.into())
            }
            catalogue => Ok(TreeRecords { place, catalogue, missing, named }),
        }
    }

    /// Says whether a person released any file.
    pub(super) fn releases(&self) -> bool {
        self.missing != ReleasedMissing::Accepted || !self.named.is_empty()
    }

    /// Returns what is recorded of a file that a set has. A file that lost its tag counts by the
    /// one that the catalogue has.
    pub(super) fn of(&self, member: &ProtectedFile) -> Recorded {
        let root = self.place.root();
        let before = Tag::decode(&member.tag).ok();
        let mut opened = beneath::file(root, &member.path);
        let is_gone = |error: &io::Error| {
            matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
        };
        let moved = before
            .as_ref()
            .filter(|_| opened.as_ref().is_err_and(is_gone))
            .and_then(|before| self.moved_and_edited(&member.path, before));
        if let Some(moved) = &moved {
            opened = beneath::file(root, moved);
        }
        let path = moved.as_ref().unwrap_or(&member.path);
        let file = match opened {
            Ok(file) => file,
            Err(error) if is_gone(&error) => return self.lost(member, false),
            // Something else has its name.
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => {
                return self.lost(member, true);
            }
            Err(error) => return Recorded::Unclear(format!("it cannot be opened: {error}")),
        };
        let tag = match tag_at(&file, &root.join(path)) {
            Ok(StoredTag::Whole(tag)) => Some(tag),
            Ok(_) => self.tag(path),
            Err(error) => return Recorded::Unclear(format!("its tag cannot be read: {error}")),
        };
        let Some(tag) = tag else { return self.lost(member, true) };
        let now = match protected(path.clone(), &tag, &file) {
            Ok(now) => now,
            Err(error) => return Recorded::Unclear(format!("it cannot be looked at: {error}")),
        };
        let has_contents = before.as_ref().is_some_and(|before| before.same_contents(&tag));
        if now == *member || has_contents {
            return Recorded::Here(now);
        }
        if self.names(&member.path) {
            return Recorded::Released { is_there: true };
        }
        let Some(before) = before else {
            return Recorded::Disputed("the set has no whole tag of it");
        };
        match self.why_not_edited(&file, path, &before, &tag) {
            Some(why) => Recorded::Disputed(why),
            None => Recorded::Edited,
        }
    }

    /// Answers for a file that is missing, or has no tag and none in the catalogue.
    fn lost(&self, file: &ProtectedFile, is_there: bool) -> Recorded {
        let mut why_kept = None;
        let is_released = match (self.missing, &self.catalogue) {
            _ if self.names(&file.path) => true,
            _ if is_there => false,
            (ReleasedMissing::All, _) | (ReleasedMissing::AcceptedOrAll, None) => {
                why_kept = self.why_hidden(&file.path);
                why_kept.is_none()
            }
            _ => self.was_accepted_missing(file),
        };
        match is_released {
            true => Recorded::Released { is_there },
            false => Recorded::Lost { is_there, why_kept },
        }
    }

    /// Says whether a person named a path, or a folder above it, to release it.
    fn names(&self, path: &Path) -> bool {
        self.named.iter().any(|named| path.starts_with(named))
    }

    /// Returns the tag that the catalogue has of a file; `None` if it cannot tell.
    pub(super) fn tag(&self, relative: &Path) -> Option<Tag> {
        let Some(Ok((_, reader))) = &self.catalogue else { return None };
        reader.tag(&FilePath::whole(&self.place.root().join(relative))).ok().flatten()
    }

    /// Says whether a person accepted, in an earlier run, that a file with a tag is missing. The
    /// set that has it may have been needed for another file then.
    fn was_accepted_missing(&self, file: &ProtectedFile) -> bool {
        let Some(Ok((catalogue, _))) = &self.catalogue else { return false };
        let path = self.place.root().join(&file.path);
        match (path.strip_prefix(catalogue.root()), Tag::decode(&file.tag)) {
            (Ok(path), Ok(tag)) => catalogue.was_let_go(path, &tag).unwrap_or(false),
            _ => false,
        }
    }

    /// Returns where a file with a tag moved from its path, if the catalogue saw it move and has a
    /// tag of other contents now.
    fn moved_and_edited(&self, relative: &Path, before: &Tag) -> Option<PathBuf> {
        let Some(Ok((catalogue, reader))) = &self.catalogue else { return None };
        let from = self.place.root().join(relative);
        let to = catalogue.moved_to(from.strip_prefix(catalogue.root()).ok()?).ok()??;
        let to = catalogue.root().join(to);
        let tags = reader.tags_so_far(&FilePath::whole(&to)).ok()?;
        let (now, earlier) = tags.split_first()?;
        let is_edited =
            !now.same_contents(before) && earlier.iter().any(|tag| tag.same_contents(before));
        to.strip_prefix(self.place.root()).ok().filter(|_| is_edited).map(Path::to_owned)
    }

    /// Returns why a tag of other contents does not show that an edit was accepted; `None` if it
    /// does.
    ///
    /// Contents that decayed keep their time. If such a file lost its tag, any verb that writes
    /// tags would tag the decayed contents.
    fn why_not_edited(
        &self,
        file: &File,
        path: &Path,
        before: &Tag,
        now: &Tag,
    ) -> Option<&'static str> {
        if self.tag(path).is_some_and(|tag| tag.same_contents(before)) {
            return Some("another program replaced its tag, and the catalogue still has this one");
        }
        let is_before = |found: io::Result<StoredTag>| match found {
            Ok(StoredTag::Whole(tag)) => tag.same_contents(before),
            _ => false,
        };
        let beside =
            || SidecarTags::of(&self.place.root().join(path)).map(|beside| beside.previous);
        let is_shown =
            before.mtime != now.mtime || is_before(Xattr.previous(file)) || is_before(beside());
        (!is_shown).then_some("it lost its tag and has one of other contents, with the same time")
    }

    /// Returns why a file that is not in the tree may be on a volume that is not mounted; `None` if
    /// its folder is the one in which it was.
    fn why_hidden(&self, relative: &Path) -> Option<FileError> {
        let root = self.place.root();
        let folder = relative.parent().unwrap_or(Path::new(""));
        let kept = |why: String| Some(FileError::new("end its protection", why));
        let volume = self.catalogue.as_ref().map(|catalogue| match catalogue {
            Err(error) => Err(error.to_string()),
            Ok((catalogue, _)) => match root.join(folder).strip_prefix(catalogue.root()) {
                Ok(within) => catalogue.volume_of(within).map_err(|error| error.to_string()),
                Err(_) => Ok(FolderVolume::NotKnown),
            },
        });
        match volume {
            Some(Err(error)) => kept(format!("the catalogue cannot be read: {error}")),
            Some(Ok(FolderVolume::Mounted)) => None,
            Some(Ok(FolderVolume::Unmounted(at))) => {
                kept(format!("the volume at `{}` is not mounted", at.display()))
            }
            // A mount point without its volume is an empty folder, or is not there.
            Some(Ok(FolderVolume::NotKnown)) | None => {
                if folder.as_os_str().is_empty() || has_files(root, folder) {
                    return None;
                }
                let shown = folder.display();
                let why = format!("nothing is in `{shown}`: is a volume not mounted there?");
                kept(why).map(|why| why.advise(Advice::ForgetFolder(folder.to_owned())))
            }
        }
    }
}

/// Says whether a folder has anything in it but what every new volume has. What cannot be listed
/// may have been emptied.
fn has_files(root: &Path, folder: &Path) -> bool {
    let mut has_files = false;
    let listed = beneath::directory(root, folder).and_then(|dir| {
        dir.entries(&mut |entry| {
            has_files |= entry.name != "lost+found";
            if has_files { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })
    });
    listed.is_ok() && has_files
}
