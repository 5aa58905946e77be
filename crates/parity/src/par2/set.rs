//! What the packets of a set say: its files, and what their blocks are recognised by.

use std::collections::{BTreeMap, HashSet};
use std::ops::Range;
use std::path::PathBuf;

use steadfast_digest::{Algorithm, AlgorithmHasher};

use super::packet::PacketKind;
use crate::error::{Error, ErrorKind};
use crate::names::path_beneath;

/// The most blocks of a set.
pub const BLOCKS_MAX: usize = 32_768;

/// The most bytes of packets that are held: a full set with long names has some 10 MiB.
const PACKETS_LEN_MAX: usize = 64 << 20;

/// The most zeros that a block is filled with to be compared. Longer ones take long to hash, and
/// only a hostile set has them: its file is compared as a whole.
const PADDING_MAX: u64 = 16 << 20;

/// The bytes of a file's description before its name.
const NAME_AT: usize = 56;

/// The identity of a file in a set.
type FileId = [u8; 16];

/// What a block is recognised by. A shorter one is filled with zeros.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockMark {
    /// Its MD5.
    pub digest: [u8; 16],
    /// Its CRC-32, by which one that moved is searched for.
    pub check: u32,
}

/// A file of a set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Par2File {
    /// The path beneath the folder of the set.
    pub path: PathBuf,
    /// Length in bytes.
    pub length: u64,
    /// Its MD5.
    pub digest: [u8; 16],
    /// The numbers of its blocks in the set; empty if recovery blocks are not of it.
    pub blocks: Range<usize>,
    /// The marks of its blocks; empty if they were lost, or are of no use.
    pub marks: Vec<BlockMark>,
}

/// A set of files, cut in blocks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Par2Set {
    /// Length of a block in bytes: a multiple of 4.
    pub block_len: u64,
    /// The files, in the order of their blocks; those without blocks last.
    pub files: Vec<Par2File>,
    /// Blocks of all files.
    pub blocks: usize,
}

/// Packets of one set, each proved by its digest.
#[derive(Default)]
pub struct Par2Packets {
    main: Option<Vec<u8>>,
    files: BTreeMap<FileId, Vec<u8>>,
    blocks: BTreeMap<FileId, Vec<u8>>,
    held: usize,
}

fn invalid(what: &str) -> Error {
    Error::new(ErrorKind::Invalid, format!("the PAR2 set is invalid: {what}"))
}

impl Par2Packets {
    /// Returns the longest body of a packet of a kind that is read into memory.
    pub fn body_len_max(kind: PacketKind) -> u64 {
        let len = match kind {
            PacketKind::Main => 12 + 16 * BLOCKS_MAX,
            PacketKind::File => NAME_AT + (64 << 10),
            PacketKind::Blocks => 16 + 20 * BLOCKS_MAX,
            PacketKind::Recovery | PacketKind::Other => 0,
        };
        len as u64
    }

    /// Takes the body of a packet. Copies of one that is there are left out.
    ///
    /// # Errors
    /// `Invalid` if there are more packets than any set has.
    pub fn add(&mut self, kind: PacketKind, body: &[u8]) -> Result<(), Error> {
        let id = body.first_chunk::<16>().copied();
        match (kind, id) {
            (PacketKind::Main, _) if self.main.is_none() => self.main = Some(body.to_vec()),
            (PacketKind::File, Some(id)) if !self.files.contains_key(&id) => {
                self.files.insert(id, body.to_vec());
            }
            (PacketKind::Blocks, Some(id)) if !self.blocks.contains_key(&id) => {
                self.blocks.insert(id, body.to_vec());
            }
            _ => return Ok(()),
        }
        self.held += body.len();
        match self.held <= PACKETS_LEN_MAX {
            true => Ok(()),
            false => Err(invalid("it has too many packets")),
        }
    }

    /// Puts the set with an identity together.
    ///
    /// # Errors
    /// `Damaged` if a packet that is needed is lost; `Invalid` if the set is outside what PAR2
    /// allows, or names files outside its folder.
    pub fn finish(self, set: &[u8; 16]) -> Result<Par2Set, Error> {
        let lost = |what: &str| Error::new(ErrorKind::Damaged, format!("{what} is lost"));
        let main = self.main.as_ref().ok_or_else(|| lost("the main packet of the set"))?;
        let mut hasher = AlgorithmHasher::new(Algorithm::Md5);
        hasher.update(main);
        if hasher.finalize().as_bytes() != set {
            return Err(invalid("it has another identity than its main packet says"));
        }
        let block_len = long_at(main, 0).ok_or_else(|| invalid("the main packet is short"))?;
        let count = main.get(8..12).and_then(|bytes| bytes.try_into().ok());
        let count = count.map_or(0, u32::from_le_bytes) as usize;
        let ids = main.get(12..).unwrap_or_default().as_chunks::<16>().0;
        if block_len == 0 || !block_len.is_multiple_of(4) || ids.len() > BLOCKS_MAX {
            return Err(invalid("it has blocks or files as no set has"));
        }
        if ids.len() < count {
            return Err(invalid("the main packet is short"));
        }
        let mut found = Par2Set { block_len, files: Vec::new(), blocks: 0 };
        let mut paths = HashSet::new();
        for (number, id) in ids.iter().enumerate() {
            let body = self.files.get(id).ok_or_else(|| lost("the description of a file"))?;
            // Some tools list empty folders behind the files.
            if number >= count && name_of(body).ends_with(b"/") {
                continue;
            }
            let mut file = described(body)?;
            if !paths.insert(file.path.clone()) {
                return Err(invalid("two files have one name"));
            }
            let blocks = if number < count { file.length.div_ceil(block_len) } else { 0 };
            if blocks > (BLOCKS_MAX - found.blocks) as u64 {
                return Err(invalid("it has too many blocks"));
            }
            file.blocks = found.blocks..found.blocks + blocks as usize;
            found.blocks = file.blocks.end;
            let marks = self.blocks.get(id).map(|body| marks_of(body)).unwrap_or_default();
            if marks.len() == file.blocks.len() && padding_of(&file, block_len) <= PADDING_MAX {
                file.marks = marks;
            }
            found.files.push(file);
        }
        Ok(found)
    }
}

