//! Where tags live. The only module that writes to what a run is about.
//!
//! In: an open file, and a tag for it. Out: its stored tag; or the tag is stored, read back and
//! found the same. Knows nothing of verdicts: what may be replaced is decided by the verb.

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

/// What a store holds for a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoredTag {
    /// Nothing.
    Absent,
    /// Nothing, and nothing can be: the file system has no place for tags.
    Impossible,
    /// A whole tag.
    Whole(Tag),
    /// Bytes that are not a tag.
    Damaged(TagError),
}

/// Reads the tag of a file at a path: its attribute, or else what the AppleDouble file beside it
/// keeps.
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

/// Says whether a file has a tag of ours, whole or damaged, or whether that cannot be told.
pub(crate) fn has_tag(file: &File) -> bool {
    !matches!(Xattr.tag(file), Ok(StoredTag::Absent | StoredTag::Impossible))
}

/// Says whether a file beneath a root belongs to its neighbour and is not data: AppleDouble
/// attributes, or leaves of its pages. A walk skips such files.
pub fn is_sidecar(root: &Path, path: &Path) -> bool {
    let Ok(Some((parent, name))) = beneath::split(path) else { return false };
    // Most names cannot be a sidecar's, and then no directory is opened.
    Sidecar::is_name(name)
        && beneath::directory(root, parent)
            .is_ok_and(|dir| Sidecar::of(&dir, name, has_tag).is_some())
}

/// What a new tag takes the place of. Anything else that is found there stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replaces {
    /// Nothing: it is the file's first.
    Nothing,
    /// This tag, of the same contents.
    Tag(Tag),
    /// This tag, of other contents: it is kept beside the new one.
    TagKept(Tag),
    /// Nothing: the file lost this tag, of other contents. It is kept beside the new one.
    LostKept(Tag),
    /// Bytes that are no tag: they are kept beside the new one.
    DamagedKept,
}

/// One way of keeping tags.
///
/// Implementations keep one promise above all: after any failure, and at any moment at which the
/// process or the machine may die, the stored tag is the old one, the new one, or absent.
pub trait Store: Send + Sync {
    /// Reads the stored tag.
    ///
    /// # Errors
    /// If the store cannot be asked.
    fn tag(&self, file: &File) -> io::Result<StoredTag>;

    /// Reads the tag before the stored one.
    ///
    /// # Errors
    /// As for [`Store::tag`].
    fn previous(&self, file: &File) -> io::Result<StoredTag>;

    /// Says whether a tag could be stored, before the file is read for one. Changes nothing.
    ///
    /// # Errors
    /// If the system would refuse.
    fn ready(&self, _file: &File) -> Result<(), FileError> {
        Ok(())
    }

    /// Stores a tag and reads it back.
    ///
    /// # Errors
    /// If something else is stored than is to be replaced; if the tag could not be stored, or what
    /// was read back is not what was written.
    fn write(&self, file: &File, tag: &Tag, replaces: Replaces) -> Result<(), FileError>;

    /// Removes the tag and the one before it, and nothing else; says whether there was any.
    ///
    /// # Errors
    /// If the system refuses.
    fn remove(&self, file: &File) -> Result<bool, FileError>;
}
