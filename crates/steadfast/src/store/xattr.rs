//! Tags in one extended attribute of the file itself, and the previous tag in a second one.
//!
//! In: an open file. Out: its tag. An attribute is set by one system call, so it is whole or absent
//! at any moment.

use std::io;

use steadfast_sys::file::File;
use steadfast_sys::xattr;

use super::{Replaces, Store, StoredTag};
use crate::monitor::Trouble;
use crate::tag::{Tag, TagError, VALUE_LEN_MAX};

/// Room for any value that could be a tag of ours; longer ones are not.
const VALUE_ROOM: usize = 4 * VALUE_LEN_MAX;

/// Keeps tags in extended attributes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Xattr;

impl Store for Xattr {
    fn tag(&self, file: &File) -> io::Result<StoredTag> {
        stored(file, xattr::TAG)
    }

    fn previous(&self, file: &File) -> io::Result<StoredTag> {
        stored(file, xattr::TAG_PREVIOUS)
    }

    fn write(&self, file: &File, tag: &Tag, replaces: Replaces) -> Result<(), Trouble> {
        let value = tag.encode();
        let value = value.as_bytes();
        if let Replaces::LostKept(lost) = replaces {
            if !matches!(stored(file, xattr::TAG), Ok(StoredTag::Absent)) {
                return accept_equal(file, tag);
            }
            keep_previous(file, lost.encode().as_bytes())?;
        }
        if matches!(replaces, Replaces::Nothing | Replaces::LostKept(_)) {
            return match xattr::create(file, xattr::TAG, value) {
                Ok(()) => settle(file, value, None),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    accept_equal(file, tag)
                }
                Err(error) => Err(trouble(SETTING, &error)),
            };
        }
        let old = raw(file).map_err(|error| trouble("read the tag again", &error))?;
        let found = old.as_deref().map(Tag::decode);
        let expected = match (replaces, found) {
            (Replaces::Tag(tag) | Replaces::TagKept(tag), Some(Ok(found))) => tag == found,
            (Replaces::DamagedKept, Some(Err(_))) => true,
            _ => false,
        };
        let Some(old) = old.filter(|_| expected) else { return accept_equal(file, tag) };
        if !matches!(replaces, Replaces::Tag(_)) {
            keep_previous(file, &old)?;
        }
        xattr::set(file, xattr::TAG, value).map_err(|error| trouble(SETTING, &error))?;
        settle(file, value, Some(&old))
    }

    fn remove(&self, file: &File) -> Result<bool, Trouble> {
        // The previous tag goes first: alone it would look like a tag that was lost.
        xattr::remove(file, xattr::TAG_PREVIOUS)
            .and_then(|previous| Ok(xattr::remove(file, xattr::TAG)? || previous))
            .map_err(|error| trouble("remove the tag", &error))
    }
}

fn keep_previous(file: &File, value: &[u8]) -> Result<(), Trouble> {
    xattr::set(file, xattr::TAG_PREVIOUS, value)
        .map_err(|error| trouble("keep the previous tag", &error))
}

fn stored(file: &File, name: &str) -> io::Result<StoredTag> {
    let mut value = [0; VALUE_ROOM];
    Ok(match xattr::get(file, name, &mut value) {
        Ok(None) => StoredTag::Absent,
        Ok(Some(len)) => match Tag::decode(&value[..len]) {
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

/// The longest attribute that any system keeps in one piece, in bytes.
const ATTRIBUTE_LEN_MAX: usize = 64 << 10;

const SETTING: &str = "set the tag";

/// Reads the stored bytes, whatever they are.
fn raw(file: &File) -> io::Result<Option<Vec<u8>>> {
    let mut value = vec![0; ATTRIBUTE_LEN_MAX];
    let len = xattr::get(file, xattr::TAG, &mut value)?;
    Ok(len.map(|len| {
        value.truncate(len);
        value
    }))
}

/// Is content if somebody else stored the same meanwhile, and leaves anything else alone.
fn accept_equal(file: &File, tag: &Tag) -> Result<(), Trouble> {
    match stored(file, xattr::TAG) {
        Ok(StoredTag::Whole(found)) if found.same_contents(tag) && found.mtime == tag.mtime => {
            Ok(())
        }
        Ok(_) => {
            let reason = "another tag was stored meanwhile".to_owned();
            Err(Trouble { doing: SETTING, reason })
        }
        Err(error) => Err(trouble(SETTING, &error)),
    }
}

/// Reads back what was set, and compares. SMB servers have been seen to drop an attribute that is
/// set again, so a difference is answered by removing and setting once more.
fn settle(file: &File, value: &[u8], old: Option<&[u8]>) -> Result<(), Trouble> {
    if reads_back(file, value) {
        return Ok(());
    }
    let again = xattr::remove(file, xattr::TAG).and_then(|_| xattr::set(file, xattr::TAG, value));
    if again.is_ok() && reads_back(file, value) {
        return Ok(());
    }
    // A tag that is not what was written must not stay to be believed; the old one was true.
    let _ = match old {
        Some(old) => xattr::set(file, xattr::TAG, old),
        None => xattr::remove(file, xattr::TAG).map(drop),
    };
    Err(match again {
        Ok(()) => {
            let reason = "what was read back is not what was written".to_owned();
            Trouble { doing: SETTING, reason }
        }
        Err(error) => trouble(SETTING, &error),
    })
}

fn reads_back(file: &File, value: &[u8]) -> bool {
    let mut back = [0; VALUE_ROOM];
    matches!(xattr::get(file, xattr::TAG, &mut back), Ok(Some(len)) if &back[..len] == value)
}

/// The system's words, with what they mean here where they mislead.
fn trouble(doing: &'static str, error: &io::Error) -> Trouble {
    let mut trouble = Trouble::from_io(doing, error);
    match error.kind() {
        io::ErrorKind::Unsupported => {
            trouble.reason = "this file system keeps no extended attributes".to_owned();
        }
        io::ErrorKind::StorageFull => {
            trouble.reason = "no space left for extended attributes of this file".to_owned();
        }
        io::ErrorKind::PermissionDenied => {
            trouble.reason = "permission denied: the file is not writable by you".to_owned();
        }
        _ => {}
    }
    trouble
}
