//! Reads archives as trees: zip files (also wheels and `.ipa`), tar files, what gzip or xz
//! compressed, and installer packages with their payloads.
//!
//! The contents are held in memory up to a bound; nothing is unpacked to the file system. An
//! archive that tools could unpack in different ways is refused: two entries of one name, names
//! that a Mac takes for one, names that lead out, entries beneath a symlink.

mod payload;
mod tar;
mod zip;

use std::collections::BTreeMap;
use std::io::{self, Cursor, Read};
use std::sync::Arc;

use flate2::read::MultiGzDecoder;
use lzma_rust2::XzReader;

use crate::bundle::{BundleTree, EntryKind, folded};
use crate::error::{Error, ErrorKind};
use crate::form::FileForm;
use crate::package::{Package, XZ_MEMORY_KIB};
use crate::stream::SourceReader;
use steadfast_sys::source::ReadAt;

/// The most entries of an archive.
const ENTRIES_MAX: usize = 200_000;

/// The longest name of an entry.
const NAME_LEN_MAX: usize = 4096;

/// By how much the memory for contents grows.
const STEP_LEN_MIN: usize = 4 << 10;
const STEP_LEN_MAX: usize = 64 << 20;

/// What a compressed file that is no archive holds is called.
const UNPACKED: &[u8] = b"unpacked";

/// An archive, opened.
#[derive(Debug, Default)]
pub struct ArchiveTree {
    entries: BTreeMap<Vec<u8>, ArchiveEntry>,
    /// The names as a Mac compares them, and what each stands for.
    folded: BTreeMap<String, Vec<u8>>,
    /// Resource forks of files in payloads, by the path of the file.
    forks: BTreeMap<Vec<u8>, Arc<Vec<u8>>>,
    /// The package, if it is one.
    package: Option<Package>,
    /// How many bytes may still be read.
    room: u64,
}

#[derive(Debug)]
enum ArchiveEntry {
    File(Arc<Vec<u8>>),
    Folder,
    Symlink(Vec<u8>),
    Other,
}

impl ArchiveTree {
    /// The default bound on the contents of an archive.
    pub const LEN_MAX: u64 = 1 << 30;

    /// Reads an archive whose contents have up to `len_max` bytes; `None` if it is not an archive.
    ///
    /// # Errors
    /// `Malformed` if it is damaged or could be unpacked in different ways, `Unsupported` if it is
    /// too long, `System` if it cannot be read.
    pub fn read(source: &dyn ReadAt, len_max: u64) -> Result<Option<ArchiveTree>, Error> {
        let mut tree = ArchiveTree { room: len_max, ..ArchiveTree::default() };
        let reader = SourceReader { source, at: 0 };
        match FileForm::of(source)? {
            Some(FileForm::Package) => tree.package = Some(payload::read(source, &mut tree)?),
            Some(FileForm::Zip) => zip::read(source, &mut tree)?,
            Some(FileForm::Tar) => tar::read(reader, &mut tree)?,
            Some(FileForm::Gzip) => tree.unpack(MultiGzDecoder::new(reader))?,
            Some(FileForm::Xz) => {
                tree.unpack(XzReader::new_mem_limit(reader, true, XZ_MEMORY_KIB))?
            }
            _ => return Ok(None),
        }
        Ok(Some(tree))
    }

    /// Reads what was compressed: a tar file, or one file, which has no name then.
    fn unpack(&mut self, mut plain: impl Read) -> Result<(), Error> {
        let mut head = Vec::new();
        let read = plain.by_ref().take(512).read_to_end(&mut head);
        read.map_err(|error| Error::malformed(format!("the compressed file: {error}")))?;
        let is_tar = FileForm::is_tar(&head);
        let whole = Cursor::new(head).chain(plain);
        if is_tar {
            return tar::read(whole, self);
        }
        let contents = self.contents(whole)?;
        self.insert(UNPACKED, ArchiveEntry::File(Arc::new(contents)))
    }

    /// Returns how many bytes could still have been read.
    pub(crate) fn room(&self) -> u64 {
        self.room
    }

    /// Returns the package, if the archive is one; only the first time.
    pub(crate) fn take_package(&mut self) -> Option<Package> {
        self.package.take()
    }

    /// Reads the contents of an entry. The memory grows in steps: room that doubles could be twice
    /// as long as the contents.
    fn contents(&mut self, reader: impl Read) -> Result<Vec<u8>, Error> {
        let mut bytes = Vec::new();
        let mut reader = reader.take(self.room.saturating_add(1));
        loop {
            bytes.reserve_exact(bytes.len().clamp(STEP_LEN_MIN, STEP_LEN_MAX));
            let step = (bytes.capacity() - bytes.len()) as u64;
            let read = reader.by_ref().take(step).read_to_end(&mut bytes);
            let read = read.map_err(|error| Error::malformed(format!("an entry: {error}")))?;
            if (read as u64) < step {
                break;
            }
        }
        bytes.shrink_to_fit();
        let room = self.room.checked_sub(bytes.len() as u64);
        self.room = room.ok_or_else(ArchiveTree::too_long)?;
        Ok(bytes)
    }

    fn too_long() -> Error {
        Error::new(ErrorKind::Unsupported, "the contents of the archive are too long")
    }

