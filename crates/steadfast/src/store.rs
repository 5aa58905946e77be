//! Stores tags. The only module that writes to the files of a run.
//!
//! In: an open file, and a tag for it. Out: its stored tag; or the tag is stored, read back and
//! compared. Knows nothing of verdicts: the verb decides what may be replaced.

pub(crate) mod carried;
mod carrier;
pub mod foreign;
pub(crate) mod pages;
pub mod xattr;

use std::io;
use std::path::Path;

use steadfast_sys::file::File;

use self::carried::SidecarTags;
use self::xattr::Xattr;
use crate::beneath;
use crate::event::FileError;
use crate::walk::Sidecar;
use steadfast_manifest::tag::{Tag, TagError};

/// What is stored for a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoredTag {
    /// Nothing.
    Absent,
    /// Nothing, because the file system has no place for tags.
    Impossible,
    /// A whole tag.
    Whole(Tag),
    /// Bytes that are not a tag.
    Damaged(TagError),
}

/// Reads the tag of a file at a path: from its attribute, or else from the AppleDouble file beside
/// it.
///
/// # Errors
/// If the system refuses, or the AppleDouble file is damaged.
pub fn tag_at(file: &File, path: &Path) -> io::Result<StoredTag> {
    let own = Xattr.tag(file)?;
    if !matches!(own, StoredTag::Absent | StoredTag::Impossible) {
        return Ok(own);
    }
    match SidecarTags::of(path)?.tag {
        StoredTag::Absent => Ok(own),
        beside => Ok(beside),
    }
}

/// Returns whether a file has a tag of ours, whole or damaged; also true if that cannot be
/// determined.
pub(crate) fn has_tag(file: &File) -> bool {
    !matches!(Xattr.tag(file), Ok(StoredTag::Absent | StoredTag::Impossible))
}

/// Returns whether a file beneath a root belongs to its neighbour and is not data: AppleDouble
/// attributes, or leaves of its pages. A walk skips such files.
pub fn is_sidecar(root: &Path, path: &Path) -> bool {
    let Ok(Some((parent, name))) = beneath::split(path) else { return false };
    // Most names cannot be a sidecar's, so most calls open no directory.
    Sidecar::is_name(name)
        && beneath::directory(root, parent)
            .is_ok_and(|dir| Sidecar::of(&dir, name, has_tag).is_some())
}

/// What a new tag may replace. A write fails if anything else is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replaces {
    /// Nothing: it is the file's first tag.
    Nothing,
    /// This tag, of the same contents.
    Tag(Tag),
    /// This tag, of other contents, which is kept beside the new one.
    TagKept(Tag),
    /// Nothing: the file lost this tag, of other contents. It is kept beside the new one.
    LostKept(Tag),
    /// Bytes that are not a valid tag. They are kept beside the new one.
    DamagedKept,
}

/// One way of storing tags.
///
/// Implementations guarantee that after any failure, and if the process or the machine stops at any
/// moment, the stored tag is the old one, the new one, or absent.
pub trait Store: Send + Sync {
    /// Reads the stored tag.
    ///
    /// # Errors
    /// If the store cannot be read.
    fn tag(&self, file: &File) -> io::Result<StoredTag>;

    /// Reads the tag before the stored one.
    ///
    /// # Errors
    /// As for [`Store::tag`].
    fn previous(&self, file: &File) -> io::Result<StoredTag>;

    /// Checks that a tag could be stored, before the file is read for one. Changes nothing.
    ///
    /// # Errors
    /// If the system would refuse.
    fn ready(&self, _file: &File) -> Result<(), FileError> {
        Ok(())
    }

    /// Stores a tag and reads it back.
    ///
    /// # Errors
    /// If something else is stored than `replaces` allows, if the tag could not be stored, or if it
    /// was read back differently.
    fn write(&self, file: &File, tag: &Tag, replaces: Replaces) -> Result<(), FileError>;

    /// Removes the tag and the previous one, and nothing else. Returns whether there was any.
    ///
    /// # Errors
    /// If the system refuses.
    fn remove(&self, file: &File) -> Result<bool, FileError>;
}
