//! Tags in one extended attribute of the file, and previous tags in a second one.
//!
//! An attribute is set by one system call, so it is whole or absent at any moment. A tag that
//! another system set keeps its name.

use std::io;

use steadfast_manifest::own::{self, TagAttribute, TagSlot};
use steadfast_sys::file::{File, Protection, advice};
use steadfast_sys::xattr;

use super::carried;
use super::{Replaces, Store, StoredTag, carrier};
use crate::event::FileError;
use steadfast_manifest::tag::{Tag, TagError, VALUE_LEN_MAX};

/// Buffer length for any value that could be our tag; longer values are not tags.
const VALUE_ROOM: usize = 4 * VALUE_LEN_MAX;

/// Stores tags in extended attributes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Xattr;

impl Store for Xattr {
    fn tag(&self, file: &File) -> io::Result<StoredTag> {
        let own = stored(file)?;
        let is_carried =
            |name: &str| (TagSlot::of(name)? == TagSlot::Tag && name != xattr::TAG).then_some(());
        match own {
            StoredTag::Impossible => Ok(own),
            _ if carrier::select(file, is_carried)?.is_empty() => Ok(own),
            _ => carried::tag_on(file),
        }
    }

    fn previous(&self, file: &File) -> io::Result<StoredTag> {
        carried::previous_on(file)
    }

    fn ready(&self, file: &File) -> Result<(), FileError> {
        xattr::probe(file).map_err(|error| trouble(file, SETTING, &error))
    }

    fn write(&self, file: &File, tag: &Tag, replaces: Replaces) -> Result<(), FileError> {
        let value = tag.encode();
        let value = value.as_bytes();
        if let Replaces::LostKept(lost) = replaces {
            if !matches!(self.tag(file), Ok(StoredTag::Absent)) {
                return self.accept_equal(file, tag);
            }
            keep_previous(file, xattr::TAG_PREVIOUS, lost.encode().as_bytes())?;
        }
        if matches!(replaces, Replaces::Nothing | Replaces::LostKept(_)) {
            return match xattr::create(file, xattr::TAG, value) {
                Ok(()) => settle(file, xattr::TAG, value, None),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    self.accept_equal(file, tag)
                }
                Err(error) => Err(trouble(file, SETTING, &error)),
            };
        }
        let again = |error| trouble(file, "read the tag again", &error);
        let old = carried::held_on(file, TagSlot::Tag).map_err(again)?;
        let mtime = file.status().map_err(again)?.mtime;
        let expected = match (replaces, carried::resolve(&old, mtime)) {
            (Replaces::Tag(tag) | Replaces::TagKept(tag), Ok(Some(found))) => tag == found,
            (Replaces::DamagedKept, Err(_)) => true,
            _ => false,
        };
        match &old[..] {
            [first, others @ ..] if expected => {
                let keeps = !matches!(replaces, Replaces::Tag(_));
                replace(file, first, others, value, keeps)
            }
            _ => self.accept_equal(file, tag),
        }
    }

    fn remove(&self, file: &File) -> Result<bool, FileError> {
        // The previous tag is removed first: alone it would look as if the tag was lost.
        let slots = [TagSlot::Previous, TagSlot::Tag];
        let removed = carrier::select(file, TagSlot::of).and_then(|names| {
            let mut any = false;
            for slot in slots {
                for (name, _) in names.iter().filter(|(_, of)| *of == slot) {
                    any |= xattr::remove(file, name)?;
                }
            }
            Ok(any)
        });
        removed.map_err(|error| trouble(file, "remove the tag", &error))
    }
}

fn keep_previous(file: &File, name: &str, value: &[u8]) -> Result<(), FileError> {
    xattr::set(file, name, value).map_err(|error| trouble(file, "keep the previous tag", &error))
}

impl Xattr {
    /// Succeeds if another process stored the same tag meanwhile. Leaves any other tag unchanged.
    fn accept_equal(self, file: &File, tag: &Tag) -> Result<(), FileError> {
        match self.tag(file) {
            Ok(StoredTag::Whole(found)) if found.same_contents(tag) && found.mtime == tag.mtime => {
                Ok(())
            }
            Ok(_) => Err(FileError::new(SETTING, "another tag was stored meanwhile")),
            Err(error) => Err(trouble(file, SETTING, &error)),
        }
    }
}

