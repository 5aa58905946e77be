//! Reads tar files from their start to their end.

use std::io::Read;

use tar::{Archive, EntryType};

use super::{ArchiveEntry, ArchiveTree};
use crate::error::Error;

pub(super) fn read(reader: impl Read, tree: &mut ArchiveTree) -> Result<(), Error> {
    let malformed = |error| Error::malformed(format!("the tar file: {error}"));
    // What is skipped counts as well: a compressed file of zeros takes long to read.
    let mut archive = Archive::new(reader.take(tree.room.saturating_mul(2)));
    for entry in archive.entries().map_err(malformed)? {
        let mut entry = entry.map_err(malformed)?;
        let name = entry.path_bytes().into_owned();
        let target = entry.link_name_bytes().map(|target| target.into_owned());
        let read = match entry.header().entry_type() {
            EntryType::Regular | EntryType::Continuous | EntryType::GNUSparse => {
                ArchiveEntry::File(tree.contents(&mut entry)?.into())
            }
            EntryType::Directory => ArchiveEntry::Folder,
            EntryType::Symlink => ArchiveEntry::Symlink(target.unwrap_or_default()),
            EntryType::Link => {
                let target = target.unwrap_or_default();
                let target = target.strip_prefix(b"./").unwrap_or(&target);
                match tree.entries.get(target) {
                    Some(ArchiveEntry::File(bytes)) => ArchiveEntry::File(bytes.clone()),
                    _ => return Err(Error::malformed("a hard link to no file before it")),
                }
            }
            EntryType::XGlobalHeader => continue,
            _ => ArchiveEntry::Other,
        };
        tree.insert(&name, read)?;
    }
    Ok(())
}
