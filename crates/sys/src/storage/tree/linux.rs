//! Linux: the extent map tells which files are in a tree, and the tree of Btrfs is read from the
//! device.
//!
//! Source: the on-disk format of Btrfs, `btrfs.readthedocs.io`, and `linux/btrfs_tree.h`.

use std::io;
use std::path::Path;

use rustix::ioctl::{Opcode, Updater, ioctl, opcode};

use crate::file::{AlignedBuffer, File};

/// `FS_IOC_FIEMAP`, with room for one extent.
const EXTENT_MAP: Opcode = opcode::read_write::<[u64; 4]>(b'f', 11);

/// `FIEMAP_EXTENT_DATA_INLINE`.
const INLINE: u64 = 0x200;

/// `BTRFS_IOC_INO_LOOKUP`, and the object whose tree it tells: the root of a subvolume.
const INODE_LOOKUP: Opcode = opcode::read_write::<[u64; 512]>(0x94, 18);
const FIRST_FREE_OBJECT: u64 = 256;

/// Types of items.
const EXTENT_DATA: u8 = 108;
const ROOT_ITEM: u8 = 132;
const CHUNK_ITEM: u8 = 228;

/// Where the first superblock is, and its length.
const SUPERBLOCK: (u64, usize) = (64 << 10, 4096);
const MAGIC: &[u8] = b"_BHRfS_M";

/// Chunks whose first stripe has all of their bytes: single, and twice on one device.
const STRIPED: u64 = 1 << 3 | 1 << 4 | 1 << 6 | 1 << 7 | 1 << 8;

/// The highest level of a tree.
const LEVELS_MAX: u8 = 8;

type Key = (u64, u8, u64);

#[expect(unsafe_code, reason = "rustix has no such call")]
pub(super) fn is_in_tree(file: &File) -> bool {
    // A header of four words and one extent of seven: from the beginning, to the end, one extent.
    let mut map = [0_u64; 11];
    (map[1], map[3]) = (u64::MAX, 1);
    // SAFETY: `EXTENT_MAP` is `FS_IOC_FIEMAP`, which reads and writes a header and as many extents
    // as that has room for: one, which the words above have.
    let updater = unsafe { Updater::<EXTENT_MAP, [u64; 11]>::new(&mut map) };
    // SAFETY: the updater above is that of this call, and the file is open.
    let told = unsafe { ioctl(file, updater) };
    let extents = map[2] >> 32;
    // Mapped extents are the high half of the third word on machines of this order of bytes.
    told.is_ok() && extents > 0 && map[9] & INLINE != 0
}

/// Returns the number of the tree of the subvolume that a file is in.
#[expect(unsafe_code, reason = "rustix has no such call")]
fn subvolume_of(file: &File) -> io::Result<u64> {
    let mut found = [0_u64; 512];
    found[1] = FIRST_FREE_OBJECT;
    // SAFETY: `INODE_LOOKUP` is `BTRFS_IOC_INO_LOOKUP`, which reads and writes 4096 bytes.
    let updater = unsafe { Updater::<INODE_LOOKUP, [u64; 512]>::new(&mut found) };
    // SAFETY: the updater above is that of this call, and the file is open.
    unsafe { ioctl(file, updater) }?;
    Ok(found[0])
}

