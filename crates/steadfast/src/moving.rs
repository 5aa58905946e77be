//! The names of files that a move is about to remove.
//!
//! Before `move` removes files of a folder, it writes a record there, and gives each a name of its
//! own beside it. Only when every copy was seen under such a name, the file is removed. A move that
//! is killed leaves record and names: walks show these files under the names that they had, and the
//! next move or repair gives these back.

use std::ffi::{OsStr, OsString};
use std::io::{self, Cursor, Read as _};
use std::path::{Component, Path, PathBuf};

use steadfast_manifest::tag::Tag;
use steadfast_manifest::{Format, Record};
use steadfast_sys::file::{Dir, FileKind, Status, Timestamp};
use steadfast_sys::names::NameBytes as _;

use crate::advice::{Advice, counted};
use crate::beneath;
use crate::event::Notice;
use crate::exit_status::ExitStatus;
use crate::manifest;
use crate::tree_folder::FOLDER;

/// The record in a folder: a manifest of ours.
pub(crate) const RECORD: &str = ".steadfast-moving";

/// The mark beside the catalogue.
pub(crate) const MARK: &str = "catalogue.sqlite.moving";

/// The first bytes of a record.
const MAGIC: &[u8] = b"{\"steadfast_manifest\":";

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

/// A file of a record that has its temporary name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MovedName {
    pub(crate) file: MovingFile,
    pub(crate) temporary: OsString,
    /// Whether a file like it has its former name: where every rename may replace files, a file
    /// gets a name by a link, and loses the other one afterwards.
    pub(crate) has_both: bool,
}

/// The files of a folder that have names of their own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct MovingFiles {
    /// Those that are as recorded. No other file has the names that they had.
    pub(crate) files: Vec<MovedName>,
    /// How many others there are.
    pub(crate) others: u64,
}

impl MovingFiles {
    /// Reads the record of a folder; `None` if it has none that we wrote.
    pub(crate) fn of(dir: &Dir) -> Option<MovingFiles> {
        let mut found = MovingFiles::default();
        for file in decode(read(dir).ok()?)? {
            let temporary = file.temporary();
            let Ok(status) = dir.status_of(&temporary) else { continue };
            let has_both = match dir.status_of(&file.name) {
                // A server may show one file with two inodes: whoever repairs reads both.
                Ok(named) => file.is_like(&named).then_some(true),
                Err(error) => (error.kind() == io::ErrorKind::NotFound).then_some(false),
            };
            match has_both.filter(|_| file.is_like(&status)) {
                Some(has_both) => found.files.push(MovedName { file, temporary, has_both }),
                None => found.others += 1,
            }
        }
        Some(found)
    }

    /// Returns the name that a file had which has a temporary one.
    pub(crate) fn renamed(&self, temporary: &OsStr) -> Option<&MovedName> {
        self.files.iter().find(|it| it.temporary == temporary)
    }

    /// Returns the temporary name of a file that has no other one.
    pub(crate) fn temporary_of(&self, name: &OsStr) -> Option<&OsStr> {
        let found = self.files.iter().find(|it| it.file.name == name && !it.has_both);
        found.map(|it| it.temporary.as_os_str())
    }

    /// Returns what to say of the folder.
    pub(crate) fn notice(&self, folder: &Path) -> Notice {
        let files = self.files.len() as u64 + self.others;
        let names = counted(files, "name is", "names are");
        let notice = match files {
            0 => Notice::new("a move left the record of its names here"),
            _ => {
                cut_off(format!("a move of this folder was cut off, or goes on: {names} temporary"))
            }
        };
        notice.advise(Advice::GiveNamesBack(folder.to_owned())).at(folder)
    }
}

/// Returns whether a move gave the file at a path a temporary name.
pub(crate) fn is_renamed(path: &Path) -> bool {
    let parent = path.parent().filter(|it| !it.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let moving = Dir::open(parent).ok().and_then(|dir| MovingFiles::of(&dir));
    let name = path.file_name().unwrap_or_default();
    moving.is_some_and(|moving| moving.temporary_of(name).is_some())
}

fn cut_off(text: String) -> Notice {
    Notice { status: ExitStatus::Changed, ..Notice::new(text) }
}

fn read(dir: &Dir) -> io::Result<Vec<u8>> {
    let file = dir.open_file(OsStr::new(RECORD))?;
    if file.status()?.kind != FileKind::Regular {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut bytes = Vec::new();
    std::fs::File::from(file.into_fd()).take(RECORD_LEN_MAX).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Writes a record.
///
/// # Errors
/// If a name cannot be written.
pub(crate) fn encode<'a>(files: impl IntoIterator<Item = &'a MovingFile>) -> io::Result<Vec<u8>> {
    let record = |it: &MovingFile| Record::of_tag(PathBuf::from(&it.name), &it.tag);
    let (records, mut bytes): (Vec<Record>, _) =
        (files.into_iter().map(record).collect(), Vec::new());
    manifest::write(Format::Steadfast, &records, &mut bytes).map_err(io::Error::other)?;
    Ok(bytes)
}

/// Reads a record; `None` if it is none. One that was not written to its end has no file that was
/// renamed; what names something else than a file of the folder is left out.
fn decode(bytes: Vec<u8>) -> Option<Vec<MovingFile>> {
    if !bytes.starts_with(MAGIC) && !MAGIC.starts_with(&bytes) {
        return None;
    }
    let records = manifest::read(Format::Steadfast, None, Cursor::new(bytes));
    let records: Vec<Record> = records.collect::<Result<_, _>>().unwrap_or_default();
    let file = |record: Record| {
        let [Component::Normal(name)] = record.path.components().collect::<Vec<_>>()[..] else {
            return None;
        };
        let tag = record.to_tag(Timestamp { seconds: 0, nanoseconds: 0 })?;
        Some(MovingFile { name: name.to_owned(), tag })
    };
    Some(records.into_iter().filter_map(file).collect())
}

/// Says that a move of a catalogued tree was cut off, if it is marked so.
pub(crate) fn notice_of_mark(root: &Path) -> Option<Notice> {
    beneath::status(root, &Path::new(FOLDER).join(MARK)).ok()?;
    let notice = cut_off("a move from this folder was cut off, or goes on".to_owned());
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
        let files = [file("a"), file("b \n"), file("\u{e9} \\\"")];
        let bytes = encode(&files).unwrap();
        assert_eq!(decode(bytes.clone()).as_deref(), Some(&files[..]));
        for len in 0..bytes.len() - 1 {
            let part = decode(bytes[..len].to_vec());
            assert_eq!(part, Some(Vec::new()), "{len}: it was not written to its end");
        }
        for name in ["..", "../a", "/etc/passwd", "a/b"] {
            assert_eq!(decode(encode(&[file(name)]).unwrap()), Some(Vec::new()), "{name}");
        }
        assert_eq!(decode(b"another's".to_vec()), None);
    }
}
