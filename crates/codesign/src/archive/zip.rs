//! Reads zip files by their index, which must agree with what lies before it: some tools unpack by
//! the one and some by the other.

use std::io::Read;

use zip::{ExtraField, ZipArchive};

use super::{ArchiveEntry, ArchiveTree, ENTRIES_MAX};
use crate::error::{Error, ErrorKind};
use crate::stream::SourceReader;
use steadfast_sys::source::{ReadAt, read_range};

/// How long the end of the index is, without the comment.
const END_LEN: u64 = 22;

/// The longest target of a symlink.
const TARGET_LEN_MAX: u64 = 4096;

pub(super) fn read(source: &dyn ReadAt, tree: &mut ArchiveTree) -> Result<(), Error> {
    let malformed = |error| Error::malformed(format!("the zip file: {error}"));
    let mut archive = ZipArchive::new(SourceReader { source, at: 0 }).map_err(malformed)?;
    if archive.len() > ENTRIES_MAX {
        return Err(Error::new(ErrorKind::Unsupported, "the archive has too many names"));
    }
    archive.validate_header_consistency().map_err(malformed)?;
    if archive.offset() > 0 {
        return Err(Error::malformed("the zip file begins with something else"));
    }
    // What another tool would find at the end first: another index, or a trailer.
    let comment = archive.comment();
    let marks = [&b"PK\x05\x06"[..], b"PK\x06\x06", b"PK\x06\x07", b"koly"];
    if marks.iter().any(|mark| comment.windows(mark.len()).any(|part| part == *mark)) {
        return Err(Error::malformed("the comment of the zip file holds the end of another file"));
    }
    let end_at = source.len_bytes().saturating_sub(END_LEN + comment.len() as u64);
    let end = read_range(source, end_at, 4);
    if end.map_err(|error| Error::system("read the end of the zip file", error))? != b"PK\x05\x06" {
        return Err(Error::malformed("something follows the index of the zip file"));
    }
    for index in 0..archive.len() {
        let mut file = archive.by_index(index).map_err(malformed)?;
        let name = file.name_raw().to_vec();
        let is_other = |field: &ExtraField| match field {
            ExtraField::UnicodePath(path) => path.clone().unwrap_valid(&name).is_err(),
            _ => false,
        };
        if file.extra_data_fields().any(is_other) {
            return Err(Error::malformed("an entry of two names"));
        }
        let kind = file.unix_mode().unwrap_or_default() & 0o170_000;
        let entry = match (kind, file.is_dir()) {
            (0 | 0o040_000 | 0o100_000, true) if file.size() == 0 => ArchiveEntry::Folder,
            (0 | 0o100_000, false) => ArchiveEntry::File(tree.contents(&mut file)?.into()),
            (0o120_000, false) => {
                ArchiveEntry::Symlink(tree.contents(file.by_ref().take(TARGET_LEN_MAX))?)
            }
            _ => return Err(Error::malformed("an entry whose kind is not the same to all tools")),
        };
        tree.insert(&name, entry)?;
    }
    Ok(())
}
