//! Reads what an installer package contains: its files, and what is in its payloads and scripts,
//! which are archives (cpio) of their own, compressed with gzip or, in chunks, with xz.
//!
//! Source: the odc form of cpio (POSIX.1-1997, pax); pbzx as published packages have it: the
//! greatest length of a chunk, then for each its length unpacked and packed, 64 bits, big-endian.

use std::collections::BTreeMap;
use std::io::{self, BufReader, Cursor, Read};
use std::sync::Arc;

use flate2::read::MultiGzDecoder;
use lzma_rust2::XzReader;
use steadfast_sys::source::ReadAt;

use super::{ArchiveEntry, ArchiveTree, NAME_LEN_MAX};
use crate::bundle::joined;
use crate::error::{Error, ErrorKind};
use crate::package::{Package, PackageEntry, XZ_MEMORY_KIB};

/// The header of a file in a cpio archive: octal numbers in text.
const HEADER_LEN: usize = 76;
const HEADER_MAGIC: &[u8] = b"070707";

/// The name that ends an archive.
const TRAILER: &[u8] = b"TRAILER!!!";

/// How chunks in xz begin.
const XZ_MAGIC: &[u8] = b"\xfd7zXZ\0";

/// The longest chunk, packed or not. Apple's have 16 MiB.
const CHUNK_LEN_MAX: u64 = 64 << 20;

pub(super) fn read(source: &dyn ReadAt, tree: &mut ArchiveTree) -> Result<Package, Error> {
    Package::read(source, &mut |path, entry| match entry {
        PackageEntry::Folder => tree.insert(path, ArchiveEntry::Folder),
        PackageEntry::Symlink(target) => tree.insert(path, ArchiveEntry::Symlink(target)),
        PackageEntry::File(contents) if is_archive(path) => {
            let unpacked = unpack(path, contents, tree);
            if unpacked.is_err() {
                // Of a part nothing could be said.
                tree.remove(path);
            }
            unpacked
        }
        PackageEntry::File(contents) => {
            let contents = tree.contents(contents)?;
            tree.insert(path, ArchiveEntry::File(contents.into()))
        }
    })
}

fn is_archive(path: &[u8]) -> bool {
    matches!(path.rsplit(|byte| *byte == b'/').next(), Some(b"Payload" | b"Scripts"))
}

fn unpack(path: &[u8], contents: &mut dyn Read, tree: &mut ArchiveTree) -> Result<(), Error> {
    if tree.entries.contains_key(path) {
        return Err(Error::malformed("a folder and an archive of one name"));
    }
    tree.insert(path, ArchiveEntry::Folder)?;
    let mut head = Vec::new();
    contents.take(6).read_to_end(&mut head).map_err(malformed)?;
    let whole = Cursor::new(head.clone()).chain(contents);
    let plain: Box<dyn Read + '_> = match &head[..] {
        [] => return Ok(()),
        [0x1f, 0x8b, ..] => Box::new(MultiGzDecoder::new(whole)),
        [b'p', b'b', b'z', b'x', ..] => Box::new(ChunkReader::new(whole).map_err(malformed)?),
        head if head == XZ_MAGIC => Box::new(XzReader::new_mem_limit(whole, false, XZ_MEMORY_KIB)),
        head if head == HEADER_MAGIC => Box::new(whole),
        _ => {
            let text = "an archive of a form that is not read: what is in it was not verified";
            return Err(Error::new(ErrorKind::Unsupported, text));
        }
    };
    // What is skipped counts as well.
    let room = tree.room.saturating_mul(2);
    let mut plain = BufReader::new(plain.take(room));
    let read = files(path, &mut plain, tree);
    match plain.get_ref().limit() {
        0 => Err(ArchiveTree::too_long()),
        _ => read,
    }
}

/// Reads a cpio archive to its end.
fn files(at: &[u8], reader: &mut impl Read, tree: &mut ArchiveTree) -> Result<(), Error> {
    let (mut doubles, mut links) = (Vec::new(), BTreeMap::<u64, Arc<Vec<u8>>>::new());
    loop {
        let mut header = [0; HEADER_LEN];
        reader.read_exact(&mut header).map_err(malformed)?;
        let number = |range: std::ops::Range<usize>| {
            let digits = &header[range];
            let is_octal = digits.iter().all(|digit| matches!(digit, b'0'..=b'7'));
            let number = digits.iter().fold(0_u64, |sum, digit| sum << 3 | u64::from(digit & 7));
            is_octal.then_some(number).ok_or_else(|| Error::malformed("a cpio header is damaged"))
        };
        let (mode, name_len, len) = (number(18..24)?, number(59..65)?, number(65..76)?);
        let (inode, link_count) = (number(6..18)?, number(36..42)?);
        if !header.starts_with(HEADER_MAGIC) || name_len as usize > NAME_LEN_MAX {
            return Err(Error::malformed("a cpio header is damaged"));
        }
        let mut name = vec![0; name_len as usize];
        reader.read_exact(&mut name).map_err(malformed)?;
        if name.pop() != Some(0) || name.contains(&0) || name.starts_with(b"/") {
            return Err(Error::malformed("a name leads out of the archive"));
        }
        if name == TRAILER {
            break;
        }
        let mut contents = reader.take(len);
        let entry = match mode & 0o170_000 {
            0o100_000 => {
                let contents = Arc::new(tree.contents(&mut contents)?);
                let first = match link_count {
                    0 | 1 => &contents,
                    _ => &*links.entry(inode).or_insert_with(|| Arc::clone(&contents)),
                };
                // Of several names of one file, the contents may be with the first alone.
                if !contents.is_empty() && contents != *first {
                    return Err(Error::malformed("one file with different contents"));
                }
                ArchiveEntry::File(Arc::clone(first))
            }
            0o120_000 => ArchiveEntry::Symlink(tree.contents(&mut contents)?),
            0o040_000 => ArchiveEntry::Folder,
            _ => ArchiveEntry::Other,
        };
        io::copy(&mut contents, &mut io::sink()).map_err(malformed)?;
        if contents.limit() > 0 {
            return Err(Error::malformed("a file is cut short"));
        }
        let path = joined(at, &name);
        if is_double(&entry) {
            doubles.push(path.clone());
        }
        tree.insert(&path, entry)?;
    }
    let mut rest = Vec::new();
    reader.take(1 << 20).read_to_end(&mut rest).map_err(malformed)?;
    if rest.len() == 1 << 20 || rest.iter().any(|byte| *byte != 0) {
        return Err(Error::malformed("something follows the end of an archive"));
    }
    doubles.iter().for_each(|path| tree.attach(path));
    Ok(())
}

