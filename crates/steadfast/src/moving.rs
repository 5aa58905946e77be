//! The names of files that a move is about to remove.
//!
//! Before `move` removes files of a folder, it writes a record there, and gives each a name of its
//! own beside it. Only when every copy was seen under such a name, the file is removed. A move that
//! is killed leaves record and names: walks show these files under the names that they had, and the
//! next move or repair gives these back.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::Path;

use steadfast_manifest::tag::Tag;
use steadfast_sys::file::{Dir, FileKind, Status};
use steadfast_sys::names::NameBytes as _;
use steadfast_sys::source::ReadAt as _;

use crate::advice::Advice;
use crate::beneath;
use crate::event::Notice;
use crate::exit_status::ExitStatus;
use crate::pages::Descriptor;
use crate::tree_folder::FOLDER;

/// The record in a folder.
pub(crate) const RECORD: &str = ".steadfast-moving";

/// The mark beside the catalogue.
pub(crate) const MARK: &str = "catalogue.sqlite.moving";

/// The first bytes of a record.
const MAGIC: &[u8] = b"steadfast moving 1\n";

/// No folder of a batch has a longer record.
const RECORD_LEN_MAX: u64 = 1 << 20;

/// A file that is about to be removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MovingFile {
    /// Its name.
    pub(crate) name: OsString,
    /// Its contents, length and modification time.
    pub(crate) tag: Tag,
}

impl MovingFile {
    /// Returns the name that it has before it is removed.
    pub(crate) fn temporary(&self) -> OsString {
        let digest = steadfast_digest::sha256(self.name.as_bytes());
        let (half, _) = digest.as_bytes().split_first_chunk().expect("it has 32 bytes");
        OsString::from(format!(".steadfast-{:016x}.moving", u64::from_be_bytes(*half)))
    }

    /// Returns whether a file has the kind, the length and the time of this one.
    pub(crate) fn is_like(&self, status: &Status) -> bool {
        let facts = (status.kind, status.length, status.mtime);
        facts == (FileKind::Regular, self.tag.length, self.tag.mtime)
    }
}

/// The files of a folder that have names of their own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct MovingFiles {
    /// Those that are as recorded, with their temporary names. Nothing has the names that they had.
    pub(crate) files: Vec<(MovingFile, OsString)>,
    /// How many others there are.
    pub(crate) others: u64,
}

impl MovingFiles {
    /// Reads the record of a folder; `None` if it has none that we wrote.
    pub(crate) fn of(dir: &Dir) -> Option<MovingFiles> {
        let mut found = MovingFiles::default();
        for file in decode(&read(dir).ok()?)? {
            let temporary = file.temporary();
            let Ok(status) = dir.status_of(&temporary) else { continue };
            let is_free = dir.status_of(&file.name).is_err_and(|it| is_absent(&it));
            match is_free && file.is_like(&status) {
                true => found.files.push((file, temporary)),
                false => found.others += 1,
            }
        }
        Some(found)
    }

    /// Returns the name that a file had which has a temporary one.
    pub(crate) fn name_of(&self, temporary: &OsStr) -> Option<&OsStr> {
        let found = self.files.iter().find(|(_, name)| name == temporary);
        found.map(|(file, _)| file.name.as_os_str())
    }

    /// Returns the temporary name of a file.
    pub(crate) fn temporary_of(&self, name: &OsStr) -> Option<&OsStr> {
        let found = self.files.iter().find(|(file, _)| file.name == name);
        found.map(|(_, temporary)| temporary.as_os_str())
    }
}

fn is_absent(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::NotFound
}

fn read(dir: &Dir) -> io::Result<Vec<u8>> {
    let file = dir.open_file(OsStr::new(RECORD))?;
    let status = file.status()?;
    if status.kind != FileKind::Regular || status.length > RECORD_LEN_MAX {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut bytes = vec![0; status.length as usize];
    Descriptor { file: &file, len_bytes: status.length }.read_exact_at(&mut bytes, 0)?;
    Ok(bytes)
}

/// Writes a record: for each file the length of its name (2 bytes) and of its tag (1), the name
/// and the tag.
pub(crate) fn encode<'a>(files: impl IntoIterator<Item = &'a MovingFile>) -> Vec<u8> {
    let mut bytes = MAGIC.to_vec();
    for MovingFile { name, tag } in files {
        let tag = tag.encode();
        bytes.extend_from_slice(&(name.len() as u16).to_le_bytes());
        bytes.push(tag.as_bytes().len() as u8);
        bytes.extend_from_slice(name.as_bytes());
        bytes.extend_from_slice(tag.as_bytes());
    }
    bytes
}

/// Reads a record; `None` if it is none. One that was not written to its end has no file that was
/// renamed; what names something else than a file of the folder is left out.
fn decode(bytes: &[u8]) -> Option<Vec<MovingFile>> {
    if MAGIC.starts_with(bytes) {
        return Some(Vec::new());
    }
    let mut rest = bytes.strip_prefix(MAGIC)?;
    let mut next = || {
        let (name_len, after) = rest.split_first_chunk()?;
        let (tag_len, after) = after.split_first()?;
        let (name, after) = after.split_at_checked(u16::from_le_bytes(*name_len).into())?;
        let (tag, after) = after.split_at_checked((*tag_len).into())?;
        rest = after;
        Some((name, Tag::decode(tag).ok()?))
    };
    let all = std::iter::from_fn(&mut next);
    let is_name =
        |name: &[u8]| !name.is_empty() && !name.contains(&b'/') && name != b"." && name != b"..";
    let named = all.filter(|(name, _)| is_name(name));
    Some(
        named.map(|(name, tag)| MovingFile { name: OsStr::from_bytes(name).into(), tag }).collect(),
    )
}

/// Says that a move of a catalogued tree was cut off, if it is marked so.
pub(crate) fn notice_of_mark(root: &Path) -> Option<Notice> {
    beneath::status(root, &Path::new(FOLDER).join(MARK)).ok()?;
    let notice = Notice::new("a move from this folder was cut off, or goes on");
    let notice = Notice { status: ExitStatus::Changed, ..notice };
    Some(notice.advise(Advice::GiveNamesBack(root.to_owned())).at(root))
}

#[cfg(test)]
mod tests {
    use super::*;
    use steadfast_digest::Algorithm;
    use steadfast_sys::file::Timestamp;

    fn file(name: &str) -> MovingFile {
        let (digest, mtime) = (steadfast_digest::sha256(b""), Timestamp::from_nanoseconds(5));
        let tag = Tag { algorithm: Algorithm::Sha256, digest, length: 0, mtime, tagged: mtime };
        let tagged = Timestamp { seconds: 0, nanoseconds: 0 };
        MovingFile { name: name.into(), tag: Tag { tagged, ..tag } }
    }

    #[test]
    fn a_record_is_read_as_it_was_written_and_nothing_else_is_one() {
        let files = [file("a"), file("b \n")];
        let bytes = encode(&files);
        assert_eq!(decode(&bytes).as_deref(), Some(&files[..]));
        for len in 0..bytes.len() {
            let part = decode(&bytes[..len]);
            assert!(
                part.is_some_and(|part| part.len() < 2),
                "{len}: it was not written to its end"
            );
        }
        for name in ["", "..", "../a", "/etc/passwd"] {
            assert_eq!(decode(&encode(&[file(name)])), Some(Vec::new()), "{name}");
        }
        assert_eq!(decode(b"another's"), None);
    }
}
