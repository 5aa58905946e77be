//! Reads tar files from their start to their end, and refuses what only some tools unpack: sparse
//! files, names for all that follows, and archives behind the first.

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
        let kind = entry.header().entry_type();
        for extension in entry.pax_extensions().map_err(malformed)?.into_iter().flatten() {
            let extension = extension.map_err(malformed)?;
            let key = extension.key_bytes();
            let of_all =
                kind.is_pax_global_extensions() && matches!(key, b"path" | b"linkpath" | b"size");
            if of_all || key.starts_with(b"GNU.sparse.") {
                return Err(Error::malformed("a tar file that tools unpack in different ways"));
            }
        }
        let name = entry.path_bytes().into_owned();
        let target = entry.link_name_bytes().map(|target| target.into_owned());
        let read = match kind {
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
            EntryType::Char | EntryType::Block | EntryType::Fifo => ArchiveEntry::Other,
            EntryType::XHeader | EntryType::GNULongName | EntryType::GNULongLink => {
                return Err(Error::malformed("a header of a form that not all tools know"));
            }
            // To tools, a type that they do not know is a file.
            _ => ArchiveEntry::File(tree.contents(&mut entry)?.into()),
        };
        tree.insert(&name, read)?;
    }
    let mut rest = archive.into_inner();
    let mut block = [0; 1 << 14];
    loop {
        match rest.read(&mut block).map_err(malformed)? {
            0 if rest.limit() == 0 => return Err(ArchiveTree::too_long()),
            0 => return Ok(()),
            len if block[..len].iter().all(|byte| *byte == 0) => {}
            _ => return Err(Error::malformed("something follows the end of the tar file")),
        }
    }
}