/// Returns how many zeros the last block of a file is filled with.
fn padding_of(file: &Par2File, block_len: u64) -> u64 {
    match file.length % block_len {
        0 => 0,
        rest => block_len - rest,
    }
}

fn long_at(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..at + 8)?.try_into().ok().map(u64::from_le_bytes)
}

/// Reads the description of a file.
fn described(body: &[u8]) -> Result<Par2File, Error> {
    let short = || invalid("a description is short");
    let digest = body.get(16..32).and_then(|bytes| bytes.try_into().ok()).ok_or_else(short)?;
    let length = long_at(body, 48).ok_or_else(short)?;
    let path = path_beneath(name_of(body))
        .ok_or_else(|| invalid("a name does not lead to a place in its folder"))?;
    Ok(Par2File { path, length, digest, blocks: 0..0, marks: Vec::new() })
}

/// Returns the name in the description of a file; an empty one if that is short. Names
/// are filled with zeros to a multiple of 4 bytes.
fn name_of(body: &[u8]) -> &[u8] {
    let name = body.get(NAME_AT..).unwrap_or_default();
    let len = name.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
    &name[..len]
}

fn marks_of(body: &[u8]) -> Vec<BlockMark> {
    let records = body.get(16..).unwrap_or_default().as_chunks::<20>().0;
    let mark = |record: &[u8; 20]| BlockMark {
        digest: std::array::from_fn(|at| record[at]),
        check: u32::from_le_bytes(std::array::from_fn(|at| record[16 + at])),
    };
    records.iter().map(mark).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pseudo-random numbers, the same in every run.
    struct Numbers(u64);

    impl Numbers {
        fn below(&mut self, end: usize) -> usize {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            (self.0 % end as u64) as usize
        }
    }

    fn md5(bytes: &[u8]) -> [u8; 16] {
        let mut hasher = AlgorithmHasher::new(Algorithm::Md5);
        hasher.update(bytes);
        let digest = hasher.finalize();
        std::array::from_fn(|at| digest.as_bytes()[at])
    }

    /// Bodies of a set with blocks of 1000 bytes, and two files.
    fn bodies() -> Vec<(PacketKind, Vec<u8>)> {
        let ids = [[1; 16], [2; 16]];
        let main = [&1000_u64.to_le_bytes()[..], &2_u32.to_le_bytes(), &ids.concat()].concat();
        let mut bodies = vec![(PacketKind::Main, main)];
        for (id, name, length) in [(ids[0], "one\0", 2500_u64), (ids[1], "two/three\0\0\0", 7)] {
            let fields = [&id[..], &[5; 32], &length.to_le_bytes(), name.as_bytes()];
            bodies.push((PacketKind::File, fields.concat()));
            let blocks = length.div_ceil(1000) as usize;
            bodies.push((PacketKind::Blocks, [&id[..], &vec![6; 20 * blocks]].concat()));
        }
        bodies
    }

    fn set_of(bodies: &[(PacketKind, Vec<u8>)]) -> Result<Par2Set, Error> {
        let mut packets = Par2Packets::default();
        bodies.iter().try_for_each(|(kind, body)| packets.add(*kind, body))?;
        packets.finish(&md5(&bodies[0].1))
    }

    #[test]
    fn changed_packets_make_no_set_or_one_that_is_sound() {
        let whole = set_of(&bodies()).unwrap();
        let shapes = whole.files.iter().map(|file| (file.blocks.clone(), file.marks.len()));
        assert_eq!(shapes.collect::<Vec<_>>(), [(0..3, 3), (3..4, 1)]);
        assert_eq!(whole.files[1].path, PathBuf::from("two/three"));
        let (mut numbers, mut sound) = (Numbers(20), 0);
        for _ in 0..50_000 {
            let mut bodies = bodies();
            for _ in 0..=numbers.below(4) {
                let chosen = numbers.below(bodies.len());
                let body = &mut bodies[chosen].1;
                let at = numbers.below(body.len().max(1));
                match numbers.below(5) {
                    0 => body.truncate(at),
                    1 => body.extend_from_within(at.min(body.len())..),
                    2 => body.iter_mut().skip(at).take(8).for_each(|byte| *byte = 0xFF),
                    _ => body.iter_mut().skip(at).take(1).for_each(|byte| *byte = b'/'),
                }
            }
            let Ok(set) = set_of(&bodies) else { continue };
            sound += 1;
            assert!(set.block_len > 0 && set.blocks <= BLOCKS_MAX);
            let mut next = 0;
            for file in &set.files {
                assert!(!file.path.has_root() && !file.path.starts_with(".."));
                assert!(file.marks.is_empty() || file.marks.len() == file.blocks.len());
                assert_eq!(file.blocks.start, next);
                next = file.blocks.end;
            }
            assert_eq!(set.blocks, next);
        }
        assert!(sound > 1000, "{sound}");
    }
}
