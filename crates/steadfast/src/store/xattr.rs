//! Tags in one extended attribute of the file itself, and the previous tag in a second one.
//!
//! In: an open file. Out: its tag. An attribute is set by one system call, so it is whole or absent
//! at any moment.

use std::io;

use steadfast_sys::file::File;
use steadfast_sys::xattr;

use super::{Store, StoredTag};
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

    fn write(&self, file: &File, tag: &Tag, keep_previous: bool) -> Result<(), Trouble> {
        if keep_previous {
            keep(file).map_err(|error| trouble("keep the previous tag", &error))?;
        }
        set(file, tag.encode().as_bytes())
    }

    fn remove(&self, file: &File) -> Result<bool, Trouble> {
        // The previous tag goes first: alone it would look like a tag that was lost.
        xattr::remove(file, xattr::TAG_PREVIOUS)
            .and_then(|previous| Ok(xattr::remove(file, xattr::TAG)? || previous))
            .map_err(|error| trouble("remove the tag", &error))
    }
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

/// Copies the stored bytes, whatever they are, to the second attribute.
fn keep(file: &File) -> io::Result<()> {
    let mut value = vec![0; ATTRIBUTE_LEN_MAX];
    match xattr::get(file, xattr::TAG, &mut value)? {
        Some(len) => xattr::set(file, xattr::TAG_PREVIOUS, &value[..len]),
        None => Ok(()),
    }
}

/// Sets, reads back and compares. SMB servers have been seen to drop an attribute that is set
/// again, so a difference is answered by removing and setting once more.
fn set(file: &File, value: &[u8]) -> Result<(), Trouble> {
    let doing = "set the tag";
    xattr::set(file, xattr::TAG, value).map_err(|error| trouble(doing, &error))?;
    if reads_back(file, value) {
        return Ok(());
    }
    xattr::remove(file, xattr::TAG)
        .and_then(|_| xattr::set(file, xattr::TAG, value))
        .map_err(|error| trouble(doing, &error))?;
    if reads_back(file, value) {
        return Ok(());
    }
    // A tag that is not what was written must not stay to be believed.
    let _ = xattr::remove(file, xattr::TAG);
    Err(Trouble { doing, reason: "what was read back is not what was written".to_owned() })
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