fn is_double(entry: &ArchiveEntry) -> bool {
    matches!(entry, ArchiveEntry::File(bytes) if bytes.starts_with(b"\0\x05\x16\x07"))
}

fn malformed(error: io::Error) -> Error {
    Error::malformed(format!("an archive in the package: {error}"))
}

impl ArchiveTree {
    /// Removes everything below a path.
    fn remove(&mut self, path: &[u8]) {
        let below = [path, b"/"].concat();
        self.entries.retain(|name, _| !name.starts_with(&below));
        self.folded.retain(|_, name| !name.starts_with(&below));
        self.forks.retain(|name, _| !name.starts_with(&below));
    }

    /// Attaches an AppleDouble file `._NAME` to the file NAME beside it, as the installer does; the
    /// name is gone then.
    fn attach(&mut self, path: &[u8]) {
        let parts = path.split(|byte| *byte == b'/').filter(|part| !matches!(part, [] | [b'.']));
        let path = parts.collect::<Vec<_>>().join(&b'/');
        let start = path.iter().rposition(|byte| *byte == b'/').map_or(0, |slash| slash + 1);
        let Some(name) = path[start..].strip_prefix(b"._") else { return };
        let owner = [&path[..start], name].concat();
        if !self.entries.contains_key(&owner) {
            return;
        }
        if let Some(ArchiveEntry::File(double)) = self.entries.remove(&path) {
            self.forks.insert(owner, double);
        }
    }
}

/// Unpacks chunks one after another.
struct ChunkReader<R> {
    inner: R,
    len_max: u64,
    chunk: Cursor<Vec<u8>>,
}

impl<R: Read> ChunkReader<R> {
    fn new(mut inner: R) -> io::Result<ChunkReader<R>> {
        let mut magic = [0; 4];
        inner.read_exact(&mut magic)?;
        let len_max = number(&mut inner)?.ok_or(io::ErrorKind::UnexpectedEof)?;
        if len_max > CHUNK_LEN_MAX {
            return Err(io::Error::other("the chunks are too long"));
        }
        Ok(ChunkReader { inner, len_max, chunk: Cursor::default() })
    }

    /// Reads the next chunk; `None` at the end.
    fn next(&mut self) -> io::Result<Option<Vec<u8>>> {
        let Some(len) = number(&mut self.inner)? else { return Ok(None) };
        let packed_len = number(&mut self.inner)?.ok_or(io::ErrorKind::UnexpectedEof)?;
        if len == 0 || len > self.len_max || packed_len > CHUNK_LEN_MAX {
            return Err(io::Error::other("a chunk is longer than it must be"));
        }
        let mut packed = Vec::new();
        self.inner.by_ref().take(packed_len).read_to_end(&mut packed)?;
        if packed.len() as u64 != packed_len {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        match (packed.starts_with(XZ_MAGIC), packed_len == len) {
            (false, true) => Ok(Some(packed)),
            (true, false) => {
                let mut rest = &packed[..];
                let mut chunk = Vec::new();
                let reader = XzReader::new_mem_limit(&mut rest, false, XZ_MEMORY_KIB);
                reader.take(len + 1).read_to_end(&mut chunk)?;
                match rest.is_empty() && chunk.len() as u64 == len {
                    true => Ok(Some(chunk)),
                    false => Err(io::Error::other("a chunk has another length than it says")),
                }
            }
            _ => Err(io::Error::other("a chunk could be read in two ways")),
        }
    }
}

impl<R: Read> Read for ChunkReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let count = self.chunk.read(buffer)?;
            if count > 0 || buffer.is_empty() {
                return Ok(count);
            }
            match self.next()? {
                Some(chunk) => self.chunk = Cursor::new(chunk),
                None => return Ok(0),
            }
        }
    }
}

/// Reads a number of 64 bits; `None` at the end.
fn number(reader: &mut impl Read) -> io::Result<Option<u64>> {
    let mut bytes = Vec::new();
    reader.take(8).read_to_end(&mut bytes)?;
    match bytes.first_chunk() {
        Some(bytes) => Ok(Some(u64::from_be_bytes(*bytes))),
        None if bytes.is_empty() => Ok(None),
        None => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}