pub(super) fn bytes_in_tree(file: &File, device: &str) -> io::Result<Option<Vec<u8>>> {
    let inode = file.status()?.inode;
    let subvolume = subvolume_of(file)?;
    let device = File::open(&Path::new("/dev").join(device))?;
    device.set_uncached()?;
    let mut medium = TreeDevice { device, node_length: 4096, chunks: Vec::new() };
    let head = medium.read(SUPERBLOCK.0, SUPERBLOCK.1)?;
    if head.get(0x40..0x48) != Some(MAGIC) || word(&head, 0x88)? != 1 {
        return Ok(None);
    }
    let (roots, chunk_root) = (word(&head, 0x50)?, word(&head, 0x58)?);
    medium.node_length = small(&head, 0x94)? as usize;
    if !(4096..=65_536).contains(&medium.node_length) {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let system = part(&head, 0x32b, small(&head, 0xa0)? as usize)?;
    let mut at = 0;
    while at < system.len() {
        let stripes = usize::from(u16::from_le_bytes(array(system, at + 17 + 44)?));
        let length = 48 + 32 * stripes;
        medium.add_chunk(word(system, at + 9)?, part(system, at + 17, length)?)?;
        at += 17 + length;
    }
    let all = |object: u64, kind: u8| ((object, kind, 0), (object, kind, u64::MAX));
    for (key, chunk) in medium.items(chunk_root, all(FIRST_FREE_OBJECT, CHUNK_ITEM))? {
        medium.add_chunk(key.2, &chunk)?;
    }
    let root = medium.items(roots, all(subvolume, ROOT_ITEM))?;
    let Some((_, root)) = root.last() else { return Ok(None) };
    let extents = medium.items(word(root, 176)?, all(inode, EXTENT_DATA))?;
    let [(_, extent)] = &*extents else { return Ok(None) };
    // Compression, encryption and another encoding; then the type, which is 0 in the tree.
    match extent.get(16..21) {
        Some([0, 0, 0, 0, 0]) => Ok(Some(extent[21..].to_vec())),
        _ => Ok(None),
    }
}

/// The device of a Btrfs.
struct TreeDevice {
    device: File,
    node_length: usize,
    /// Logical offset, length and offset on the device.
    chunks: Vec<(u64, u64, u64)>,
}

impl TreeDevice {
    fn read(&self, offset: u64, length: usize) -> io::Result<Vec<u8>> {
        let mut buffer = AlignedBuffer::new(length);
        match self.device.read_at(&mut buffer, offset)? {
            read if read == length => Ok(buffer.to_vec()),
            _ => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }

    fn add_chunk(&mut self, logical: u64, chunk: &[u8]) -> io::Result<()> {
        if word(chunk, 24)? & STRIPED == 0 {
            self.chunks.push((logical, word(chunk, 0)?, word(chunk, 56)?));
        }
        Ok(())
    }

    /// Reads a block of a tree.
    fn node(&self, logical: u64) -> io::Result<Vec<u8>> {
        let within = |(start, length, _): &&(u64, u64, u64)| {
            logical.checked_sub(*start).is_some_and(|at| at < *length)
        };
        let invalid = io::ErrorKind::InvalidData;
        let (start, _, offset) = *self.chunks.iter().find(within).ok_or(invalid)?;
        let offset = offset.checked_add(logical - start).ok_or(invalid)?;
        let node = self.read(offset, self.node_length)?;
        if word(&node, 48)? != logical { Err(invalid.into()) } else { Ok(node) }
    }

    /// Returns the items of a tree between two keys, those included.
    fn items(&self, root: u64, (from, to): (Key, Key)) -> io::Result<Vec<(Key, Vec<u8>)>> {
        let mut found = Vec::new();
        let mut waiting = vec![(root, LEVELS_MAX)];
        while let Some((logical, above)) = waiting.pop() {
            let node = self.node(logical)?;
            let count = small(&node, 96)? as usize;
            let level = node[100];
            // Each block is beneath the one that leads to it, so this ends.
            if level >= above {
                return Err(io::ErrorKind::InvalidData.into());
            }
            let size = if level == 0 { 25 } else { 33 };
            let heads = part(&node, 101, count * size)?.chunks_exact(size);
            let keys = heads.clone().map(key).collect::<io::Result<Vec<Key>>>()?;
            for (at, head) in heads.enumerate() {
                if level > 0 {
                    let ends_before = keys.get(at + 1).is_some_and(|next| *next <= from);
                    if !ends_before && keys[at] <= to {
                        waiting.push((word(head, 17)?, level));
                    }
                } else if (from..=to).contains(&keys[at]) {
                    let (offset, length) = (small(head, 17)? as usize, small(head, 21)? as usize);
                    found.push((keys[at], part(&node, 101 + offset, length)?.to_vec()));
                }
            }
        }
        Ok(found)
    }
}

fn key(head: &[u8]) -> io::Result<Key> {
    Ok((word(head, 0)?, head[8], word(head, 9)?))
}

fn part(bytes: &[u8], at: usize, length: usize) -> io::Result<&[u8]> {
    let end = at.checked_add(length);
    end.and_then(|end| bytes.get(at..end)).ok_or(io::ErrorKind::InvalidData.into())
}

fn array<const N: usize>(bytes: &[u8], at: usize) -> io::Result<[u8; N]> {
    part(bytes, at, N)?.try_into().map_err(io::Error::other)
}

fn word(bytes: &[u8], at: usize) -> io::Result<u64> {
    Ok(u64::from_le_bytes(array(bytes, at)?))
}

fn small(bytes: &[u8], at: usize) -> io::Result<u32> {
    Ok(u32::from_le_bytes(array(bytes, at)?))
}