    /// Adds an entry, and the folders above it.
    fn insert(&mut self, name: &[u8], entry: ArchiveEntry) -> Result<(), Error> {
        let shown = String::from_utf8_lossy(name).into_owned();
        let refused = |why: &str| Error::malformed(format!("`{shown}`: {why}"));
        let parts = name.split(|byte| *byte == b'/').filter(|part| !matches!(part, [] | [b'.']));
        let parts: Vec<&[u8]> = parts.collect();
        if name.starts_with(b"/") || parts.contains(&&b".."[..]) || name.contains(&b'\\') {
            return Err(refused("the name leads out of the archive"));
        }
        if name.contains(&0) {
            return Err(refused("the name ends earlier for some tools"));
        }
        if name.len() > NAME_LEN_MAX || self.entries.len() + parts.len() > ENTRIES_MAX {
            return Err(Error::new(ErrorKind::Unsupported, "the archive has too many names"));
        }
        let Some(last) = parts.len().checked_sub(1) else { return Ok(()) };
        for depth in 0..last {
            let folder = parts[..=depth].join(&b'/');
            self.put(folder, ArchiveEntry::Folder).map_err(refused)?;
        }
        self.put(parts.join(&b'/'), entry).map_err(refused)
    }

    fn put(&mut self, name: Vec<u8>, entry: ArchiveEntry) -> Result<(), &'static str> {
        match (self.entries.get(&name), &entry) {
            (Some(ArchiveEntry::Folder), ArchiveEntry::Folder) => return Ok(()),
            (Some(_), _) => return Err("the archive has two entries of this name"),
            (None, _) => {}
        }
        if self.folded.insert(folded(&name), name.clone()).is_some() {
            return Err("a Mac takes this name for that of another entry");
        }
        self.entries.insert(name, entry);
        Ok(())
    }

    fn entry(&self, path: &[u8]) -> io::Result<&ArchiveEntry> {
        self.entries.get(path).ok_or_else(|| io::ErrorKind::NotFound.into())
    }
}

impl BundleTree for ArchiveTree {
    fn kind(&self, path: &[u8]) -> io::Result<Option<EntryKind>> {
        if path.is_empty() {
            return Ok(Some(EntryKind::Folder));
        }
        Ok(self.entries.get(path).map(|entry| match entry {
            ArchiveEntry::File(_) => EntryKind::File,
            ArchiveEntry::Folder => EntryKind::Folder,
            ArchiveEntry::Symlink(_) => EntryKind::Symlink,
            ArchiveEntry::Other => EntryKind::Other,
        }))
    }

    fn entries(&self, path: &[u8]) -> io::Result<Vec<(Vec<u8>, EntryKind)>> {
        let prefix = match path {
            [] => Vec::new(),
            path => match self.entry(path)? {
                ArchiveEntry::Folder => [path, b"/"].concat(),
                _ => return Err(io::ErrorKind::NotADirectory.into()),
            },
        };
        let below = self.entries.range(prefix.clone()..);
        let below = below.take_while(|(name, _)| name.starts_with(&prefix));
        let direct = below.filter(|(name, _)| !name[prefix.len()..].contains(&b'/'));
        let kind = |name: &[u8]| self.kind(name).map(|kind| kind.unwrap_or(EntryKind::Other));
        direct.map(|(name, _)| Ok((name[prefix.len()..].to_vec(), kind(name)?))).collect()
    }

    fn open(&self, path: &[u8]) -> io::Result<Box<dyn ReadAt + Send>> {
        match self.entry(path)? {
            ArchiveEntry::File(bytes) => Ok(Box::new(SharedBytes(Arc::clone(bytes)))),
            _ => Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file")),
        }
    }

    fn read_link(&self, path: &[u8]) -> io::Result<Vec<u8>> {
        match self.entry(path)? {
            ArchiveEntry::Symlink(target) => Ok(target.clone()),
            _ => Err(io::ErrorKind::InvalidInput.into()),
        }
    }

    /// A Mac packs the fork of a file into another file, beneath a folder of its own.
    fn fork(&self, path: &[u8]) -> io::Result<Option<Vec<u8>>> {
        let start = path.iter().rposition(|byte| *byte == b'/').map_or(0, |slash| slash + 1);
        let (folder, name) = path.split_at(start);
        let beside = [b"__MACOSX/", folder, b"._", name].concat();
        let double = match (self.forks.get(path), self.entries.get(&beside)) {
            (Some(double), _) | (None, Some(ArchiveEntry::File(double))) => double,
            _ => return Ok(None),
        };
        Ok(resource_fork(double).filter(|fork| !fork.is_empty()).map(<[u8]>::to_vec))
    }
}

/// Finds the resource fork in an AppleDouble file: the entry with the number 2.
///
/// Source: RFC 1740, appendix B.
fn resource_fork(double: &[u8]) -> Option<&[u8]> {
    let number = |at: usize| Some(u32::from_be_bytes(*double.get(at..)?.first_chunk()?) as usize);
    let count = u16::from_be_bytes(*double.get(24..)?.first_chunk()?);
    let entries = (0..usize::from(count)).map(|index| 26 + 12 * index);
    let at = entries.into_iter().find(|at| number(*at) == Some(2))?;
    double.get(number(at + 4)?..)?.get(..number(at + 8)?)
}

/// Bytes that several readers share.
struct SharedBytes(Arc<Vec<u8>>);

impl ReadAt for SharedBytes {
    fn len_bytes(&self) -> u64 {
        self.0.len() as u64
    }

    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        self.0[..].read_exact_at(buffer, offset)
    }
}
