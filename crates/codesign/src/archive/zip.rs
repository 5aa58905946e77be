//! Reads zip files by their index, which must agree with what lies before it: some tools unpack by
//! the one and some by the other.

use std::io::{Read, Seek};

use zip::{ExtraField, ZipArchive};

use super::{ArchiveEntry, ArchiveTree, ENTRIES_MAX};
use crate::error::{Error, ErrorKind};

/// The longest target of a symlink.
const TARGET_LEN_MAX: u64 = 4096;

pub(super) fn read(reader: impl Read + Seek, tree: &mut ArchiveTree) -> Result<(), Error> {
    let malformed = |error| Error::malformed(format!("the zip file: {error}"));
    let mut archive = ZipArchive::new(reader).map_err(malformed)?;
    if archive.len() > ENTRIES_MAX {
        return Err(Error::new(ErrorKind::Unsupported, "the archive has too many names"));
    }
    archive.validate_header_consistency().map_err(malformed)?;
    if archive.offset() > 0 {
        return Err(Error::malformed("the zip file begins with something else"));
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