/// Reads the tag that has this system's own attribute name.
fn stored(file: &File) -> io::Result<StoredTag> {
    let mut value = [0; VALUE_ROOM];
    Ok(match xattr::get(file, xattr::TAG, &mut value) {
        Ok(None) => StoredTag::Absent,
        Ok(Some(len)) => match own::decode(&value[..len]) {
            Ok(tag) => StoredTag::Whole(tag),
            Err(error) => StoredTag::Damaged(error),
        },
        Err(error) => match error.kind() {
            io::ErrorKind::Unsupported => StoredTag::Impossible,
            io::ErrorKind::InvalidData => StoredTag::Damaged(TagError::TooLong),
            _ => return Err(error),
        },
    })
}

const SETTING: &str = "set the tag";

/// Replaces the tag under every name that the file has it under, so that each system finds it.
///
/// Removes all names but one before setting that one, and sets the others afterwards: at any moment
/// the file has the old tag or the new one, and never both.
fn replace(
    file: &File,
    first: &TagAttribute,
    others: &[TagAttribute],
    value: &[u8],
    keeps: bool,
) -> Result<(), FileError> {
    for held in others.iter().chain([first]).filter(|_| keeps) {
        keep_previous(file, &own::previous_name(&held.name), &held.value)?;
    }
    let set = |error| trouble(file, SETTING, &error);
    others.iter().try_for_each(|held| xattr::remove(file, &held.name).map(drop)).map_err(set)?;
    let new = first.like(value);
    xattr::set(file, &first.name, &new).map_err(set)?;
    settle(file, &first.name, &new, Some(&first.value))?;
    for held in others {
        let new = held.like(value);
        xattr::set(file, &held.name, &new).map_err(set)?;
        settle(file, &held.name, &new, None)?;
    }
    Ok(())
}

/// Reads the attribute back and compares it. Some SMB servers drop an attribute that is set again,
/// so if it differs, it is removed and set once more.
fn settle(file: &File, name: &str, value: &[u8], old: Option<&[u8]>) -> Result<(), FileError> {
    if reads_back(file, name, value) {
        return Ok(());
    }
    let again = xattr::remove(file, name).and_then(|_| xattr::set(file, name, value));
    if again.is_ok() && reads_back(file, name, value) {
        return Ok(());
    }
    // A tag that differs from what was written must not stay. The old tag was correct.
    let _ = match old {
        Some(old) => xattr::set(file, name, old),
        None => xattr::remove(file, name).map(drop),
    };
    Err(match again {
        Ok(()) => FileError::new(SETTING, "what was read back is not what was written"),
        Err(error) => trouble(file, SETTING, &error),
    })
}

fn reads_back(file: &File, name: &str, value: &[u8]) -> bool {
    let mut back = [0; VALUE_ROOM];
    matches!(xattr::get(file, name, &mut back), Ok(Some(len)) if &back[..len] == value)
}

/// The reason for a file system without attributes.
pub(crate) const NO_ATTRIBUTES: &str = "this file system keeps no extended attributes";

/// Returns what protects a file from changes, and how to allow them.
fn reason_of(mark: Protection) -> String {
    match mark.removed_by() {
        Some(command) => format!("the file is {mark}: `{command} FILE` allows changes"),
        None => "the file belongs to the system, which allows no changes".to_owned(),
    }
}

/// Makes the error from the system's message, with an explanation where that message is misleading.
pub(super) fn trouble(file: &File, operation: &'static str, error: &io::Error) -> FileError {
    let mut trouble = FileError::from_io(operation, error);
    match error.kind() {
        io::ErrorKind::Unsupported => trouble.reason = NO_ATTRIBUTES.to_owned(),
        io::ErrorKind::StorageFull => {
            trouble.reason = "no space left for extended attributes of this file".to_owned();
        }
        io::ErrorKind::PermissionDenied => {
            trouble.reason = match file.protection() {
                Ok(Some(mark)) => reason_of(mark),
                _ if advice(error).is_some() => trouble.reason,
                _ => "permission denied: the file is not writable by you".to_owned(),
            };
        }
        _ => {}
    }
    trouble
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_that_mislead_are_said_in_other_words() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        std::fs::write(&path, "contents").unwrap();
        let file = File::open(&path).unwrap();
        let reason = |kind: io::ErrorKind| trouble(&file, SETTING, &kind.into()).reason;
        assert_eq!(reason(io::ErrorKind::Unsupported), NO_ATTRIBUTES);
        assert!(reason(io::ErrorKind::StorageFull).contains("for extended attributes"));
        assert!(reason(io::ErrorKind::PermissionDenied).contains("not writable by you"));
        assert_eq!(reason(io::ErrorKind::TimedOut), "timed out");
    }
}
